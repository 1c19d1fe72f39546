#include "fit/fitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "accrue/bounded.hpp"
#include "accrue/group_maps.hpp"
#include "accrue/options.hpp"
#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "core/exp.hpp"
#include "core/parallel.hpp"
#include "core/rounded_json.hpp"
#include "fit/fold_comparison.hpp"
#include "fit/folds.hpp"
#include "fit/importance.hpp"
#include "fit/recalibration.hpp"
#include "fit/verdict.hpp"
#include "optimise/minimise.hpp"
#include "verify/dependence.hpp"

namespace accrue::fitting {

namespace {

using Json = nlohmann::ordered_json;

// [BETA] in the errors' standardised unit, for the balance that was asked for: w*crps/CRPSmin + (1-w)*rs/RSmin is
// proportional to beta*crps + (1-beta)*rs.
Score make_score(const FitOptions& options, std::span<const double> errors, std::span<const double> weights) {
    const double even = balanced_beta(errors, weights);  // RSmin/(CRPSmin + RSmin)
    const double accuracy = options.balance * even;
    const double reliability = (1 - options.balance) * (1 - even);
    return {score_kind(options.score), accuracy / (accuracy + reliability)};
}

Json outcome_json(const std::vector<Trained>& trained, std::size_t forms) {
    const auto curve = [](const std::vector<double>& values) {
        Json list = Json::array();
        for (const double value : values) list.push_back(core::rounded_json(value, 6));
        return list;
    };
    Json list = Json::array();
    for (const Trained& t : trained) {
        const StartOutcome& o = t.outcome;
        Json start = {{"fold", o.fold}, {"start", o.start}};
        if (forms > 1) start["form"] = o.form;
        start.update({{"iterations", o.iterations},
                      {"method", o.method},
                      {"reason", o.reason},
                      {"validation_cost", std::isfinite(o.validation_cost) ? Json(o.validation_cost) : Json(nullptr)},
                      {"skill", o.skill},
                      {"kept", o.kept}});
        if (!o.kept) start["dropped_because"] = o.dropped_because;
        start["training_curve"] = curve(o.training_curve);
        start["validation_curve"] = curve(o.validation_curve);
        list.push_back(std::move(start));
    }
    return {{"starts", std::move(list)}};
}

Json candidates_json(const Candidates& candidates) {
    Json list = Json::array();
    for (const CandidateOutcome& own : candidates) {
        Json json = {{"family", own.family},
                     {"bias", own.bias},
                     {"description", own.description},
                     {"crps", core::rounded_json(own.crps, 6)}};
        if (&own != &candidates.front()) {
            json["compared_with"] = own.compared_with;
            for (const auto& [key, value] :
                 {std::pair{"difference", own.difference}, {"low", own.low}, {"high", own.high}})
                json[key] = core::rounded_json(value, 4);
        }
        json["taken"] = own.taken;
        list.push_back(std::move(json));
    }
    return list;
}

Json importance_json(const std::vector<InputImportance>& importance) {
    Json list = Json::array();
    for (const InputImportance& own : importance)
        list.push_back({{"input", own.input},
                        {"location", core::rounded_json(own.location, 4)},
                        {"scale", core::rounded_json(own.scale, 4)},
                        {"shape", core::rounded_json(own.shape, 4)}});
    return list;
}

// Why this one.
std::string choice_of(const Candidates& candidates) {
    if (candidates.empty()) return "";
    const auto taken = std::find_if(candidates.begin(), candidates.end(), [](const auto& own) { return own.taken; });
    const double first = candidates.front().crps;
    if (taken == candidates.begin())
        return fmt::format("Of {} candidates the simplest was taken ({}): none has a clearly lower CRPS out of fold.",
                           candidates.size(), taken->description);
    return fmt::format(
        "Of {} candidates this was taken: {}. Its CRPS out of fold, of one start, is {:.1f}% lower than that of the "
        "simplest ({}), and clearly lower than that of every simpler one.",
        candidates.size(), taken->description, 100 * (1 - taken->crps / first), candidates.front().description);
}

// `set_apart`: rows for the recalibration, which are not in the archive.
Json configuration_json(const FitOptions& options, std::size_t starts, int patience, const Archive& archive,
                        std::size_t set_apart) {
    FitOptions used = options;
    used.starts = starts;
    used.patience = patience;
    Json json;
    const bool bounded = options.lower || options.upper;
    const auto is_used = [&](const FitOption& option, const Json& value) {
        const bool is_empty_list = value.is_array() && value.empty();
        return !value.is_null() && !is_empty_list && (bounded || option.name != "bound_kind");
    };
    const auto add = [&](const std::string& recipe) {
        for (const FitOption& option : fit_options())
            if (const Json value = option.get(used); option.recipe == recipe && is_used(option, value))
                json[option.name] = value;
    };
    add("");
    json["rows"] = archive.errors.size();
    if (archive.sampled_from > 0) json["sampled_from"] = archive.sampled_from;
    add(options.recipe);
    if (set_apart > 0) json["calibration_rows"] = set_apart;
    if (options.recipe == "default")
        json["folds_by"] = !archive.times.empty() ? "time" : !fold_groups(archive).rows.codes.empty() ? "group" : "row";
    return json;
}

Json columns_json(const Archive& archive) {
    Json json = {{"inputs", archive.input_names}};
    for (const auto& [role, name] : archive.roles.all())
        if (!name.empty()) json[role] = name;
    if (!archive.by.empty()) {
        json["by"] = Json::array();
        for (const ColumnGrouping& column : archive.by) json["by"].push_back(column.name);
    }
    return json;
}

}  // namespace

void Fitting::standardise() {
    content->family = family;
    if (const auto* bounded = dynamic_cast<const Bounded*>(family.get()))
        options.bound_kind = bounded->kind() == Bounded::Kind::censored ? kCensored : kTruncated;
    content->learns_location = learns_location(options);
    if (mean != nullptr) {
        content->mean = mean->members;
        content->target_scaling = mean->target_scaling;
    }
    content->inputs = earlier != nullptr ? encodings_as(earlier->inputs, archive) : encodings_of(archive);
    if (!archive.prediction.empty()) {
        content->prediction_name = archive.roles.prediction;
        content->prediction_scaling = earlier != nullptr
                                          ? earlier->prediction_scaling
                                          : standardisation(archive.prediction, archive.roles.prediction);
    }
}

std::vector<Trained> Fitting::earlier_starts() const {
    if (earlier == nullptr || !form.random_starts() || !earlier->fit.contains("starts")) return {};
    std::vector<Trained> all;
    for (const Json& start : earlier->fit.at("starts")) {
        if (!start.at("kept").get<bool>()) continue;
        // In a fold without a start that was any good the member is a constant.
        if (all.size() == earlier->members.size()) return {};
        Trained& own = all.emplace_back();
        own.member = earlier->members[all.size() - 1];
        own.outcome.fold = start.at("fold").get<std::size_t>();
        own.outcome.start = start.at("start").get<std::size_t>();
        if (own.member.field->name() != form.name() || own.outcome.fold >= options.folds) return {};
    }
    return all.size() == earlier->members.size() ? all : std::vector<Trained>{};
}

void Fitting::prepare_rows() {
    content->error_scale =
        earlier != nullptr ? earlier->error_scale : root_mean_square(arranged.errors, arranged.weights);
    scaled_errors = arranged.errors;
    for (double& e : scaled_errors) e /= content->error_scale;
    std::vector<fields::Range> ranges = encodings::column_ranges(content->inputs);
    const std::size_t columns = ranges.size();
    // A bound lies as far from the prediction as an observation that is on it, to the last digit.
    const Limits limits = family->limits();
    const auto add_bound = [&](double bound) {
        for (std::size_t at = 0; at < arranged.rows(); ++at) {
            const double beyond = bound - observation_of(archive, arranged.order[at], limits);
            scaled_given.push_back((arranged.errors[at] + beyond) / content->error_scale);
        }
    };
    scaled_given.clear();
    if (limits.has_lower()) add_bound(limits.lower);
    if (limits.has_upper()) add_bound(limits.upper);
    const std::size_t given = family->given().size();
    if (given > 0 && family->given().back() == Family::Given::uniform)
        for (const std::uint32_t row : arranged.order) scaled_given.push_back(Bounded::uniform_of_row(row));
    rows = {{arranged.columns.data(), arranged.rows(), columns},
            scaled_errors,
            arranged.weights,
            std::move(ranges),
            {scaled_given.data(), arranged.rows(), given}};
    score = make_score(options, scaled_errors, arranged.weights);
}

TrainOptions Fitting::train_options() const {
    TrainOptions own{&form, {family.get(), learns_location(options)}, patience, options.max_iterations};
    // Quasi-Newton methods stall where a location is learned too.
    own.first_order = form.random_starts() && own.outputs.count() > 1;
    return own;
}

void Fitting::fit_bias(const std::vector<bool>& used) {
    const fields::Columns regressors = arranged.regressors();
    content->bias = fields::fit_correction(fields::correction_field(correction_of(options), arranged.ranges),
                                           regressors, arranged.errors, arranged.weights, used);
}

std::uint32_t Fitting::part_of(std::size_t arranged_at) const {
    const auto after = std::upper_bound(arranged.starts.begin(), arranged.starts.end(), arranged_at);
    return static_cast<std::uint32_t>(after - arranged.starts.begin() - 1);
}

double Fitting::map_number(std::size_t at) const {
    return map_numbers.empty() ? GroupMaps::kCommon : map_numbers[at];
}

double Fitting::base(std::size_t at) const {
    const Limits limits = family->limits();
    return limits.any() ? observation_of(archive, arranged.order[at], limits) - arranged.errors[at] : 0;
}

Fitting::RowForecast Fitting::row_forecast(const HeldOut& held_out, std::size_t at,
                                           const forecasts::RowParameters& complete,
                                           std::span<double> parameters) const {
    const double from = base(at);
    double centre = from + held_out.location(at);
    double sigma = held_out.scale(at);
    complete(centre, sigma, held_out.further(at), arranged.order[at], map_number(at), parameters);
    return {arranged.errors[at] - (centre - from), sigma};
}

void Fitting::hold_out(const std::vector<fields::Fitted>& members, std::size_t begin, std::size_t end,
                       HeldOut& held_out) const {
    const fields::Outputs own = this->outputs();
    const std::vector<fields::Bounds> bounds = own.bounds();
    const std::size_t count = arranged.rows();
    held_out.scales.resize(count);
    held_out.width = own.further();
    held_out.values.resize(held_out.width * count);
    if (own.location) held_out.locations.resize(count);
    constexpr std::size_t kBlock = 4096;
    core::for_blocks(end - begin, kBlock, [&](std::size_t, std::size_t from, std::size_t to) {
        const std::size_t size = to - from;
        std::vector<double> values(bounds.size() * size);
        fields::average(members, bounds, rows.x, begin + from, begin + to, values.data(), size);
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t at = begin + from + i;
            held_out.scales[at] = content->error_scale * core::vector_exp(values[i]);
            for (std::size_t k = 0; k < held_out.width; ++k)
                held_out.values[at * held_out.width + k] = values[(1 + k) * size + i];
            if (own.location) held_out.locations[at] = content->error_scale * values[(bounds.size() - 1) * size + i];
        }
    });
}

void Fitting::widen(HeldOut& held_out) {
    const fields::Outputs own = outputs();
    if (!own.location && own.further() == 0) return;
    const std::size_t count = arranged.rows();
    // Held-out outputs as a field without parameters but the one that is looked for.
    class Said final : public fields::Field {
    public:
        Said(const HeldOut& said, double unit, std::size_t outputs) : said_(said), unit_(unit), outputs_(outputs) {}
        std::string_view name() const override { return "held out"; }
        std::size_t outputs() const override { return outputs_; }
        std::size_t parameters() const override { return 1; }
        std::vector<double> start(core::Random&, std::span<const double>) const override { return {0}; }
        void values(std::span<const double> parameters, const fields::Columns&, std::size_t begin, std::size_t end,
                    double* out, std::size_t stride) const override {
            for (std::size_t i = begin; i < end; ++i) {
                out[i - begin] = std::log(said_.scale(i) / unit_) + parameters[0];
                const std::span<const double> further = said_.further(i);
                for (std::size_t k = 0; k < further.size(); ++k) out[(1 + k) * stride + i - begin] = further[k];
                if (!said_.locations.empty()) out[(outputs_ - 1) * stride + i - begin] = said_.location(i) / unit_;
            }
        }
        void add_gradient(std::span<const double>, const fields::Columns&, std::size_t begin, std::size_t end,
                          const double* slopes, std::size_t, double* gradient) const override {
            for (std::size_t i = 0; i < end - begin; ++i) gradient[0] += slopes[i];
        }

    private:
        const HeldOut& said_;
        double unit_;
        std::size_t outputs_;
    };
    const Said said(held_out, content->error_scale, own.count());
    const auto cost = make_objective({family.get(), own.location}, said, rows.x, {0, 0, count}, rows.errors,
                                     rows.weights, rows.given, score, Objective::Precision::exact);
    optimise::Options settings;
    settings.method = optimise::Method::bfgs;
    settings.max_iterations = 50;
    const optimise::Outcome found =
        optimise::minimise([&](std::span<const double> x, double& value,
                               std::span<double> gradient) { return (*cost)(x, value, gradient); },
                           {0}, [](int, std::span<const double>, double) { return optimise::Watch::go_on; }, settings);
    constexpr double kMost = 0.5;  // a factor of 1.6: more is no correction any more
    const double raised = std::clamp(found.x[0], -kMost, kMost);
    for (fields::Fitted& member : content->members) member.field->raise(member.parameters, 0, raised);
    for (double& scale : held_out.scales) scale *= std::exp(raised);
}

std::vector<double> Fitting::crps(const HeldOut& held_out) const {
    std::vector<std::size_t> all(arranged.rows());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return crps_of(held_out, all, std::span(&family, 1), {});
}

std::vector<double> Fitting::crps_of(const HeldOut& held_out, std::span<const std::size_t> rows_of,
                                     std::span<const SharedFamily> families, std::span<const std::size_t> parts) const {
    std::vector<forecasts::RowParameters> complete;
    for (const SharedFamily& own : families) complete.emplace_back(*own);
    const std::size_t width = complete.front().width();
    std::vector<double> scores(rows_of.size());
    constexpr std::size_t kBlock = 1024;
    core::for_blocks(rows_of.size(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::vector<double> parameters(width);
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t part = families.size() > 1 ? parts[i] : 0;
            const auto [error, sigma] = row_forecast(held_out, rows_of[i], complete[part], parameters);
            const Standardised own =
                width > 0 ? Standardised(*families[part], parameters) : Standardised(families[part]);
            own.crps_block(1, &error, &sigma, &scores[i]);
        }
    });
    return scores;
}

void Fitting::judge_calibration_by_fold(FitResult& result) const {
    Verification& v = result.verification;
    v.calibration_error = v.calibration_floor = v.rs = v.rs_floor = 0;
    double min_p_value = 1;
    VerifyOptions scores_alone;
    scores_alone.levels = {};
    scores_alone.ordered = true;
    const auto folds = static_cast<double>(arranged.folds());
    for (std::size_t k = 0; k < arranged.folds(); ++k) {
        std::vector<double> errors, sigmas, weights, parameters, times;
        std::vector<std::uint32_t> groups;
        for (std::size_t at = arranged.starts[k]; at < arranged.starts[k + 1]; ++at) {
            const std::uint32_t row = arranged.order[at];
            errors.push_back(result.errors[row]);
            sigmas.push_back(result.sigmas[row]);
            const auto own = result.parameters_of(row);
            parameters.insert(parameters.end(), own.begin(), own.end());
            if (!arranged.weights.empty()) weights.push_back(arranged.weights[at]);
            if (!archive.groups.codes.empty()) groups.push_back(archive.groups.codes[row]);
            if (!archive.times.empty()) times.push_back(archive.times[row]);
        }
        scores_alone.times = times;
        const Grouping together{groups, groups.empty() ? std::span<const std::string>{} : archive.groups.labels};
        const Verification own =
            verify(errors, sigmas, Families{{recalibrated[k]}, {}, parameters}, weights, together, scores_alone);
        v.calibration_error += own.calibration_error / folds;
        v.calibration_floor += own.calibration_floor / folds;
        v.rs += own.rs / folds;
        v.rs_floor += own.rs_floor / folds;
        min_p_value = std::min(min_p_value, own.calibration_p_value);
    }
    v.ar = v.beta * v.crps + (1 - v.beta) * v.rs;
    v.calibration_p_value = std::min(1.0, folds * min_p_value);  // Bonferroni
}

FitResult Fitting::finish(const HeldOut& held_out, const BiasGain& gain, Candidates candidates) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    FitResult result{Model(content),
                     {},
                     {},
                     {},
                     {},
                     std::vector<double>(arranged.rows(), nan),
                     std::vector<double>(arranged.rows(), nan)};
    std::vector<forecasts::RowParameters> complete;
    for (const SharedFamily& own : recalibrated.empty() ? std::vector{family} : recalibrated)
        complete.emplace_back(*own);
    const std::size_t width = complete.front().width();
    result.parameters.assign(width * arranged.rows(), nan);
    constexpr std::size_t kBlock = 1024;
    core::for_blocks(arranged.rows(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at < end; ++at) {
            if (std::isnan(held_out.scale(at))) continue;
            const std::uint32_t row = arranged.order[at];
            const auto [error, sigma] = row_forecast(held_out, at, complete[map_of(at)],
                                                     std::span(result.parameters).subspan(row * width, width));
            result.errors[row] = error;
            result.sigmas[row] = sigma;
        }
    });
    // Rows that were not held out are left out; where all were, nothing is copied.
    const auto is_held_out = [&](std::size_t i) { return !std::isnan(result.sigmas[i]); };
    std::size_t count = 0;
    for (std::size_t i = 0; i < arranged.rows(); ++i) count += is_held_out(i) ? 1 : 0;
    const auto taken = [&]<typename T>(std::span<const T> values, std::vector<T>& own) {
        if (values.empty() || count == arranged.rows()) return values;
        own.reserve(count);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (is_held_out(i)) own.push_back(values[i]);
        return std::span<const T>(own);
    };
    std::vector<double> own_errors, own_sigmas, own_weights, own_times;
    std::vector<std::uint32_t> own_codes;
    std::vector<std::vector<std::uint32_t>> own_values(archive.by.size());
    const auto errors = taken(std::span<const double>(result.errors), own_errors);
    const auto sigmas = taken(std::span<const double>(result.sigmas), own_sigmas);
    const auto weights = taken(archive.weights, own_weights);
    const Grouping groups{taken(archive.groups.codes, own_codes), archive.groups.labels};
    VerifyOptions verify_options;
    verify_options.ordered = !verification::in_order_of_size(archive);
    verify_options.times = taken(archive.times, own_times);
    std::vector<ColumnGrouping> by = archive.by;
    for (std::size_t c = 0; c < by.size(); ++c) by[c].rows.codes = taken(by[c].rows.codes, own_values[c]);
    std::vector<double> own_parameters;
    if (count < arranged.rows())
        for (std::size_t i = 0; i < arranged.rows(); ++i)
            if (is_held_out(i)) {
                const auto own = result.parameters_of(i);
                own_parameters.insert(own_parameters.end(), own.begin(), own.end());
            }
    const std::span<const double> parameters = count < arranged.rows() ? own_parameters : result.parameters;
    if (recalibrated.empty()) {
        result.verification =
            verify(errors, sigmas, Families{{family}, {}, parameters}, weights, groups, verify_options, by);
    } else {
        result.families = recalibrated;
        result.parts.resize(arranged.rows());
        for (std::size_t at = 0; at < arranged.rows(); ++at) result.parts[arranged.order[at]] = map_of(at);
        std::vector<std::uint32_t> own_parts;
        const auto family_codes = taken(std::span<const std::uint32_t>(result.parts), own_parts);
        result.verification = verify(errors, sigmas, Families{recalibrated, family_codes, parameters}, weights, groups,
                                     verify_options, by);
        if (recalibrated.size() > 1) judge_calibration_by_fold(result);
    }
    result.verification.name = options.recipe == "default" ? "out of fold" : "test rows";
    result.verdict = fit_verdict(result.verification, options, gain);
    result.recalibration = recalibration;
    for (Message& remark : recalibration_remarks(recalibration, archive))
        result.verdict.remarks.push_back(std::move(remark));
    const Families forecasts = recalibrated.empty() ? Families{{family}, {}, result.parameters}
                                                    : Families{recalibrated, result.parts, result.parameters};
    const ArchiveConditions conditions(archive);
    result.conditional = conditional_calibration(normal_scores(result.errors, result.sigmas, forecasts),
                                                 conditions.all(), archive.groups, archive.times, archive.weights);
    if (result.conditional.neighbours_err_together && folds_are_by_row(archive, options))
        result.folds = compare_folds(arranged, encodings::column_count(content->inputs), options.seed);
    add_conditional(result.verdict, result.conditional, result.folds, archive, options);
    result.importance = input_importance(Model(content), archive, options.seed);
    for (Message& remark : observation_remarks(archive, options, result.errors, result.sigmas, forecasts))
        result.verdict.remarks.push_back(std::move(remark));
    result.candidates = std::move(candidates);
    result.choice = choice_of(result.candidates);
    if (!result.choice.empty()) result.verdict.remarks.insert(result.verdict.remarks.begin(), result.choice);
    for (const Trained& t : trained) result.starts.push_back(t.outcome);
    result.pooled = pooled;

    content->columns = columns_json(archive);
    content->configuration =
        configuration_json(options, starts, patience, archive, recalibration.split ? recalibration.rows : 0);
    content->fit = outcome_json(trained, std::max<std::size_t>(pooled.size(), 1));
    if (!result.importance.empty()) content->fit["importance"] = importance_json(result.importance);
    if (result.folds)
        content->fit["fold_comparison"] = {{"crps_by_row", core::rounded_json(result.folds->crps_by_row, 6)},
                                           {"crps_by_block", core::rounded_json(result.folds->crps_by_block, 6)}};
    if (!result.candidates.empty()) content->fit["candidates"] = candidates_json(result.candidates);
    for (const PooledForm& own : pooled)
        content->fit["forms"].push_back({{"form", own.form},
                                         {"weight", core::rounded_json(own.weight, 4)},
                                         {"crps", core::rounded_json(own.crps, 6)}});
    if (is_worth_telling(recalibration)) content->fit["recalibration"] = recalibration_json(recalibration);
    Json figures = to_json(result.verification);
    figures["kind"] = result.verification.name;
    figures.erase("name");
    for (Json& column : figures["by"])
        if (column["values"].size() > kMaxValuesInFile) column["values"] = Json::array();
    figures["conditional"] = conditional_in_file(result.conditional);
    figures["verdict"] = {{"summary", result.verdict.summary}, {"remarks", result.verdict.remarks}};
    // Labels may hold any bytes: odd ones become U+FFFD.
    content->verification = Json::parse(figures.dump(-1, ' ', false, Json::error_handler_t::replace));
    return result;
}

}  // namespace accrue::fitting
