// The real data of Table 1: UCI sets in the form in which the literature exchanges them.
#pragma once

#include <string>
#include <vector>

#include "paper/rows.hpp"

namespace accrue::paper {

struct UciSet {
    const char* id;
    const char* name;  // in the paper's table
    const char* file;
    std::size_t rows;
    std::size_t inputs;  // the first columns; the next one is the target
    std::size_t papers_runs;
    double paper_crps[4];               // CRPS only, RECAL, KM, AR
    double paper_calibration_error[4];  // percent
};

const std::vector<UciSet>& uci_sets();

// Reads a set from a folder; inputs and target standardised over all rows. Throws InputError when it is missing, saying
// where such files come from, or has another shape.
ExperimentRows read_uci(const UciSet& set, const std::string& folder);

}  // namespace accrue::paper
