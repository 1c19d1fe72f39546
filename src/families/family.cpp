#include "accrue/family.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "families/members.hpp"
#include "families/normal.hpp"
#include "families/panels.hpp"
#include "families/rows.hpp"

namespace accrue {

namespace {

// A new family is one file and one entry here.
std::vector<SharedFamily>& all_families() {
    static std::vector<SharedFamily> all = {normal_family(), families::logistic(), families::student_t(),
                                            families::two_piece_normal(), families::sinh_arcsinh()};
    return all;
}

}  // namespace

void families::require_further(const Family& family, std::size_t values) {
    const std::size_t own = family.further().size() + family.given().size();
    core::require(own == values, "family {} has {} parameters beyond location and scale, but {} values are given",
                  family.name(), own, values);
}

double Family::log_pdf(double u, Further further) const {
    return std::log(pdf(u, further));
}

double Family::squares_below(double u, Further further) const {
    // Over normal scores: below -9 the square is less than 1e-37, above 9 the probability is 1.
    constexpr double kFar = 9;
    const double end = std::min(upper_normal_score(u, further), kFar);
    double sum = end < kFar ? 0 : u - of_normal_score(kFar, further);
    std::vector<double> edges = {-kFar};
    for (const double kink : jumps(further))
        if (kink > edges.back() && kink < end) edges.push_back(kink);
    edges.push_back(end);
    families::for_panels(*this, further, edges, 1, [&](double from, double to, double) {
        families::gauss_places<15>(from, to, [&](double z, double weight) {
            const double p = families::normal_cdf(z);
            double at = 0;
            double slope = 0;  // of u, which is 0 within an atom
            of_normal_scores({&z, 1}, further, &at, &slope);
            sum += weight * p * p * slope;
        });
    });
    return sum;
}

double Family::normal_score(double u, Further further) const {
    return families::normal_score_of(cdf(u, further), survival(u, further));
}

double Family::of_normal_score(double z, Further further) const {
    if (z > 0 && symmetric()) return -of_normal_score(-z, further);  // the lower side has the digits
    constexpr double kLeast = std::numeric_limits<double>::min();
    return quantile(std::clamp(families::normal_cdf(z), kLeast, 1 - 0x1p-53), further);
}

void Family::of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const {
    for (std::size_t i = 0; i < z.size(); ++i) {
        u[i] = of_normal_score(z[i], further);
        const double slope = normal_score_slope(u[i], further);
        slopes[i] = slope > 0 ? 1 / slope : 0;
    }
}

double Family::normal_score_slope(double u, Further further) const {
    const double density = families::normal_pdf(normal_score(u, further));
    return density > 0 ? pdf(u, further) / density : 0;
}

// Scores themselves where bounds and the like act; where tails that fall as a power make u grow as the exponential of
// a square, that square, as long as u is a double. Further out the logarithm.
double Family::unit(double z, Further) const {
    constexpr double kSteep = 4;
    const double far = power_tails() ? 40 : 9;
    const double near = std::min(std::fabs(z), far);
    const double own = power_tails() && near > kSteep ? (near * near / kSteep + kSteep) / 2 : near;
    return std::copysign(own + 2 * std::log(std::max(1.0, std::fabs(z) / far)), z);
}

std::pair<double, double> Family::interval(double level, Further further) const {
    const double low = quantile((1 - level) / 2, further);
    return {low, symmetric() ? -low : quantile((1 + level) / 2, further)};
}

void Family::crps_rows(const Rows& rows, double* values, const RowSlopes* slopes, Precision) const {
    families::for_rows(*this, rows, slopes,
                       [&](std::size_t i, double u, Further own, std::span<double> by) -> families::RowSlope {
                           const double scale = rows.scales[i];
                           values[i] = scale * crps(u, own);
                           if (slopes == nullptr) return {};
                           if (!by.empty()) further_slopes(u, own, {{}, by, {}});
                           for (double& slope : by) slope *= scale;
                           return {scale * (cdf(u, own) - survival(u, own)), values[i]};
                       });
}

void Family::nlpd_rows(const Rows& rows, double* values, const RowSlopes* slopes) const {
    families::for_rows(*this, rows, slopes,
                       [&](std::size_t i, double u, Further own, std::span<double> by) -> families::RowSlope {
                           values[i] = std::log(rows.scales[i]) - log_pdf(u, own);
                           if (slopes == nullptr) return {};
                           if (!by.empty()) further_slopes(u, own, {{}, {}, by});
                           for (double& slope : by) slope = -slope;
                           return {-log_pdf_slope(u, own), 1};
                       });
}

void Family::normal_score_rows(const Rows& rows, double* values, const RowSlopes* slopes) const {
    families::for_rows(*this, rows, slopes,
                       [&](std::size_t i, double u, Further own, std::span<double> by) -> families::RowSlope {
                           values[i] = normal_score(u, own);
                           if (slopes == nullptr) return {};
                           if (!by.empty()) further_slopes(u, own, {by, {}, {}});
                           return {normal_score_slope(u, own), 0};
                       });
}

void Family::cdf_block(std::size_t rows, double* values) const {
    for (std::size_t i = 0; i < rows; ++i) values[i] = cdf(values[i], {});
}

void Family::crps_block(std::size_t rows, const double* errors, const double* scales, double* values) const {
    for (std::size_t i = 0; i < rows; ++i) values[i] = scales[i] * crps(errors[i] / scales[i], {});
}

void Family::nlpd_block(std::size_t rows, const double* errors, const double* scales, double* values) const {
    for (std::size_t i = 0; i < rows; ++i) values[i] = std::log(scales[i]) - log_pdf(errors[i] / scales[i], {});
}

const SharedFamily& family(std::string_view name) {
    const std::vector<SharedFamily>& all = all_families();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one->name() == name; });
    core::require(found != all.end(), "there is no family '{}'; known are {}", printable(name),
                  fmt::join(family_names(), ", "));
    return *found;
}

std::vector<std::string> family_names() {
    std::vector<std::string> names;
    for (const SharedFamily& one : all_families()) names.emplace_back(one->name());
    return names;
}

void register_family(SharedFamily family) {
    const std::vector<std::string> names = family_names();
    core::require(std::find(names.begin(), names.end(), family->name()) == names.end(),
                  "there is already a family '{}'", family->name());
    all_families().push_back(std::move(family));
}

Standardised::Standardised(SharedFamily family, std::vector<double> further)
    : family_(std::move(family)), further_(std::move(further)) {
    families::require_further(*family_, further_.size());
    mean_ = family_->mean(further_);
    sd_ = std::max(family_->sd(further_), families::kLeastSd);
}

Standardised::Standardised(const Family& family, std::span<const double> parameters)
    : family_(SharedFamily(), &family),
      further_(parameters.begin() + 2, parameters.end()),
      mean_(parameters[0]),
      sd_(parameters[1]) {}

std::size_t parameters_per_row(const Family& family) {
    const std::size_t own = family.further().size() + family.given().size();
    return own > 0 ? own + 2 : 0;
}

RowFamilies::RowFamilies(const Families& families, std::size_t rows) : families_(families) {
    core::require(!families.list.empty(), "there is no family");
    core::require(families.codes.empty() || families.codes.size() == rows,
                  "there are {} codes of families, but {} errors", families.codes.size(), rows);
    for (const std::uint32_t code : families.codes)
        core::require(code < families.list.size(), "a row has family {}, but there are {}", code, families.list.size());
    width_ = parameters_per_row(*families.list.front());
    for (const SharedFamily& family : families.list)
        core::require(parameters_per_row(*family) == width_, "rows have families with and without further parameters");
    core::require(families.parameters.size() == width_ * rows,
                  "there are {} parameters of {} rows, but must be {} each", families.parameters.size(), rows, width_);
    if (width_ == 0) alike_.assign(families.list.begin(), families.list.end());
}

RowFamilies::RowFamilies(const RowFamilies& all, std::span<const std::uint32_t> rows)
    : families_(all.families_), width_(all.width_), alike_(all.alike_) {
    for (const std::uint32_t row : rows) {
        if (!families_.codes.empty()) own_codes_.push_back(families_.codes[row]);
        if (width_ == 0) continue;
        const std::span<const double> own = all.parameters(row);
        own_parameters_.insert(own_parameters_.end(), own.begin(), own.end());
    }
    families_.codes = own_codes_;
    families_.parameters = own_parameters_;
}

double Standardised::quantile(double probability) const {
    core::require(probability > 0 && probability < 1, "a probability must be between 0 and 1; it is {}", probability);
    return (family_->quantile(probability, further_) - mean_) / sd_;
}

std::pair<double, double> Standardised::interval(double level) const {
    core::require(level > 0 && level < 1, "a level must be between 0 and 1; it is {}", level);
    const auto [low, high] = family_->interval(level, further_);
    return {(low - mean_) / sd_, (high - mean_) / sd_};
}

void Standardised::cdf_block(std::size_t rows, double* values) const {
    for (std::size_t i = 0; i < rows; ++i) values[i] = u(values[i]);
    if (!further_.empty()) {
        for (std::size_t i = 0; i < rows; ++i) values[i] = family_->cdf(values[i], further_);
        return;
    }
    family_->cdf_block(rows, values);
}

// Calls score(first row, rows, errors about the location, scales) for some rows at a time.
template <typename Score>
void Standardised::for_located(std::size_t rows, const double* errors, const double* sigmas, Score&& score) const {
    constexpr std::size_t kRows = 256;
    std::array<double, kRows> located;
    std::array<double, kRows> scales;
    for (std::size_t at = 0; at < rows; at += kRows) {
        const std::size_t some = std::min(kRows, rows - at);
        for (std::size_t i = 0; i < some; ++i) {
            scales[i] = sigmas[at + i] / sd_;
            located[i] = errors[at + i] + mean_ * scales[i];
        }
        score(at, some, located.data(), scales.data());
    }
}

void Standardised::crps_block(std::size_t rows, const double* errors, const double* sigmas, double* values) const {
    if (!further_.empty()) {
        for (std::size_t i = 0; i < rows; ++i) values[i] = sigmas[i] * crps(errors[i] / sigmas[i]);
        return;
    }
    if (mean_ == 0 && sd_ == 1) return family_->crps_block(rows, errors, sigmas, values);
    for_located(rows, errors, sigmas, [&](std::size_t at, std::size_t some, const double* e, const double* s) {
        family_->crps_block(some, e, s, values + at);
    });
}

void Standardised::nlpd_block(std::size_t rows, const double* errors, const double* sigmas, double* values) const {
    if (!further_.empty()) {
        for (std::size_t i = 0; i < rows; ++i)
            values[i] = std::log(sigmas[i] / sd_) - family_->log_pdf(u(errors[i] / sigmas[i]), further_);
        return;
    }
    if (mean_ == 0 && sd_ == 1) return family_->nlpd_block(rows, errors, sigmas, values);
    for_located(rows, errors, sigmas, [&](std::size_t at, std::size_t some, const double* e, const double* s) {
        family_->nlpd_block(some, e, s, values + at);
    });
}

}  // namespace accrue
