#include "verify/summaries.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>

#include "core/buffer.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/sort.hpp"
#include "scores/gauss.hpp"
#include "verify/reliability_diagram.hpp"

namespace accrue::verification {

namespace {

// Every chunk has sums of its own, so there must not be too many.
constexpr std::size_t kMaxChunks = 64;
constexpr std::size_t kMinChunk = std::size_t{1} << 14U;

std::size_t chunk_size(std::size_t rows) {
    return std::max(kMinChunk, core::block_count(rows, kMaxChunks));
}

double largest_magnitude(std::span<const double> values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::fabs(value));
    return largest > 0 ? largest : 1;
}

// Sums over the rows of a bin. Sigmas are in units of the largest, so that their squares stay in range.
struct BinSums {
    std::size_t rows = 0;
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    double weight = 0, weight_squared = 0;
    double x = 0, sigma_squared = 0;

    BinSums& operator+=(const BinSums& other) {
        rows += other.rows;
        low = std::min(low, other.low);
        high = std::max(high, other.high);
        weight += other.weight;
        weight_squared += other.weight_squared;
        x += other.x;
        sigma_squared += other.sigma_squared;
        return *this;
    }
};

struct Binned {
    std::vector<BinSums> sums;         // of every bin
    std::vector<std::uint32_t> order;  // the rows, bin after bin
    std::vector<std::size_t> starts;   // of every bin in that order, and the end
    double sigma_unit = 1;

    std::span<const std::uint32_t> rows_of(std::size_t b) const {
        return std::span(order).subspan(starts[b], starts[b + 1] - starts[b]);
    }
    // Rows of one family lie together in every bin.
    void sort_by(std::span<const std::uint32_t> families) {
        if (families.empty()) return;
        for (std::size_t b = 0; b < sums.size(); ++b)
            std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(starts[b]),
                             order.begin() + static_cast<std::ptrdiff_t>(starts[b + 1]),
                             [&](std::uint32_t i, std::uint32_t k) { return families[i] < families[k]; });
    }
};

Binned bin_rows(std::span<const double> variable, std::span<const double> sigmas, std::span<const double> weights,
                std::size_t most_bins) {
    const std::size_t n = variable.size();
    core::require(n < (std::size_t{1} << 32U), "{} rows are more than the 2^32 - 1 that can be put into bins", n);
    const Binning binning(variable, most_bins);
    Binned result;
    core::Buffer<std::uint16_t> bin;  // of every row
    bin.reserve(n);
    result.sigma_unit = largest_magnitude(sigmas);
    const double per_sigma = 1 / result.sigma_unit;
    const std::size_t chunk = chunk_size(n);
    std::vector<std::vector<BinSums>> parts(core::block_count(n, chunk));
    core::for_blocks(n, chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        std::uint16_t* own_bin = bin.data();
        binning(variable.subspan(begin, end - begin), own_bin + begin);
        std::vector<BinSums> own(binning.bins());
        for (std::size_t i = begin; i < end; ++i) {
            BinSums& sums = own[own_bin[i]];
            const double w = weights.empty() ? 1 : weights[i];
            const double s = sigmas[i] * per_sigma;
            ++sums.rows;
            sums.low = std::min(sums.low, variable[i]);
            sums.high = std::max(sums.high, variable[i]);
            sums.weight += w;
            sums.weight_squared += w * w;
            sums.x += w * variable[i];
            sums.sigma_squared += w * s * s;
        }
        parts[c] = std::move(own);
    });
    result.sums.resize(binning.bins());
    for (const auto& part : parts)
        for (std::size_t b = 0; b < part.size(); ++b) result.sums[b] += part[b];
    result.starts.assign(1, 0);
    for (const BinSums& sums : result.sums) result.starts.push_back(result.starts.back() + sums.rows);
    std::vector<std::size_t> next(result.starts.begin(), result.starts.end() - 1);
    result.order.resize(n);
    for (std::size_t i = 0; i < n; ++i) result.order[next[bin[i]]++] = static_cast<std::uint32_t>(i);
    return result;
}

template <typename Bins>
void add_place(Bins& bins, const BinSums& sums) {
    bins.low.push_back(sums.low);
    bins.high.push_back(sums.high);
    bins.x.push_back(sums.x / sums.weight);
    bins.rows.push_back(sums.rows);
}

// What the rows of a bin would show together if each were drawn from its forecast: the mixture of the forecasts, whose
// quantiles are not the mean of theirs.
class Mixture {
public:
    // `weights` may be empty. Rows of one family lie together.
    Mixture(std::vector<double> centres, std::vector<double> sigmas, std::vector<double> weights,
            const RowFamilies& families)
        : centres_(std::move(centres)), sigmas_(std::move(sigmas)), weights_(std::move(weights)), families_(families) {}

    // Of a few rows to within 1e-6 of the range of the forecasts' own quantiles. Where rows are many, a random few of
    // them find a neighbourhood, and all of them three points in it, between which the quantile is nearly a parabola of
    // its normal score: the error is of third order in a distance of kApart.
    double quantile(double p) const {
        if (centres_.size() <= kFew) return solve(p, every_);
        if (few_.empty()) {
            core::Random random(1);
            for (std::size_t i = 0; i < kFew; ++i)
                few_.push_back(static_cast<std::uint32_t>(random.below(centres_.size())));
            if (families_.count() > 1) std::sort(few_.begin(), few_.end());
        }
        const auto [least, most] = range(p, every_);
        if (!(least < most)) return least;
        const boost::math::normal normal;
        const double score = boost::math::quantile(normal, p);
        const double from = solve(boost::math::cdf(normal, score - kApart), few_);
        const double to = solve(boost::math::cdf(normal, score + kApart), few_);
        const auto score_at = [&](double y) {
            const double below = cdf(y, every_);
            return below > 0 && below < 1 ? boost::math::quantile(normal, below)
                                          : std::numeric_limits<double>::quiet_NaN();
        };
        const double low = score_at(from);
        const double high = score_at(to);
        if (!(low < high)) return solve(p, few_);
        const double middle = from + (score - low) / (high - low) * (to - from);
        // The parabola of y through the three points, at the score.
        const double bend = score_at(middle);
        if (!(low < bend && bend < high)) return middle;
        const double first = (middle - from) / (bend - low);
        const double second = ((to - middle) / (high - bend) - first) / (high - low);
        return from + first * (score - low) + second * (score - low) * (score - bend);
    }

private:
    static constexpr std::size_t kFew = 1024;
    static constexpr double kApart = 0.15;
    using Rows = std::vector<std::uint32_t>;  // empty: all

    template <typename Use>
    void for_rows(const Rows& rows, Use&& use) const {
        if (rows.empty())
            for (std::size_t i = 0; i < centres_.size(); ++i) use(i);
        else
            for (const std::uint32_t i : rows) use(i);
    }
    double cdf(double y, const Rows& rows) const {
        constexpr std::size_t kBlock = 256;
        std::array<double, kBlock> values;
        std::array<double, kBlock> weights;
        std::size_t filled = 0;
        std::size_t last = 0;  // row that is filled in
        double below = 0;
        double all = 0;
        const auto add = [&] {
            families_.with(last, [&](const Standardised& own) { own.cdf_block(filled, values.data()); });
            for (std::size_t i = 0; i < filled; ++i) {
                below += weights[i] * values[i];
                all += weights[i];
            }
            filled = 0;
        };
        for_rows(rows, [&](std::size_t i) {
            if (filled > 0 && (families_.width() > 0 || families_.code(i) != families_.code(last))) add();
            last = i;
            values[filled] = (y - centres_[i]) / sigmas_[i];
            weights[filled] = weights_.empty() ? 1 : weights_[i];
            if (++filled == kBlock) add();
        });
        add();
        return below / all;
    }
    // Of the forecasts' own quantiles, between which the mixture's lies.
    std::pair<double, double> range(double p, const Rows& rows) const {
        std::vector<double> z;
        for (const Standardised& family : families_.alike()) z.push_back(family.quantile(p));
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        for_rows(rows, [&](std::size_t i) {
            if (!weights_.empty() && !(weights_[i] > 0)) return;
            const double factor = z.empty()
                                      ? families_.with(i, [&](const Standardised& row) { return row.quantile(p); })
                                      : z[families_.code(i)];
            const double own = centres_[i] + factor * sigmas_[i];
            low = std::min(low, own);
            high = std::max(high, own);
        });
        return {low, high};
    }
    double solve(double p, const Rows& rows) const {
        const auto [low, high] = range(p, rows);
        if (!(low < high)) return low;
        const auto excess = [&](double y) { return cdf(y, rows) - p; };
        const double at_low = excess(low);
        const double at_high = excess(high);
        if (at_low >= 0) return low;  // to rounding
        if (at_high <= 0) return high;
        const double close = 1e-6 * (high - low);
        std::uintmax_t most = 100;
        const auto [a, b] = boost::math::tools::toms748_solve(
            excess, low, high, at_low, at_high, [close](double x, double y) { return std::fabs(y - x) <= close; },
            most);
        return (a + b) / 2;
    }

    std::vector<double> centres_, sigmas_, weights_;
    const RowFamilies& families_;
    const Rows every_;
    mutable Rows few_;
};

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

// What is forecast for the rows of a bin together.
class BinForecast {
public:
    virtual ~BinForecast() = default;
    virtual double quantile(double probability) const = 0;
};
using Rows = std::span<const std::uint32_t>;
using ForecastOfBin = std::function<std::unique_ptr<BinForecast>(Rows)>;

class FamilyBin final : public BinForecast {
public:
    FamilyBin(std::vector<double> centres, std::vector<double> sigmas, std::vector<double> weights,
              const RowFamilies& all, Rows rows)
        : families_(all, rows), mixture_(std::move(centres), std::move(sigmas), std::move(weights), families_) {}
    double quantile(double probability) const override { return mixture_.quantile(probability); }

private:
    RowFamilies families_;
    Mixture mixture_;
};

// `centres` is empty where the centres are 0.
ForecastOfBin forecast_of(std::span<const double> centres, std::span<const double> sigmas, const RowFamilies& families,
                          std::span<const double> weights) {
    return [=, &families](Rows rows) -> std::unique_ptr<BinForecast> {
        std::vector<double> c, s, w;
        for (const std::uint32_t i : rows) {
            c.push_back(centres.empty() ? 0 : centres[i]);
            s.push_back(sigmas[i]);
            if (!weights.empty()) w.push_back(weights[i]);
        }
        return std::make_unique<FamilyBin>(std::move(c), std::move(s), std::move(w), families, rows);
    };
}

// Of ensembles: all members of all rows together, each with the weight of its row.
class MemberBin final : public BinForecast {
public:
    MemberBin(std::vector<double> values, const std::vector<double>& weights) : quantiles_(values, weights) {}
    double quantile(double probability) const override { return quantiles_(probability); }

private:
    Quantiles quantiles_;
};

// `less` is taken from the members; empty: nothing is.
ForecastOfBin forecast_of(MemberColumns members, std::span<const double> less, std::span<const double> weights) {
    return [=](Rows rows) -> std::unique_ptr<BinForecast> {
        std::vector<double> values, w;
        for (const std::span<const double> member : members)
            for (const std::uint32_t i : rows) {
                values.push_back(member[i] - (less.empty() ? 0 : less[i]));
                if (!weights.empty()) w.push_back(weights[i]);
            }
        return std::make_unique<MemberBin>(std::move(values), w);
    };
}

ErrorBins errors_in(const Binned& binned, std::span<const double> errors, std::span<const double> weights,
                    const ForecastOfBin& forecast_of_bin) {
    static constexpr std::array<double, 3> kShares = {0.05, 0.5, 0.95};
    struct Found {
        std::array<double, kShares.size()> forecast, observed, low, high;
    };
    std::vector<Found> found(binned.sums.size());
    core::for_blocks(found.size(), 1, [&](std::size_t b, std::size_t, std::size_t) {
        const BinSums& sums = binned.sums[b];
        if (!(sums.weight > 0)) return;
        std::vector<double> e, w;
        for (const std::uint32_t i : binned.rows_of(b)) {
            e.push_back(errors[i]);
            if (!weights.empty()) w.push_back(weights[i]);
        }
        const Quantiles observed(e, w);
        const auto forecast = forecast_of_bin(binned.rows_of(b));
        const double effective = sums.weight * sums.weight / sums.weight_squared;
        for (std::size_t k = 0; k < kShares.size(); ++k) {
            // As many rows below a quantile as its share makes likely: between order statistics of these ranks.
            const auto [least, most] = binomial_band(effective, kShares[k]);
            found[b].forecast[k] = forecast->quantile(kShares[k]);
            found[b].observed[k] = observed(kShares[k]);
            found[b].low[k] = observed(least);
            found[b].high[k] = observed(std::min(1.0, most + 1 / effective));
        }
    });
    ErrorBins bins;
    for (std::size_t b = 0; b < found.size(); ++b) {
        const BinSums& sums = binned.sums[b];
        if (!(sums.weight > 0)) continue;
        add_place(bins, sums);
        bins.sigma.push_back(std::sqrt(sums.sigma_squared / sums.weight) * binned.sigma_unit);
        const auto& [forecast, observed, low, high] = found[b];
        const auto add = [](const std::array<double, kShares.size()>& values, auto&... lists) {
            std::size_t k = 0;
            (lists.push_back(values[k++]), ...);
        };
        add(forecast, bins.q05, bins.q50, bins.q95);
        add(observed, bins.observed_q05, bins.observed_q50, bins.observed_q95);
        add(low, bins.observed_q05_low, bins.observed_q50_low, bins.observed_q95_low);
        add(high, bins.observed_q05_high, bins.observed_q50_high, bins.observed_q95_high);
        const double width = observed[2] - observed[0];
        bins.width.push_back(forecast[2] - forecast[0]);
        bins.observed_width.push_back(width);
        // The two quantiles err almost independently (their correlation is 0.05).
        bins.observed_width_low.push_back(
            std::max(0.0, width - std::hypot(observed[2] - low[2], high[0] - observed[0])));
        bins.observed_width_high.push_back(width + std::hypot(high[2] - observed[2], observed[0] - low[0]));
    }
    return bins;
}

Fan fan_of(const Binned& binned, std::span<const double> means, std::span<const double> errors,
           std::span<const double> weights, const ForecastOfBin& forecast_of_bin) {
    static constexpr std::array<double, 5> kShares = {0.05, 0.25, 0.5, 0.75, 0.95};
    struct Found {
        std::array<double, kShares.size()> forecast, observed;
    };
    std::vector<Found> found(binned.sums.size());
    core::for_blocks(found.size(), 1, [&](std::size_t b, std::size_t, std::size_t) {
        if (!(binned.sums[b].weight > 0)) return;
        std::vector<double> y, w;
        for (const std::uint32_t i : binned.rows_of(b)) {
            y.push_back(means[i] + errors[i]);
            if (!weights.empty()) w.push_back(weights[i]);
        }
        const Quantiles observed(y, w);
        const auto forecast = forecast_of_bin(binned.rows_of(b));
        for (std::size_t k = 0; k < kShares.size(); ++k) {
            found[b].forecast[k] = forecast->quantile(kShares[k]);
            found[b].observed[k] = observed(kShares[k]);
        }
    });
    Fan fan;
    for (std::size_t b = 0; b < found.size(); ++b) {
        if (!(binned.sums[b].weight > 0)) continue;
        add_place(fan, binned.sums[b]);
        const auto& [forecast, observed] = found[b];
        std::size_t k = 0;
        for (auto* list : {&fan.q05, &fan.q25, &fan.q50, &fan.q75, &fan.q95}) list->push_back(forecast[k++]);
        k = 0;
        for (auto* list :
             {&fan.observed_q05, &fan.observed_q25, &fan.observed_q50, &fan.observed_q75, &fan.observed_q95})
            list->push_back(observed[k++]);
    }
    return fan;
}

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

ErrorBins errors_along(std::span<const double> variable, std::span<const double> errors, std::span<const double> sigmas,
                       const Families& families, std::span<const double> weights, std::size_t most_bins) {
    Binned binned = bin_rows(variable, sigmas, weights, most_bins);
    binned.sort_by(families.codes);
    const RowFamilies all(families, errors.size());
    return errors_in(binned, errors, weights, forecast_of({}, sigmas, all, weights));
}

ErrorBins errors_along(std::span<const double> variable, std::span<const double> errors, std::span<const double> sigmas,
                       std::span<const double> means, MemberColumns members, std::span<const double> weights,
                       std::size_t most_bins) {
    return errors_in(bin_rows(variable, sigmas, weights, most_bins), errors, weights,
                     forecast_of(members, means, weights));
}

Fan observations_along_mean(std::span<const double> means, std::span<const double> errors,
                            std::span<const double> sigmas, const Families& families, std::span<const double> weights,
                            std::size_t most_bins) {
    Binned binned = bin_rows(means, sigmas, weights, most_bins);
    binned.sort_by(families.codes);
    const RowFamilies all(families, errors.size());
    return fan_of(binned, means, errors, weights, forecast_of(means, sigmas, all, weights));
}

Fan observations_along_mean(std::span<const double> means, std::span<const double> errors,
                            std::span<const double> sigmas, MemberColumns members, std::span<const double> weights,
                            std::size_t most_bins) {
    return fan_of(bin_rows(means, sigmas, weights, most_bins), means, errors, weights,
                  forecast_of(members, {}, weights));
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
                                   const Grouping& groups, double level) {
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
    constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(result.difference) || !std::isfinite(variance))
        return {kUndefined, kUndefined, kUndefined, kUndefined};
    if (units < 2) return {result.difference, kUndefined, kUndefined, kUndefined};
    const double error = std::sqrt(variance * units / (units - 1));
    const boost::math::students_t distribution(units - 1);
    const double reach = boost::math::quantile(distribution, (1 + level) / 2) * error;
    result.low = result.difference - reach;
    result.high = result.difference + reach;
    if (error > 0)
        result.p_value = 2 * boost::math::cdf(complement(distribution, std::fabs(result.difference) / error));
    else
        result.p_value = result.difference == 0 ? 1 : 0;
    return result;
}

}  // namespace accrue::verification
