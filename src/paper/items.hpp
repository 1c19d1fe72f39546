// What can be reproduced: a function for each item, from the store of runs to its section.
#pragma once

#include "paper/section.hpp"
#include "paper/store.hpp"

namespace accrue::paper {

struct Request {
    std::size_t runs = 0;                // 0: the paper's number
    std::string data;                    // folder of the UCI sets
    std::vector<std::string> sets = {};  // of them; empty: all

    std::size_t runs_or(std::size_t papers) const { return runs > 0 ? runs : papers; }
};

struct Item {
    const char* name;
    // What it will ask the store for. Throws where data that it needs are missing.
    Runs (*runs)(const Request&);
    Section (*make)(Store&, const Request&);
};

// Scores of one row: isolines of NLPD and CRPS.
Runs figure1_runs(const Request&);
Section figure1(Store&, const Request&);
// Equal or falling NLPD, and calibration.
Runs figure2_runs(const Request&);
Section figure2(Store&, const Request&);
// The data sets and their Gaussian-process means.
Runs figure3_runs(const Request&);
Section figure3(Store&, const Request&);
// True and estimated sigma of G, Y and W.
Runs figures456_runs(const Request&);
Section figure4(Store&, const Request&);
Section figure5(Store&, const Request&);
Section figure6(Store&, const Request&);
// Predicted and true sigma in five dimensions.
Runs figure7_runs(const Request&);
Section figure7(Store&, const Request&);
// Real data.
Runs table1_runs(const Request&);
Section table1(Store&, const Request&);

}  // namespace accrue::paper
