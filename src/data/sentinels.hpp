// Numbers that may stand for missing values, found while rows are read.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "accrue/message.hpp"

namespace accrue::data {

// Watches the two ends of a column. Its least or greatest value is a possible sentinel when it stands in over 0.5% of
// the rows and is farther from all others than these are from each other: -9999 among temperatures, but not the 0 of
// rain or the 100 of humidity. Columns with few different values, which may be codes, have none.
class SentinelWatch {
public:
    explicit SentinelWatch(std::string column) : column_(std::move(column)) {}

    void add(std::span<const double> values);
    const std::string& column() const { return column_; }
    // "column 't' is -9999 in 1.2% of the rows, far from all others (-12.5 to 31): ..."
    std::vector<Message> remarks() const;

private:
    // The outermost value, those next to it, in the direction of `sign`.
    struct End {
        double outermost = -std::numeric_limits<double>::infinity();
        double next = -std::numeric_limits<double>::infinity();
        std::size_t count = 0;  // of the outermost
        void add(double value);
    };

    std::string column_;
    End least_, greatest_;  // the first of values with their signs changed
    std::size_t rows_ = 0;
    std::vector<double> different_;  // values, the first few
};

}  // namespace accrue::data
