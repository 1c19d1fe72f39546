// What accrue throws. The library never prints and never exits; a caller catches these.
#pragma once

#include <stdexcept>

namespace accrue {

// Base of everything that accrue throws by itself.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The input breaks a rule: a bad option, an unreadable file, a value that is not allowed. The message
// names the place (file, row, column) and the rule. The command line exits with 2.
class InputError : public Error {
public:
    using Error::Error;
};

// The machine failed while the input was fine: disk full, write refused, no memory. Exit 1.
class MachineError : public Error {
public:
    using Error::Error;
};

}  // namespace accrue
