#include "accrue/bounded.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.hpp"
#include "core/random.hpp"
#include "families/normal.hpp"
#include "families/rows.hpp"

namespace accrue {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFar = 9;         // normal scores beyond which squared probabilities are nothing, or all
constexpr double kUnderflow = 37;  // and beyond which a probability has lost digits

using families::log_normal_cdf;
using families::log_normal_pdf;
using families::mills_ratio;
using families::normal_cdf;
using families::normal_pdf;

// log(Phi(-n)/Phi(-a)), n >= a >= 0.
double log_tail(double a, double n) {
    return n == kInfinity ? -kInfinity : std::log(mills_ratio(n) / mills_ratio(a)) - (n - a) * (n + a) / 2;
}

// As normal_score_above, of any probability.
double score_above(double log_above) {
    const double below = -std::expm1(log_above);
    return below < 0.5 ? -families::normal_score_above(std::log(below)) : families::normal_score_above(log_above);
}

// They last until the next ones of the thread.
std::vector<double>& kept_scores() {
    thread_local std::vector<double> kept;
    return kept;
}

// Probabilities below and above a point. Both, so that neither loses its digits.
struct Sides {
    double below, above;
};

// Of a standard normal n given that it lies between a and b. From the tail where all of it lies in one.
Sides truncated_sides(double n, double a, double b) {
    if (b < 0) {
        const Sides mirrored = truncated_sides(-n, -b, -a);
        return {mirrored.above, mirrored.below};
    }
    if (a > 0) {
        const double here = log_tail(a, n);
        const double all = std::expm1(log_tail(a, b));
        return {std::expm1(here) / all, std::exp(here) * std::expm1(log_tail(n, b)) / all};
    }
    const double all = 1 - normal_cdf(a) - normal_cdf(-b);
    const double below = n < 0 ? normal_cdf(n) - normal_cdf(a) : 1 - normal_cdf(a) - normal_cdf(-n);
    const double above = n > 0 ? normal_cdf(-n) - normal_cdf(-b) : 1 - normal_cdf(-b) - normal_cdf(n);
    return {below / all, above / all};
}

double log_between(double a, double b) {
    if (b < 0) return log_between(-b, -a);
    if (a > 0) return log_normal_cdf(-a) + std::log(-std::expm1(log_tail(a, b)));
    return std::log(1 - normal_cdf(a) - normal_cdf(-b));
}

// How quickly the normal density falls between these, at least.
double steepness(double from, double to) {
    return 1 + (from > 0 ? from : to < 0 ? -to : 0);
}

}  // namespace

// One row's distribution: bounds in units of u and as normal scores of the inner family.
class Bounded::Row {
public:
    // Integrals to 1e-11 of the scale, on panels that are short where the normal density falls steeply; or, for
    // training, to 1e-6 by one formula of Gauss and Legendre with 20 nodes on either side of a place.
    enum class Rule { panels, training };

    Row(const Bounded& family, Further values, Rule rule = Rule::panels)
        : inner_(*family.inner_),
          further_(values.first(family.inner_further_)),
          censored_(family.kind_ == Kind::censored),
          rule_(rule) {
        std::size_t k = further_.size();
        if (family.limits_.has_lower()) low_ = values[k++];
        if (family.limits_.has_upper()) high_ = values[k++];
        if (censored_) uniform_ = values[k];
        if (low_ > -kInfinity) a_ = inner_.normal_score(low_, further_);
        if (high_ < kInfinity) b_ = inner_.normal_score(high_, further_);
        beyond_a_ = normal_cdf(a_);
        beyond_b_ = normal_cdf(-b_);
        const std::vector<double> kinks = inner_.jumps(further_);
        if (!kinks.empty()) kink_ = kinks.front();
        // Between these lies all but 1e-17 of it: of a tail, 40 times the length in which it falls.
        first_ = std::max(a_, b_ < 0 ? std::min(-kFar, b_ - 40 / (1 - b_)) : -kFar);
        last_ = std::min(b_, a_ > 0 ? std::max(kFar, a_ + 40 / (1 + a_)) : kFar);
    }

    // What lies beside a bound by the rounding of location and scale lies on it.
    bool at_lower(double u) const { return u <= low_ + slack(low_); }
    bool at_upper(double u) const { return u >= high_ - slack(high_); }
    bool below_lower(double u) const { return u < low_ - slack(low_); }
    bool above_upper(double u) const { return u > high_ + slack(high_); }
    double clamped(double u) const { return at_lower(u) ? low_ : at_upper(u) ? high_ : u; }
    // Before the atom at an upper bound, if there is one.
    Sides sides(double n) const {
        if (censored_) return {normal_cdf(n), normal_cdf(-n)};
        if (a_ > 0 || b_ < 0) return truncated_sides(n, a_, b_);
        const double nearer = normal_cdf(-std::fabs(n));
        const double below = n < 0 ? nearer - beyond_a_ : 1 - beyond_a_ - nearer;
        const double above = n < 0 ? 1 - beyond_b_ - nearer : nearer - beyond_b_;
        const double all = 1 - beyond_a_ - beyond_b_;
        return {below / all, above / all};
    }
    Sides sides_of(double u) const { return sides(inner_.normal_score(clamped(u), further_)); }
    double cdf(double u) const {
        if (below_lower(u)) return 0;
        return at_upper(u) ? 1 : sides_of(u).below;
    }
    double survival(double u) const {
        if (below_lower(u)) return 1;
        return at_upper(u) ? 0 : sides_of(u).above;
    }
    double quantile(double p, double rest) const {
        return clamped(
            inner_.of_normal_score(censored_ ? families::normal_score_of(p, rest) : inner_score(p, rest), further_));
    }
    double of_normal_score(double z) const {
        return clamped(inner_.of_normal_score(censored_ ? z : inner_score(z), further_));
    }
    void of_normal_scores(std::span<const double> z, double* u, double* slopes) const {
        std::vector<double>& n = kept_scores();
        n.assign(z.begin(), z.end());
        if (!censored_)
            for (double& score : n) score = inner_score(score);
        inner_.of_normal_scores(n, further_, u, slopes);
        const double log_all = censored_ ? 0 : log_between(a_, b_);
        for (std::size_t i = 0; i < z.size(); ++i) {
            const bool on_bound = at_lower(u[i]) || at_upper(u[i]);
            u[i] = clamped(u[i]);
            if (censored_ && on_bound) slopes[i] = 0;
            if (censored_) continue;
            const double by = std::exp(log_normal_pdf(z[i]) - log_normal_pdf(n[i]) + log_all);
            slopes[i] = std::isfinite(n[i]) ? slopes[i] * by : 0;
        }
    }

    double log_pdf(double u) const {
        if (!censored_)
            return below_lower(u) || above_upper(u) ? -kInfinity : inner_.log_pdf(u, further_) - log_between(a_, b_);
        return at_lower(u) ? log_normal_cdf(a_) : at_upper(u) ? log_normal_cdf(-b_) : inner_.log_pdf(u, further_);
    }
    // The density at a bound over all probability, or over the atom's.
    double density_at(double u, double n) const {
        const double all = !censored_ ? log_between(a_, b_) : n == a_ ? log_normal_cdf(a_) : log_normal_cdf(-b_);
        return inner_.normal_score_slope(u, further_) * std::exp(log_normal_pdf(n) - all);
    }

    // Integrals over x, below and above u, of some function of the probability on the other side of x.
    template <typename Value>
    double below(double u, Value value) const {
        const double n = inner_.normal_score(u, further_);
        const double certain = n > last_ ? u - inner_.of_normal_score(last_, further_) : 0;
        return certain + over(first_, std::min(n, last_), [&](double x, Sides p) { return value(x, p.below); });
    }
    template <typename Value>
    double above(double u, Value value) const {
        const double n = inner_.normal_score(u, further_);
        const double certain = n < first_ ? inner_.of_normal_score(first_, further_) - u : 0;
        return certain + over(std::max(n, first_), last_, [&](double x, Sides p) { return value(x, p.above); });
    }

    double crps(double u) const {
        const double own = clamped(u);
        const double outside = std::fabs(u - own);
        if (!censored_) {
            const auto square = [](double, double p) { return p * p; };
            return below(own, square) + above(own, square) + outside;
        }
        double value = inner_.crps(own, further_);
        if (low_ > -kInfinity) value -= inner_.squares_below(low_, further_);
        if (high_ < kInfinity)
            value -= inner_.symmetric() ? inner_.squares_below(-high_, further_)
                                        : inner_.crps(high_, further_) - inner_.squares_below(high_, further_);
        return std::max(value, 0.0) + outside;
    }

    struct Moments {
        double mean, sd;
    };
    Moments moments() const {
        const double from = inner_.of_normal_score(first_, further_);
        const double mean = over(first_, last_, [](double, Sides p) { return p.above; });
        const double square = over(first_, last_, [&](double x, Sides p) { return 2 * (x - from) * p.above; });
        return {from + mean, std::sqrt(std::max(square - mean * mean, 0.0))};
    }

    double normal_score(double u) const {
        if (censored_ && at_lower(u)) return -score_above(std::log(uniform_) + log_normal_cdf(a_));
        if (censored_ && at_upper(u)) return score_above(std::log1p(-uniform_) + log_normal_cdf(-b_));
        const double n = inner_.normal_score(clamped(u), further_);
        return censored_ ? n : truncated_score(n);
    }
    // Of everything up to u.
    double upper_normal_score(double u) const {
        if (below_lower(u)) return -kInfinity;
        if (at_upper(u)) return kInfinity;
        return censored_ && at_lower(u) ? a_ : normal_score(u);
    }
    std::vector<double> jumps() const {
        std::vector<double> ends = inner_.jumps(further_);
        if (!censored_) {
            std::erase_if(ends, [&](double n) { return !(n > a_ && n < b_); });
            for (double& n : ends) n = truncated_score(n);
        }
        if (censored_ && low_ > -kInfinity) ends.push_back(a_);
        if (censored_ && high_ < kInfinity) ends.push_back(b_);
        return ends;
    }
    double normal_score_slope(double u) const {
        if (below_lower(u) || above_upper(u) || (censored_ && (at_lower(u) || at_upper(u)))) return 0;
        if (censored_) return inner_.normal_score_slope(u, further_);
        const double n = inner_.normal_score(u, further_);
        const double z = normal_score(u);
        return inner_.normal_score_slope(u, further_) *
               std::exp(log_normal_pdf(n) - log_between(a_, b_) - log_normal_pdf(z));
    }
    double log_pdf_slope(double u) const {
        return below_lower(u) || above_upper(u) || (censored_ && (at_lower(u) || at_upper(u)))
                   ? 0
                   : inner_.log_pdf_slope(u, further_);
    }

    // By a bound of this row.
    struct Slopes {
        double normal_score, crps, log_pdf;
    };
    Slopes by_lower(double u) const {
        const double density = density_at(low_, a_);
        const double own = clamped(u);
        const Sides p = sides_of(own);
        // Where an observation lies beyond the bound it stays, and the bound moves away from it.
        const double beyond = below_lower(u) ? p.below - p.above + 1 : 0;
        if (censored_) {
            const double atom = normal_cdf(a_);
            const double score = normal_score(u);
            const double jump = at_lower(u) ? uniform_ * atom * density / normal_pdf(score) : 0;
            return {jump, beyond - atom * atom, at_lower(u) ? density : 0};
        }
        const double shortfall = below(own, [](double, double q) { return q; });
        return {-density * p.above / normal_pdf(normal_score(u)), beyond + 2 * density * (crps(own) - shortfall),
                density};
    }
    Slopes by_upper(double u) const {
        const double density = density_at(high_, b_);
        const double own = clamped(u);
        const Sides p = sides_of(own);
        const double beyond = above_upper(u) || (censored_ && at_upper(u)) ? p.below - p.above - 1 : 0;
        if (censored_) {
            const double atom = normal_cdf(-b_);
            const double score = normal_score(u);
            const double jump = at_upper(u) ? (1 - uniform_) * atom * density / normal_pdf(score) : 0;
            return {jump, beyond + atom * atom, at_upper(u) ? -density : 0};
        }
        const double excess = above(own, [](double, double q) { return q; });
        return {-density * p.below / normal_pdf(normal_score(u)), beyond - 2 * density * (crps(own) - excess),
                -density};
    }

    // By each parameter of the inner family. An empty span is not wanted.
    void by_further(double u, const FurtherSlopes& slopes) const {
        const std::size_t count = further_.size();
        std::vector<double> here(count);
        const auto scores_at = [&](double x) -> std::span<const double> {
            inner_.further_slopes(x, further_, {here, {}, {}});
            return here;
        };
        // What the probability beyond each bound changes by, over all probability between them.
        const double log_all = censored_ ? 0 : log_between(a_, b_);
        std::vector<double> low(count), high(count);
        const auto at_bound = [&](double bound, double n, std::vector<double>& by) {
            if (!std::isfinite(bound)) return;
            const std::span<const double> scores = scores_at(bound);
            for (std::size_t k = 0; k < count; ++k) by[k] = scores[k] * std::exp(log_normal_pdf(n) - log_all);
        };
        at_bound(low_, a_, low);
        at_bound(high_, b_, high);
        // What the probability below x changes by, given what its inner normal score n does.
        const auto by_probability = [&](std::size_t k, double score, double n, Sides p) {
            const double own = score * std::exp(log_normal_pdf(n) - log_all);
            return censored_ ? own : own - low[k] * p.above - high[k] * p.below;
        };
        const double own = clamped(u);
        const double n = inner_.normal_score(own, further_);
        const Sides p = sides(n);
        const bool on_atom = censored_ && (at_lower(u) || at_upper(u));
        const std::vector<double>& atom = at_lower(u) ? low : high;
        if (!slopes.normal_score.empty()) {
            const double z = normal_score(u);
            const double share = at_lower(u) ? uniform_ : 1 - uniform_;
            const std::span<const double> scores = scores_at(own);
            for (std::size_t k = 0; k < count; ++k)
                slopes.normal_score[k] = on_atom ? share * atom[k] * std::exp(-log_normal_pdf(z))
                                         : censored_
                                             ? scores[k]
                                             : by_probability(k, scores[k], n, p) * std::exp(-log_normal_pdf(z));
        }
        if (!slopes.log_pdf.empty()) {
            inner_.further_slopes(own, further_, {{}, {}, slopes.log_pdf});
            for (std::size_t k = 0; k < count; ++k) {
                if (!censored_) slopes.log_pdf[k] -= high[k] - low[k];
                if (!on_atom) continue;
                slopes.log_pdf[k] =
                    at_lower(u) ? atom[k] * std::exp(-log_normal_cdf(a_)) : -atom[k] * std::exp(-log_normal_cdf(-b_));
            }
        }
        if (slopes.crps.empty()) return;
        std::fill(slopes.crps.begin(), slopes.crps.end(), 0.0);
        const auto add = [&](double from, double to, bool is_below) {
            visit(from, to, [&](double at, double x, double dx) {
                const std::span<const double> scores = scores_at(x);
                const Sides q = sides(at);
                const double twice = is_below ? 2 * q.below : -2 * q.above;
                for (std::size_t k = 0; k < count; ++k)
                    slopes.crps[k] += dx * twice * by_probability(k, scores[k], at, q);
            });
        };
        add(first_, std::min(n, last_), true);
        add(std::max(n, first_), last_, false);
    }

private:
    // The inner normal score of a truncated one. Truncated on one side the other tail is the inner family's, by
    // logarithms where its probability underflows.
    double inner_score(double z) const {
        if (z > kUnderflow && b_ == kInfinity)
            return families::normal_score_above(log_normal_cdf(-z) + log_normal_cdf(-a_));
        if (z < -kUnderflow && a_ == -kInfinity)
            return -families::normal_score_above(log_normal_cdf(z) + log_normal_cdf(b_));
        return inner_score(normal_cdf(z), normal_cdf(-z));
    }
    // Of a probability and the rest. In the tail that all of it lies in, by logarithms.
    double inner_score(double p, double rest) const {
        if (a_ > 0)
            return families::normal_score_above(log_normal_cdf(-a_) + std::log(rest + p * std::exp(log_tail(a_, b_))));
        if (b_ < 0)
            return -families::normal_score_above(log_normal_cdf(b_) +
                                                 std::log(p + rest * std::exp(log_tail(-b_, -a_))));
        return families::normal_score_of(rest * normal_cdf(a_) + p * (1 - normal_cdf(-b_)),
                                         p * normal_cdf(-b_) + rest * (1 - normal_cdf(a_)));
    }
    // And back.
    double truncated_score(double n) const {
        constexpr double kMinNormal = std::numeric_limits<double>::min();
        const Sides p = truncated_sides(n, a_, b_);
        if (p.above < kMinNormal && b_ == kInfinity)
            return families::normal_score_above(log_normal_cdf(-n) - log_normal_cdf(-a_));
        if (p.below < kMinNormal && a_ == -kInfinity)
            return -families::normal_score_above(log_normal_cdf(n) - log_normal_cdf(b_));
        return families::normal_score_of(p.below, p.above);
    }
    static double slack(double bound) { return std::isfinite(bound) ? 1e-10 * (1 + std::fabs(bound)) : 0; }
    // Calls use(n, x, dx) for the places of a formula that integrates over x, from and to inner normal scores.
    template <typename Use>
    void visit(double from, double to, Use use) const {
        if (!(from < to)) return;
        // In two parts where the inner family has a kink, or its median, lies between.
        if (from < kink_ && to > kink_) {
            visit(from, kink_, use);
            visit(kink_, to, use);
            return;
        }
        const auto place = [&](double n, double weight) {
            const double x = inner_.of_normal_score(n, further_);
            use(n, x, weight / inner_.normal_score_slope(x, further_));
        };
        if (rule_ == Rule::training) {
            families::gauss_places<20>(from, to, place);
            return;
        }
        const double panels = std::ceil((to - from) * steepness(from, to));
        const double length = (to - from) / panels;
        for (double k = 0; k < panels; ++k)
            families::gauss_places<15>(from + k * length, from + (k + 1) * length, place);
    }
    template <typename Value>
    double over(double from, double to, Value value) const {
        double sum = 0;
        visit(from, to, [&](double n, double x, double dx) { sum += dx * value(x, sides(n)); });
        return sum;
    }

    const Family& inner_;
    Further further_;  // of the inner family
    bool censored_;
    Rule rule_;
    double low_ = -kInfinity, high_ = kInfinity;  // bounds in units of u
    double a_ = -kInfinity, b_ = kInfinity;       // and as normal scores of the inner family
    double beyond_a_ = 0, beyond_b_ = 0;          // probabilities of the inner family
    double uniform_ = 0.5;
    double kink_ = 0;  // a normal score of the inner family
    double first_, last_;
};

Bounded::Bounded(Kind kind, Limits limits, SharedFamily inner)
    : kind_(kind), limits_(limits), inner_(std::move(inner)), inner_further_(inner_->further().size()) {
    core::require(limits.any(), "a bounded family needs a lower or an upper bound");
    core::require(limits.lower < limits.upper, "the lower bound {} is not below the upper {}", limits.lower,
                  limits.upper);
    core::require(inner_->given().empty(), "a family that has bounds can have no others around them");
}

double Bounded::uniform_of_row(std::uint64_t row, std::uint64_t seed) {
    // The upper 53 bits, and half a step so that it is never 0 or 1.
    const std::uint64_t bits = core::scramble(row + core::scramble(seed)) >> 11U;
    return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

std::vector<Family::Given> Bounded::given() const {
    std::vector<Given> values(limits_.has_lower() && limits_.has_upper() ? 2 : 1, Given::bound);
    if (kind_ == Kind::censored) values.push_back(Given::uniform);
    return values;
}

double Bounded::log_pdf(double u, Further further) const {
    return Row(*this, further).log_pdf(u);
}
double Bounded::pdf(double u, Further further) const {
    return std::exp(log_pdf(u, further));
}
double Bounded::cdf(double u, Further further) const {
    return Row(*this, further).cdf(u);
}
double Bounded::survival(double u, Further further) const {
    return Row(*this, further).survival(u);
}
double Bounded::quantile(double probability, Further further) const {
    return Row(*this, further).quantile(probability, 1 - probability);
}
double Bounded::of_normal_score(double z, Further further) const {
    return Row(*this, further).of_normal_score(z);
}
void Bounded::of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const {
    Row(*this, further).of_normal_scores(z, u, slopes);
}
double Bounded::crps(double u, Further further) const {
    return Row(*this, further).crps(u);
}
double Bounded::mean(Further further) const {
    return Row(*this, further).moments().mean;
}
double Bounded::sd(Further further) const {
    return Row(*this, further).moments().sd;
}
double Bounded::normal_score(double u, Further further) const {
    return Row(*this, further).normal_score(u);
}
double Bounded::upper_normal_score(double u, Further further) const {
    return Row(*this, further).upper_normal_score(u);
}
std::vector<double> Bounded::jumps(Further further) const {
    return Row(*this, further).jumps();
}
double Bounded::normal_score_slope(double u, Further further) const {
    return Row(*this, further).normal_score_slope(u);
}
double Bounded::log_pdf_slope(double u, Further further) const {
    return Row(*this, further).log_pdf_slope(u);
}

void Bounded::row_slopes(const Row& row, double u, const FurtherSlopes& slopes) const {
    if (inner_further_ > 0) {
        const auto inner = [&](std::span<double> all) { return all.empty() ? all : all.first(inner_further_); };
        row.by_further(u, {inner(slopes.normal_score), inner(slopes.crps), inner(slopes.log_pdf)});
    }
    const auto put = [&](std::size_t k, const Row::Slopes& own) {
        if (!slopes.normal_score.empty()) slopes.normal_score[k] = own.normal_score;
        if (!slopes.crps.empty()) slopes.crps[k] = own.crps;
        if (!slopes.log_pdf.empty()) slopes.log_pdf[k] = own.log_pdf;
    };
    std::size_t k = inner_further_;
    if (limits_.has_lower()) put(k++, row.by_lower(u));
    if (limits_.has_upper()) put(k++, row.by_upper(u));
    if (kind_ == Kind::censored) put(k, {});  // nothing moves the row's own number
}

void Bounded::further_slopes(double u, Further further, const FurtherSlopes& slopes) const {
    row_slopes(Row(*this, further), u, slopes);
}

namespace {

constexpr double kReach = 5.5;  // beyond it squares are less than 1e-15 of the scale, or all
constexpr unsigned kPlaces = 20;

// Of a formula that integrates over normal scores.
struct Places {
    Places(double from, double to) {
        std::size_t count = 0;
        families::gauss_places<kPlaces>(from, to, [&](double n, double weight) {
            scores[count] = n;
            weights[count] = weight;
            below[count] = normal_cdf(n);
            densities[count++] = normal_pdf(n);
        });
    }
    std::array<double, kPlaces> scores{}, weights{}, below{}, densities{};
};

const Places& places_of_lower_half() {  // those of most families
    static const Places half(-kReach, 0);
    return half;
}

}  // namespace

// What censoring takes from the crps of the inner family: the squared probabilities beyond a bound, by normal scores of
// that family, as seen from below; an upper bound is seen in a mirror. With derivatives by the bound and by the
// further parameters, to 1e-6.
class Bounded::Beyond {
public:
    Beyond(const Family& inner, bool upper) : inner_(inner), sign_(upper ? -1 : 1), scores_(inner.further().size()) {}

    double squares = 0, probability = 0;
    std::span<const double> by_further() const { return by_; }

    void compute(double bound, Further further, bool with_slopes) {
        const double n = sign_ * inner_.normal_score(bound, further);
        squares = 0;
        by_.assign(scores_.size(), 0.0);
        probability = normal_cdf(n);
        if (n <= -kReach) return;
        const double end = std::min(n, kReach);
        const std::vector<double> kinks = inner_.jumps(further);
        const double kink = kinks.empty() ? 0 : sign_ * kinks.front();  // or the median
        if (kink > -kReach && kink < end) {
            add(kink == 0 ? places_of_lower_half() : Places(-kReach, kink), further, with_slopes);
            add(Places(kink, end), further, with_slopes);
        } else {
            add(Places(-kReach, end), further, with_slopes);
        }
        if (n > kReach) squares += sign_ * (bound - inner_.of_normal_score(sign_ * kReach, further));
    }

private:
    // By parts: the derivative of the squares, the bound as it is, is that of quantiles x: -2 cdf dx over the density.
    void add(const Places& at, Further further, bool with_slopes) {
        for (std::size_t i = 0; i < kPlaces; ++i) places_[i] = sign_ * at.scores[i];
        inner_.of_normal_scores(places_, further, x_.data(), slopes_.data());
        for (std::size_t i = 0; i < kPlaces; ++i) {
            const double p = at.below[i];
            squares += at.weights[i] * p * p * slopes_[i];
            if (!with_slopes || scores_.empty()) continue;
            inner_.further_slopes(x_[i], further, {scores_, {}, {}});
            const double by_score = sign_ * at.weights[i] * 2 * p * at.densities[i] * slopes_[i];
            for (std::size_t k = 0; k < scores_.size(); ++k) by_[k] += by_score * scores_[k];
        }
    }

    const Family& inner_;
    double sign_;
    std::array<double, kPlaces> places_{}, x_{}, slopes_{};
    std::vector<double> scores_, by_;
};

void Bounded::censored_crps_rows(const Rows& rows, double* values, const RowSlopes* slopes, Precision precision) const {
    inner_->crps_rows({rows.count, rows.errors, rows.scales, rows.further, rows.stride}, values, slopes, precision);
    std::vector<double> further(inner_further_);
    std::size_t given = 0;
    for (const bool upper : {false, true}) {
        if (!(upper ? limits_.has_upper() : limits_.has_lower())) continue;
        const double* bounds = rows.given + rows.stride * given++;
        Beyond beyond(*inner_, upper);
        for (std::size_t i = 0; i < rows.count; ++i) {
            const double scale = rows.scales[i];
            const double bound = bounds[i] / scale;
            for (std::size_t k = 0; k < inner_further_; ++k) further[k] = rows.further[k * rows.stride + i];
            beyond.compute(bound, further, slopes != nullptr);
            values[i] = std::max(values[i] - scale * beyond.squares, 0.0);
            if (slopes == nullptr) continue;
            // By a lower bound the squares rise by the squared probability, by an upper one they fall.
            const double by_bound = (upper ? -1 : 1) * beyond.probability * beyond.probability;
            if (slopes->location != nullptr) slopes->location[i] += by_bound;
            slopes->log_scale[i] += scale * (bound * by_bound - beyond.squares);
            for (std::size_t k = 0; k < inner_further_; ++k)
                slopes->further[k * slopes->stride + i] -= scale * beyond.by_further()[k];
        }
    }
}

void Bounded::normal_score_rows(const Rows& rows, double* values, const RowSlopes* slopes) const {
    if (kind_ == Kind::truncated) {
        Family::normal_score_rows(rows, values, slopes);
        return;
    }
    // Between the bounds they are those of the inner family.
    inner_->normal_score_rows({rows.count, rows.errors, rows.scales, rows.further, rows.stride}, values, slopes);
    const double* lower = limits_.has_lower() ? rows.given : nullptr;
    const double* upper = limits_.has_upper() ? rows.given + (lower != nullptr ? rows.stride : 0) : nullptr;
    for (std::size_t i = 0; i < rows.count; ++i) {
        const double slack = 1e-9 * rows.scales[i];  // at least that of Row
        const bool on_lower = lower != nullptr && rows.errors[i] <= lower[i] + slack + 1e-9 * std::fabs(lower[i]);
        const bool on_upper = upper != nullptr && rows.errors[i] >= upper[i] - slack - 1e-9 * std::fabs(upper[i]);
        if (!on_lower && !on_upper) continue;
        RowSlopes own{};
        if (slopes != nullptr)
            own = {slopes->location != nullptr ? slopes->location + i : nullptr, slopes->log_scale + i,
                   slopes->further + i, slopes->stride};
        Family::normal_score_rows({1, rows.errors + i, rows.scales + i, rows.further + i, rows.stride, rows.given + i},
                                  values + i, slopes != nullptr ? &own : nullptr);
    }
}

void Bounded::crps_rows(const Rows& rows, double* values, const RowSlopes* slopes, Precision precision) const {
    if (kind_ == Kind::censored) {
        censored_crps_rows(rows, values, slopes, precision);
        return;
    }
    families::for_rows(*this, rows, slopes, [&](std::size_t i, double u, Further own, std::span<double> by) {
        const Row row(*this, own, Row::Rule::training);
        const double scale = rows.scales[i];
        values[i] = scale * row.crps(u);
        if (slopes == nullptr) return families::RowSlope{};
        row_slopes(row, u, {{}, by, {}});
        for (double& slope : by) slope *= scale;
        return families::RowSlope{scale * (row.cdf(u) - row.survival(u)), values[i]};
    });
}

}  // namespace accrue
