// Columns added to delimited text.
#pragma once

#include <string>
#include <vector>

#include "data/transform.hpp"

namespace accrue::data {

// transform_rows for text tables.
void transform_csv(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                   const ComputeRows& compute);

}  // namespace accrue::data
