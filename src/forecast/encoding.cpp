#include "forecast/encoding.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

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
