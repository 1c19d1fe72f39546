#include "man.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

#include "accrue/files.hpp"
#include "accrue/version.hpp"
#include "completion.hpp"

namespace accrue::app {

namespace {

// Text in which nothing is a command of the formatter, and every sign is the one that people type.
std::string escaped(std::string_view text) {
    std::string safe;
    if (text.starts_with('.') || text.starts_with('\'')) safe = "\\&";
    for (const char c : text) {
        switch (c) {
            case '\\':
                safe += "\\e";
                break;
            case '-':
                safe += "\\-";
                break;
            case '\'':
                safe += "\\(aq";
                break;
            case '^':
                safe += "\\(ha";
                break;
            case '~':
                safe += "\\(ti";
                break;
            default:
                safe += c;
        }
    }
    return safe;
}

std::string bold(std::string_view text) {
    return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(std::string_view text) {
    return "\\fI" + escaped(text) + "\\fR";
}

std::string synopsis(const CLI::App& app, const CLI::App& page) {
    std::string line = bold(&app == &page ? app.get_name() : app.get_name() + " " + page.get_name());
    if (&app == &page) return line + " " + italic("COMMAND") + " ...\n";
    line += " [" + italic("OPTIONS") + "]";
    for (const CLI::Option* option : page.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
        const std::string name = italic(option->get_name()) + (option->get_items_expected_max() > 1 ? "..." : "");
        line += option->get_required() ? " " + name : " [" + name + "]";
    }
    return line + "\n";
}

std::string options(const CLI::App& page) {
    std::string text;
    for (const CLI::Option* option : page.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
        std::string names;
        for (const std::string& name : option->get_snames()) names += (names.empty() ? "" : ", ") + bold("-" + name);
        for (const std::string& name : option->get_lnames()) names += (names.empty() ? "" : ", ") + bold("--" + name);
        if (!option->nonpositional())
            names = italic(option->get_name());
        else if (option->get_items_expected_max() > 0)
            names += " " + italic(option->get_type_name());
        const std::string standard = option->get_default_str();
        text += fmt::format(".TP\n{}{}\n{}{}\n", names, option->get_required() ? " (required)" : "",
                            escaped(option->get_description()),
                            standard.empty() ? "" : escaped(fmt::format(" [{}]", standard)));
    }
    return text;
}

// What stands below the options in the help: paragraphs, which are filled, and indented lines, which are kept. The
// examples and the exit status have sections of their own.
std::string below(const std::string& footer) {
    std::string text;
    bool kept = false;  // lines as they are
    std::istringstream lines(footer);
    for (std::string line; std::getline(lines, line);) {
        const bool indented = line.starts_with("  ");
        if (indented && !kept) text += ".PP\n.EX\n";
        if (!indented && kept) text += ".EE\n.PP\n";
        kept = indented;
        constexpr std::string_view kStatus = "Exit status: ";
        if (line.starts_with("Example") && line.ends_with(':'))
            text += ".SH EXAMPLES\n";
        else if (line.starts_with(kStatus))
            text += fmt::format(".SH EXIT STATUS\n{}\n", escaped(line.substr(kStatus.size())));
        else if (line.empty())
            text += ".PP\n";
        else
            text += escaped(line) + "\n";
    }
    if (kept) text += ".EE\n";
    // A paragraph of its own before or after a heading, or after another one, is empty.
    for (const auto& [twice, once] :
         {std::pair{".PP\n.PP\n", ".PP\n"}, {".PP\n.SH", ".SH"}, {"EXAMPLES\n.PP\n", "EXAMPLES\n"}})
        for (std::size_t at; (at = text.find(twice)) != std::string::npos;)
            text.replace(at, std::string_view(twice).size(), once);
    return text;
}

std::string see_also(const CLI::App& app, const CLI::App& page) {
    if (&app != &page) return ".BR accrue (1)\n";
    std::string text;
    for (const CLI::App* command : app.get_subcommands({})) {
        if (!text.empty()) text.insert(text.size() - 1, ",");
        text += fmt::format(".BR \\%{} (1)\n", escaped(manual_name(app, *command)));
    }
    return text;
}

std::string commands(const CLI::App& app) {
    std::string text = ".SH COMMANDS\n";
    for (const CLI::App* command : app.get_subcommands({}))
        text += fmt::format(".TP\n{}\n{}\n", bold(command->get_name()), escaped(command->get_description()));
    return text;
}

}  // namespace

std::string manual_name(const CLI::App& app, const CLI::App& page) {
    return &app == &page ? app.get_name() : app.get_name() + "-" + page.get_name();
}

std::string manual_page(const CLI::App& app, const CLI::App& page) {
    const std::string name = manual_name(app, page);
    std::string what = page.get_description();
    if (what.starts_with(name + " ")) what.erase(0, name.size() + 1);
    const std::string text = below(page.get_footer());
    const std::size_t sections = std::min(text.find(".SH "), text.size());
    // Without a date, so that the same source gives the same page.
    return fmt::format(
        ".TH {} 1 \"\" \"accrue {}\" \"User Commands\"\n.ad l\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}.SH "
        "DESCRIPTION\n"
        "{}{}.SH OPTIONS\n{}{}.SH SEE ALSO\n{}",
        escaped(name), kVersion, escaped(name), escaped(what), synopsis(app, page), text.substr(0, sections),
        &app == &page ? commands(app) : "", options(page), text.substr(sections), see_also(app, page));
}

void add_man(CLI::App& app) {
    auto name = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("man", "Print a manual page, which has what the help has");
    command->add_option("COMMAND", *name, "The command that it explains; default: accrue itself");
    command->footer(
        "An installed accrue has brought these pages to where 'man accrue-fit' finds them.\n"
        "\n"
        "Examples:\n"
        "  accrue man fit | man -l -");
    command->callback([&app, name] { print(manual_page(app, name->empty() ? app : known_command(app, *name))); });
}

void write_share(const CLI::App& app, const std::string& folder) {
    const auto write = [&](const std::string& path, std::string_view text) {
        const std::filesystem::path file = std::filesystem::path(folder) / path;
        std::filesystem::create_directories(file.parent_path());
        write_file(file, text);
    };
    write("bash-completion/completions/accrue", completion_script("bash"));
    write("zsh/site-functions/_accrue", completion_script("zsh"));
    write("fish/vendor_completions.d/accrue.fish", completion_script("fish"));
    write("man/man1/accrue.1", manual_page(app, app));
    for (const CLI::App* command : app.get_subcommands({}))
        write(fmt::format("man/man1/{}.1", manual_name(app, *command)), manual_page(app, *command));
}

}  // namespace accrue::app
