// Standardised rows and parameters to try the forms on.
#pragma once

#include <vector>

#include "sigma/form.hpp"

namespace accrue::sigma {

// Columns that begin `offset` doubles into their memory, so that tests can move the alignment.
class TestRows {
public:
    TestRows(std::size_t rows, std::size_t inputs, std::uint64_t seed, std::size_t offset = 0, double scale = 1)
        : offset_(offset), rows_(rows), inputs_(inputs), memory_(offset + rows * inputs) {
        core::Random random(seed);
        for (std::size_t i = offset; i < memory_.size(); ++i) memory_[i] = scale * random.normal();
    }

    Columns columns() const { return {memory_.data() + offset_, rows_, inputs_}; }
    double at(std::size_t input, std::size_t row) const { return memory_[offset_ + input * rows_ + row]; }
    std::vector<double>& memory() { return memory_; }
    std::vector<Range> ranges() const { return std::vector<Range>(inputs_, Range{-3, 3}); }

private:
    std::size_t offset_;
    std::size_t rows_;
    std::size_t inputs_;
    std::vector<double> memory_;
};

inline std::size_t inputs_of(const std::string& form) {
    return form == "polynomial" ? 1 : 3;
}

// Parameters of a model as a fit leaves it: every one away from zero, log sigma well inside its bounds.
inline std::vector<double> some_parameters(const Form& form, std::uint64_t seed) {
    core::Random random(seed);
    std::vector<double> parameters = form.start(random, 0.2);
    for (double& p : parameters) p += (form.name() == "polynomial" ? 0.03 : 0.1) * random.normal();
    return parameters;
}

}  // namespace accrue::sigma
