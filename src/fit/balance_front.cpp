#include "fit/balance_front.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "accrue/conditional.hpp"
#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "core/rounded_json.hpp"
#include "fit/dependence.hpp"
#include "forecast/content.hpp"
#include "verify/pits.hpp"

namespace accrue::fitting {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBlocks = 20;  // of rows, each left out once

// What held-out rows say of one balance.
struct Scored {
    double balance;
    std::vector<double> crps, scores, pits;  // of every row; normal scores of the PITs, and the PITs
};

Scored scored(const FitResult& result, double balance) {
    const std::size_t rows = result.sigmas.size();
    const Families families{{result.model.family()}, {}, result.parameters};
    const RowFamilies own(families, rows);
    Scored all{balance, std::vector<double>(rows), normal_scores(result.errors, result.sigmas, families), {}};
    for (std::size_t i = 0; i < rows; ++i) {
        if (!std::isnan(result.sigmas[i]))
            own.with(i, [&](const Standardised& row) {
                row.crps_block(1, &result.errors[i], &result.sigmas[i], &all.crps[i]);
            });
        all.pits.push_back(std::erfc(-all.scores[i] / std::sqrt(2.0)) / 2);
    }
    return all;
}

// Mean CRPS, reliability score and calibration error.
using Figures = std::array<double, 3>;

// Of the rows for which `used` is true.
template <typename Used>
Figures figures(const Scored& rows, std::span<const double> weights, const Used& used) {
    std::vector<double> scores, pits, own_weights;
    double crps = 0;
    double total = 0;
    for (std::size_t i = 0; i < rows.crps.size(); ++i) {
        if (!used(i)) continue;
        const double weight = weights.empty() ? 1 : weights[i];
        crps += weight * rows.crps[i];
        total += weight;
        scores.push_back(rows.scores[i]);
        pits.push_back(rows.pits[i]);
        if (!weights.empty()) own_weights.push_back(weight);
    }
    return {crps / total, reliability_of_scores(scores, own_weights),
            verification::PitCdf(pits, own_weights, 1).distance_to_diagonal()};
}

// The standard errors of figures, from those without one block each: the jackknife.
Figures standard_errors(const std::vector<Figures>& without) {
    const auto count = static_cast<double>(without.size());
    Figures errors;
    errors.fill(std::numeric_limits<double>::quiet_NaN());
    if (without.size() < 2) return errors;
    for (std::size_t k = 0; k < errors.size(); ++k) {
        double mean = 0;
        for (const Figures& own : without) mean += own[k] / count;
        double squares = 0;
        for (const Figures& own : without) squares += (own[k] - mean) * (own[k] - mean);
        errors[k] = std::sqrt((count - 1) / count * squares);
    }
    return errors;
}

// The block of every row: rows that err together are of one.
std::vector<std::size_t> blocks_of(const Archive& archive, std::size_t& count) {
    const std::size_t rows = archive.errors.size();
    const Dependence dependence(archive);
    const bool grouped = !dependence.groups.codes.empty();
    count = std::min(kBlocks, grouped ? dependence.groups.labels.size() : rows);
    std::vector<std::size_t> blocks(rows);
    for (std::size_t i = 0; i < rows; ++i) blocks[i] = (grouped ? dependence.groups.codes[i] : i) % count;
    return blocks;
}

Json front_json(const std::vector<BalanceOutcome>& front) {
    Json list = Json::array();
    for (const BalanceOutcome& own : front)
        list.push_back({{"balance", own.balance},
                        {"crps", core::rounded_json(own.crps, 6)},
                        {"crps_se", core::rounded_json(own.crps_se, 3)},
                        {"rs", core::rounded_json(own.rs, 6)},
                        {"rs_se", core::rounded_json(own.rs_se, 3)},
                        {"calibration_error_percent", core::rounded_json(100 * own.calibration_error, 6)},
                        {"calibration_error_se_percent", core::rounded_json(100 * own.calibration_error_se, 3)},
                        {"crps_difference", core::rounded_json(own.crps_difference, 6)},
                        {"crps_difference_se", core::rounded_json(own.crps_difference_se, 3)},
                        {"rs_difference", core::rounded_json(own.rs_difference, 6)},
                        {"rs_difference_se", core::rounded_json(own.rs_difference_se, 3)},
                        {"taken", own.taken}});
    return list;
}

}  // namespace

void check_balance_front(const FitOptions& options) {
    core::require(options.balance_front.empty() || options.score == "ar", "{} goes with {} only: {} has no balance",
                  core::option("balance_front"), core::option("score", "ar"), core::option("score", options.score));
}

void add_balance_front(FitResult& result, const Archive& archive, const FitOptions& options,
                       const std::function<FitResult(const FitOptions&)>& fitted) {
    FitOptions own = options;
    own.balance_front.clear();
    own.recalibrate = "none";
    auto content = std::make_shared<Model::Content>(result.model.content());
    for (const auto& [name, option] : {std::pair{"form", &own.form}, {"family", &own.family}, {"bias", &own.bias}})
        *option = content->configuration.at(name).get<std::string>();
    std::vector<double> balances = options.balance_front;
    balances.push_back(options.balance);
    std::sort(balances.begin(), balances.end());
    balances.erase(std::unique(balances.begin(), balances.end()), balances.end());
    std::vector<Scored> all;
    for (const double balance : balances) {
        own.balance = balance;
        const bool same = balance == options.balance && options.recalibrate == "none";
        all.push_back(same ? scored(result, balance) : scored(fitted(own), balance));
    }

    std::size_t count = 0;
    const std::vector<std::size_t> blocks = blocks_of(archive, count);
    const auto is_held_out = [&](std::size_t row) { return !std::isnan(result.sigmas[row]); };
    std::vector<Figures> whole;
    std::vector<std::vector<Figures>> without(all.size());  // one block each
    for (std::size_t k = 0; k < all.size(); ++k) {
        whole.push_back(figures(all[k], archive.weights, is_held_out));
        for (std::size_t b = 0; b < count; ++b) {
            // A block without a row, or all of the weight, tells nothing.
            const auto used = [&](std::size_t row) { return is_held_out(row) && blocks[row] != b; };
            double weight = 0;
            for (std::size_t i = 0; i < blocks.size(); ++i)
                if (used(i)) weight += archive.weights.empty() ? 1 : archive.weights[i];
            if (weight > 0) without[k].push_back(figures(all[k], archive.weights, used));
        }
    }
    const auto taken =
        static_cast<std::size_t>(std::find(balances.begin(), balances.end(), options.balance) - balances.begin());
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Figures errors = standard_errors(without[k]);
        std::vector<Figures> apart = without[k];
        for (std::size_t b = 0; b < apart.size(); ++b)
            for (std::size_t f = 0; f < apart[b].size(); ++f) apart[b][f] -= without[taken][b][f];
        const Figures paired = standard_errors(apart);
        result.balance_front.push_back({balances[k], whole[k][0], errors[0], whole[k][1], errors[1], whole[k][2],
                                        errors[2], whole[k][0] - whole[taken][0], paired[0],
                                        whole[k][1] - whole[taken][1], paired[1], k == taken});
    }
    content->fit["balance_front"] = front_json(result.balance_front);
    result.model = Model(content);
}

}  // namespace accrue::fitting
