#include "fit/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/random.hpp"

namespace accrue::fitting {

namespace {

constexpr std::uint64_t kFoldStream = 1'000'003;  // apart from the streams of the starts
constexpr std::uint64_t kCalibrationStream = 1'000'081;

std::vector<std::size_t> by_row(std::size_t rows, std::size_t folds, std::uint64_t seed) {
    std::vector<std::size_t> fold(rows);
    for (std::size_t i = 0; i < rows; ++i) fold[i] = i * folds / rows;
    core::Random(seed, kFoldStream).shuffle(std::span(fold));
    return fold;
}

// Groups in random order, the largest first, each into the fold that has the fewest rows.
std::vector<std::size_t> by_group(const ColumnGrouping& groups, std::size_t folds, std::uint64_t seed) {
    const auto codes = groups.rows.codes;
    std::vector<std::size_t> sizes(groups.rows.labels.size(), 0);
    for (const std::uint32_t code : codes) ++sizes[code];
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < sizes.size(); ++g)
        if (sizes[g] > 0) order.push_back(g);
    core::require(order.size() > 1, "column '{}' has a single group, which cannot be held out; use another column",
                  groups.name);
    core::require(order.size() >= folds,
                  "column '{}' has {} groups, which cannot make {} folds of whole groups; use {} or another column",
                  groups.name, order.size(), folds, core::option("folds", order.size()));
    core::Random(seed, kFoldStream).shuffle(std::span(order));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    std::vector<std::size_t> filled(folds, 0);
    std::vector<std::size_t> fold_of_group(sizes.size(), 0);
    for (const std::size_t group : order) {
        const auto least = static_cast<std::size_t>(std::min_element(filled.begin(), filled.end()) - filled.begin());
        fold_of_group[group] = least;
        filled[least] += sizes[group];
    }
    std::vector<std::size_t> fold(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) fold[i] = fold_of_group[codes[i]];
    return fold;
}

// Rows in the order of time, and the positions in it before which blocks of time may begin: between two time stamps
// that no group spans.
struct TimeOrder {
    std::vector<std::size_t> order, cuts;
};

TimeOrder time_order(const Archive& archive, const ColumnGrouping& groups) {
    const std::size_t rows = archive.times.size();
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return archive.times[a] < archive.times[b]; });
    std::vector<std::size_t> last_of_group;
    if (!groups.rows.codes.empty()) {
        last_of_group.resize(groups.rows.labels.size(), 0);
        for (std::size_t p = 0; p < rows; ++p) last_of_group[groups.rows.codes[order[p]]] = p;
    }
    std::vector<std::size_t> cuts;
    std::size_t open_until = 0;
    for (std::size_t p = 0; p < rows; ++p) {
        if (p > open_until && archive.times[order[p]] != archive.times[order[p - 1]]) cuts.push_back(p);
        if (p > 0 && archive.times[order[p]] == archive.times[order[p - 1]]) open_until = std::max(open_until, p);
        if (!last_of_group.empty()) open_until = std::max(open_until, last_of_group[groups.rows.codes[order[p]]]);
        open_until = std::max(open_until, p);
    }
    return {std::move(order), std::move(cuts)};
}

std::vector<std::size_t> by_time(const Archive& archive, const ColumnGrouping& groups, std::size_t folds) {
    const std::size_t rows = archive.times.size();
    const TimeOrder sorted = time_order(archive, groups);
    const std::vector<std::size_t>& order = sorted.order;
    const std::vector<std::size_t>& cuts = sorted.cuts;
    const bool grouped = !groups.rows.codes.empty();
    const std::string no_group = grouped ? fmt::format(" without splitting a '{}'", groups.name) : "";
    const Message or_split = grouped ? core::message(", or no {}", core::option("fold_group")) : Message();
    core::require(!cuts.empty(),
                  "column '{}' allows a single block of time{}, which cannot be held out; use another column{}",
                  archive.roles.time, no_group, or_split);
    core::require(cuts.size() + 1 >= folds,
                  "column '{}' allows {} blocks of time{}, which cannot make {} folds; use {} or another column{}",
                  archive.roles.time, cuts.size() + 1, no_group, folds, core::option("folds", cuts.size() + 1),
                  or_split);
    std::vector<std::size_t> fold(rows);
    std::size_t first_cut = 0;
    std::size_t begin = 0;
    for (std::size_t f = 0; f < folds; ++f) {
        std::size_t end = rows;
        if (f + 1 < folds) {
            // The allowed cut nearest to an equal share, leaving a cut for each of the folds that follow.
            const std::size_t wanted = (f + 1) * rows / folds;
            const std::size_t most = cuts.size() - (folds - 2 - f);
            std::size_t best = first_cut;
            for (std::size_t c = first_cut; c < most; ++c) {
                const auto distance = [&](std::size_t cut) {
                    return cuts[cut] > wanted ? cuts[cut] - wanted : wanted - cuts[cut];
                };
                if (distance(c) < distance(best)) best = c;
            }
            end = cuts[best];
            first_cut = best + 1;
        }
        for (std::size_t p = begin; p < end; ++p) fold[order[p]] = f;
        begin = end;
    }
    return fold;
}

// Whole groups in random order, each where it brings their number nearer to what is wanted.
std::vector<bool> whole_groups(const ColumnGrouping& groups, std::size_t wanted, std::size_t folds,
                               std::uint64_t seed) {
    const auto codes = groups.rows.codes;
    std::vector<std::size_t> sizes(groups.rows.labels.size(), 0);
    for (const std::uint32_t code : codes) ++sizes[code];
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < sizes.size(); ++g)
        if (sizes[g] > 0) order.push_back(g);
    core::Random(seed, kCalibrationStream).shuffle(std::span(order));
    std::vector<bool> is_taken(sizes.size(), false);
    std::size_t rows = 0;
    std::size_t taken = 0;
    for (const std::size_t group : order) {
        if (2 * (rows + sizes[group]) > 2 * wanted + sizes[group]) continue;
        is_taken[group] = true;
        rows += sizes[group];
        ++taken;
    }
    core::require(taken > 0, "no '{}' is small enough for {}: give a larger share, or another column", groups.name,
                  core::option("calibration_share"));
    core::require(order.size() - taken >= folds,
                  "column '{}' has {} groups, of which {} takes {}: the others cannot make {} folds of whole groups",
                  groups.name, order.size(), core::option("calibration_share"), taken, folds);
    std::vector<bool> own(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) own[i] = is_taken[codes[i]];
    return own;
}

// The latest block of time.
std::vector<bool> latest_rows(const Archive& archive, const ColumnGrouping& groups, std::size_t wanted) {
    const TimeOrder sorted = time_order(archive, groups);
    core::require(!sorted.cuts.empty(), "column '{}' allows a single block of time, of which {} can take no part",
                  archive.roles.time, core::option("calibration_share"));
    const std::size_t rows = archive.times.size();
    const auto distance = [&](std::size_t cut) {
        return cut + wanted > rows ? cut + wanted - rows : rows - wanted - cut;
    };
    const std::size_t cut = *std::min_element(sorted.cuts.begin(), sorted.cuts.end(),
                                              [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    std::vector<bool> own(rows, false);
    for (std::size_t p = cut; p < rows; ++p) own[sorted.order[p]] = true;
    return own;
}

}  // namespace

ColumnGrouping fold_groups(const Archive& archive) {
    if (!archive.fold_groups.codes.empty()) return {archive.roles.fold_group, archive.fold_groups};
    if (archive.times.empty()) return {archive.roles.group, archive.groups};
    return {};
}

std::vector<std::size_t> make_folds(const Archive& archive, std::size_t folds, std::uint64_t seed) {
    const std::size_t rows = archive.errors.size();
    core::require(rows >= folds, "{} row{} cannot make {} folds; use more rows or fewer {}", rows, rows == 1 ? "" : "s",
                  folds, core::option("folds"));
    const ColumnGrouping whole = fold_groups(archive);
    if (!archive.times.empty()) return by_time(archive, whole, folds);
    if (!whole.rows.codes.empty()) return by_group(whole, folds, seed);
    return by_row(rows, folds, seed);
}

std::vector<bool> calibration_rows(const Archive& archive, double share, std::size_t folds, std::uint64_t seed) {
    const std::size_t rows = archive.errors.size();
    const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(rows)));
    const ColumnGrouping whole = fold_groups(archive);
    if (!archive.times.empty()) return latest_rows(archive, whole, wanted);
    if (!whole.rows.codes.empty()) return whole_groups(whole, wanted, folds, seed);
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    core::Random(seed, kCalibrationStream).shuffle(std::span(order));
    std::vector<bool> own(rows, false);
    for (std::size_t k = 0; k < wanted; ++k) own[order[k]] = true;
    return own;
}

}  // namespace accrue::fitting
