// Values of options against plain readings of them; whole command lines end with one message or with help.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "fuzz/command.hpp"
#include "fuzz/target.hpp"
#include "rows.hpp"

namespace accrue::fuzz {

namespace {

// Decimal digits. Not with a zero before them, which some take for octal.
std::optional<std::uint64_t> plain_count(std::string_view text) {
    if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
        value = 10 * value + digit;
    }
    return value;
}

// A decimal number, perhaps blanks, a unit.
std::optional<std::uint64_t> plain_size(const std::string& text) {
    static const std::map<std::string, double> kUnits = {
        {"", 1},        {"b", 1},        {"k", 1e3},     {"kb", 1e3},     {"ki", 0x1p10}, {"kib", 0x1p10},
        {"m", 1e6},     {"mb", 1e6},     {"mi", 0x1p20}, {"mib", 0x1p20}, {"g", 1e9},     {"gb", 1e9},
        {"gi", 0x1p30}, {"gib", 0x1p30}, {"t", 1e12},    {"tb", 1e12},    {"ti", 0x1p40}, {"tib", 0x1p40}};
    const std::size_t end = text.find_first_not_of("0123456789.eE+-");
    // An e may begin an exponent, never a unit; "1e" has none.
    const std::string digits = text.substr(0, end);
    if (digits.empty() || digits.front() == '+' || digits.front() == '-') return std::nullopt;
    char* read = nullptr;
    const double value = std::strtod(digits.c_str(), &read);
    if (read != digits.c_str() + digits.size()) return std::nullopt;
    std::string unit = end == std::string::npos ? "" : text.substr(end);
    const char* blanks = " \t\n\v\f\r";
    unit.erase(0, std::min(unit.size(), unit.find_first_not_of(blanks)));
    unit.erase(unit.find_last_not_of(blanks) + 1);
    for (char& c : unit)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const auto found = kUnits.find(unit);
    if (found == kUnits.end()) return std::nullopt;
    const double bytes = value * found->second;
    if (!(bytes >= 1) || !(bytes < 1e18)) return std::nullopt;
    return static_cast<std::uint64_t>(bytes);
}

// The value that an option of rows gets from this text; none where it is refused.
std::optional<std::uint64_t> parsed(const std::string& option, const std::string& text,
                                    std::size_t RowSource::*member) {
    CLI::App command;
    RowSource options;
    app::add_row_options(command, options, "files", app::TimeUse::none);
    std::vector<std::string> reversed = {option + "=" + text, "file.csv"};
    try {
        command.parse(reversed);
    } catch (const CLI::ParseError&) {
        return std::nullopt;
    }
    return options.*member;
}

std::string shown(const std::optional<std::uint64_t>& value) {
    return value ? fmt::format("{}", *value) : "refused";
}

// Options by command, all but --portable, which starts the program again. What is read does not exist, and what is
// written cannot be, so that nothing runs.
struct Command {
    std::vector<std::string> start;
    std::vector<std::string> options;
};

const std::array<Command, 12>& commands() {
    static const std::array<Command, 12> all = {{
        {{"fit", "/nonexistent/a.csv", "-o", "/nonexistent/m.json"},
         {"--inputs",
          "--prediction",
          "--observation",
          "--error",
          "--weight",
          "--group",
          "--time",
          "--fold-group",
          "--recalibrate-group",
          "--observation-error",
          "--by",
          "--missing",
          "--missing-value",
          "--na",
          "--no-header",
          "--memory",
          "--sample",
          "--form",
          "--family",
          "--recipe",
          "--score",
          "--balance",
          "--balance-front",
          "--bias",
          "--mean",
          "--lower",
          "--upper",
          "--bound-kind",
          "--recalibrate",
          "--calibration-share",
          "--folds",
          "--starts",
          "--split",
          "--no-stages",
          "--seed",
          "--threads",
          "--checkpoint",
          "--resume",
          "--json",
          "--quiet",
          "--help",
          "--output",
          "--later",
          "--report",
          "--figures",
          "--isolate"}},
        {{"predict", "/nonexistent/m.json", "/nonexistent/a.csv", "-o", "/nonexistent/b.csv"},
         {"--prediction", "--quantiles", "--interval", "--exceed", "--draws", "--seed", "--off-support", "--no-state",
          "--missing-value", "--na", "--no-header", "--threads", "--help", "--output", "--isolate"}},
        {{"evaluate", "/nonexistent/a.csv"},
         {"--prediction",
          "--observation",
          "--error",
          "--weight",
          "--group",
          "--by",
          "--time",
          "--missing",
          "--na",
          "--sigma",
          "--missing-value",
          "--no-header",
          "--memory",
          "--sample",
          "--levels",
          "--members",
          "--quantile-columns",
          "--baselines",
          "--exceed",
          "--quantile-scores",
          "--decompose",
          "--inputs",
          "--conditional",
          "--json",
          "--threads",
          "--help",
          "--model",
          "--isolate"}},
        {{"report", "/nonexistent/a.csv", "-o", "/nonexistent/a.html"},
         {"--prediction",
          "--observation",
          "--error",
          "--weight",
          "--group",
          "--by",
          "--time",
          "--missing",
          "--memory",
          "--sample",
          "--sigma",
          "--levels",
          "--inputs",
          "--title",
          "--quiet",
          "--threads",
          "--help",
          "--output",
          "--model",
          "--figures",
          "--missing-value",
          "--na",
          "--no-header",
          "--isolate",
          "--members",
          "--quantile-columns",
          "--baselines",
          "--exceed",
          "--quantile-scores",
          "--decompose"}},
        {{"replay", "/nonexistent/a.csv", "--model", "/nonexistent/m.json"},
         {"--time",   "--prediction", "--observation", "--error",         "--missing", "--delay",     "--lead",
          "--from",   "--refit",      "--window",      "--group",         "--forget",  "--shrink",    "--correct",
          "--shape",  "--adaptive",   "--quantiles",   "--interval",      "--json",    "--threads",   "--help",
          "--output", "--model",      "--report",      "--missing-value", "--na",      "--no-header", "--isolate"}},
        {{"update", "/nonexistent/m.json", "/nonexistent/a.csv", "-o", "/nonexistent/n.json"},
         {"--time", "--prediction", "--observation", "--error", "--missing", "--group", "--forget", "--shrink",
          "--correct", "--shape", "--adaptive", "--threads", "--help", "--output", "--missing-value", "--na",
          "--no-header", "--isolate"}},
        {{"monitor", "/nonexistent/m.json", "/nonexistent/a.csv"},
         {"--time", "--prediction", "--observation", "--error", "--missing", "--alpha", "--json", "--threads", "--help",
          "--report", "--missing-value", "--na", "--no-header", "--isolate"}},
        {{"show", "/nonexistent/m.json"}, {"--json", "--help", "--nothing"}},
        {{"generate", "G", "-o", "/nonexistent/a.csv"}, {"--rows", "--seed", "--change-at", "--help", "--output"}},
        {{"reproduce", "figure1", "-o", "/dev/null/folder"},
         {"--runs", "--sets", "--data", "--seed", "--quiet", "--threads", "--help", "--output"}},
        {{"completion"}, {"--help", "bash", "zsh", "fish", "--nothing"}},
        {{"man"}, {"--help", "fit", "--nothing"}},
    }};
    return all;
}

// Options or commands below this heading of a help text.
std::set<std::string> words_of_help(const std::string& help, std::string_view heading) {
    std::set<std::string> words;
    std::istringstream lines(help.substr(std::min(help.find(heading), help.size())));
    for (std::string line; std::getline(lines, line) && !line.empty();) {
        constexpr std::size_t kIndent = 2;
        if (line.find_first_not_of(' ') != kIndent) continue;
        const std::string word = line.substr(kIndent, line.find(' ', kIndent) - kIndent);
        words.insert(word.substr(word.starts_with('-') ? word.find("--") : 0));
    }
    return words;
}

// The list above has all that the command has.
bool expect_every_option() {
    std::set<std::string> names;
    for (const Command& command : commands()) {
        names.insert(command.start[0]);
        const std::string help = run_command({command.start[0], "--help"}).out;
        for (const std::string& option : words_of_help(help, "Options:"))
            expect(option == "--portable" ||
                       std::find(command.options.begin(), command.options.end(), option) != command.options.end(),
                   "{} {} is not among the options that are tried", command.start[0], option);
    }
    expect(words_of_help(run_command({"--help"}).out, "Subcommands:") == names, "another set of commands");
    return true;
}

void check_command(Bytes input) {
    static const bool complete = expect_every_option();
    (void)complete;
    const Command& command = commands()[input.below(commands().size())];
    std::vector<std::string> arguments = command.start;
    while (!input.empty() && arguments.size() < 16) {
        std::string argument = command.options[input.below(command.options.size())];
        const std::size_t length = input.below(24);
        if (length > 0) argument += '=';
        for (std::size_t i = 1; i < length && !input.empty(); ++i)
            // An argument ends where a C string does.
            if (const char c = static_cast<char>(input.byte()); c != '\0') argument += c;
        arguments.push_back(std::move(argument));
    }
    const CommandResult result = run_command(arguments);
    if (result.status == 0) {
        expect(result.err.empty() && !result.out.empty(), "success without an answer: {}", result.err);
        return;
    }
    expect(result.status == 2, "status {}: {}", result.status, result.err);
    expect(result.out.empty(), "a refusal prints a result: {}", result.out);
    expect(result.err.starts_with("accrue: ") && result.err.find('\n') == result.err.size() - 1,
           "not one message: '{}'", result.err);
    for (const char c : result.err) expect(c == '\n' || (c >= 0x20 && c != 0x7F) || c < 0, "a raw control character");
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
    Bytes bytes(input);
    const std::size_t kind = bytes.below(4);
    if (kind >= 2) return check_command(bytes);
    std::string text(bytes.rest().substr(0, 64));
    text.erase(std::min(text.find('\0'), text.size()));
    if (text.empty()) return;  // "--sample=" is no value, which is another message
    if (kind == 0) {
        const auto found = parsed("--sample", text, &RowSource::sample);
        expect(found == plain_count(text), "--sample={} is {}, not {}", text, shown(found), shown(plain_count(text)));
    } else {
        const auto found = parsed("--memory", text, &RowSource::memory);
        expect(found == plain_size(text), "--memory={} is {}, not {}", text, shown(found), shown(plain_size(text)));
    }
}

}  // namespace accrue::fuzz
