#include "data/formats.hpp"

#include <algorithm>

#include "data/csv.hpp"
#include "data/csv_transform.hpp"
#include "data/netcdf.hpp"
#include "data/netcdf_file.hpp"

namespace accrue::data {

namespace {

bool any_file(const std::string&) {
    return true;
}

std::vector<std::string> no_columns(const std::string&, const ReadOptions&) {
    return {};
}

// Text tables have no mark of their own and come last.
constexpr std::array kFormats = {
    Format{"NetCDF",
           {".nc", ".nc4", ".cdf"},
           is_netcdf,
           read_netcdf,
           netcdf_column_names,
           netcdf_numeric_columns,
           netcdf_described_inputs,
           netcdf_repeated_labels,
           transform_netcdf,
           true},
    Format{"a text table",
           {".csv", ".tsv", ".txt"},
           any_file,
           read_csv,
           csv_column_names,
           csv_numeric_columns,
           no_columns,
           no_columns,
           transform_csv,
           false},
};

}  // namespace

std::span<const Format> all_formats() {
    return kFormats;
}

const Format& format_of(const std::string& file) {
    return *std::find_if(kFormats.begin(), kFormats.end(),
                         [&](const Format& format) { return format.recognises(file); });
}

}  // namespace accrue::data
