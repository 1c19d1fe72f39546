#include "mean/regression.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "mean/gaussian_process.hpp"
#include "mean/mean_network.hpp"

namespace accrue::mean {

namespace {

using Json = nlohmann::ordered_json;

std::shared_ptr<const Regression> single_from_json(const Json& json, std::size_t inputs) {
    const auto kind = json.at("kind").get<std::string>();
    if (kind == "network") return network_from_json(json, inputs);
    if (kind == "gp") return gaussian_process_from_json(json, inputs);
    core::refuse("there is no mean function '{}'; known are network, gp, ensemble", kind);
}

std::shared_ptr<const Regression> from_json(const Json& json, std::size_t inputs) {
    if (json.at("kind") != "ensemble") return single_from_json(json, inputs);
    std::vector<std::shared_ptr<const Regression>> members;
    for (const Json& member : json.at("members")) members.push_back(single_from_json(member, inputs));
    return std::make_shared<Ensemble>(std::move(members));
}

}  // namespace

std::vector<double> predict_all(const Regression& regression, const Columns& x, std::size_t rows) {
    constexpr std::size_t kChunk = 2048;
    std::vector<double> out(rows);
    core::for_blocks(rows, kChunk, [&](std::size_t, std::size_t begin, std::size_t end) {
        regression.predict(x, begin, end, out.data() + begin);
    });
    return out;
}

Ensemble::Ensemble(std::vector<std::shared_ptr<const Regression>> members) : members_(std::move(members)) {
    core::require(!members_.empty(), "an ensemble of mean functions has no member");
}

void Ensemble::predict(const Columns& x, std::size_t begin, std::size_t end, double* out) const {
    std::vector<double> own(end - begin);
    std::fill_n(out, end - begin, 0.0);
    for (const auto& member : members_) {
        member->predict(x, begin, end, own.data());
        for (std::size_t i = 0; i < own.size(); ++i) out[i] += own[i];
    }
    for (std::size_t i = 0; i < own.size(); ++i) out[i] /= static_cast<double>(members_.size());
}

Json Ensemble::json() const {
    Json list = Json::array();
    for (const auto& member : members_) list.push_back(member->json());
    return {{"kind", kind()}, {"members", std::move(list)}};
}

std::shared_ptr<const Regression> regression_from_json(const Json& json, std::size_t inputs) {
    try {
        return from_json(json, inputs);
    } catch (const Json::exception&) {
        core::refuse("a mean function's entry is missing or of the wrong type");
    }
}

}  // namespace accrue::mean
