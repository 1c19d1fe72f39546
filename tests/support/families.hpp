// Families in short, for tests.
#pragma once

#include "accrue/recalibrated.hpp"
#include "accrue/verify.hpp"

namespace accrue::support {

inline Standardised normal() {
    return normal_family();
}
inline Standardised recalibrated(Recalibrated::Knots knots, std::vector<double> predicted, std::vector<double> actual) {
    return SharedFamily(std::make_shared<Recalibrated>(knots, std::move(predicted), std::move(actual)));
}
inline Standardised fitted(std::span<const double> scores, std::span<const double> weights = {}) {
    return SharedFamily(Recalibrated::fitted(scores, weights));
}
inline const Recalibrated& map_of(const Standardised& family) {
    return dynamic_cast<const Recalibrated&>(family.family());
}
inline const Recalibrated* map_of(const SharedFamily& family) {
    return dynamic_cast<const Recalibrated*>(family.get());
}
inline Families families(const std::vector<Standardised>& list, std::span<const std::uint32_t> codes = {}) {
    Families all{{}, codes};
    for (const Standardised& one : list) all.list.push_back(one.shared());
    return all;
}

}  // namespace accrue::support
