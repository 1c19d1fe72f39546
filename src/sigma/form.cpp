#include "sigma/form.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "core/error.hpp"
#include "sigma/clusters.hpp"
#include "sigma/constant.hpp"
#include "sigma/network.hpp"
#include "sigma/polynomial.hpp"

namespace accrue::sigma {

namespace {

using Maker = std::function<std::shared_ptr<const Form>(std::span<const Range>, std::size_t)>;

// A new form is one file and one line here.
const std::map<std::string, Maker, std::less<>>& makers() {
    static const std::map<std::string, Maker, std::less<>> all = {
        {"clusters",
         [](auto ranges, std::size_t order) {
             const std::size_t count = std::max<std::size_t>(1, (order + 1) / (ranges.size() + 1));
             core::require(count <= Clusters::kMost, "there are at most {} clusters; it has {}", Clusters::kMost,
                           count);
             return std::make_shared<Clusters>(ranges.size(), count);
         }},
        {"constant", [](auto, std::size_t) { return std::make_shared<Constant>(); }},
        {"network", [](auto ranges, std::size_t) { return std::make_shared<Network>(ranges.size()); }},
        {"polynomial",
         [](auto ranges, std::size_t order) {
             core::require(ranges.size() == 1, "a polynomial takes one input; there are {}", ranges.size());
             core::require(order <= Polynomial::kHighestOrder, "the order of a polynomial is at most {}; it is {}",
                           Polynomial::kHighestOrder, order);
             return std::make_shared<Polynomial>(ranges[0], order);
         }},
    };
    return all;
}

}  // namespace

std::shared_ptr<const Form> make_form(std::string_view name, std::span<const Range> ranges, std::size_t order) {
    const auto found = makers().find(name);
    core::require(found != makers().end(), "there is no form '{}'; known are {}", name, fmt::join(form_names(), ", "));
    core::require(!ranges.empty() || name == "constant", "a {} needs at least one input", name);
    return found->second(ranges, order);
}

std::vector<std::string> form_names() {
    std::vector<std::string> names;
    for (const auto& [name, maker] : makers()) names.push_back(name);
    return names;
}

}  // namespace accrue::sigma
