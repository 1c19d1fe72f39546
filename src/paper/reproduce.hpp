// The paper's figures and Table 1, computed again: numbers, pictures, and one page that shows them beside what it says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace accrue {

struct ReproduceOptions {
    std::vector<std::string> items;  // of reproducible_items()
    std::size_t runs = 0;            // 0: as many as the paper had
    std::vector<std::string> sets;   // of table1, by id (boston, ...); empty: all
    std::string data;                // folder of the UCI sets, for table1
    std::string folder;              // to write to; holds the finished runs, from which an interrupted call goes on
    std::uint64_t seed = 1;
    std::string command;  // for the page
};

// figure1 ... figure7, table1.
std::vector<std::string> reproducible_items();

struct ReproduceProgress {
    const std::string& item;  // that the last run was of
    std::size_t done;         // runs, found in the folder or computed
    std::size_t all;
    double share;  // of this call's work that is done, by the time that runs usually take; 0 to 1
};

// Called after every run; false stops, and Interrupted is thrown.
using ReproduceWatcher = std::function<bool(const ReproduceProgress&)>;

// Returns the paths of what was written: ITEM.json and ITEM.csv, index.html, and pictures where they can be drawn.
// `missing` receives a sentence where they cannot. Throws InputError for another item, or a data set that is missing or
// has another shape.
std::vector<std::string> reproduce(const ReproduceOptions& options, const ReproduceWatcher& watcher,
                                   std::string& missing);

}  // namespace accrue
