// How an input becomes the columns of numbers that fields take.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "accrue/inputs.hpp"
#include "fields/field.hpp"

namespace accrue {

// x -> (x - centre)/scale.
struct Scaling {
    double centre = 0;
    double scale = 1;
    double operator()(double value) const { return (value - centre) / scale; }
};

namespace encodings {

// One input of a model. A number is standardised; cyclic values and times become sine and cosine; a category becomes
// its level, which is 0 for values that are not among its labels.
class Encoding {
public:
    Input input;
    std::string name;          // of the input; messages and figures have it
    Scaling scaling = {};      // of numbers
    double low = 0, high = 0;  // of the archive, in the input's own unit; for categories 0 and the last level
    // A missing value stands for the mean (of a category: the common level), and a column of its own, where the archive
    // had such, says so.
    bool imputed = false;
    bool has_indicator = false;
    // Stretches inside that range in which the archive has no rows, though it has many on both sides; of numbers.
    struct Gap {
        double low, high;
    };
    std::vector<Gap> gaps = {};

    void set_labels(std::vector<std::string> labels);
    const std::vector<std::string>& labels() const { return labels_; }
    // What forecast() takes for a value of a category: the place among its labels; -1 for others.
    double code(const std::string& label) const;

    bool is_category() const { return input.kind == InputKind::category; }
    std::size_t columns() const;
    void add_ranges(std::vector<fields::Range>& ranges) const;
    // Of `rows` values column by column. Marks rows outside the archive's range, and rows that have no forecast since
    // a value is missing.
    void encode(const double* values, std::size_t rows, double* out, std::size_t stride, std::uint8_t* off_support,
                std::uint8_t* missing) const;
    // How far a value lies from those of the archive, in standard deviations of the input: 0 within its range, but for
    // its gaps. A category, or a missing value, that the archive did not have is at distance 1.
    double distance(double value) const;
    // "x is 7, but the archive has 0 to 5"
    std::string why_off_support(double value) const;

private:
    std::vector<std::string> labels_;
    std::unordered_map<std::string, double> codes_;
};

// The gaps of an archive's values: stretches of at least a quarter of their standard deviation `scale`, with 5% of the
// values on both sides, that are far longer than values of this density, and of this spacing, leave by chance.
std::vector<Encoding::Gap> gaps_of(std::span<const double> values, double scale);

// Of all inputs together: categories first, as fields want them.
std::size_t column_count(std::span<const Encoding> encodings);
std::vector<fields::Range> column_ranges(std::span<const Encoding> encodings);
// inputs[k] + begin is the first value of encoding k.
void encode(std::span<const Encoding> encodings, std::span<const std::span<const double>> inputs, std::size_t begin,
            std::size_t rows, double* out, std::size_t stride, std::uint8_t* off_support, std::uint8_t* missing);

}  // namespace encodings
}  // namespace accrue
