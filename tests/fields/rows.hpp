// Standardised rows and parameters to try the fields on.
#pragma once

#include <vector>

#include "accrue/error.hpp"
#include "fields/kinds.hpp"

namespace accrue::fields {

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

// Three inputs, or one where the kind takes no more.
inline std::size_t inputs_of(const std::string& name) {
    try {
        kind(name).make(std::vector<Range>(3, Range{-3, 3}), 1, kind(name).sizes().first);
    } catch (const InputError&) {
        return 1;
    }
    return 3;
}

// Of several sizes one in the middle.
inline std::shared_ptr<const Field> some_field(const std::string& name, std::span<const Range> ranges,
                                               std::size_t outputs = 1) {
    const Kind::Sizes sizes = kind(name).sizes();
    return kind(name).make(ranges, outputs, (sizes.first + sizes.last) / 2);
}

// Parameters of a model as a fit leaves it: every one away from zero, log sigma well inside its bounds.
inline std::vector<double> some_parameters(const Field& field, std::uint64_t seed) {
    core::Random random(seed);
    const std::vector<double> levels(field.outputs(), 0.2);
    const std::vector<double> start = field.start(random, levels);
    for (double step = 0.1;; step /= 2) {  // smaller where larger ones leave what is admissible
        std::vector<double> parameters = start;
        for (double& p : parameters) p += step * random.normal();
        if (field.admissible(parameters)) return parameters;
    }
}

}  // namespace accrue::fields
