// What a fit needs of its archive, by its options.
#include <algorithm>

#include "accrue/fit.hpp"
#include "core/error.hpp"
#include "fields/kinds.hpp"
#include "fields/linear.hpp"
#include "fit/prepare.hpp"

namespace accrue {

bool needs_inputs(const FitOptions& options) {
    // A correction by all columns has more than one coefficient.
    const fields::Range any{0, 1};
    const bool learned = fitting::learns_location(options);
    const auto correction = options.bias == fitting::kAuto
                                ? nullptr
                                : fields::correction_field(fitting::correction_of(options), std::span(&any, 1));
    return fitting::form_of(options).needs_inputs() || (correction && correction->parameters() > 1) || learned ||
           options.mean != "none";
}

std::vector<std::string> default_fit_inputs(std::vector<std::string> others, const Roles& roles,
                                            const FitOptions& options) {
    const bool wanted = options.recipe == "default" && fitting::form_of(options).takes_several();
    if (wanted && !roles.prediction.empty() &&
        std::find(others.begin(), others.end(), roles.prediction) == others.end())
        others.insert(others.begin(), roles.prediction);
    return others;
}

bool takes_categories(const FitOptions& options) {
    return options.recipe == "default" && options.mean != fitting::kAuto && !fitting::mean_by_inputs(options) &&
           fitting::form_of(options).takes_categories();
}

void require_roles(const Roles& roles, const FitOptions& options) {
    const bool learns_mean = options.mean != "none";
    core::require(!learns_mean || (!roles.have_errors() && !roles.observation.empty()),
                  "{} learns the mean from the observations: give {} alone", core::option("mean", options.mean),
                  core::option("observation"));
    require_errors(roles);
    core::require(learns_mean || roles.have_errors(), "give a {}, or {} to learn one", core::option("prediction"),
                  core::option("mean", fitting::kAuto));
}

}  // namespace accrue
