#include "verify/summaries.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/buffer.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/sort.hpp"
#include "verify/reliability_diagram.hpp"

namespace accrue::verification {

namespace {

constexpr double kLevel = 0.9;
constexpr double kNormal95 = 1.6448536269514722;  // 95% quantile of N(0, 1)
// Every chunk has sums of its own, so there must not be too many.
constexpr std::size_t kMostChunks = 64;
constexpr std::size_t kLeastChunk = std::size_t{1} << 14U;

std::size_t chunk_size(std::size_t rows) {
    return std::max(kLeastChunk, core::block_count(rows, kMostChunks));
}

double largest_magnitude(std::span<const double> values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::fabs(value));
    return largest > 0 ? largest : 1;
}

// Sums over the rows of a bin. Errors and sigmas are in units of the largest, so that their powers stay in range.
struct BinSums {
    std::size_t rows = 0;
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    double weight = 0, weight_squared = 0;
    double x = 0, mean = 0, sigma = 0, sigma_squared = 0, error = 0, error_squared = 0, error_fourth = 0;

    BinSums& operator+=(const BinSums& other) {
        rows += other.rows;
        low = std::min(low, other.low);
        high = std::max(high, other.high);
        weight += other.weight;
        weight_squared += other.weight_squared;
        x += other.x;
        mean += other.mean;
        sigma += other.sigma;
        sigma_squared += other.sigma_squared;
        error += other.error;
        error_squared += other.error_squared;
        error_fourth += other.error_fourth;
        return *this;
    }
};

struct Binned {
    core::Buffer<std::uint16_t> bin;  // of every row
    std::vector<BinSums> sums;        // of every bin
    double error_unit = 1;
    double sigma_unit = 1;
};

// `means` may be empty.
Binned bin_rows(std::span<const double> variable, std::span<const double> means, std::span<const double> errors,
                std::span<const double> sigmas, std::span<const double> weights, std::size_t most_bins) {
    const std::size_t n = variable.size();
    const Binning binning(variable, most_bins);
    Binned result;
    result.bin.reserve(n);
    result.error_unit = largest_magnitude(errors);
    result.sigma_unit = largest_magnitude(sigmas);
    const double per_error = 1 / result.error_unit;
    const double per_sigma = 1 / result.sigma_unit;
    const std::size_t chunk = chunk_size(n);
    std::vector<std::vector<BinSums>> parts(core::block_count(n, chunk));
    core::for_blocks(n, chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        std::uint16_t* bin = result.bin.data();
        binning(variable.subspan(begin, end - begin), bin + begin);
        std::vector<BinSums> own(binning.bins());
        for (std::size_t i = begin; i < end; ++i) {
            BinSums& sums = own[bin[i]];
            const double w = weights.empty() ? 1 : weights[i];
            const double e = errors[i] * per_error;
            const double s = sigmas[i] * per_sigma;
            ++sums.rows;
            sums.low = std::min(sums.low, variable[i]);
            sums.high = std::max(sums.high, variable[i]);
            sums.weight += w;
            sums.weight_squared += w * w;
            sums.x += w * variable[i];
            if (!means.empty()) sums.mean += w * means[i];
            sums.sigma += w * s;
            sums.sigma_squared += w * s * s;
            sums.error += w * e;
            sums.error_squared += w * e * e;
            sums.error_fourth += w * e * e * e * e;
        }
        parts[c] = std::move(own);
    });
    result.sums.resize(binning.bins());
    for (const auto& part : parts)
        for (std::size_t b = 0; b < part.size(); ++b) result.sums[b] += part[b];
    return result;
}

// Quantiles of values with weights, which may be empty. The values are put into order.
class Quantiles {
public:
    Quantiles(std::vector<double>& values, const std::vector<double>& weights) {
        if (weights.empty()) {
            core::sort_ascending(values);
            values_ = values;
            return;
        }
        std::vector<std::size_t> order(values.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
        for (const std::size_t i : order) {
            values_.push_back(values[i]);
            upto_.push_back((upto_.empty() ? 0 : upto_.back()) + weights[i]);
        }
    }
    // The first value up to which at least this share of the weight lies.
    double operator()(double share) const {
        if (upto_.empty()) {
            const double position = std::ceil(share * static_cast<double>(values_.size()));
            return values_[std::max(std::size_t{1}, static_cast<std::size_t>(position)) - 1];
        }
        const auto at = std::lower_bound(upto_.begin(), upto_.end() - 1, share * upto_.back());
        return values_[static_cast<std::size_t>(at - upto_.begin())];
    }

private:
    std::vector<double> values_;
    std::vector<double> upto_;
};

}  // namespace

Binning::Binning(std::span<const double> values, std::size_t most_bins) {
    std::vector<double> sample;
    if (values.size() <= kSample) {
        sample.assign(values.begin(), values.end());
    } else {
        // At random, because files have periods: one row in ten may be all of one lead time.
        core::Random random(1);
        for (std::size_t i = 0; i < kSample; ++i) sample.push_back(values[random.below(values.size())]);
    }
    core::sort_ascending(sample);
    for (std::size_t b = 1; b < most_bins; ++b) {
        const double edge = sample[b * sample.size() / most_bins];
        if (edge > sample.front() && (edges_.empty() || edge > edges_.back())) edges_.push_back(edge);
    }
}

void Binning::operator()(std::span<const double> values, std::uint16_t* bin) const {
    constexpr std::size_t kBlock = 1024;
    for (std::size_t from = 0; from < values.size(); from += kBlock) {
        const std::size_t count = std::min(kBlock, values.size() - from);
        const double* __restrict v = values.data() + from;
        std::array<std::int64_t, kBlock> above{};  // as wide as the values, so that both fill a vector alike
        for (const double edge : edges_) {
#pragma omp simd
            for (std::size_t i = 0; i < count; ++i) above[i] += v[i] >= edge ? 1 : 0;
        }
        for (std::size_t i = 0; i < count; ++i) bin[from + i] = static_cast<std::uint16_t>(above[i]);
    }
}

Bins spread_along(std::span<const double> variable, std::span<const double> errors, std::span<const double> sigmas,
                  std::span<const double> weights, std::size_t most_bins) {
    const Binned binned = bin_rows(variable, {}, errors, sigmas, weights, most_bins);
    Bins bins;
    for (const BinSums& b : binned.sums) {
        if (!(b.weight > 0)) continue;
        const double mean_square = b.error_squared / b.weight;
        // A relative error of the mean square is twice one of its root; in logs the interval stays positive.
        const double variance = std::max(0.0, b.error_fourth / b.weight - mean_square * mean_square);
        const double relative =
            mean_square > 0 ? std::sqrt(variance * b.weight_squared) / b.weight / (2 * mean_square) : 0;
        const double rmse = std::sqrt(mean_square) * binned.error_unit;
        bins.low.push_back(b.low);
        bins.high.push_back(b.high);
        bins.x.push_back(b.x / b.weight);
        bins.rows.push_back(b.rows);
        bins.sigma.push_back(std::sqrt(b.sigma_squared / b.weight) * binned.sigma_unit);
        bins.rmse.push_back(rmse);
        bins.rmse_low.push_back(rmse * std::exp(-kNormal95 * relative));
        bins.rmse_high.push_back(rmse * std::exp(kNormal95 * relative));
        bins.mean_error.push_back(b.error / b.weight * binned.error_unit);
    }
    return bins;
}

Fan fan_along(std::span<const double> variable, std::span<const double> means, std::span<const double> errors,
              std::span<const double> sigmas, const Shape& shape, std::span<const double> weights,
              std::size_t most_bins) {
    Binned binned = bin_rows(variable, means, errors, sigmas, weights, most_bins);
    const std::size_t count = binned.sums.size();
    // The errors of every bin's rows: what was observed, seen from the forecast, because forecasts differ within a bin.
    std::vector<std::vector<double>> observed(count);
    std::vector<std::vector<double>> observed_weights(count);
    for (std::size_t b = 0; b < count; ++b) {
        observed[b].reserve(binned.sums[b].rows);
        if (!weights.empty()) observed_weights[b].reserve(binned.sums[b].rows);
    }
    for (std::size_t i = 0; i < variable.size(); ++i) {
        observed[binned.bin[i]].push_back(errors[i]);
        if (!weights.empty()) observed_weights[binned.bin[i]].push_back(weights[i]);
    }
    constexpr std::array<double, 5> kShares = {0.05, 0.25, 0.5, 0.75, 0.95};
    std::vector<std::array<double, kShares.size()>> quantiles(count);
    core::for_blocks(count, 1, [&](std::size_t b, std::size_t, std::size_t) {
        if (observed[b].empty()) return;
        const Quantiles of(observed[b], observed_weights[b]);
        for (std::size_t k = 0; k < kShares.size(); ++k) quantiles[b][k] = of(kShares[k]);
    });
    Fan fan;
    for (std::size_t b = 0; b < count; ++b) {
        const BinSums& sums = binned.sums[b];
        if (!(sums.weight > 0)) continue;
        const double mean = sums.mean / sums.weight;
        const double sigma = sums.sigma / sums.weight * binned.sigma_unit;
        fan.low.push_back(sums.low);
        fan.high.push_back(sums.high);
        fan.x.push_back(sums.x / sums.weight);
        fan.rows.push_back(sums.rows);
        fan.mean.push_back(mean);
        fan.q05.push_back(mean + shape.quantile(0.05) * sigma);
        fan.q25.push_back(mean + shape.quantile(0.25) * sigma);
        fan.q75.push_back(mean + shape.quantile(0.75) * sigma);
        fan.q95.push_back(mean + shape.quantile(0.95) * sigma);
        fan.observed_q05.push_back(mean + quantiles[b][0]);
        fan.observed_q25.push_back(mean + quantiles[b][1]);
        fan.observed_q50.push_back(mean + quantiles[b][2]);
        fan.observed_q75.push_back(mean + quantiles[b][3]);
        fan.observed_q95.push_back(mean + quantiles[b][4]);
    }
    return fan;
}

PitHistogram pit_histogram(const Verification& verification, std::size_t bars) {
    const std::vector<double>& upto = verification.diagram.observed;
    core::require(upto.size() > bars && (upto.size() - 1) % bars == 0,
                  "a histogram of {} bars cannot be made of a diagram of {} points", bars, upto.size());
    const std::size_t step = (upto.size() - 1) / bars;
    PitHistogram histogram;
    for (std::size_t b = 0; b <= bars; ++b) histogram.edges.push_back(verification.diagram.probability[b * step]);
    // A PIT of exactly 0 belongs to the first bar.
    for (std::size_t b = 0; b < bars; ++b)
        histogram.share.push_back(upto[(b + 1) * step] - (b == 0 ? 0 : upto[b * step]));
    std::tie(histogram.low, histogram.high) = binomial_band(verification.effective_rows, 1 / static_cast<double>(bars));
    return histogram;
}

PairedDifference paired_difference(std::span<const double> differences, std::span<const double> weights,
                                   const Grouping& groups) {
    const std::size_t n = differences.size();
    const auto weight = [&](std::size_t i) { return weights.empty() ? 1 : weights[i]; };
    constexpr std::size_t kBlock = 4096;
    const auto sum_of = [&](auto&& term) {
        return core::sum_blocks<double>(n, kBlock, [&](std::size_t begin, std::size_t end) {
            double sum = 0;
            for (std::size_t i = begin; i < end; ++i) sum += term(i);
            return sum;
        });
    };
    const double total = sum_of(weight);
    PairedDifference result;
    result.difference = sum_of([&](std::size_t i) { return weight(i) * differences[i]; }) / total;
    const auto influence = [&](std::size_t i) { return weight(i) * (differences[i] - result.difference) / total; };

    double units = 0;  // that are independent and count
    double variance = 0;
    if (groups.codes.empty()) {
        units = sum_of([&](std::size_t i) { return weight(i) > 0 ? 1.0 : 0.0; });
        variance = sum_of([&](std::size_t i) { return influence(i) * influence(i); });
    } else {
        std::vector<double> sums(groups.labels.size());
        std::vector<char> used(groups.labels.size());
        for (std::size_t i = 0; i < n; ++i) {
            sums[groups.codes[i]] += influence(i);
            if (weight(i) > 0) used[groups.codes[i]] = 1;
        }
        for (const double sum : sums) variance += sum * sum;
        units = static_cast<double>(std::count(used.begin(), used.end(), 1));
    }
    if (units < 2) {
        result.low = result.high = result.p_value = std::numeric_limits<double>::quiet_NaN();
        return result;
    }
    const double error = std::sqrt(variance * units / (units - 1));
    const boost::math::students_t distribution(units - 1);
    const double reach = boost::math::quantile(distribution, (1 + kLevel) / 2) * error;
    result.low = result.difference - reach;
    result.high = result.difference + reach;
    if (error > 0)
        result.p_value = 2 * boost::math::cdf(complement(distribution, std::fabs(result.difference) / error));
    else
        result.p_value = result.difference == 0 ? 1 : 0;
    return result;
}

}  // namespace accrue::verification
