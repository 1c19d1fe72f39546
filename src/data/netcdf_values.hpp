// What a stored number of a NetCDF variable means.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "accrue/table.hpp"
#include "data/netcdf_file.hpp"

namespace accrue::data {

// Stored numbers become values = stored * scale_factor + add_offset, or NaN where they are missing: equal to
// _FillValue, to one of missing_value or (without _FillValue, and not for bytes) to the library's fill value of the
// type; outside valid_min, valid_max or valid_range; or NaN. These attributes speak of stored numbers, except that
// limits of another kind than the stored integers speak of values. _Unsigned = "true" is honoured. A time is converted
// to seconds since 1970 where its units can be read and stays as it is otherwise.
class ValueDecoder {
public:
    // Throws InputError when an attribute that changes values is a text.
    ValueDecoder(const NetcdfFile& file, const NetcdfVariable& variable, Kind kind);

    void decode(std::span<double> values) const;
    // Whether times are converted to seconds since 1970.
    bool is_dated() const { return dated_; }

private:
    struct Limits {
        double least = -std::numeric_limits<double>::infinity();
        double most = std::numeric_limits<double>::infinity();
    };

    double stored(double value) const { return value < 0 ? value + wrap_ : value; }

    std::vector<double> missing_;
    Limits stored_limits_;
    Limits limits_;
    double scale_ = 1;
    double offset_ = 0;
    double wrap_ = 0;  // added to negative stored numbers
    bool dated_ = false;
};

}  // namespace accrue::data
