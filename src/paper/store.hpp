// Results of single runs, each a small file, so that an interrupted reproduction goes on where it stopped.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "paper/reproduce.hpp"

namespace accrue::paper {

using Json = nlohmann::ordered_json;

// Some runs, and how long they may take on two cores: of these times only the ratios matter, to tell the time left.
struct Runs {
    std::size_t count = 0;
    double seconds = 0;
};

class Store {
public:
    Store(std::string folder, std::uint64_t seed, ReproduceWatcher watcher);

    // What there will be in all.
    void expect(const Runs& runs) {
        expected_.count += runs.count;
        expected_.seconds += runs.seconds;
    }

    // The result of a run: from its file, or computed and kept there. A file of another build of the library, whose
    // numbers may differ, or of another seed is not used.
    // Throws Interrupted when the watcher says so.
    Json run(const std::string& item, const std::string& name, double seconds, const std::function<Json()>& compute);

    // Random streams of a run: the same for the same seed, item and number.
    std::uint64_t seed(std::size_t run) const { return seed_ * 1'000'003 + run; }

private:
    std::string folder_;
    Json origin_;  // what a kept run must come from to be used
    std::uint64_t seed_;
    ReproduceWatcher watcher_;
    Runs expected_;  // seconds: without the runs that were found
    Runs done_;
};

}  // namespace accrue::paper
