// Table 1: the compared methods on real data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/random.hpp"
#include "fit/cross_fit.hpp"
#include "paper/items.hpp"
#include "paper/methods.hpp"
#include "paper/uci.hpp"

namespace accrue::paper {

namespace {

constexpr double kTrainingShare = 0.7;
constexpr double kValidationShare = 0.2;  // of the training rows, for the mean of block (a)
constexpr std::size_t kFolds = 5;
constexpr std::size_t kRounds = 3;

double root_mean_square(std::span<const double> values) {
    double square = 0;
    for (const double value : values) square += value * value;
    return std::sqrt(square / static_cast<double>(values.size()));
}

std::vector<double> errors_of(std::span<const fields::Fitted> mean, const ExperimentRows& rows) {
    std::vector<double> errors = fields::average_of_all(mean, rows.columns(), rows.count());
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = rows.y[i] - errors[i];
    return errors;
}

Json figures_json(const Experiment& experiment, bool Method::*in_block) {
    Json block;
    for (const Method& method : methods()) {
        if (!(method.*in_block)) continue;
        const Figures f = method.score(experiment);
        block[method.id] = {
            {"crps", f.crps}, {"calibration_error_percent", 100 * f.calibration_error}, {"sd_z", f.sd_z}};
    }
    return block;
}

Json table_run(const ExperimentRows& all, std::uint64_t seed) {
    std::vector<std::size_t> order(all.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    core::Random(seed, 1).shuffle(std::span(order));
    const auto cut = static_cast<std::size_t>(std::lround(kTrainingShare * static_cast<double>(all.count())));
    Experiment e;
    e.seed = seed;
    e.training = all.some(std::span(order).first(cut));
    e.test = all.some(std::span(order).subspan(cut));
    const fields::Targets targets{e.training.columns(), e.training.y, {}};

    // (a) one network; errors on the rows that it was trained on, as in the paper.
    std::vector<std::size_t> rows(cut);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    const auto validation = static_cast<std::size_t>(std::lround(kValidationShare * static_cast<double>(cut)));
    const fields::MeanKind& network = fields::mean_kind("network");
    const fields::Fitted single = fitting::fit_mean(network, targets, std::span(rows).first(cut - validation),
                                                    std::span(rows).subspan(cut - validation), seed);
    e.training_errors = errors_of(std::span(&single, 1), e.training);
    e.test_errors = errors_of(std::span(&single, 1), e.test);
    Json result;
    result["rmse_of_mean_a"] = root_mean_square(e.test_errors);
    result["rmse_of_mean_a_in_training"] = root_mean_square(e.training_errors);
    result["a"] = figures_json(e, &Method::in_block_a);

    // (b) an average of networks; errors on rows that none of a row's networks was trained on.
    std::vector<fitting::Folds> rounds(kRounds, fitting::Folds(cut));
    for (std::size_t r = 0; r < kRounds; ++r) {
        for (std::size_t i = 0; i < cut; ++i) rounds[r][i] = i % kFolds;
        core::Random(seed, 2 + r).shuffle(std::span(rounds[r]));
    }
    const fitting::CrossFit fitted = fitting::cross_fit(network, targets, rounds, seed);
    for (std::size_t i = 0; i < cut; ++i) e.training_errors[i] = e.training.y[i] - fitted.held_out[i];
    e.test_errors = errors_of(fitted.members, e.test);
    result["rmse_of_mean_b"] = root_mean_square(e.test_errors);
    result["rmse_of_mean_b_held_out"] = root_mean_square(e.training_errors);
    result["b"] = figures_json(e, &Method::in_block_b);
    result["floor_percent"] = 100 * kolmogorov_quantile(static_cast<double>(e.test.count()), 0.5);
    return result;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Those that were asked for.
std::vector<UciSet> chosen_sets(const Request& request) {
    if (request.sets.empty()) return uci_sets();
    std::vector<UciSet> chosen;
    std::vector<std::string> known;
    for (const UciSet& set : uci_sets()) {
        known.emplace_back(set.id);
        if (std::count(request.sets.begin(), request.sets.end(), set.id) > 0) chosen.push_back(set);
    }
    for (const std::string& name : request.sets)
        core::require(std::count(known.begin(), known.end(), name) > 0, "there is no set '{}'; known are {}", name,
                      fmt::join(known, ", "));
    return chosen;
}

std::size_t runs_of(const UciSet& set, const Request& request) {
    return request.runs > 0 ? std::min(request.runs, set.papers_runs) : set.papers_runs;
}

// Or so.
double seconds_of_run(const UciSet& set) {
    return 1.5e-3 * static_cast<double>(set.rows);
}

// The column of the paper's own figures that a method stands in; -1 for none.
int papers_column(const std::string& method) {
    if (method == "crps") return 0;
    if (method == "recal") return 1;
    if (method == "km_test") return 2;
    return method == "ar_paper" ? 3 : -1;
}

// The scores that have a table each, and the paper's own figures where it has some.
struct ShownScore {
    const char* id;
    const char* title;
    int digits;
    bool has_floor = false;
    double (UciSet::*papers)[4] = nullptr;
};
constexpr ShownScore kShownScores[] = {
    {"crps", "CRPS", 3, false, &UciSet::paper_crps},
    {"calibration_error_percent", "Calibration error, percent", 1, true, &UciSet::paper_calibration_error},
    {"sd_z", "Standard deviation of z", 2}};

std::string shown(double value, const ShownScore& score) {
    return fmt::format("{:.{}f}", value, score.digits == 3 && value < 0.1 ? 4 : score.digits);
}

}  // namespace

Runs table1_runs(const Request& request) {
    Runs runs;
    for (const UciSet& set : chosen_sets(request)) {
        read_uci(set, request.data);  // what is missing is known before hours of work
        const std::size_t own = runs_of(set, request);
        runs.count += own;
        runs.seconds += static_cast<double>(own) * seconds_of_run(set);
    }
    return runs;
}

Section table1(Store& store, const Request& request) {
    std::vector<ExperimentRows> data;
    const std::vector<UciSet> sets = chosen_sets(request);
    for (const UciSet& set : sets) data.push_back(read_uci(set, request.data));

    Section section;
    section.id = "table1";
    section.title = "Table 1: real data";
    section.table = {{"block", "set", "method", "runs", "crps", "calibration_error_percent", "sd_z", "floor_percent",
                      "paper_crps", "paper_calibration_error_percent"}};
    Json means = {{"title", "The means, apart from sigma"},
                  {"head", {"Set", "Runs", "(a) training rows", "(a) test rows", "(b) held-out rows", "(b) test rows"}},
                  {"rows", Json::array()},
                  {"note",
                   "Root mean square error, standardised. In (a) errors on the training rows are too small, which is "
                   "why sigma learnt from them is too sure; in (b) the average of 15 networks is also a better "
                   "mean."}};
    struct Block {
        const char* id;
        const char* title;
        bool Method::*in_block;
    };
    const Block blocks[] = {
        {"a", "(a) one mean network, errors on its own training rows, as in the paper", &Method::in_block_a},
        {"b", "(b) 15 mean networks, cross-fitted errors", &Method::in_block_b}};
    std::vector<Json> tables;
    for (const Block& block : blocks)
        for (const ShownScore& score : kShownScores) {
            Json head = {"Set"};
            for (const Method& method : methods()) {
                if (!(method.*block.in_block)) continue;
                const bool papers = block.id[0] == 'a' && score.papers != nullptr && papers_column(method.id) >= 0;
                head.push_back(papers ? method.name + " (paper)" : method.name);
            }
            if (score.has_floor) head.push_back("floor");
            tables.push_back(
                {{"title", fmt::format("{}: {}", score.title, block.title)}, {"head", head}, {"rows", Json::array()}});
        }

    for (std::size_t s = 0; s < data.size(); ++s) {
        const UciSet& set = sets[s];
        const std::size_t count = runs_of(set, request);
        std::vector<Json> runs;
        for (std::size_t r = 1; r <= count; ++r)
            runs.push_back(store.run("table1", fmt::format("{}-{:03}", set.id, r), seconds_of_run(set),
                                     [&] { return table_run(data[s], store.seed(r)); }));
        const auto median_of = [&](const auto& pick) {
            std::vector<double> values;
            for (const Json& run : runs) values.push_back(pick(run).template get<double>());
            return median(values);
        };
        const double floor = median_of([](const Json& run) { return run.at("floor_percent"); });
        Json numbers = {{"name", set.name}, {"runs", count}, {"floor_percent", floor}};
        std::size_t t = 0;
        for (const Block& block : blocks) {
            for (const ShownScore& score : kShownScores) {
                Json row = {set.name};
                for (const Method& method : methods()) {
                    if (!(method.*block.in_block)) continue;
                    const double value =
                        median_of([&](const Json& run) { return run.at(block.id).at(method.id).at(score.id); });
                    numbers[block.id][method.id][score.id] = value;
                    std::string text = shown(value, score);
                    const int column = papers_column(method.id);
                    if (block.id[0] == 'a' && score.papers != nullptr && column >= 0)
                        text += fmt::format(" ({})", (set.*score.papers)[column]);
                    row.push_back(text);
                }
                if (score.has_floor) row.push_back(shown(floor, score));
                tables[t++]["rows"].push_back(row);
            }
            for (const Method& method : methods()) {
                if (!(method.*block.in_block)) continue;
                const Json& own = numbers[block.id][method.id];
                const int column = papers_column(method.id);
                const std::vector<Json> row = {block.id,
                                               set.id,
                                               method.id,
                                               count,
                                               own["crps"],
                                               own["calibration_error_percent"],
                                               own["sd_z"],
                                               floor,
                                               column >= 0 ? Json(set.paper_crps[column]) : Json(nullptr),
                                               column >= 0 ? Json(set.paper_calibration_error[column]) : Json(nullptr)};
                section.table.add(row);
            }
        }
        Json row = {set.name, std::to_string(count)};
        for (const char* key :
             {"rmse_of_mean_a_in_training", "rmse_of_mean_a", "rmse_of_mean_b_held_out", "rmse_of_mean_b"}) {
            numbers[key] = median_of([&](const Json& run) { return run.at(key); });
            row.push_back(fmt::format("{:.4f}", numbers[key].get<double>()));
        }
        means["rows"].push_back(row);
        section.numbers[set.id] = numbers;
    }
    for (Json& table : tables) section.tables.push_back(std::move(table));
    section.tables.push_back(std::move(means));
    section.paper_says(
        "AR is always better calibrated than minimising CRPS alone and than KM; in two cases (Protein and Wine) RECAL "
        "is "
        "slightly better calibrated, at the expense of accuracy.");
    std::size_t better = 0;
    std::size_t sharper = 0;
    for (const auto& [id, set] : section.numbers.items()) {
        const Json& a = set.at("a");
        const double own = a.at("ar_paper").at("calibration_error_percent").get<double>();
        better += own < a.at("crps").at("calibration_error_percent").get<double>() &&
                          own < a.at("km").at("calibration_error_percent").get<double>()
                      ? 1
                      : 0;
        sharper += set.at("b").at("ar_default").at("calibration_error_percent").get<double>() < own ? 1 : 0;
    }
    section.we_find(
        fmt::format("Medians over the runs, in standardised units. In block (a) AR is better calibrated than both CRPS "
                    "alone and KM (k by "
                    "validation) on {} of {} sets. Errors of held-out rows (b) with the default recipe calibrate "
                    "better than (a) on {}. "
                    "The mean network has 50 tanh units, stops after 60 iterations without a better validation error, "
                    "and takes at most "
                    "1,500.",
                    better, section.numbers.size(), sharper));
    return section;
}

}  // namespace accrue::paper
