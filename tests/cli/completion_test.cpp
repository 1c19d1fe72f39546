// Completion in real shells, and the manual pages. What they must know is read from the help texts.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "cli/cli_test.hpp"

namespace accrue::test {
namespace {

using Names = std::set<std::string>;

class Completion : public CliTest {
protected:
    // Names of a section of a help text: "Subcommands:", or "Options:", of which the long ones.
    static Names in_help(const std::string& help, const std::string& section) {
        std::istringstream lines(help.substr(help.find(section + "\n") + section.size() + 1));
        Names names;
        for (std::string line; std::getline(lines, line) && !line.empty();) {
            std::smatch found;
            if (std::regex_search(line, found, std::regex("^  (-[a-z],)?((--)?[a-z][a-z-]*)"))) names.insert(found[2]);
        }
        return names;
    }
    static Names commands() { return in_help(output({"--help"}), "Subcommands:"); }
    static Names options(const std::string& command) { return in_help(output({command, "--help"}), "Options:"); }

    // What a shell's script leaves behind, line by line.
    std::string in_shell(const std::string& shell, const std::string& script) const {
        const std::string bin = std::filesystem::path(support::binary()).parent_path();
        const std::string file = folder_.file("script", script);
        const std::string paths = fmt::format("PATH={}:{}", bin, std::getenv("PATH"));
        const Ended run =
            support::run({"/usr/bin/env", "-C", folder_.folder(), paths, "HOME=" + folder_.folder(), shell, file});
        EXPECT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.err, "");
        return run.out;
    }
    // The candidates and what bash was told to do with them. Its own compopt works only while someone types.
    std::string in_bash(const std::string& line) const {
        return in_shell("bash",
                        fmt::format("set -u\neval \"$(accrue completion bash)\"\n"
                                    "compopt() {{ echo \"($*)\"; }}\n"
                                    "COMP_LINE={} COMP_POINT=${{#COMP_LINE}}\n_accrue accrue\n"
                                    "if ((${{#COMPREPLY[@]}})); then printf '%s\\n' \"${{COMPREPLY[@]}}\"; fi\n",
                                    quoted(line)));
    }
    std::string in_fish(const std::string& line) const {
        return in_shell("fish", fmt::format("accrue completion fish | source\ncomplete -C {}\n", quoted(line)));
    }
    // What zsh's own functions are given.
    std::string in_zsh(const std::string& words, const std::string& last) const {
        return in_shell("zsh", fmt::format("compdef() {{ }}\neval \"$(accrue completion zsh)\"\n"
                                           "_describe() {{ print -l -- ${{(P)4}} ${{@[5,-1]}} }}\n"
                                           "_files() {{ print -l -- files $@ }}\ncompset() {{ print -l -- $@ }}\n"
                                           "words=(accrue {} {}) CURRENT=${{#words}} PREFIX={}\n_accrue\n",
                                           words, quoted(last), quoted(last)));
    }
    static std::string quoted(const std::string& text) { return "'" + text + "'"; }
    // The first column of the lines, without what is not a candidate.
    static Names candidates(const std::string& lines, char end) {
        Names names;
        std::istringstream stream(lines);
        for (std::string line; std::getline(stream, line);)
            if (!line.starts_with('(')) names.insert(line.substr(0, line.find(end)));
        return names;
    }
};

TEST_F(Completion, OffersEveryOptionOfEveryCommandInEveryShell) {
    EXPECT_GE(commands().size(), 9U);
    for (const std::string& command : commands()) {
        SCOPED_TRACE(command);
        const Names expected = options(command);
        EXPECT_TRUE(expected.count("--help"));
        EXPECT_EQ(candidates(in_bash("accrue " + command + " --"), '\n'), expected);
        EXPECT_EQ(candidates(in_zsh(command, "--"), ':'), expected);
        EXPECT_EQ(candidates(in_fish("accrue " + command + " --"), '\t'), expected);
    }
}

TEST_F(Completion, OffersTheCommands) {
    EXPECT_EQ(candidates(in_bash("accrue "), '\n'), commands());
    EXPECT_EQ(candidates(in_zsh("", ""), ':'), commands());
    EXPECT_EQ(candidates(in_fish("accrue "), '\t'), commands());
    EXPECT_EQ(in_bash("accrue ev"), "(+o default)\nevaluate\n");
    EXPECT_EQ(in_bash("accrue nothing "), "(+o default)\n");
}

TEST_F(Completion, OffersChoices) {
    EXPECT_EQ(in_bash("accrue fit a.csv --form "), "(+o default)\nauto\nclusters\nconstant\nnetwork\npolynomial\n");
    EXPECT_EQ(in_bash("accrue fit a.csv --form=ne"), "(+o default)\nnetwork\n");
    EXPECT_EQ(in_zsh("fit a.csv", "--form=ne"), "--form=network\n");
    EXPECT_EQ(in_fish("accrue fit a.csv --form=ne"), "--form=network\n");
    EXPECT_EQ(in_bash("accrue generate lo"), "(+o default)\nlorenz\n");
    EXPECT_EQ(in_bash("accrue reproduce figure7"), "(+o default)\nfigure7\n");
    EXPECT_EQ(in_bash("accrue completion z"), "(+o default)\nzsh\n");
    EXPECT_EQ(in_bash("accrue fit a.csv --folds "), "(+o default)\n") << "a number has no candidates, and is no file";
}

TEST_F(Completion, LeavesFilesAndFoldersToTheShell) {
    for (const std::string line :
         {"fit ", "fit a.csv ", "predict ", "predict m.json a", "fit a.csv -o ", "show ", "evaluate a.csv --model "}) {
        SCOPED_TRACE(line);
        EXPECT_EQ(in_bash("accrue " + line), "");
    }
    folder_.file("archive.csv", "x,y\n");
    std::filesystem::create_directory(folder_.path("archives"));
    EXPECT_EQ(in_bash("accrue fit a.csv --figures "), "(+o default -o dirnames)\n");
    EXPECT_EQ(in_zsh("fit", "a"), "files\n");
    EXPECT_EQ(in_zsh("fit", "--figures=a"), "-P\n*=\nfiles\n-/\n");
    EXPECT_EQ(candidates(in_fish("accrue fit ar"), '\t'), (Names{"archive.csv", "archives/"}));
    EXPECT_EQ(candidates(in_fish("accrue fit --figures=ar"), '\t'), Names{"--figures=archives/"});
}

TEST_F(Completion, OffersTheColumnsOfTheFileOnTheLine) {
    folder_.file("archive.csv", "lead,wind speed,wdir,mu,y\n1,2,3,4,5\n");
    folder_.file("my data.csv", "only,these\n1,2\n");
    EXPECT_EQ(in_bash("accrue fit archive.csv --prediction "), "(+o default)\nlead\nwind\\ speed\nwdir\nmu\ny\n");
    EXPECT_EQ(in_bash("accrue fit archive.csv --inputs lead,w"),
              "(+o default -o nospace)\nlead,wind\\ speed\nlead,wdir\n");
    EXPECT_EQ(in_bash("accrue fit archive.csv --inputs=lead,wdi"), "(+o default -o nospace)\nlead,wdir\n");
    EXPECT_EQ(in_bash("accrue fit archive.csv --inputs mu,l"), "(+o default -o nospace)\nmu,lead\n");
    EXPECT_EQ(in_bash("accrue fit archive.csv --inputs lead,le"), "(+o default -o nospace)\n") << "it is there already";
    EXPECT_EQ(in_bash("accrue predict model.json archive.csv --prediction m"), "(+o default)\nmu\n");
    EXPECT_EQ(in_bash("accrue fit my\\ data.csv --by t"), "(+o default)\nthese\n");
    EXPECT_EQ(in_zsh("fit my\\ data.csv --by", "t"), "these\n");
    EXPECT_EQ(in_fish("accrue fit archive.csv --inputs lead,wd"), "lead,wdir\n");
    // A file that is not there, or not a table, is for the command to complain about.
    folder_.file("empty.csv", "");
    for (const char* file : {"missing.csv", "empty.csv", "-", "."})
        EXPECT_EQ(in_bash(fmt::format("accrue fit {} --group ", file)), "(+o default)\n") << file;
}

class Manual : public Completion {
protected:
    // A page as man shows it. Warnings of the formatter are errors.
    static std::string shown(const std::string& page) {
        const Ended run = support::run({"/usr/bin/env", "MANWIDTH=200", "LC_ALL=C.UTF-8", "MAN_KEEP_FORMATTING=", "man",
                                        "--warnings=w", "-E", "UTF-8", "-l", page});
        EXPECT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.err, "");
        return run.out;
    }
};

TEST_F(Manual, HasEveryOptionAndExampleOfEveryCommand) {
    for (const std::string& command : commands()) {
        SCOPED_TRACE(command);
        const std::string page = shown(folder_.file("page.1", output({"man", command})));
        for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"})
            EXPECT_NE(page.find(fmt::format("\n{}\n", section)), std::string::npos) << section;
        for (const std::string& option : options(command))
            EXPECT_TRUE(std::regex_search(page, std::regex("\n +(-[a-z], )?" + option + "[ \n]"))) << option;
        const std::string help = output({command, "--help"});
        std::istringstream examples(help.substr(help.find("\nExamples:\n")));
        std::string line;
        while (std::getline(examples, line))
            if (line.starts_with("  ")) {
                EXPECT_NE(page.find(line.substr(2)), std::string::npos) << line;
            }
    }
}

TEST_F(Manual, OfTheCommandItselfNamesTheOthers) {
    const std::string page = shown(folder_.file("page.1", output({"man"})));
    for (const std::string& command : commands()) {
        EXPECT_TRUE(std::regex_search(page, std::regex("\n +" + command + "[ \n]"))) << command;
        EXPECT_NE(page.find("accrue-" + command + "(1)"), std::string::npos) << command;
    }
    EXPECT_NE(page.find("\nEXIT STATUS\n"), std::string::npos);
}

TEST_F(Manual, OfNoCommandIsRefused) {
    EXPECT_EQ(refusal(accrue({"man", "fti"})),
              "there is no command 'fti'; did you mean 'fit'? Commands: generate, fit, predict, evaluate, replay, "
              "update, monitor, report, reproduce, show, completion, man");
    EXPECT_EQ(refusal(accrue({"completion", "tcsh"})),
              "SHELL: must be one of bash, zsh, fish, but it is 'tcsh' ('accrue completion --help' explains the "
              "options)");
    EXPECT_EQ(refusal(accrue({"__complete", "what"})),
              "__complete is for the shells' scripts, which 'accrue completion' writes");
}

}  // namespace
}  // namespace accrue::test
