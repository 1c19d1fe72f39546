// Rows from NetCDF files, classic and NetCDF-4.
#pragma once

#include <string>
#include <vector>

#include "accrue/table.hpp"
#include "data/table_builder.hpp"
#include "data/transform.hpp"

namespace accrue::data {

// Appends one row for each place of the variable options.rows_of, read slab by slab. Throws InputError for the first
// bad place: "archive.nc variable 'y' at time=3, lat=10: value is missing; ...", where places count from 0.
void read_netcdf(const std::string& file, const ReadOptions& options, TableBuilder& table);

// All variables outside of groups.
std::vector<std::string> netcdf_column_names(const std::string& file, const ReadOptions& options);

// Those that hold numbers, have no dimension that options.rows_of lacks (without it: have any dimension) and are not
// missing in all of the first rows. Scalars are left out, since they are the same in every row and often describe the
// grid.
std::vector<std::string> netcdf_numeric_columns(const std::string& file, const ReadOptions& options);

// What table.hpp says of described_inputs and repeated_labels.
std::vector<std::string> netcdf_described_inputs(const std::string& file, const ReadOptions& options);
std::vector<std::string> netcdf_repeated_labels(const std::string& file, const ReadOptions& options);

// transform_rows for one NetCDF file; netcdf_transform.cpp says what the new file looks like.
void transform_netcdf(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                      const ComputeRows& compute);

}  // namespace accrue::data
