// What can stand next on a command line. All of it is found in the commands' own definitions: their names, their
// options and the names of the types of their values (FILE, FOLDER, COLUMN, {one,of,these}).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"

namespace accrue::app {

struct Candidate {
    std::string text;
    std::string help = {};
};

struct Completion {
    enum class Kind {
        words,    // the candidates
        list,     // the candidates, after which a comma may follow
        files,    // whatever files there are
        folders,  // likewise
    };
    Kind kind = Kind::words;
    std::vector<Candidate> candidates = {};
};

// For the last of the words, which may be empty; the name of the program is not among them.
Completion complete(const CLI::App& app, const std::vector<std::string>& words);

// The words of a line that someone is still typing in a shell, without its quotes; the last is the unfinished one, and
// empty after a blank.
std::vector<std::string> shell_words(std::string_view line);

// What the scripts ask: "accrue __complete words fit --fo", or "accrue __complete line 'accrue fit --fo'". The answer
// is a line with text, tab and help for each candidate, then one of ":words", ":list", ":files" and ":folders".
std::string answer_completion(const CLI::App& app, const std::vector<std::string>& question);

// The script that makes a shell complete the command line: "bash", "zsh", "fish".
std::string_view completion_script(std::string_view shell);
std::vector<std::string> completion_shells();

}  // namespace accrue::app
