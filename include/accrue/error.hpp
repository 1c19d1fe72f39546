// What accrue throws. The library never prints and never exits; a caller catches these.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "accrue/message.hpp"

namespace accrue {

// Base of everything that accrue throws by itself.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message, int error_number = 0)
        : std::runtime_error(message), error_number_(error_number) {}
    // The errno of the system call on a file that failed; 0 where none did.
    int error_number() const { return error_number_; }

private:
    int error_number_;
};

// The input breaks a rule: a bad option, an unreadable file, a value that is not allowed. The message
// names the place (file, row, column) and the rule. The command line exits with 2. what() has the command's words.
class InputError : public Error {
public:
    using Error::Error;
    explicit InputError(const char* message) : Error(message) {}
    explicit InputError(Message message)
        : Error(message.text()), message_(std::make_shared<const Message>(std::move(message))) {}

    // The text, for a face that writes options in its own way.
    Message message() const { return message_ ? *message_ : Message(what()); }

private:
    std::shared_ptr<const Message> message_;  // empty: what() names no option
};

// The machine failed while the input was fine: disk full, write refused, no memory. Exit 1.
class MachineError : public Error {
public:
    using Error::Error;
};

// A result that cannot be, such as a negative CRPS: a defect of accrue, stopped before anyone reads it. Exit 1.
class DefectError : public Error {
public:
    using Error::Error;
};

}  // namespace accrue
