// What a fit runs in: who watches it, which processes share its work, and where it keeps what is done.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "accrue/progress.hpp"

namespace accrue {

// Processes that make the same fit of the same rows, each of which does a part of the work.
class Processes {
public:
    virtual ~Processes() = default;
    virtual std::size_t count() const = 0;
    virtual std::size_t own() const = 0;  // the number of this one, from 0
    // Each gives a text, and each gets those of all, in the order of their numbers. Waits for the others.
    virtual std::vector<std::string> exchange(const std::string& text) const = 0;
    // Whether one that throws ends all of them at once, without a last exchange. Else it tells the others, which hear
    // of it when they have done their own part.
    virtual bool end_together() const { return false; }
};

struct Context {
    Context() = default;
    template <std::convertible_to<FitWatcher> Watcher>
    Context(Watcher&& watch) : watcher(std::forward<Watcher>(watch)) {}  // NOLINT: a watcher is all of most contexts

    FitWatcher watcher = {};
    // Starts are dealt among these; the model is the same, byte for byte, for any number of them. Null: this one alone.
    const Processes* processes = nullptr;
    // A folder that holds every start that has ended, until the caller removes it (remove_checkpoint). Empty: none.
    std::string checkpoint = {};
    // Goes on with what an earlier run of the same fit left there, to the same model. Else a folder that holds some is
    // refused.
    bool resume = false;
};

// Removes what fits have kept in this folder, and the folder when nothing else is in it.
void remove_checkpoint(const std::string& folder) noexcept;

}  // namespace accrue
