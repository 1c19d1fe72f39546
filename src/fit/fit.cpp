#include "accrue/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "core/exp.hpp"
#include "core/parallel.hpp"
#include "core/rounded_json.hpp"
#include "fit/folds.hpp"
#include "fit/tasks.hpp"
#include "fit/verdict.hpp"
#include "forecast/content.hpp"
#include "mean/bias.hpp"
#include "mean/cross_fit.hpp"

namespace accrue {

namespace fitting {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSplitStream = 1'000'033;
// From folds of so many rows on cost is smooth enough to wait for longer.
constexpr std::size_t kRowsToWait = 500;
constexpr int kShortPatience = 10;
constexpr int kLongPatience = 30;
constexpr std::size_t kMostGroupsInFile = 200;
constexpr std::size_t kMostStarts = 1000;

// The model file is JSON, which is UTF-8.
void check_name(const std::string& name) {
    try {
        (void)Json(name).dump();
    } catch (const Json::exception&) {
        core::refuse("the column name '{}' is not UTF-8, which a model file needs: rename it", name);
    }
}

void check(const Archive& archive, const FitOptions& options) {
    for (const std::string& name : archive.input_names) check_name(name);
    for (const std::string& name : {archive.prediction_name, archive.observation_name, archive.error_name,
                                    archive.weight_name, archive.group_name, archive.time_name})
        check_name(name);
    core::require(options.starts <= kMostStarts, "there are {} starts, but at most {} are allowed", options.starts,
                  kMostStarts);
    const std::size_t rows = archive.errors.size();
    core::require(rows > 0, "there are no rows to fit");
    core::require(rows < (std::size_t{1} << 32U), "{} rows are more than the 2^32 - 1 that a fit can take", rows);
    core::require(archive.inputs.size() == archive.input_names.size(), "there are {} inputs, but {} names",
                  archive.inputs.size(), archive.input_names.size());
    const auto finite = [&](std::span<const double> values, const std::string& name) {
        core::require(values.size() == rows, "'{}' has {} values, but there are {} errors", name, values.size(), rows);
        for (std::size_t i = 0; i < rows; ++i)
            core::require(std::isfinite(values[i]), "'{}' of row {} is {}, but must be finite", name, i + 1, values[i]);
    };
    for (std::size_t k = 0; k < archive.inputs.size(); ++k) finite(archive.inputs[k], archive.input_names[k]);
    finite(archive.errors, archive.error_name.empty() ? "error" : archive.error_name);
    if (!archive.prediction.empty()) finite(archive.prediction, archive.prediction_name);
    if (!archive.times.empty()) finite(archive.times, archive.time_name);
    if (!archive.weights.empty()) finite(archive.weights, archive.weight_name);
    for (std::size_t i = 0; i < archive.weights.size(); ++i)
        core::require(archive.weights[i] >= 0, "'{}' of row {} is {}, but must not be negative", archive.weight_name,
                      i + 1, archive.weights[i]);
    core::require(archive.weights.empty() || std::any_of(archive.weights.begin(), archive.weights.end(),
                                                         [](double weight) { return weight > 0; }),
                  "every weight '{}' is 0; at least one must be positive", archive.weight_name);
    core::require(archive.groups.codes.empty() || archive.groups.codes.size() == rows,
                  "there are groups for {} rows, but {} errors", archive.groups.codes.size(), rows);
    for (std::size_t i = 0; i < archive.groups.codes.size(); ++i)
        core::require(archive.groups.codes[i] < archive.groups.labels.size(),
                      "row {} is of group {}, but there are {} group labels", i + 1, archive.groups.codes[i],
                      archive.groups.labels.size());
    core::require(std::any_of(archive.errors.begin(), archive.errors.end(), [](double e) { return e != 0; }),
                  "all errors are zero: the predictions equal the observations, and there is no spread to learn");
    core::require(options.balance >= 0 && options.balance <= 1, "--balance is {}, but must be between 0 and 1",
                  options.balance);
    core::require(options.recipe == "default" || options.recipe == "paper",
                  "there is no recipe '{}'; known are default, paper", options.recipe);
    core::require(options.recalibrate == "none" || options.recalibrate == "isotonic",
                  "there is no recalibration '{}'; known are none, isotonic", options.recalibrate);
    core::require(
        options.patience >= 0 && options.most_iterations > 0,
        "patience is {} and most_iterations {}, but the one must not be negative and the other must be positive",
        options.patience, options.most_iterations);
    core::require(options.form == "constant" || !archive.inputs.empty(), "a {} needs at least one input", options.form);
}

void check_for_mean(const Archive& archive, const FitOptions& options) {
    core::require(archive.prediction.empty() && archive.errors.empty(),
                  "--mean {} learns the mean from the observations: it takes no predictions and no errors",
                  options.mean);
    core::require(!archive.observation.empty(), "--mean {} needs the observations", options.mean);
    core::require(!archive.inputs.empty(), "--mean {} needs at least one input", options.mean);
    core::require(options.bias == "none", "--bias corrects a prediction; with --mean {} there is none", options.mean);
}

// Mean and standard deviation, computed in units of the largest value so that squares stay in range.
Scaling standardisation(std::span<const double> values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double largest = std::max(std::fabs(*low), std::fabs(*high));
    if (*low == *high) return {*low, largest > 0 ? largest : 1};
    const double n = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values) mean += value / largest / n;
    double square = 0;
    for (const double value : values) square += (value / largest - mean) * (value / largest - mean) / n;
    // Not below the smallest normal number, where a scale would round to zero.
    return {mean * largest, std::max(std::sqrt(square) * largest, std::numeric_limits<double>::min())};
}

double root_mean_square(std::span<const double> values, std::span<const double> weights) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::fabs(value));
    double square = 0;
    double total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double weight = weights.empty() ? 1 : weights[i];
        square += weight * (values[i] / largest) * (values[i] / largest);
        total += weight;
    }
    core::require(square > 0 && largest > 0, "all errors that have weight are zero: there is no spread to learn");
    constexpr double kLeast = 1e-300;  // below, doubles lose their digits
    core::require(largest >= kLeast,
                  "the largest error is {}, too small for doubles to hold its digits: use another unit", largest);
    return std::max(largest * std::sqrt(square / total), std::numeric_limits<double>::min());
}

// Rows put into the order of their folds, so that a fold is one stretch.
struct Arranged {
    std::vector<std::uint32_t> order;  // arranged row -> archive's row
    std::vector<std::size_t> starts;   // of every fold, and the end
    std::vector<double> columns;       // standardised inputs, then the standardised prediction where there is one
    std::vector<double> errors;        // in their own unit, bias corrected
    std::vector<double> weights;

    std::size_t rows() const { return order.size(); }
    std::size_t folds() const { return starts.size() - 1; }
    std::vector<std::span<const double>> regressors() const {
        std::vector<std::span<const double>> all;
        for (std::size_t at = 0; at < columns.size(); at += rows()) all.emplace_back(&columns[at], rows());
        return all;
    }
};

Arranged arrange(const Archive& archive, const Model::Content& content, const std::vector<std::size_t>& fold,
                 std::size_t folds) {
    Arranged a;
    const std::size_t rows = archive.errors.size();
    a.starts.assign(folds + 1, 0);
    for (const std::size_t f : fold) ++a.starts[f + 1];
    for (std::size_t f = 0; f < folds; ++f) a.starts[f + 1] += a.starts[f];
    a.order.resize(rows);
    std::vector<std::size_t> next(a.starts.begin(), a.starts.end() - 1);
    for (std::size_t i = 0; i < rows; ++i) a.order[next[fold[i]]++] = static_cast<std::uint32_t>(i);
    a.columns.reserve((archive.inputs.size() + 1) * rows);
    for (std::size_t k = 0; k < archive.inputs.size(); ++k)
        for (const std::size_t i : a.order) a.columns.push_back(content.input_scaling[k](archive.inputs[k][i]));
    if (!archive.prediction.empty())
        for (const std::size_t i : a.order) a.columns.push_back(content.prediction_scaling(archive.prediction[i]));
    a.errors.reserve(rows);
    for (const std::size_t i : a.order) a.errors.push_back(archive.errors[i]);
    a.weights.reserve(archive.weights.size());
    if (!archive.weights.empty())
        for (const std::size_t i : a.order) a.weights.push_back(archive.weights[i]);
    return a;
}

void require_weight_in_folds(const Arranged& a) {
    if (a.weights.empty()) return;
    for (std::size_t f = 0; f < a.folds(); ++f)
        core::require(std::any_of(a.weights.begin() + static_cast<std::ptrdiff_t>(a.starts[f]),
                                  a.weights.begin() + static_cast<std::ptrdiff_t>(a.starts[f + 1]),
                                  [](double weight) { return weight > 0; }),
                      "every row of fold {} has weight 0, so nothing can be held out there; use fewer --folds", f + 1);
}

// Every row's error after a correction that was fitted without the row's fold.
std::vector<double> cross_fitted_errors(const Arranged& a, mean::BiasKind kind) {
    std::vector<double> errors = a.errors;
    if (kind == mean::BiasKind::none) return errors;
    const auto regressors = a.regressors();
    for (std::size_t f = 0; f < a.folds(); ++f) {
        std::vector<bool> used(a.rows(), true);
        std::fill(used.begin() + static_cast<std::ptrdiff_t>(a.starts[f]),
                  used.begin() + static_cast<std::ptrdiff_t>(a.starts[f + 1]), false);
        const mean::Bias bias = mean::fit_bias(kind, regressors, a.errors, a.weights, used);
        for (std::size_t i = a.starts[f]; i < a.starts[f + 1]; ++i) errors[i] -= mean::correction(bias, regressors, i);
    }
    return errors;
}

// CRPS of the best constant sigma.
double constant_crps(std::span<const double> errors, std::span<const double> weights) {
    const double sigma = best_constant_sigma(errors, weights);
    if (!(sigma > 0)) return 0;
    return mean_crps(errors, std::vector<double>(errors.size(), sigma), weights);
}

BiasGain bias_gain(const Arranged& a) {
    const double none = constant_crps(a.errors, a.weights);
    if (!(none > 0)) return {};
    const auto gain = [&](mean::BiasKind kind) {
        return 1 - constant_crps(cross_fitted_errors(a, kind), a.weights) / none;
    };
    return {gain(mean::BiasKind::constant), gain(mean::BiasKind::linear)};
}

// [BETA] in the errors' standardised unit, for the balance that was asked for: w*crps/CRPSmin + (1-w)*rs/RSmin is
// proportional to beta*crps + (1-beta)*rs.
Score make_score(const FitOptions& options, std::span<const double> errors, std::span<const double> weights) {
    const double even = balanced_beta(errors, weights);  // RSmin/(CRPSmin + RSmin)
    const double accuracy = options.balance * even;
    const double reliability = (1 - options.balance) * (1 - even);
    return {score_kind(options.score), accuracy / (accuracy + reliability)};
}

// Polynomials: an order is kept in all folds when its validation cost is not worse than the best order's by more than
// the standard error of their difference over the folds. The rows cannot tell those apart, so their average is taken.
// Of clusters the best number alone is kept, which is what the method that they are compared with does.
void judge_orders(std::vector<Trained>& trained, std::size_t folds, bool best_alone) {
    const std::size_t orders = trained.size() / folds;
    const auto at = [&](std::size_t fold, std::size_t order) -> StartOutcome& {
        return trained[fold * orders + order].outcome;
    };
    const double count = static_cast<double>(folds);
    const auto mean = [&](auto value) {
        double sum = 0;
        for (std::size_t k = 0; k < folds; ++k) sum += value(k);
        return sum / count;
    };
    const auto cost = [&](std::size_t order) {
        return mean([&](std::size_t k) { return at(k, order).validation_cost; });
    };
    std::size_t best = 0;
    for (std::size_t order = 1; order < orders; ++order)
        if (cost(order) < cost(best)) best = order;
    for (std::size_t order = 0; order < orders; ++order) {
        const auto excess = [&](std::size_t k) { return at(k, order).validation_cost - at(k, best).validation_cost; };
        const double average = mean(excess);
        const double variance = mean([&](std::size_t k) { return std::pow(excess(k) - average, 2); });
        const bool kept = best_alone ? order == best : average <= std::sqrt(variance / (count - 1));
        for (std::size_t k = 0; k < folds; ++k) {
            at(k, order).kept = kept;
            if (!kept)
                at(k, order).dropped_because = best_alone
                                                   ? fmt::format("with {} clusters validation is better", best + 1)
                                                   : fmt::format("order {} validates worse than order {}", order, best);
        }
    }
}

Json outcome_json(const std::vector<Trained>& trained) {
    const auto curve = [](const std::vector<double>& values) {
        Json list = Json::array();
        for (const double value : values) list.push_back(core::rounded_json(value, 6));
        return list;
    };
    Json list = Json::array();
    for (const Trained& t : trained) {
        const StartOutcome& o = t.outcome;
        Json start = {{"fold", o.fold},
                      {"start", o.start},
                      {"iterations", o.iterations},
                      {"reason", o.reason},
                      {"validation_cost", std::isfinite(o.validation_cost) ? Json(o.validation_cost) : Json(nullptr)},
                      {"skill", o.skill},
                      {"kept", o.kept}};
        if (!o.kept) start["dropped_because"] = o.dropped_because;
        start["training_curve"] = curve(o.training_curve);
        start["validation_curve"] = curve(o.validation_curve);
        list.push_back(std::move(start));
    }
    return {{"starts", std::move(list)}};
}

Json configuration_json(const FitOptions& options, std::size_t starts, int patience, const Archive& archive) {
    Json json = {{"form", options.form},
                 {"recipe", options.recipe},
                 {"score", options.score},
                 {"balance", options.balance},
                 {"bias", options.bias},
                 {"mean", options.mean},
                 {"recalibrate", options.recalibrate},
                 {"starts", starts},
                 {"patience", patience},
                 {"most_iterations", options.most_iterations},
                 {"stages", options.stages},
                 {"seed", options.seed},
                 {"rows", archive.errors.size()}};
    if (archive.sampled_from > 0) json["sampled_from"] = archive.sampled_from;
    if (options.recipe == "default") {
        json["folds"] = options.folds;
        json["folds_by"] = !archive.times.empty() ? "time" : !archive.groups.codes.empty() ? "group" : "row";
    } else {
        json["training_share"] = options.training_share;
        json["validation_share"] = options.validation_share;
    }
    return json;
}

Json columns_json(const Archive& archive) {
    Json json = {{"inputs", archive.input_names}};
    const auto add = [&](const char* role, const std::string& name) {
        if (!name.empty()) json[role] = name;
    };
    add("prediction", archive.prediction_name);
    add("observation", archive.observation_name);
    add("error", archive.error_name);
    add("weight", archive.weight_name);
    add("group", archive.group_name);
    add("time", archive.time_name);
    return json;
}

// A mean learned from the archive: errors of rows that it never saw, and what predicts new rows.
struct LearnedMean {
    std::vector<double> errors;
    std::shared_ptr<const mean::Regression> regression;
    Scaling target_scaling;
};

LearnedMean learn_mean(const Archive& archive, const FitOptions& options, const FitWatcher& watcher) {
    const mean::RegressionKind kind = mean::regression_kind(options.mean);
    const std::size_t rows = archive.observation.size();
    LearnedMean learned;
    learned.target_scaling = standardisation(archive.observation);
    std::vector<double> x;
    x.reserve(rows * archive.inputs.size());
    for (const auto& input : archive.inputs) {
        const Scaling scaling = standardisation(input);
        for (const double value : input) x.push_back(scaling(value));
    }
    std::vector<double> y;
    y.reserve(rows);
    for (const double value : archive.observation) y.push_back(learned.target_scaling(value));
    // Networks differ from start to start, and their average is the better mean; a Gaussian process has one answer.
    const std::size_t rounds = kind == mean::RegressionKind::network ? 3 : 1;
    std::vector<mean::Folds> folds;
    for (std::size_t r = 0; r < rounds; ++r) folds.push_back(make_folds(archive, options.folds, options.seed + r));
    const mean::CrossFit fitted = mean::cross_fit(kind, {{x.data(), rows, archive.inputs.size()}, y, archive.weights},
                                                  folds, options.seed, watcher);
    learned.regression = fitted.regression;
    learned.errors.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i)
        learned.errors.push_back(learned.target_scaling.scale * (y[i] - fitted.held_out[i]));
    return learned;
}

// Everything that the two recipes share, before and after the training.
struct Fitting {
    const Archive& archive;
    const FitOptions& options;
    const FitWatcher& watcher;
    std::shared_ptr<Model::Content> content = std::make_shared<Model::Content>();
    Arranged arranged = {};
    std::vector<double> scaled_errors = {};
    Rows rows = {};
    Score score = {};
    std::vector<Trained> trained = {};
    std::size_t starts = 1;
    int patience = 0;
    const LearnedMean* mean = nullptr;
    std::vector<Shape> shapes = {};  // of every part of the rows: what recalibrates it when it is held out

    void choose_patience(int otherwise) { patience = options.patience > 0 ? options.patience : otherwise; }

    void standardise() {
        if (mean != nullptr) {
            content->regression = mean->regression;
            content->target_scaling = mean->target_scaling;
        }
        for (const auto& input : archive.inputs) {
            content->input_scaling.push_back(standardisation(input));
            const auto [low, high] = std::minmax_element(input.begin(), input.end());
            content->input_ranges.push_back({*low, *high});
        }
        content->input_names = archive.input_names;
        if (!archive.prediction.empty()) {
            content->prediction_name = archive.prediction_name;
            content->prediction_scaling = standardisation(archive.prediction);
        }
    }

    // From corrected errors to the rows that a start sees.
    void prepare_rows() {
        content->error_scale = root_mean_square(arranged.errors, arranged.weights);
        scaled_errors = arranged.errors;
        for (double& e : scaled_errors) e /= content->error_scale;
        rows = {{arranged.columns.data(), arranged.rows(), archive.inputs.size()},
                scaled_errors,
                arranged.weights,
                standardised_ranges(*content)};
        score = make_score(options, scaled_errors, arranged.weights);
    }

    TrainOptions train_options() const { return {options.form, patience, options.most_iterations}; }

    std::uint32_t part_of(std::size_t arranged_at) const {
        const auto after = std::upper_bound(arranged.starts.begin(), arranged.starts.end(), arranged_at);
        return static_cast<std::uint32_t>(after - arranged.starts.begin() - 1);
    }

    // The shape that makes the PITs of these parts of the rows uniform; sigma of every arranged row in `sigmas`.
    Shape shape_of(const std::vector<double>& sigmas, const std::function<bool(std::size_t part)>& taken) const {
        std::vector<double> errors;
        std::vector<double> spreads;
        std::vector<double> weights;
        for (std::size_t part = 0; part < arranged.folds(); ++part) {
            if (!taken(part)) continue;
            for (std::size_t i = arranged.starts[part]; i < arranged.starts[part + 1]; ++i) {
                errors.push_back(arranged.errors[i]);
                spreads.push_back(sigmas[i]);
                if (!arranged.weights.empty()) weights.push_back(arranged.weights[i]);
            }
        }
        return Shape::of_pits(pit(errors, spreads), weights);
    }

    // The model with its out-of-sample figures: sigma of arranged row i in oof[i], NaN where it was not held out.
    FitResult finish(const std::vector<double>& oof, const BiasGain& gain) {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        FitResult result{Model(content),
                         {},
                         {},
                         {},
                         std::vector<double>(arranged.rows(), nan),
                         std::vector<double>(arranged.rows(), nan)};
        for (std::size_t at = 0; at < arranged.rows(); ++at) {
            if (std::isnan(oof[at])) continue;
            result.errors[arranged.order[at]] = arranged.errors[at];
            result.sigmas[arranged.order[at]] = oof[at];
        }
        // Rows that were not held out are left out; where all were, nothing is copied.
        const auto held_out = [&](std::size_t i) { return !std::isnan(result.sigmas[i]); };
        std::size_t count = 0;
        for (std::size_t i = 0; i < arranged.rows(); ++i) count += held_out(i) ? 1 : 0;
        const auto taken = [&]<typename T>(std::span<const T> values, std::vector<T>& own) {
            if (values.empty() || count == arranged.rows()) return values;
            own.reserve(count);
            for (std::size_t i = 0; i < values.size(); ++i)
                if (held_out(i)) own.push_back(values[i]);
            return std::span<const T>(own);
        };
        std::vector<double> own_errors, own_sigmas, own_weights;
        std::vector<std::uint32_t> own_codes;
        const auto errors = taken(std::span<const double>(result.errors), own_errors);
        const auto sigmas = taken(std::span<const double>(result.sigmas), own_sigmas);
        const auto weights = taken(archive.weights, own_weights);
        const Grouping groups{taken(archive.groups.codes, own_codes), archive.groups.labels};
        if (options.recalibrate == "none") {
            result.verification = verify(errors, sigmas, weights, groups);
        } else {
            std::vector<std::uint32_t> parts(arranged.rows());
            for (std::size_t at = 0; at < arranged.rows(); ++at) parts[arranged.order[at]] = part_of(at);
            std::vector<std::uint32_t> own_parts;
            const auto shape_codes = taken(std::span<const std::uint32_t>(parts), own_parts);
            result.verification = verify(errors, sigmas, {shapes, shape_codes}, weights, groups);
        }
        result.verification.name = options.recipe == "default" ? "out of fold" : "test rows";
        result.verdict = fit_verdict(result.verification, options, gain);
        for (const Trained& t : trained) result.starts.push_back(t.outcome);

        content->columns = columns_json(archive);
        content->configuration = configuration_json(options, starts, patience, archive);
        content->fit = outcome_json(trained);
        Json figures = to_json(result.verification);
        figures["kind"] = result.verification.name;
        figures.erase("name");
        if (figures["groups"].size() > kMostGroupsInFile) figures["groups"] = Json::array();
        figures["verdict"] = {{"summary", result.verdict.summary}, {"remarks", result.verdict.remarks}};
        // Group labels may hold any bytes: odd ones become U+FFFD.
        content->verification = Json::parse(figures.dump(-1, ' ', false, Json::error_handler_t::replace));
        return result;
    }
};

// log sigma of arranged rows [begin, end) from some members, as sigma in the errors' own unit.
void held_out_sigma(const Fitting& f, const std::vector<sigma::Member>& members, std::size_t begin, std::size_t end,
                    std::vector<double>& oof) {
    constexpr std::size_t kBlock = 4096;
    core::for_blocks(end - begin, kBlock, [&](std::size_t, std::size_t from, std::size_t to) {
        sigma::log_sigma(members, f.rows.x, begin + from, begin + to, &oof[begin + from]);
        for (std::size_t i = begin + from; i < begin + to; ++i)
            oof[i] = f.content->error_scale * core::vector_exp(oof[i]);
    });
}

FitResult default_recipe(const Archive& archive, const FitOptions& options, const FitWatcher& watcher,
                         const LearnedMean* mean) {
    Fitting f{archive, options, watcher};
    f.mean = mean;
    f.standardise();
    f.arranged = arrange(archive, *f.content, make_folds(archive, options.folds, options.seed), options.folds);
    require_weight_in_folds(f.arranged);
    const BiasGain gain = bias_gain(f.arranged);
    const mean::BiasKind bias = mean::bias_kind(options.bias);
    f.content->bias = mean::fit_bias(bias, f.arranged.regressors(), f.arranged.errors, f.arranged.weights,
                                     std::vector<bool>(f.arranged.rows(), true));
    f.arranged.errors = cross_fitted_errors(f.arranged, bias);
    f.prepare_rows();

    std::vector<Division> divisions;
    std::size_t smallest = f.arranged.rows();
    for (std::size_t k = 0; k < options.folds; ++k) {
        divisions.push_back({f.arranged.starts[k], f.arranged.starts[k + 1], f.arranged.rows()});
        smallest = std::min(smallest, divisions[k].end - divisions[k].begin);
    }
    f.choose_patience(smallest >= kRowsToWait ? kLongPatience : kShortPatience);
    // Forms without a random start need one.
    const bool random_starts = options.form == "network";
    f.starts = !random_starts ? 1 : options.starts > 0 ? options.starts : 3;
    std::vector<Task> tasks;
    for (std::size_t k = 0; k < options.folds; ++k)
        for (std::size_t r = 0; r < f.starts; ++r) tasks.push_back({k, r});
    const TrainOptions train_options = f.train_options();
    f.trained = (random_starts && options.stages ? train_in_stages : train_all)(f.rows, divisions, tasks, f.score,
                                                                                train_options, options.seed, watcher);
    const std::vector<Trained> constants = train_constants(f.rows, divisions, f.score, train_options);
    judge(f.trained, constants, random_starts ? smallest : 0);
    if (options.form == "polynomial" || options.form == "clusters")
        judge_orders(f.trained, options.folds, options.form == "clusters");

    std::vector<double> oof(f.arranged.rows());
    for (std::size_t k = 0; k < options.folds; ++k) {
        std::vector<sigma::Member> own;
        for (const Trained& t : f.trained)
            if (t.outcome.fold == k && t.outcome.kept) own.push_back(t.member);
        if (own.empty()) own.push_back(constants[k].member);
        held_out_sigma(f, own, divisions[k].begin, divisions[k].end, oof);
        f.content->members.insert(f.content->members.end(), own.begin(), own.end());
    }
    if (options.recalibrate != "none") {
        f.content->shape = std::make_shared<Shape>(f.shape_of(oof, [](std::size_t) { return true; }));
        // Judged by a map of some folds on the others. Not by taking turns: what a fold deviates by would come back in
        // the maps of the others with the opposite sign, and all rows together would look calibrated whatever they are.
        const std::size_t mapped = std::max<std::size_t>(1, 3 * options.folds / 5);
        f.shapes.assign(options.folds, f.shape_of(oof, [&](std::size_t part) { return part < mapped; }));
        std::fill_n(oof.begin(), f.arranged.starts[mapped], std::numeric_limits<double>::quiet_NaN());
    }
    return f.finish(oof, gain);
}

// One random division into training, validation and test rows; the best start by validation cost.
FitResult paper_recipe(const Archive& archive, const FitOptions& options, const FitWatcher& watcher,
                       const LearnedMean* mean) {
    const std::size_t rows = archive.errors.size();
    for (const double s : {options.training_share, options.validation_share})
        core::require(s > 0 && s < 1,
                      "the shares of training and validation rows are {} and {}, but must be between 0 and 1",
                      options.training_share, options.validation_share);
    const auto share = [&](double s) { return static_cast<std::size_t>(std::lround(s * static_cast<double>(rows))); };
    const std::size_t training = share(options.training_share);
    const std::size_t validation = share(options.validation_share);
    core::require(training > 0 && validation > 0 && training + validation < rows,
                  "{} rows cannot be divided into {} for training, {} for validation and a test set", rows, training,
                  validation);
    core::require(archive.times.empty() && archive.groups.codes.empty(),
                  "the paper's recipe divides rows at random; --group and --time go with --recipe default");
    Fitting f{archive, options, watcher};
    f.mean = mean;
    f.standardise();
    std::vector<std::size_t> part(rows);
    for (std::size_t i = 0; i < rows; ++i) part[i] = i < training ? 0 : i < training + validation ? 1 : 2;
    core::Random(options.seed, kSplitStream).shuffle(std::span(part));
    f.arranged = arrange(archive, *f.content, part, 3);
    const BiasGain gain = bias_gain(f.arranged);
    std::vector<bool> used(rows, false);
    std::fill_n(used.begin(), training, true);
    f.content->bias = mean::fit_bias(mean::bias_kind(options.bias), f.arranged.regressors(), f.arranged.errors,
                                     f.arranged.weights, used);
    const auto regressors = f.arranged.regressors();
    for (std::size_t i = 0; i < rows; ++i) f.arranged.errors[i] -= mean::correction(f.content->bias, regressors, i);
    f.prepare_rows();

    const Division division{training, training + validation, training + validation};
    f.choose_patience(kShortPatience);
    f.starts = options.form != "network" ? 1 : options.starts > 0 ? options.starts : 5;
    std::vector<Task> tasks;
    for (std::size_t r = 0; r < f.starts; ++r) tasks.push_back({0, r});
    f.trained = train_all(f.rows, {division}, tasks, f.score, f.train_options(), options.seed, watcher);
    if (options.form == "polynomial") f.trained = {last_useful_order(std::move(f.trained))};
    const auto best = std::min_element(f.trained.begin(), f.trained.end(), [](const Trained& a, const Trained& b) {
        return a.outcome.validation_cost < b.outcome.validation_cost;
    });
    const std::vector<Trained> constant = train_constants(f.rows, {division}, f.score, f.train_options());
    for (Trained& t : f.trained) {
        t.outcome.skill = 1 - t.outcome.validation_cost / constant[0].outcome.validation_cost;
        t.outcome.kept = &t == &*best;
        if (!t.outcome.kept) t.outcome.dropped_because = "another start has a lower validation cost";
    }
    f.content->members = {best->member};
    std::vector<double> oof(rows);
    held_out_sigma(f, f.content->members, 0, rows, oof);
    if (options.recalibrate != "none") {
        f.content->shape = std::make_shared<Shape>(f.shape_of(oof, [](std::size_t p) { return p < 2; }));
        f.shapes.assign(3, *f.content->shape);
    }
    std::fill_n(oof.begin(), training + validation, std::numeric_limits<double>::quiet_NaN());
    return f.finish(oof, gain);
}

}  // namespace
}  // namespace fitting

std::size_t fit_bytes_per_row(std::size_t inputs, const FitOptions& options) {
    // Standardised inputs and prediction; errors, weights and order of the arranged rows, and the numbers of one start,
    // which are more than what the verification needs later.
    const std::size_t own = (inputs + 1) * sizeof(double) + 120;
    // A mean is learned from standardised copies, by networks that hold some numbers a row too.
    return own + (options.mean == "none" ? 0 : (2 * inputs + 12) * sizeof(double));
}

FitResult fit(const Archive& archive, const FitOptions& options, const FitWatcher& watcher) {
    const auto run = [&](const Archive& rows, const fitting::LearnedMean* mean) {
        fitting::check(rows, options);
        return options.recipe == "paper" ? fitting::paper_recipe(rows, options, watcher, mean)
                                         : fitting::default_recipe(rows, options, watcher, mean);
    };
    if (options.mean == "none") return run(archive, nullptr);
    Archive with_errors = archive;
    with_errors.errors = archive.observation;  // as many, for the checks
    fitting::check(with_errors, options);
    fitting::check_for_mean(archive, options);
    const fitting::LearnedMean mean = fitting::learn_mean(with_errors, options, watcher);
    with_errors.errors = mean.errors;
    return run(with_errors, &mean);
}

}  // namespace accrue
