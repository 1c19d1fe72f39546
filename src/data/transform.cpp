#include "data/transform.hpp"

#include <algorithm>
#include <string_view>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/files.hpp"
#include "data/formats.hpp"
#include "data/isolated.hpp"
#include "data/unpacked_file.hpp"

namespace accrue::data {

void transform_rows(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                    const ComputeRows& compute) {
    core::require(!files.empty(), "no input file was given");
    for (std::size_t i = 0; i < plan.added.size(); ++i) {
        const auto same = [&](const AddedColumn& other) { return other.name == plan.added[i].name; };
        const auto end = plan.added.begin() + static_cast<std::ptrdiff_t>(i);
        core::require(std::none_of(plan.added.begin(), end, same), "the column '{}' would be added twice",
                      printable(plan.added[i].name));
    }
    if (is_compressed(output))
        core::refuse("{} would not be compressed: its name should not end in {}", display_name(output),
                     output.substr(output.rfind('.')));
    const Format& format = format_of(files.front());
    for (const std::string& file : files)
        core::require(&format_of(file) == &format, "{} is {}, but {} is {}; they cannot become one file",
                      display_name(file), format_of(file).name, display_name(files.front()), format.name);
    for (const Format& other : all_formats())
        for (const std::string_view ending : other.endings)
            core::require(&other == &format || ending.empty() || !output.ends_with(ending),
                          "{} is {}, and so will be the output: its name should end in {}, not {}",
                          display_name(files.front()), format.name, format.endings.front(), ending);
    if (!plan.isolate || !format.can_crash) {
        format.transform(files, output, plan, compute);
        return;
    }
    const Leftovers leftovers(output);
    try {
        run_isolated(
            files.front(), [&](const Send&) { format.transform(files, output, plan, compute); },
            [](std::string_view) {});
    } catch (...) {
        leftovers.remove();
        throw;
    }
}

}  // namespace accrue::data
