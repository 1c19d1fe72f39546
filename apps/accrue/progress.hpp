// Progress of a fit on standard error: a live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>

#include "accrue/fit.hpp"

namespace accrue::app {

class Progress {
public:
    explicit Progress(bool quiet);
    ~Progress();
    bool operator()(const FitProgress& progress);

private:
    std::string left(const FitProgress& progress) const;

    bool quiet_;
    bool live_;
    bool shown_ = false;
    std::size_t finished_ = 0;
    std::chrono::steady_clock::time_point begin_;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace accrue::app
