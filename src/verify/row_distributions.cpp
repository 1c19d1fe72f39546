#include "verify/row_distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "families/normal.hpp"

namespace accrue::verification {

FamilyRows::FamilyRows(std::span<const double> means, std::span<const double> sigmas, const Families& families)
    : means_(means), sigmas_(sigmas), families_(families, sigmas.size()) {}

void FamilyRows::cdf(double y, std::size_t begin, std::size_t end, double* values) const {
    for (std::size_t i = begin; i < end; ++i) values[i - begin] = (y - mean(i)) / sigmas_[i];
    for (std::size_t from = begin, to = begin; from < end; from = to) {
        to = from + 1;
        if (families_.width() == 0)
            while (to < end && families_.code(to) == families_.code(from)) ++to;
        families_.with(from, [&](const Standardised& family) { family.cdf_block(to - from, values + (from - begin)); });
    }
}

double FamilyRows::quantile(double probability, std::size_t row) const {
    return families_.with(row, [&](const Standardised& family) {
        return family.family().limits().hold(mean(row) + family.quantile(probability) * sigmas_[row], sigmas_[row]);
    });
}

double FamilyRows::crps(double y, std::size_t row) const {
    const double z = (y - mean(row)) / sigmas_[row];
    return families_.with(row, [&](const Standardised& family) { return family.crps(z); }) * sigmas_[row];
}

double FamilyRows::crps_above(double threshold, double y, std::size_t row) const {
    const double from = (threshold - mean(row)) / sigmas_[row];
    const double at = (std::max(y, threshold) - mean(row)) / sigmas_[row];
    // What an observation at the threshold or above it has below the threshold is the square of the cdf alone.
    const double value =
        families_.with(row, [&](const Standardised& family) { return family.crps(at) - family.squares_below(from); });
    return std::max(value, 0.0) * sigmas_[row];
}

std::vector<double> FamilyRows::breakpoints() const {
    constexpr std::size_t kFewRows = 1024;
    constexpr std::size_t kFew = 3072;
    std::vector<double> points;
    if (rows() > kFewRows) return points;
    // Of every row so many quantiles, from -3 standard deviations of a normal distribution to 3.
    const std::size_t levels = std::clamp<std::size_t>(kFew / rows(), 3, 9);
    for (std::size_t row = 0; row < rows(); ++row)
        for (std::size_t k = 0; k < levels; ++k) {
            const double z = -3 + 6 * static_cast<double>(k) / static_cast<double>(levels - 1);
            points.push_back(quantile(families::normal_cdf(z), row));
        }
    return points;
}

void sorted_members(MemberColumns members, std::size_t row, std::vector<double>& sorted) {
    sorted.clear();
    for (const std::span<const double> column : members) sorted.push_back(column[row]);
    std::sort(sorted.begin(), sorted.end());
}

double ensemble_quantile(std::span<const double> sorted, double probability) {
    const auto count = static_cast<double>(sorted.size());
    const double rank = std::clamp(probability * (count + 1), 1.0, count);
    const double below = std::floor(rank);
    const auto k = static_cast<std::size_t>(below) - 1;
    const double share = rank - below;
    return share > 0 ? sorted[k] + share * (sorted[k + 1] - sorted[k]) : sorted[k];
}

EnsembleCrps ensemble_crps(std::span<const double> sorted, double y) {
    const auto count = static_cast<double>(sorted.size());
    double plain = std::max(sorted.front() - y, 0.0) + std::max(y - sorted.back(), 0.0);
    double pairs = 0;  // of |x - x'| over all pairs of members
    for (std::size_t k = 1; k < sorted.size(); ++k) {
        const double below = static_cast<double>(k) / count;
        const double gap = sorted[k] - sorted[k - 1];
        const double left = std::clamp(y - sorted[k - 1], 0.0, gap);  // of the observation
        plain += left * below * below + (gap - left) * (1 - below) * (1 - below);
        pairs += gap * static_cast<double>(k) * (count - static_cast<double>(k));
    }
    if (sorted.size() < 2) return {plain, std::numeric_limits<double>::quiet_NaN()};
    return {plain, plain - pairs / (count * count * (count - 1))};
}

void MemberRows::cdf(double y, std::size_t begin, std::size_t end, double* values) const {
    std::fill(values, values + (end - begin), 0.0);
    for (const std::span<const double> column : members_)
        for (std::size_t i = begin; i < end; ++i) values[i - begin] += column[i] <= y ? 1 : 0;
    for (std::size_t i = 0; i < end - begin; ++i) values[i] /= static_cast<double>(members_.size());
}

double MemberRows::quantile(double probability, std::size_t row) const {
    std::vector<double> sorted;
    sorted_members(members_, row, sorted);
    return ensemble_quantile(sorted, probability);
}

double MemberRows::draw(double uniform, std::size_t row) const {
    const auto count = static_cast<double>(members_.size());
    return members_[static_cast<std::size_t>(std::min(std::floor(uniform * count), count - 1))][row];
}

double MemberRows::crps(double y, std::size_t row) const {
    std::vector<double> sorted;
    sorted_members(members_, row, sorted);
    return ensemble_crps(sorted, y).plain;
}

double MemberRows::crps_above(double threshold, double y, std::size_t row) const {
    // What lies below the threshold is as good as on it.
    std::vector<double> sorted;
    sorted_members(members_, row, sorted);
    for (double& member : sorted) member = std::max(member, threshold);
    return ensemble_crps(sorted, std::max(y, threshold)).plain;
}

std::vector<double> MemberRows::breakpoints() const {
    constexpr std::size_t kFew = 2048;
    std::vector<double> points;
    if (members_.size() * rows() > kFew) return points;
    for (const std::span<const double> column : members_) points.insert(points.end(), column.begin(), column.end());
    return points;
}

}  // namespace accrue::verification
