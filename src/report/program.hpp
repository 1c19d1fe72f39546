// Other programs, run and waited for.
#pragma once

#include <string>
#include <vector>

#include "accrue/error.hpp"

namespace accrue::report {

// Something that drawing needs is not installed, or was not when accrue was built.
class MissingProgram : public MachineError {
public:
    using MachineError::MachineError;
};

// Runs a program of the search path with its arguments; its standard input and output are files. Throws MachineError,
// with what the program wrote to standard error, when it cannot be started (MissingProgram when there is none) or does
// not exit with 0; `purpose` says
// what it was for, and `hint` where it comes from.
struct Program {
    std::vector<std::string> command;
    std::string input;   // file; empty: none
    std::string output;  // file
    std::string errors;  // file
    std::string purpose;
    std::string hint;
};
void run(const Program& program);

}  // namespace accrue::report
