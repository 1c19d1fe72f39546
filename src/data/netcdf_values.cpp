#include "data/netcdf_values.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/netcdf_time.hpp"

namespace accrue::data {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// What the library puts where nothing was written. For bytes every value is taken to be meant.
std::optional<double> default_fill(nc_type type) {
    switch (type) {
        case NC_SHORT:
            return NC_FILL_SHORT;
        case NC_USHORT:
            return NC_FILL_USHORT;
        case NC_INT:
            return NC_FILL_INT;
        case NC_UINT:
            return NC_FILL_UINT;
        case NC_INT64:
            return static_cast<double>(NC_FILL_INT64);
        case NC_UINT64:
            return static_cast<double>(NC_FILL_UINT64);
        case NC_FLOAT:
            return static_cast<double>(NC_FILL_FLOAT);
        case NC_DOUBLE:
            return NC_FILL_DOUBLE;
        default:
            return std::nullopt;
    }
}

bool is_floating(nc_type type) {
    return type == NC_FLOAT || type == NC_DOUBLE;
}

}  // namespace

ValueDecoder::ValueDecoder(const NetcdfFile& file, const NetcdfVariable& variable, Kind kind) {
    const auto numbers = [&](const char* name) {
        std::vector<double> values = file.number_attribute(variable.id, name);
        core::require(!values.empty() || !file.has_attribute(variable.id, name),
                      "{} variable '{}': its attribute '{}' is not a number", display_name(file.path()),
                      printable(variable.name), name);
        return values;
    };

    const bool is_signed = variable.type == NC_BYTE || variable.type == NC_SHORT || variable.type == NC_INT;
    if (is_signed && file.text_attribute(variable.id, "_Unsigned") == "true")
        wrap_ = std::ldexp(1.0, static_cast<int>(8 * type_size(variable.type)));

    const bool has_fill = file.has_attribute(variable.id, "_FillValue");
    for (const char* name : {"_FillValue", "missing_value"}) {
        // Texts here ("none") are seen in the wild and mean nothing to numbers.
        for (const double value : file.number_attribute(variable.id, name)) {
            missing_.push_back(stored(value));
            // A double such as -999.9 as the mark of floats.
            if (variable.type == NC_FLOAT) missing_.push_back(static_cast<double>(static_cast<float>(value)));
        }
    }
    if (const auto fill = default_fill(variable.type); fill && !has_fill) missing_.push_back(stored(*fill));
    std::sort(missing_.begin(), missing_.end());
    missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
    std::erase_if(missing_, [](double value) { return std::isnan(value); });

    if (const auto scale = numbers("scale_factor"); !scale.empty()) scale_ = scale.front();
    if (const auto offset = numbers("add_offset"); !offset.empty()) offset_ = offset.front();

    const auto limit = [&](const char* name, double value, bool least) {
        const bool of_values = is_floating(file.attribute_type(variable.id, name)) && !is_floating(variable.type);
        if (std::isnan(value)) return;
        Limits& limits = of_values ? limits_ : stored_limits_;
        if (!of_values) value = stored(value);
        if (least)
            limits.least = value;
        else
            limits.most = value;
    };
    if (const auto range = numbers("valid_range"); range.size() == 2) {
        limit("valid_range", range[0], true);
        limit("valid_range", range[1], false);
    }
    if (const auto least = numbers("valid_min"); !least.empty()) limit("valid_min", least.front(), true);
    if (const auto most = numbers("valid_max"); !most.empty()) limit("valid_max", most.front(), false);

    if (kind != Kind::time) return;
    const auto time = parse_time_units(file.text_attribute(variable.id, "units").value_or(""),
                                       file.text_attribute(variable.id, "calendar").value_or(""));
    if (!time) return;
    dated_ = true;
    limits_.least = limits_.least * time->seconds + time->origin;
    limits_.most = limits_.most * time->seconds + time->origin;
    scale_ *= time->seconds;
    offset_ = offset_ * time->seconds + time->origin;
}

void ValueDecoder::decode(std::span<double> values) const {
    for (double& value : values) {
        const double number = stored(value);
        // A NaN is inside no limits.
        bool good = number >= stored_limits_.least && number <= stored_limits_.most;
        for (const double missing : missing_) good = good && number != missing;
        const double result = number * scale_ + offset_;
        good = good && result >= limits_.least && result <= limits_.most;
        value = good ? result : kNaN;
    }
}

}  // namespace accrue::data
