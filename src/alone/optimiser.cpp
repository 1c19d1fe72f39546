// In place of the optimiser, for a library that forecasts and fits nothing.
#include "accrue/error.hpp"
#include "optimise/minimise.hpp"

namespace accrue::optimise {

// NOLINTNEXTLINE(performance-unnecessary-value-param): the optimiser's own signature
Outcome minimise(const Function&, std::vector<double>, const Watcher&, const Options&) {
    throw DefectError("this library forecasts; to fit, link accrue::accrue");
}

}  // namespace accrue::optimise
