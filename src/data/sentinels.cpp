#include "data/sentinels.hpp"

#include <algorithm>
#include <cmath>

#include "accrue/messages.hpp"
#include "core/error.hpp"

namespace accrue::data {

namespace {

constexpr double kShare = 0.005;
constexpr std::size_t kFewDifferent = 10;

}  // namespace

void SentinelWatch::End::add(double value) {
    if (value == outermost) {
        ++count;
    } else if (value > outermost) {
        next = outermost;
        outermost = value;
        count = 1;
    } else {
        next = std::max(next, value);
    }
}

void SentinelWatch::add(std::span<const double> values) {
    for (const double value : values) {
        if (std::isnan(value)) continue;
        ++rows_;
        // Most values lie between the ends.
        if (-value > least_.next) least_.add(-value);
        if (value > greatest_.next) greatest_.add(value);
        if (different_.size() < kFewDifferent &&
            std::find(different_.begin(), different_.end(), value) == different_.end())
            different_.push_back(value);
    }
}

std::vector<Message> SentinelWatch::remarks() const {
    if (different_.size() < kFewDifferent) return {};
    std::vector<Message> remarks;
    const auto look_at = [&](const End& end, double sign, double other_end) {
        const double value = sign * end.outermost;
        const double next = sign * end.next;
        const double share = static_cast<double>(end.count) / static_cast<double>(rows_);
        if (!(share > kShare && std::abs(value - next) > std::abs(next - other_end))) return;
        remarks.push_back(core::message(
            "column '{}' is {} in {:.1f}% of the rows, far from all other values ({} to {}); if that means a missing "
            "value, use {}",
            printable(column_), value, 100 * share, std::min(next, other_end), std::max(next, other_end),
            core::option("missing_value", fmt::format("{}={}", column_, value))));
    };
    look_at(least_, -1, greatest_.outermost);
    look_at(greatest_, 1, -least_.outermost);
    return remarks;
}

}  // namespace accrue::data
