// The normal distribution by std::erfc: scalars, to the last digits also in the tails.
#pragma once

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

namespace accrue::families {

inline constexpr double kEnd = 39;  // Phi(-kEnd) is 0 in doubles

double normal_cdf(double z);
double normal_pdf(double z);
double normal_quantile(double p);
// The z that has these probabilities on its sides, from the smaller one, which has the digits.
double normal_score_of(double below, double above);

// Where probabilities underflow their logarithms do not. The z that has exp(log_above) <= 1/2 above it, and what turns
// slopes of log_above into slopes of z: dz = -mills_ratio(z) * d log_above.
double normal_score_above(double log_above);
double mills_ratio(double z);  // Phi(-z)/phi(z), z >= 0
double log_normal_pdf(double z);
double log_normal_cdf(double z);

// Calls use(place, weight) for the places of a formula of Gauss and Legendre.
template <unsigned kPlaces, typename Use>
void gauss_places(double from, double to, Use&& use) {
    using Rule = boost::math::quadrature::gauss<double, kPlaces>;
    const double middle = (from + to) / 2;
    const double half = (to - from) / 2;
    for (std::size_t k = 0; k < Rule::abscissa().size(); ++k) {
        const double weight = half * Rule::weights()[k];
        const double away = half * Rule::abscissa()[k];
        use(middle - away, weight);
        if (away > 0) use(middle + away, weight);
    }
}

// The rule of Gauss and Legendre between -1 and 1 for a panel of this length, at most 2, in a unit in which a function
// is as smooth as Phi is: more nodes the longer it is.
struct Rule {
    std::vector<double> places, weights;
};
const Rule& rule_of(double length);

// Of functions that are as smooth as Phi is: the rule of Gauss and Legendre with 15 nodes on panels no longer than 1.
template <typename Value>
double integral(double from, double to, Value value) {
    if (!(to > from)) return 0;
    const double panels = std::ceil(to - from);
    double sum = 0;
    for (double k = 0; k < panels; ++k)
        sum += boost::math::quadrature::gauss<double, 15>::integrate(value, from + (to - from) * (k / panels),
                                                                     from + (to - from) * ((k + 1) / panels));
    return sum;
}

}  // namespace accrue::families
