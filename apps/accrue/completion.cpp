#include "completion.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <memory>
#include <utility>

#include "accrue/messages.hpp"
#include "accrue/table.hpp"

namespace accrue::app {

namespace {

// They only ask; what is possible is decided in one place, for all shells.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kScripts = {{
    {"bash", R"(# Completion of accrue in bash. Written by 'accrue completion bash'.
_accrue() {
    local line=${COMP_LINE:0:COMP_POINT} text
    local word=${line##*[[:blank:]]} before=
    # bash replaces only what follows the last of these signs.
    if [[ $word == *[:=]* ]]; then before=${word%"${word##*[:=]}"}; fi
    COMPREPLY=()
    while IFS=$'\t' read -r text _; do
        case $text in
            :files) ;;
            :folders) compopt +o default -o dirnames ;;
            :list) compopt +o default -o nospace ;;
            :words) compopt +o default ;;
            *)
                text=${text#"$before"}
                if [[ $text == *[^[:alnum:]_.,:=/+@%-]* ]]; then printf -v text %q "$text"; fi
                # A list must begin as it was typed.
                COMPREPLY+=("${text//\\,/,}")
                ;;
        esac
    done < <("$1" __complete line "$line" 2>/dev/null)
}
complete -o default -F _accrue accrue
)"},
    {"zsh", R"(#compdef accrue
# Completion of accrue in zsh. Written by 'accrue completion zsh'.
_accrue() {
    local text help
    local -a found
    "$words[1]" __complete words "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null | while IFS=$'\t' read -r text help; do
        case $text in
            :files|:folders)
                if [[ $PREFIX == --*=* ]]; then compset -P '*='; fi
                if [[ $text == :files ]]; then _files; else _files -/; fi
                ;;
            :list) _describe -t values accrue found -S '' ;;
            :words) _describe -t values accrue found ;;
            *) found+=("${text//:/\\:}${help:+:$help}") ;;
        esac
    done
}
if [[ $funcstack[1] == _accrue ]]; then _accrue "$@"; else compdef _accrue accrue; fi
)"},
    {"fish", R"(# Completion of accrue in fish. Written by 'accrue completion fish'.
function __accrue_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l before (string match -r -- '^--[^=]*=' $word)
    set -l value (string replace -r -- '^--[^=]*=' '' $word)
    for line in ($words[1] __complete words $words[2..-1] "$word" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$value" | string replace -r -- '^' "$before"
            case :folders
                __fish_complete_directories "$value" | string replace -r -- '^' "$before"
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c accrue -f -k -a '(__accrue_complete)'
)"},
}};

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

// The options that the help shows.
std::vector<const CLI::Option*> visible_options(const CLI::App& command, bool positional) {
    return command.get_options([&](const CLI::Option* option) {
        return !option->get_group().empty() && option->nonpositional() == !positional;
    });
}

const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
    for (const CLI::Option* option : visible_options(command, false))
        if (option->check_name(name)) return option;
    return nullptr;
}

// What stands before the word that is to be completed.
struct Before {
    const CLI::Option* option = nullptr;               // whose value the word is
    std::vector<const CLI::Option*> positionals = {};  // those of the words that are no options
    std::vector<std::string> values = {};              // these words
    bool only_positionals = false;                     // after "--"
};

Before read(const CLI::App& command, const std::vector<std::string>& words) {
    const std::vector<const CLI::Option*> positionals = visible_options(command, true);
    Before before;
    for (const std::string& word : words) {
        if (before.option != nullptr) {
            before.option = nullptr;
        } else if (!before.only_positionals && word == "--") {
            before.only_positionals = true;
        } else if (!before.only_positionals && word.size() > 1 && word.starts_with('-')) {
            const CLI::Option* option = find_option(command, word);
            if (option != nullptr && takes_value(*option)) before.option = option;
        } else if (!positionals.empty()) {
            before.positionals.push_back(positionals[std::min(before.values.size(), positionals.size() - 1)]);
            before.values.push_back(word);
        }
    }
    return before;
}

// Of the first file of rows on the line, where there is one. Only regular files: others are gone after one look.
std::vector<std::string> columns(const Before& before) {
    for (std::size_t i = 0; i < before.values.size(); ++i) {
        std::error_code ignored;
        if (before.positionals[i]->get_name() != "FILE" || !std::filesystem::is_regular_file(before.values[i], ignored))
            continue;
        try {
            return column_names(before.values[i]);
        } catch (const std::exception&) {
            return {};  // the command will say what is wrong with the file
        }
    }
    return {};
}

void add(Completion& completion, const std::string& start, const std::string& text, const std::string& help = {}) {
    if (text.starts_with(start)) completion.candidates.push_back({text, help});
}

// A value of the type whose beginning is `start`, written behind `prefix` in one word.
Completion complete_value(const std::string& type, const std::string& prefix, const std::string& start,
                          const Before& before) {
    Completion completion;
    if (type == "FILE") completion.kind = Completion::Kind::files;
    if (type == "FOLDER") completion.kind = Completion::Kind::folders;
    if (type.starts_with('{') && type.ends_with('}'))
        for (const std::string& choice : CLI::detail::split(type.substr(1, type.size() - 2), ','))
            add(completion, prefix + start, prefix + choice);
    if (type == "COLUMN")
        for (const std::string& name : columns(before)) add(completion, prefix + start, prefix + name);
    if (type == "COLUMN,..." || type == "COLUMN[:KIND],...") {
        completion.kind = Completion::Kind::list;
        const std::size_t comma = start.rfind(',') + 1;  // 0 where there is none
        const std::vector<std::string> named = CLI::detail::split(start.substr(0, comma), ',');
        for (const std::string& name : columns(before))
            if (std::find(named.begin(), named.end(), name) == named.end())
                add(completion, prefix + start, prefix + start.substr(0, comma) + name);
    }
    return completion;
}

Completion complete_option(const CLI::App& command, const std::string& start) {
    Completion completion;
    for (const CLI::Option* option : visible_options(command, false)) {
        // Lists have room for what stands before the first stop.
        const std::string& whole = option->get_description();
        const std::string help = whole.substr(0, std::min(whole.find(". "), whole.find("; ")));
        const std::size_t before = completion.candidates.size();
        for (const std::string& name : option->get_lnames()) add(completion, start, "--" + name, help);
        if (completion.candidates.size() > before) continue;  // the long name says more
        for (const std::string& name : option->get_snames()) add(completion, start, "-" + name, help);
    }
    return completion;
}

}  // namespace

Completion complete(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty()) return {};
    const std::string& word = words.back();
    if (words.size() == 1) {
        Completion completion = word.starts_with('-') ? complete_option(app, word) : Completion();
        for (const CLI::App* command : app.get_subcommands({}))
            add(completion, word, command->get_name(), command->get_description());
        return completion;
    }
    const CLI::App* command = find_command(app, words.front());
    if (command == nullptr) return {};
    const Before before = read(*command, {words.begin() + 1, words.end() - 1});
    if (before.option != nullptr) return complete_value(before.option->get_type_name(), "", word, before);
    if (!before.only_positionals && word.starts_with("--") && word.find('=') != std::string::npos) {
        const std::size_t value = word.find('=') + 1;
        const CLI::Option* option = find_option(*command, word.substr(0, value - 1));
        if (option == nullptr || !takes_value(*option)) return {};
        return complete_value(option->get_type_name(), word.substr(0, value), word.substr(value), before);
    }
    if (!before.only_positionals && word.starts_with('-')) return complete_option(*command, word);
    const std::vector<const CLI::Option*> positionals = visible_options(*command, true);
    const std::size_t place = before.values.size();
    if (place < positionals.size()) return complete_value(positionals[place]->get_type_name(), "", word, before);
    if (!positionals.empty() && positionals.back()->get_items_expected_max() > 1)
        return complete_value(positionals.back()->get_type_name(), "", word, before);
    return before.only_positionals ? Completion() : complete_option(*command, word);
}

std::vector<std::string> shell_words(std::string_view line) {
    std::vector<std::string> words(1);
    bool in_word = false;
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote == 0 && (c == ' ' || c == '\t')) {
            if (in_word) words.emplace_back();
            in_word = false;
            continue;
        }
        in_word = true;
        if (quote == 0 && (c == '\'' || c == '"'))
            quote = c;
        else if (c == quote)
            quote = 0;
        else if (c == '\\' && quote != '\'' && i + 1 < line.size())
            words.back() += line[++i];
        else
            words.back() += c;
    }
    return words;
}

std::string answer_completion(const CLI::App& app, const std::vector<std::string>& question) {
    require(question.size() >= 2 && (question[0] == "words" || (question[0] == "line" && question.size() == 2)),
            "__complete is for the shells' scripts, which 'accrue completion' writes");
    std::vector<std::string> words(question.begin() + 1, question.end());
    if (question[0] == "line") {
        words = shell_words(question[1]);
        words.erase(words.begin());
    }
    const Completion completion = complete(app, words);
    std::string answer;
    for (const Candidate& candidate : completion.candidates)
        // A name that a terminal could not show cannot be typed either.
        if (printable(candidate.text, std::string::npos) == candidate.text)
            answer += fmt::format("{}\t{}\n", candidate.text, candidate.help);
    constexpr std::array<std::string_view, 4> kKinds = {":words", ":list", ":files", ":folders"};
    return fmt::format("{}{}\n", answer, kKinds.at(static_cast<std::size_t>(completion.kind)));
}

std::vector<std::string> completion_shells() {
    std::vector<std::string> shells;
    for (const auto& [shell, script] : kScripts) shells.emplace_back(shell);
    return shells;
}

std::string_view completion_script(std::string_view shell) {
    for (const auto& [name, script] : kScripts)
        if (name == shell) return script;
    throw CLI::ValidationError(
        "SHELL", fmt::format("must be one of {}, but it is '{}'", fmt::join(completion_shells(), ", "), shell));
}

void add_completion(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("completion", "Print a script that makes a shell complete command lines");
    command->add_option("SHELL", *shell, "bash, zsh or fish")
        ->type_name(fmt::format("{{{}}}", fmt::join(completion_shells(), ",")))
        ->required();
    command->footer(
        "Commands, options, their choices, files, and the columns of the file that stands on the line: for\n"
        "--inputs and other columns name FILE first. An installed accrue has brought these scripts to where\n"
        "shells look for them; this is for the others.\n"
        "\n"
        "Examples:\n"
        "  eval \"$(accrue completion bash)\"\n"
        "  accrue completion zsh > _accrue");
    command->callback([shell] { print(completion_script(*shell)); });
}

}  // namespace accrue::app
