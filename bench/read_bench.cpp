// Rows from files, all columns: CSV beside getline and strtod, NetCDF beside its library's own call for a variable.
// The files are in the system's cache.
#include <fmt/format.h>
#include <fmt/os.h>
#include <netcdf.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "accrue/generate.hpp"
#include "accrue/table.hpp"
#include "accrue/threads.hpp"
#include "suite.hpp"

namespace accrue::bench {

namespace {

constexpr std::size_t kRows = 200'000;

const GeneratedData& rows() {
    static const GeneratedData data = generate("5D", kRows, 1);
    return data;
}

void check(int status) {
    if (status != NC_NOERR) throw std::runtime_error(nc_strerror(status));
}

std::string csv_file() {
    static const std::unique_ptr<TemporaryFile> file = [] {
        auto made = std::make_unique<TemporaryFile>(".csv");
        auto out = fmt::output_file(made->path());
        out.print("{}\n", fmt::join(rows().names, ","));
        for (std::size_t i = 0; i < kRows; ++i)
            for (std::size_t k = 0; k < rows().columns.size(); ++k)
                out.print("{}{}", rows().columns[k][i], k + 1 < rows().columns.size() ? ',' : '\n');
        return made;
    }();
    return file->path();
}

std::string netcdf_file() {
    static const std::unique_ptr<TemporaryFile> file = [] {
        auto made = std::make_unique<TemporaryFile>(".nc");
        int id = 0;
        int dimension = 0;
        int variable = 0;
        check(nc_create(made->path().c_str(), NC_NETCDF4 | NC_CLOBBER, &id));
        check(nc_def_dim(id, "row", kRows, &dimension));
        for (std::size_t k = 0; k < rows().columns.size(); ++k) {
            check(nc_def_var(id, rows().names[k].c_str(), NC_DOUBLE, 1, &dimension, &variable));
            check(nc_put_var_double(id, variable, rows().columns[k].data()));
        }
        check(nc_close(id));
        return made;
    }();
    return file->path();
}

void read(benchmark::State& state, const std::string& file) {
    std::vector<ColumnRequest> columns;
    for (const std::string& name : rows().names) columns.push_back({name});
    with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state) benchmark::DoNotOptimize(read_table({file}, columns).rows());
    });
}

RowCost cost_of(const std::string& file) {
    return {static_cast<double>(std::filesystem::file_size(file)) / kRows +
                static_cast<double>(rows().columns.size() * sizeof(double)),
            0};
}

void read_csv(benchmark::State& state) {
    read(state, csv_file());
    count_rows(state, kRows, cost_of(csv_file()));
}

void read_csv_reference(benchmark::State& state) {
    const std::string file = csv_file();
    for (auto _ : state) {
        std::ifstream in(file);
        std::string line;
        std::getline(in, line);
        std::vector<std::vector<double>> columns(rows().columns.size());
        while (std::getline(in, line)) {
            char* at = line.data();
            for (auto& column : columns) {
                column.push_back(std::strtod(at, &at));
                ++at;
            }
        }
        if (columns[0].size() != kRows) throw std::runtime_error("not every row was read");
        benchmark::DoNotOptimize(columns.data());
    }
    count_rows(state, kRows, cost_of(file));
}

void read_netcdf(benchmark::State& state) {
    read(state, netcdf_file());
    count_rows(state, kRows, cost_of(netcdf_file()));
}

void read_netcdf_reference(benchmark::State& state) {
    const std::string file = netcdf_file();
    for (auto _ : state) {
        int id = 0;
        int variable = 0;
        check(nc_open(file.c_str(), NC_NOWRITE, &id));
        for (const std::string& name : rows().names) {
            std::vector<double> column(kRows);
            check(nc_inq_varid(id, name.c_str(), &variable));
            check(nc_get_var_double(id, variable, column.data()));
            benchmark::DoNotOptimize(column.data());
        }
        check(nc_close(id));
    }
    count_rows(state, kRows, cost_of(file));
}

BENCHMARK(read_csv_reference)->ArgName("rows")->Arg(kRows)->UseRealTime();
BENCHMARK(read_csv)->ArgNames({"rows", "threads"})->ArgsProduct({{kRows}, thread_counts()})->UseRealTime();
BENCHMARK(read_netcdf_reference)->ArgName("rows")->Arg(kRows)->UseRealTime();
BENCHMARK(read_netcdf)->ArgNames({"rows", "threads"})->ArgsProduct({{kRows}, thread_counts()})->UseRealTime();

}  // namespace

}  // namespace accrue::bench
