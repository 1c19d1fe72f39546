// A family that the library does not have, in one file and with one registration: the Laplace distribution. Loaded
// beside the library, it is a choice like any other, and every test that runs over the families includes it.
#include <cmath>
#include <numbers>
#include <vector>

#include "accrue/family.hpp"

namespace {

class Laplace final : public accrue::Family {
public:
    std::string_view name() const override { return "toy"; }
    std::string_view help() const override { return "a Laplace distribution, for tests"; }
    double pdf(double u, Further) const override { return std::exp(-std::fabs(u)) / 2; }
    double cdf(double u, Further) const override { return u < 0 ? std::exp(u) / 2 : 1 - std::exp(-u) / 2; }
    double survival(double u, Further) const override { return cdf(-u, {}); }
    double quantile(double p, Further) const override { return p < 0.5 ? std::log(2 * p) : -std::log(2 * (1 - p)); }
    double crps(double u, Further) const override { return std::fabs(u) + std::exp(-std::fabs(u)) - 0.75; }
    double mean(Further) const override { return 0; }
    double sd(Further) const override { return std::numbers::sqrt2; }
    bool symmetric() const override { return true; }
    std::vector<double> jumps(Further) const override { return {0}; }
    double log_pdf_slope(double u, Further) const override { return u < 0 ? 1 : -1; }
};

const bool kRegistered = (accrue::register_family(std::make_shared<Laplace>()), true);

}  // namespace
