#include "forecast/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "accrue/messages.hpp"

namespace accrue::encodings {

namespace {

constexpr double kDay = 86400;
constexpr double kYear = 365.2425 * kDay;

}  // namespace

void Encoding::set_labels(std::vector<std::string> labels) {
    labels_ = std::move(labels);
    codes_.clear();
    for (std::size_t k = 0; k < labels_.size(); ++k) codes_.emplace(labels_[k], static_cast<double>(k));
    low = 0;
    high = static_cast<double>(labels_.size());
}

double Encoding::code(const std::string& label) const {
    const auto found = codes_.find(label);
    return found == codes_.end() ? -1 : found->second;
}

std::size_t Encoding::columns() const {
    const std::size_t own = input.kind == InputKind::number || is_category() ? 1 : 2;
    return own + (has_indicator ? 1 : 0);
}

void Encoding::add_ranges(std::vector<fields::Range>& ranges) const {
    if (is_category()) {
        ranges.push_back({low, high, labels_.size() + 1});
        return;
    }
    if (input.kind == InputKind::number) {
        ranges.push_back({scaling(low), scaling(high)});
    } else {
        ranges.push_back({-std::numbers::sqrt2, std::numbers::sqrt2});
        ranges.push_back({-std::numbers::sqrt2, std::numbers::sqrt2});
    }
    if (has_indicator) ranges.push_back({0, 1});
}

void Encoding::encode(const double* values, std::size_t rows, double* out, std::size_t stride,
                      std::uint8_t* off_support, std::uint8_t* missing) const {
    if (is_category()) {
        const auto count = static_cast<double>(labels_.size());
        for (std::size_t i = 0; i < rows; ++i) {
            const bool known = values[i] >= 0 && values[i] < count;
            out[i] = known ? std::floor(values[i]) + 1 : 0;
            if (known) continue;
            if (std::isnan(values[i]) && !imputed)
                missing[i] = 1;
            else if (!std::isnan(values[i]))
                off_support[i] = 1;
        }
        return;
    }
    if (input.kind == InputKind::number) {
        for (std::size_t i = 0; i < rows; ++i) {
            out[i] = scaling(values[i]);
            if (values[i] < low || values[i] > high) off_support[i] = 1;
            for (const Gap& gap : gaps)
                if (values[i] > gap.low && values[i] < gap.high) off_support[i] = 1;
        }
    } else {
        const double period = input.kind == InputKind::cyclic ? input.period
                              : input.kind == InputKind::hour ? kDay
                                                              : kYear;
        // Of unit variance over a whole period, as numbers have it.
        for (std::size_t i = 0; i < rows; ++i) {
            const double angle = 2 * std::numbers::pi * (std::fmod(values[i], period) / period);
            out[i] = std::numbers::sqrt2 * std::sin(angle);
            out[stride + i] = std::numbers::sqrt2 * std::cos(angle);
        }
    }
    const std::size_t indicator = columns() - 1;
    if (has_indicator) std::fill_n(out + indicator * stride, rows, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
        if (std::isfinite(values[i])) continue;
        if (!imputed || !std::isnan(values[i])) {
            missing[i] = 1;
            continue;
        }
        for (std::size_t column = 0; column < columns(); ++column) out[column * stride + i] = 0;
        if (has_indicator)
            out[indicator * stride + i] = 1;
        else
            off_support[i] = 1;  // the archive had no such row
    }
}

double Encoding::distance(double value) const {
    constexpr double kUnknown = 1;
    if (std::isnan(value)) return imputed && !has_indicator && !is_category() ? kUnknown : 0;
    if (is_category()) return value >= 0 && value < static_cast<double>(labels_.size()) ? 0 : kUnknown;
    if (input.kind != InputKind::number) return 0;
    if (value < low) return (low - value) / scaling.scale;
    if (value > high) return (value - high) / scaling.scale;
    for (const Gap& gap : gaps)
        if (value > gap.low && value < gap.high) return std::min(value - gap.low, gap.high - value) / scaling.scale;
    return 0;
}

std::string Encoding::why_off_support(double value) const {
    if (std::isnan(value)) return fmt::format("{} is missing, and never was in the archive", printable(name));
    if (is_category()) return fmt::format("{} has a value that is not in the archive", printable(name));
    for (const Gap& gap : gaps)
        if (value > gap.low && value < gap.high)
            return fmt::format("{} is {:.6g}, but the archive has nothing between {:.6g} and {:.6g}", printable(name),
                               value, gap.low, gap.high);
    return fmt::format("{} is {:.6g}, but the archive has {:.6g} to {:.6g}", printable(name), value, low, high);
}

std::vector<Encoding::Gap> gaps_of(std::span<const double> values, double scale) {
    constexpr std::size_t kSample = 100'000;
    constexpr std::size_t kMinValues = 5;  // of fewer different ones nobody knows what lies between
    constexpr double kSide = 0.05;         // of the values, on both sides
    constexpr std::size_t kMinSide = 10;
    constexpr double kMinWidth = 0.25;    // standard deviations
    constexpr double kChance = 15;        // mean spacings: one in three million
    constexpr std::size_t kMaxGaps = 20;  // the model file has no room for more
    constexpr double kSpacings = 3;       // of the largest but 5%, for values on a grid
    std::vector<double> sorted;
    const std::size_t step = values.size() / kSample + 1;
    for (std::size_t i = 0; i < values.size(); i += step)
        if (std::isfinite(values[i])) sorted.push_back(values[i]);
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> spacings;
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (sorted[i] > sorted[i - 1]) spacings.push_back(sorted[i] - sorted[i - 1]);
    if (spacings.size() < kMinValues) return {};
    const auto place = static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(spacings.size() - 1));
    std::nth_element(spacings.begin(), spacings.begin() + place, spacings.end());
    const double usual = spacings[static_cast<std::size_t>(place)];
    const auto side =
        std::max(kMinSide, static_cast<std::size_t>(std::ceil(kSide * static_cast<double>(sorted.size()))));
    std::vector<Encoding::Gap> gaps;
    for (std::size_t i = side; i + side < sorted.size() + 1; ++i) {
        const double width = sorted[i] - sorted[i - 1];
        if (width < kMinWidth * scale || width < kSpacings * usual) continue;
        // What values beside it leave between them.
        const double around = std::max(sorted[i - 1] - sorted[i - side], sorted[i + side - 1] - sorted[i]);
        if (width * static_cast<double>(side) < kChance * around) continue;
        gaps.push_back({sorted[i - 1], sorted[i]});
        if (gaps.size() == kMaxGaps) break;
    }
    // Of many values some may lie in what a sample shows as a gap.
    if (step > 1)
        for (const double value : values)
            std::erase_if(gaps, [&](const Encoding::Gap& gap) { return value > gap.low && value < gap.high; });
    return gaps;
}

std::size_t column_count(std::span<const Encoding> encodings) {
    std::size_t count = 0;
    for (const Encoding& encoding : encodings) count += encoding.columns();
    return count;
}

// Calls work(encoding, its place among all) for categories, then for the others.
template <typename Work>
static void for_ordered(std::span<const Encoding> encodings, Work&& work) {
    for (const bool categories : {true, false})
        for (std::size_t k = 0; k < encodings.size(); ++k)
            if (encodings[k].is_category() == categories) work(encodings[k], k);
}

std::vector<fields::Range> column_ranges(std::span<const Encoding> encodings) {
    std::vector<fields::Range> ranges;
    for_ordered(encodings, [&](const Encoding& encoding, std::size_t) { encoding.add_ranges(ranges); });
    return ranges;
}

void encode(std::span<const Encoding> encodings, std::span<const std::span<const double>> inputs, std::size_t begin,
            std::size_t rows, double* out, std::size_t stride, std::uint8_t* off_support, std::uint8_t* missing) {
    for_ordered(encodings, [&](const Encoding& encoding, std::size_t k) {
        encoding.encode(inputs[k].data() + begin, rows, out, stride, off_support, missing);
        out += encoding.columns() * stride;
    });
}

}  // namespace accrue::encodings
