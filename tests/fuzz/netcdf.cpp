// Classic NetCDF: any bytes are read or refused; slabs of any size give the same table; values are those that the
// library reads at one go; a transformed file keeps them and holds what was computed. NetCDF-4 is left out: HDF5 itself
// does not survive mutated files, and docs call them trusted input.
#include <algorithm>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "data/netcdf.hpp"
#include "data/netcdf_file.hpp"
#include "data/transform.hpp"
#include "fuzz/target.hpp"

namespace accrue::fuzz {

namespace {

template <typename Action>
std::string answer(Action&& action) {
    try {
        return action();
    } catch (const InputError& error) {
        const std::string message = error.what();
        expect(message.find('\n') == std::string::npos, "a message has several lines: {}", message);
        return "refused: " + message;
    }
}

std::string rendered(const Table& table, const std::vector<ColumnRequest>& columns) {
    std::string all = fmt::format("{} rows, {} dropped\n", table.rows(), table.dropped());
    for (const ColumnRequest& column : columns) {
        if (column.kind == Kind::text) {
            const TextColumn& text = table.text(column.name);
            for (const std::uint32_t code : text.codes) all += text.labels.at(code) + ";";
        } else {
            for (const double value : table.numbers(column.name))
                all += std::isnan(value) ? "nan;" : fmt::format("{:a};", value);
        }
        all += "\n";
    }
    return all;
}

// Where nothing changes the stored numbers, rows are the variable's values in their order.
void check_values(const std::string& path, const std::string& name) {
    const data::NetcdfFile file(path);
    const data::NetcdfVariable* variable = file.find(name);
    if (variable == nullptr || !variable->is_number() || !file.attribute_names(variable->id).empty()) return;
    std::vector<std::size_t> start(variable->dimensions.size(), 0);
    std::vector<std::size_t> count;
    std::size_t elements = 1;
    for (const int id : variable->dimensions) {
        count.push_back(file.dimension(id).size);
        elements *= count.back();
    }
    if (elements == 0 || elements > 4096) return;
    std::vector<double> stored(elements);
    if (data::netcdf().get_vara_double(file.id(), variable->id, start.data(), count.data(), stored.data()) != NC_NOERR)
        return;
    ReadOptions options;
    options.missing = Missing::keep;
    try {
        const Table table = read_table({path}, {{name}}, options);
        const auto values = table.numbers(name);
        expect(values.size() == elements, "'{}' has {} rows of {}", name, values.size(), elements);
        for (std::size_t i = 0; i < elements; ++i)
            // Missing where it equals the fill value of its type.
            expect(std::isnan(values[i]) || values[i] == stored[i], "'{}' holds {} for {}", name, values[i], stored[i]);
    } catch (const InputError&) {
    }
}

void check_transform(const std::string& path, const std::string& name) {
    const std::string output = scratch_folder() + "/out.nc";
    data::TransformPlan plan;
    plan.inputs = {{name}};
    plan.added.push_back({"twice", "twice as much"});
    plan.added.push_back({"q0.5", "median"});
    plan.added.back().probability = 0.5;
    plan.history = "fuzz";
    const std::string done = answer([&] {
        data::transform_netcdf({path}, output, plan, [](auto values, auto results, std::size_t) {
            for (std::size_t i = 0; i < results[0].size(); ++i)
                results[0][i] = results[1][i] = values[0][i] / 2 + values[0][i] * 1.5;
        });
        return std::string();
    });
    if (!done.empty()) {
        expect(clear_scratch_folder() == 0, "files are left after '{}'", done);
        return;
    }

    ReadOptions options;
    options.missing = Missing::keep;
    const std::string before = answer([&] { return rendered(read_table({path}, {{name}}, options), {{name}}); });
    const std::string after = answer([&] { return rendered(read_table({output}, {{name}}, options), {{name}}); });
    if (!before.starts_with("refused")) expect(before == after, "'{}' was '{}' and is '{}'", name, before, after);
    options.rows_of = name;
    try {
        const Table table = read_table({output}, {{name}, {"twice"}}, options);
        for (std::size_t i = 0; i < table.rows(); ++i) {
            const double value = table.numbers(name)[i];
            const double wanted = value / 2 + value * 1.5;
            expect(same_bits(table.numbers("twice")[i], wanted) || !std::isfinite(wanted) || wanted > 9.9e36,
                   "row {}: {} became {}", i, value, table.numbers("twice")[i]);
        }
    } catch (const InputError& error) {
        expect(before.starts_with("refused"), "the result is refused: {}", error.what());
    }
    expect(clear_scratch_folder() == 1, "more files than the result");
}

}  // namespace

// A byte of choices, one for the size of slabs, then the file.
void run(std::span<const std::uint8_t> input) {
    Bytes bytes(input);
    const std::uint8_t choice = bytes.byte();
    const std::size_t slab = std::size_t{8} * (1 + bytes.byte());
    const std::string_view content = bytes.rest();
    if (!content.starts_with("CDF")) return;
    const InputPath file(content, InputPath::Kind::regular);
    if (!data::is_netcdf(file.path())) return;

    ReadOptions options;
    options.missing = static_cast<Missing>(choice % 3);
    std::vector<std::string> names;
    const std::string listed = answer([&] {
        names = column_names(file.path(), options);
        return std::string();
    });
    if (!listed.empty() || names.empty()) return;
    answer([&] { return fmt::format("{}", fmt::join(numeric_columns(file.path(), options), ",")); });

    options.rows_of = names[choice / 3 % names.size()];
    std::vector<ColumnRequest> columns;
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i)
        columns.push_back({names[(i + choice / 16) % names.size()], static_cast<Kind>((choice / 32 + i) % 3)});
    const std::string whole = answer([&] { return rendered(read_table({file.path()}, columns, options), columns); });
    options.slab_bytes = slab;
    const std::string slabs = answer([&] { return rendered(read_table({file.path()}, columns, options), columns); });
    expect(whole == slabs, "slabs of {} bytes: '{}', whole: '{}'", slab, slabs, whole);
    for (const std::string& name : names) check_values(file.path(), name);
    check_transform(file.path(), names[choice / 8 % names.size()]);
}

}  // namespace accrue::fuzz
