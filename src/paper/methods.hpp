// The methods of Table 1. Each gets the same errors of the same mean on the training rows, and gives a distribution of
// the error to every test row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "accrue/verify.hpp"
#include "paper/rows.hpp"

namespace accrue::paper {

struct Experiment {
    ExperimentRows training;  // y and error make the mean
    ExperimentRows test;
    std::vector<double> training_errors;
    std::vector<double> test_errors;
    std::uint64_t seed = 1;
};

struct Figures {
    double crps = 0;
    double calibration_error = 0;  // 0..1
    double sd_z = 0;
};

struct Method {
    std::string id;
    std::string name;
    bool in_block_a = true;  // with the paper's kind of errors
    bool in_block_b = true;  // with cross-fitted errors
    std::function<Figures(const Experiment&)> score;
};

const std::vector<Method>& methods();

}  // namespace accrue::paper
