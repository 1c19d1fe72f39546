#include "fields/kinds.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "fields/clusters.hpp"
#include "fields/constant.hpp"
#include "fields/gaussian_process.hpp"
#include "fields/network.hpp"
#include "fields/polynomial.hpp"
#include "fields/tanh_network.hpp"

namespace accrue::fields {

namespace {

using Json = nlohmann::ordered_json;

// A new kind is one file and one line here; sorted by name.
std::span<const Kind* const> kinds() {
    static const ClustersKind clusters;
    static const NetworkKind network;
    static const PolynomialKind polynomial;
    static const std::array<const Kind*, 4> all = {&clusters, &constant_kind(), &network, &polynomial};
    return all;
}

std::span<const MeanKind* const> mean_kinds() {
    static const ConstantMeanKind constant;
    static const GaussianProcessKind process;
    static const TanhNetworkKind network;
    static const std::array<const MeanKind*, 3> all = {&constant, &process, &network};
    return all;
}

template <typename AnyKind>
std::vector<std::string> names_of(std::span<const AnyKind* const> list) {
    std::vector<std::string> names;
    for (const AnyKind* one : list) names.emplace_back(one->name());
    return names;
}

template <typename AnyKind>
const AnyKind& found(std::span<const AnyKind* const> list, std::string_view name, const char* what) {
    const auto place = std::find_if(list.begin(), list.end(), [&](const AnyKind* one) { return one->name() == name; });
    core::require(place != list.end(), "there is no {} '{}'; known are {}", what, printable(name),
                  fmt::join(names_of(list), ", "));
    return **place;
}

constexpr const char* kEnsemble = "ensemble";

Fitted single_from_json(const Json& json, std::size_t inputs) {
    return found(mean_kinds(), json.at("kind").get<std::string>(), "mean function").from_json(json, inputs);
}

}  // namespace

const Kind& kind(std::string_view name) {
    return found(kinds(), name, "form");
}

const Kind& constant_kind() {
    static const ConstantKind constant;
    return constant;
}

const Kind& default_kind() {
    return kind("network");
}

std::vector<const Kind*> pooled_kinds(std::span<const Range> ranges, std::size_t outputs) {
    const bool one_number = ranges.size() == 1 && category_count(ranges) == 0;
    if (!one_number || outputs > 1) return {};
    return {&kind("polynomial")};
}

std::vector<std::string> kind_names() {
    return names_of(kinds());
}

std::shared_ptr<const Field> make_field(std::string_view name, std::span<const Range> ranges, std::size_t outputs,
                                        std::size_t parameters) {
    const Kind& own = kind(name);
    core::require(!ranges.empty() || !own.needs_inputs(), "a {} needs at least one input", name);
    // A constant, which is also what a fold without a good start falls back to, looks at none of them.
    core::require(own.takes_categories() || !own.needs_inputs() || category_count(ranges) == 0,
                  "a {} takes numbers only, no categories", name);
    auto field = own.make(ranges, outputs, own.size_of(ranges.size(), parameters / outputs));
    core::require(field->parameters() == parameters, "a {} has {} parameters in place of {}", name, parameters,
                  field->parameters());
    return field;
}

const MeanKind& mean_kind(std::string_view name) {
    return found(mean_kinds(), name, "mean function");
}

const MeanKind& default_mean_kind() {
    return mean_kind("network");
}

std::vector<std::string> mean_kind_names() {
    return names_of(mean_kinds());
}

Json mean_json(std::span<const Fitted> members) {
    if (members.size() == 1) return members[0].field->json(members[0].parameters);
    Json list = Json::array();
    for (const Fitted& member : members) list.push_back(member.field->json(member.parameters));
    return {{"kind", kEnsemble}, {"members", std::move(list)}};
}

std::vector<Fitted> mean_from_json(const Json& json, std::size_t inputs) {
    try {
        if (json.at("kind") != kEnsemble) return {single_from_json(json, inputs)};
        std::vector<Fitted> members;
        for (const Json& member : json.at("members")) members.push_back(single_from_json(member, inputs));
        core::require(!members.empty(), "an ensemble of mean functions has no member");
        return members;
    } catch (const Json::exception&) {
        core::refuse("a mean function's entry is missing or of the wrong type");
    }
}

}  // namespace accrue::fields
