#include "fit/mean_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "accrue/family.hpp"
#include "core/rounded_json.hpp"
#include "fields/kinds.hpp"
#include "fit/candidates.hpp"
#include "fit/dependence.hpp"
#include "fit/prepare.hpp"
#include "forecast/content.hpp"
#include "verify/summaries.hpp"

namespace accrue::fitting {

namespace {

// Of every row that was held out, and which rows these are.
struct RowScores {
    std::vector<std::size_t> rows;
    std::vector<double> crps;
};

RowScores scores_of(const FitResult& result) {
    const std::size_t count = result.sigmas.size();
    const std::vector<SharedFamily> own = {result.model.family()};
    const RowFamilies families(
        Families{result.families.empty() ? own : result.families, result.parts, result.parameters}, count);
    RowScores scores;
    for (std::size_t i = 0; i < count; ++i) {
        if (std::isnan(result.sigmas[i])) continue;
        scores.rows.push_back(i);
        families.with(i, [&](const Standardised& row) {
            row.crps_block(1, &result.errors[i], &result.sigmas[i], &scores.crps.emplace_back());
        });
    }
    return scores;
}

// The values of these rows.
template <typename T>
std::vector<T> taken(std::span<const T> all, std::span<const std::size_t> rows) {
    std::vector<T> own;
    if (!all.empty())
        for (const std::size_t row : rows) own.push_back(all[row]);
    return own;
}

// "the average of the observations, with the location learned beside the scale"
std::string described(const fields::MeanKind& kind) {
    return fmt::format("{}{}", kind.help(),
                       kind.depends_on_inputs() ? "" : ", and the location learned together with the scale");
}

}  // namespace

std::vector<std::string> means_to_try(const Archive& archive, const FitOptions& options) {
    const std::size_t rows = archive.observation.size();
    FitOptions own = options;
    own.mean = fields::mean_kind_names().front();
    const std::vector<FitOptions> all = candidates(own, rows, false, {});
    const bool learned = std::any_of(all.begin(), all.end(), learns_location);
    const bool categories = std::any_of(archive.input_types.begin(), archive.input_types.end(),
                                        [](const InputType& type) { return type.kind == InputKind::category; });
    std::vector<std::string> names;
    for (const std::string& name : fields::mean_kind_names()) {
        const fields::MeanKind& kind = fields::mean_kind(name);
        if (kind.depends_on_inputs() ? categories || rows > kind.max_rows_of_choice() : !learned) continue;
        names.push_back(name);
    }
    // Categories, and no location that could be learned: then the fit says what is wrong.
    if (names.empty()) names.emplace_back(fields::default_mean_kind().name());
    return names;
}

FitResult fit_with_chosen_mean(const Archive& archive, const FitOptions& options,
                               const std::function<FitResult(const FitOptions&)>& fitted) {
    using Json = nlohmann::ordered_json;
    const Dependence dependence(archive);
    std::optional<FitResult> best;
    RowScores ahead;
    Json list = Json::array();
    std::size_t chosen = 0;
    for (const std::string& name : means_to_try(archive, options)) {
        FitOptions own = options;
        own.mean = name;
        FitResult result = fitted(own);
        RowScores scores = scores_of(result);
        const std::vector<double> weights = taken<double>(archive.weights, scores.rows);
        Json entry = {{"mean", name},
                      {"description", described(fields::mean_kind(name))},
                      {"crps", core::rounded_json(weighted_mean(scores.crps, weights), 6)}};
        bool better = list.empty();
        if (!better) {
            std::vector<double> differences;
            for (std::size_t i = 0; i < scores.crps.size(); ++i) differences.push_back(scores.crps[i] - ahead.crps[i]);
            const std::vector<std::uint32_t> codes = taken<std::uint32_t>(dependence.groups.codes, scores.rows);
            const Grouping groups{codes,
                                  codes.empty() ? decltype(dependence.groups.labels){} : dependence.groups.labels};
            const PairedDifference paired = verification::paired_difference(differences, weights, groups, kClearly);
            entry["compared_with"] = chosen;
            for (const auto& [key, value] :
                 {std::pair{"difference", paired.difference}, {"low", paired.low}, {"high", paired.high}})
                entry[key] = core::rounded_json(value, 4);
            better = paired.high < 0;
        }
        if (better) {
            chosen = list.size();
            best = std::move(result);
            ahead = std::move(scores);
        }
        list.push_back(std::move(entry));
    }
    for (std::size_t k = 0; k < list.size(); ++k) list[k]["taken"] = k == chosen;
    auto content = std::make_shared<Model::Content>(best->model.content());
    const std::string reason =
        list.size() == 1
            ? std::string()
            : fmt::format("Of {} means this was taken: {} (CRPS out of fold {:.4g}).", list.size(),
                          list[chosen]["description"].get<std::string>(), list[chosen]["crps"].get<double>());
    if (!reason.empty()) {
        content->fit["means"] = std::move(list);
        best->verdict.remarks.insert(best->verdict.remarks.begin(), Message(reason));
        content->verification["verdict"]["remarks"] = best->verdict.remarks;
    }
    best->model = Model(content);
    return *std::move(best);
}

}  // namespace accrue::fitting
