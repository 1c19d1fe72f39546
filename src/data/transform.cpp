#include "data/transform.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.hpp"
#include "data/csv_transform.hpp"
#include "data/messages.hpp"
#include "data/netcdf.hpp"
#include "data/netcdf_file.hpp"

namespace accrue::data {

namespace {

// A kind of file that columns can be added to.
struct Format {
    const char* name;                         // for messages: "b.nc is ..."
    std::array<std::string_view, 3> endings;  // of names that promise this format
    // Must not read from pipes or standard input: what it took would be gone.
    bool (*recognises)(const std::string& file);
    void (*transform)(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                      const ComputeRows& compute);
};

bool any_file(const std::string&) {
    return true;
}

// The first that recognises a file takes it; text tables have no mark of their own and come last.
constexpr std::array kFormats = {
    Format{"NetCDF", {".nc", ".nc4", ".cdf"}, is_netcdf, transform_netcdf},
    Format{"a text table", {".csv", ".tsv", ".txt"}, any_file, transform_csv},
};

const Format& format_of(const std::string& file) {
    std::size_t i = 0;
    while (!kFormats[i].recognises(file)) ++i;
    return kFormats[i];
}

}  // namespace

void transform_rows(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                    const ComputeRows& compute) {
    core::require(!files.empty(), "no input file was given");
    for (std::size_t i = 0; i < plan.added.size(); ++i) {
        const auto same = [&](const AddedColumn& other) { return other.name == plan.added[i].name; };
        const auto end = plan.added.begin() + static_cast<std::ptrdiff_t>(i);
        core::require(std::none_of(plan.added.begin(), end, same), "the column '{}' would be added twice",
                      printable(plan.added[i].name));
    }
    const Format& format = format_of(files.front());
    for (const std::string& file : files)
        core::require(&format_of(file) == &format, "{} is {}, but {} is {}; they cannot become one file",
                      display_name(file), format_of(file).name, display_name(files.front()), format.name);
    for (const Format& other : kFormats)
        for (const std::string_view ending : other.endings)
            core::require(&other == &format || !output.ends_with(ending),
                          "{} is {}, and so will be the output: its name should end in {}, not {}",
                          display_name(files.front()), format.name, format.endings.front(), ending);
    format.transform(files, output, plan, compute);
}

}  // namespace accrue::data
