#include "fit/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "accrue/bounded.hpp"
#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "data/row_places.hpp"
#include "fields/kinds.hpp"

namespace accrue::fitting {

using encodings::column_count;
using encodings::Encoding;

namespace {

// The model file is JSON, which is UTF-8.
void check_name(const std::string& name) {
    constexpr std::size_t kLongest = 65536;
    core::require(name.size() <= kLongest, "a column name has {} bytes, but may have at most {}", name.size(),
                  kLongest);
    try {
        (void)nlohmann::ordered_json(name).dump();
    } catch (const nlohmann::ordered_json::exception&) {
        core::refuse("the column name '{}' is not UTF-8, which a model file needs: rename it", name);
    }
}

}  // namespace

const fields::Kind& form_of(const FitOptions& options) {
    return options.form == kAuto ? fields::default_kind() : fields::kind(options.form);
}

bool learns_location(const FitOptions& options) {
    return options.bias == kLearnedLocation;
}

bool mean_by_inputs(const FitOptions& options) {
    return options.mean != "none" && options.mean != kAuto && fields::mean_kind(options.mean).depends_on_inputs();
}

// The correction of the prediction that is fitted before the network.
std::string correction_of(const FitOptions& options) {
    if (!learns_location(options)) return options.bias;
    return mean_by_inputs(options) ? fields::correction_names().front() : fields::correction_names().back();
}

Limits limits_of(const FitOptions& options) {
    Limits limits;
    if (options.lower) limits.lower = *options.lower;
    if (options.upper) limits.upper = *options.upper;
    return limits;
}

double observation_of(const Archive& archive, std::size_t row, const Limits& limits) {
    if (!archive.observation.empty()) return archive.observation[row];
    // An error was rounded; what is on a bound has that of the bound.
    for (const double bound : {limits.lower, limits.upper})
        if (archive.errors[row] == bound - archive.prediction[row]) return bound;
    return archive.prediction[row] + archive.errors[row];
}

SharedFamily family_of(const Archive& archive, const FitOptions& options) {
    const SharedFamily& inner = accrue::family(options.family);
    const Limits limits = limits_of(options);
    if (!limits.any()) return inner;
    bool censored = options.bound_kind == kCensored;
    if (options.bound_kind == kAuto)
        for (std::size_t i = 0; i < archive.errors.size() && !censored; ++i) {
            const double y = observation_of(archive, i, limits);
            censored = y == limits.lower || y == limits.upper;
        }
    return std::make_shared<Bounded>(censored ? Bounded::Kind::censored : Bounded::Kind::truncated, limits, inner);
}

namespace {

// What is truncated has no probability on a bound; a few observations may have been rounded to it.
void check_truncated(const char* bound, double value, std::size_t on_it, std::size_t rows) {
    core::require(static_cast<double>(on_it) < kManyEqual * static_cast<double>(rows),
                  "{} of {} observations are {:.10g}, which is {}, and {} gives that no probability: use {}", on_it,
                  rows, value, core::option(bound), core::option("bound_kind", kTruncated),
                  core::option("bound_kind", kCensored));
}

void check_bounds(const Archive& archive, const FitOptions& options) {
    const Limits limits = limits_of(options);
    if (!limits.any()) {
        core::require(options.bound_kind == kAuto, "{} needs a bound: give {} or {}",
                      core::option("bound_kind", options.bound_kind), core::option("lower"), core::option("upper"));
        return;
    }
    core::require(limits.lower < limits.upper, "{} is {}, but must be below {}, which is {}", core::option("lower"),
                  limits.lower, core::option("upper"), limits.upper);
    const OptionName option = core::option(limits.has_lower() ? "lower" : "upper");
    core::require(!archive.prediction.empty() || !archive.observation.empty(),
                  "{} is a bound of the observation, and errors alone do not tell it: give {} and {}", option,
                  core::option("prediction"), core::option("observation"));
    std::size_t on_lower = 0;
    std::size_t on_upper = 0;
    for (std::size_t i = 0; i < archive.errors.size(); ++i) {
        const double y = observation_of(archive, i, limits);
        on_lower += y == limits.lower ? 1 : 0;
        on_upper += y == limits.upper ? 1 : 0;
        core::require(y >= limits.lower, "the observation of {} is {:.10g}, but {} is {}",
                      data::RowName{archive.place, i}, y, core::option("lower"), limits.lower);
        core::require(y <= limits.upper, "the observation of {} is {:.10g}, but {} is {}",
                      data::RowName{archive.place, i}, y, core::option("upper"), limits.upper);
    }
    if (options.bound_kind != kTruncated) return;
    check_truncated("lower", limits.lower, on_lower, archive.errors.size());
    check_truncated("upper", limits.upper, on_upper, archive.errors.size());
}

}  // namespace

void check(const Archive& archive, const FitOptions& options) {
    for (const std::string& name : archive.input_names) check_name(name);
    for (const auto& [role, name] : archive.roles.all()) check_name(name);
    for (const ColumnGrouping& column : archive.by) check_name(column.name);
    const std::size_t rows = archive.errors.size();
    core::require(rows > 0, "there are no rows to fit");
    core::require(rows < (std::size_t{1} << 32U), "{} rows are more than the 2^32 - 1 that a fit can take", rows);
    core::require(archive.inputs.size() == archive.input_names.size(), "there are {} inputs, but {} names",
                  archive.inputs.size(), archive.input_names.size());
    const auto finite = [&](std::span<const double> values, const std::string& name, bool may_be_missing = false) {
        core::require(values.size() == rows, "'{}' has {} values, but there are {} errors", name, values.size(), rows);
        for (std::size_t i = 0; i < rows; ++i)
            core::require(std::isfinite(values[i]) || (may_be_missing && std::isnan(values[i])),
                          "'{}' of {} is {}, but must be finite", name, data::RowName{archive.place, i}, values[i]);
    };
    core::require(archive.input_types.empty() || archive.input_types.size() == archive.inputs.size(),
                  "there are {} inputs, but {} types", archive.inputs.size(), archive.input_types.size());
    for (std::size_t k = 0; k < archive.inputs.size(); ++k)
        finite(archive.inputs[k], archive.input_names[k], archive.impute);
    finite(archive.errors, archive.roles.error.empty() ? "error" : archive.roles.error);
    if (!archive.prediction.empty()) finite(archive.prediction, archive.roles.prediction);
    if (!archive.times.empty()) finite(archive.times, archive.roles.time);
    if (!archive.weights.empty()) finite(archive.weights, archive.roles.weight);
    for (std::size_t i = 0; i < archive.weights.size(); ++i)
        core::require(archive.weights[i] >= 0, "'{}' of {} is {}, but must not be negative", archive.roles.weight,
                      data::RowName{archive.place, i}, archive.weights[i]);
    core::require(archive.weights.empty() || std::any_of(archive.weights.begin(), archive.weights.end(),
                                                         [](double weight) { return weight > 0; }),
                  "every weight '{}' is 0; at least one must be positive", archive.roles.weight);
    const auto check_grouping = [&](const Grouping& groups, const std::string& what) {
        core::require(groups.codes.empty() || groups.codes.size() == rows, "there are {}s for {} rows, but {} errors",
                      what, groups.codes.size(), rows);
        for (std::size_t i = 0; i < groups.codes.size(); ++i)
            core::require(groups.codes[i] < groups.labels.size(), "{} is of {} {}, but there are {} {} labels",
                          data::RowName{archive.place, i}, what, groups.codes[i], groups.labels.size(), what);
    };
    check_grouping(archive.groups, "group");
    check_grouping(archive.fold_groups, "fold group");
    check_grouping(archive.recalibrate_groups, "recalibration group");
    for (const ColumnGrouping& column : archive.by) check_grouping(column.rows, fmt::format("'{}' value", column.name));
    core::require(std::any_of(archive.errors.begin(), archive.errors.end(), [](double e) { return e != 0; }),
                  "all errors are zero: the predictions equal the observations, and there is no spread to learn");
    check_bounds(archive, options);
    const fields::Kind& form = form_of(options);
    const bool several =
        learns_location(options) || (options.family != kAuto && !accrue::family(options.family)->further().empty());
    core::require(
        !several || form.gives_any_outputs(), "{} gives a scale alone; {} needs {}", core::option("form", options.form),
        learns_location(options) ? core::option("bias", options.bias) : core::option("family", options.family),
        core::option("form", std::string(fields::default_kind().name())));
    core::require(!form.needs_inputs() || !archive.inputs.empty(), "a {} needs at least one input", form.name());
    for (std::size_t k = 0; k < archive.input_types.size(); ++k) {
        const InputType& type = archive.input_types[k];
        if (type.kind == InputKind::cyclic)
            core::require(std::isfinite(type.period) && type.period > 0,
                          "the period of input '{}' is {}, but must be above 0", archive.input_names[k], type.period);
        if (type.kind != InputKind::category) continue;
        core::require(form.takes_categories() || !form.needs_inputs(),
                      "{} takes numbers only, but '{}' is a category; use {}", core::option("form", options.form),
                      archive.input_names[k], core::option("form", std::string(fields::default_kind().name())));
        core::require(!mean_by_inputs(options), "{} takes numbers only, but '{}' is a category",
                      core::option("mean", options.mean), archive.input_names[k]);
        for (const double code : archive.inputs[k])
            core::require(std::isnan(code) || (code >= 0 && code < static_cast<double>(type.labels.size())),
                          "'{}' has code {}, but {} labels", archive.input_names[k], code, type.labels.size());
    }
}

void check_for_mean(const Archive& archive, const FitOptions& options) {
    const OptionName mean = core::option("mean", options.mean);
    core::require(archive.prediction.empty() && archive.errors.empty(),
                  "{} learns the mean from the observations: it takes no predictions and no errors", mean);
    core::require(!archive.observation.empty(), "{} needs the observations", mean);
    core::require(!archive.inputs.empty(), "{} needs at least one input", mean);
    core::require(options.bias == "none" || options.bias == kAuto || learns_location(options),
                  "{} corrects a prediction; with {} there is none", core::option("bias", options.bias), mean);
}

// Mean and standard deviation, computed in units of the largest value so that squares stay in range.
Scaling standardisation(std::span<const double> values, const std::string& name) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double largest = std::max(std::fabs(*low), std::fabs(*high));
    if (*low == *high) return {*low, largest > 0 ? largest : 1};
    const double n = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values) mean += value / largest / n;
    double square = 0;
    for (const double value : values) square += (value / largest - mean) * (value / largest - mean) / n;
    const double centre = mean * largest;
    core::require(std::isfinite(*high - centre) && std::isfinite(*low - centre),
                  "column '{}' has values from {} to {}, too far apart for a double", name, *low, *high);
    // Not below the smallest normal number, where a scale would round to zero.
    return {centre, std::max(std::sqrt(square) * largest, std::numeric_limits<double>::min())};
}

namespace {

// The values of a category that have an effect of their own, and the archive's codes as places among them (-1: others).
constexpr std::size_t kMinRowsOfCategory = 10;
constexpr std::size_t kMaxLevels = 100'000;
Encoding category_encoding(Encoding encoding, std::span<const double> codes, std::span<const std::string> labels) {
    std::vector<std::size_t> rows(labels.size());
    for (const double code : codes)
        if (!std::isnan(code)) ++rows[static_cast<std::size_t>(code)];
    std::vector<std::string> kept;
    for (std::size_t level = 0; level < labels.size(); ++level)
        if (rows[level] >= kMinRowsOfCategory && !labels[level].empty()) kept.push_back(labels[level]);
    core::require(!kept.empty(), "'{}' is not a category: each of its {} values stands in fewer than {} rows",
                  encoding.input.column, labels.size(), kMinRowsOfCategory);
    core::require(kept.size() <= kMaxLevels, "'{}' has {} values, but a category has at most {}", encoding.input.column,
                  kept.size(), kMaxLevels);
    for (const std::string& label : kept) check_name(label);
    encoding.set_labels(std::move(kept));
    return encoding;
}

}  // namespace

std::vector<Encoding> encodings_of(const Archive& archive) {
    std::vector<Encoding> encodings;
    for (std::size_t k = 0; k < archive.inputs.size(); ++k) {
        const InputType type = archive.input_types.empty() ? InputType{} : archive.input_types[k];
        Encoding encoding;
        encoding.name = archive.input_names[k];
        encoding.input = {parse_input(encoding.name).column, type.kind, type.period};
        if (type.kind == InputKind::number) encoding.input.column = encoding.name;
        encoding.imputed = archive.impute;
        if (type.kind == InputKind::category) {
            encodings.push_back(category_encoding(std::move(encoding), archive.inputs[k], type.labels));
            continue;
        }
        std::span<const double> values = archive.inputs[k];
        std::vector<double> present;
        if (archive.impute) {
            std::copy_if(values.begin(), values.end(), std::back_inserter(present),
                         [](double value) { return !std::isnan(value); });
            core::require(!present.empty(), "every value of input '{}' is missing", encoding.name);
            encoding.has_indicator = present.size() < values.size();
            values = present;
        }
        if (type.kind == InputKind::number) encoding.scaling = standardisation(values, encoding.name);
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        encoding.low = *low;
        encoding.high = *high;
        if (type.kind == InputKind::number) encoding.gaps = encodings::gaps_of(values, encoding.scaling.scale);
        encodings.push_back(std::move(encoding));
    }
    return encodings;
}

std::vector<Encoding> encodings_as(std::vector<Encoding> encodings, const Archive& archive) {
    for (std::size_t k = 0; k < encodings.size(); ++k) {
        Encoding& encoding = encodings[k];
        if (encoding.is_category()) continue;
        encoding.low = std::numeric_limits<double>::infinity();
        encoding.high = -encoding.low;
        for (const double value : archive.inputs[k]) {
            if (std::isnan(value)) continue;
            encoding.low = std::min(encoding.low, value);
            encoding.high = std::max(encoding.high, value);
        }
        core::require(encoding.low <= encoding.high, "every value of input '{}' is missing", encoding.name);
    }
    return encodings;
}

void for_encoded(const Archive& archive, std::span<const Encoding> encodings,
                 const std::function<void(std::span<const double>)>& use) {
    const std::size_t rows = archive.errors.size();
    std::vector<std::uint8_t> ignored(rows);
    std::vector<double> columns;
    for (const bool categories : {true, false})
        for (std::size_t k = 0; k < encodings.size(); ++k) {
            const Encoding& encoding = encodings[k];
            if (encoding.is_category() != categories) continue;
            std::span<const double> values = archive.inputs[k];
            std::vector<double> codes;
            if (categories) {
                // From places among the archive's labels to those among the model's.
                std::vector<double> places;
                for (const std::string& label : archive.input_types[k].labels) places.push_back(encoding.code(label));
                for (const double code : values)
                    codes.push_back(std::isnan(code) ? code : places[static_cast<std::size_t>(code)]);
                values = codes;
            }
            columns.resize(encoding.columns() * rows);
            encoding.encode(values.data(), rows, columns.data(), rows, ignored.data(), ignored.data());
            for (std::size_t c = 0; c < encoding.columns(); ++c)
                use(std::span<const double>(columns).subspan(c * rows, rows));
        }
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
    constexpr double kMin = 1e-300;  // below, doubles lose their digits
    core::require(largest >= kMin,
                  "the largest error is {}, too small for doubles to hold its digits: use another unit", largest);
    return std::max(largest * std::sqrt(square / total), std::numeric_limits<double>::min());
}

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
    a.columns.reserve((column_count(content.inputs) + 1) * rows);
    a.ranges = content.regressor_ranges();
    for_encoded(archive, content.inputs, [&](std::span<const double> values) {
        for (const std::size_t i : a.order) a.columns.push_back(values[i]);
    });
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
                      "every row of fold {} has weight 0, so nothing can be held out there; use fewer {}", f + 1,
                      core::option("folds"));
}

std::vector<double> cross_fitted_errors(const Arranged& a, std::string_view kind) {
    std::vector<double> errors = a.errors;
    const fields::Columns regressors = a.regressors();
    const auto field = fields::correction_field(kind, a.ranges);
    if (!field) return errors;
    for (std::size_t f = 0; f < a.folds(); ++f) {
        std::vector<bool> used(a.rows(), true);
        std::fill(used.begin() + static_cast<std::ptrdiff_t>(a.starts[f]),
                  used.begin() + static_cast<std::ptrdiff_t>(a.starts[f + 1]), false);
        const fields::Fitted bias = fields::fit_correction(field, regressors, a.errors, a.weights, used);
        fields::correct(bias, regressors, a.starts[f], a.starts[f + 1], &errors[a.starts[f]]);
    }
    return errors;
}

namespace {

// CRPS of the best constant sigma.
double constant_crps(std::span<const double> errors, std::span<const double> weights) {
    const double sigma = best_constant_sigma(errors, weights);
    if (!(sigma > 0)) return 0;
    return mean_crps(errors, std::vector<double>(errors.size(), sigma), weights);
}

// Every step-th row of each fold.
Arranged thinned(const Arranged& a, std::size_t step) {
    if (step <= 1) return a;
    Arranged some;
    some.ranges = a.ranges;
    std::vector<std::size_t> taken;
    some.starts = {0};
    for (std::size_t f = 0; f < a.folds(); ++f) {
        for (std::size_t i = a.starts[f]; i < a.starts[f + 1]; i += step) taken.push_back(i);
        some.starts.push_back(taken.size());
    }
    for (const std::size_t i : taken) some.order.push_back(a.order[i]);
    for (const std::size_t i : taken) some.errors.push_back(a.errors[i]);
    if (!a.weights.empty())
        for (const std::size_t i : taken) some.weights.push_back(a.weights[i]);
    for (std::size_t at = 0; at < a.columns.size(); at += a.rows())
        for (const std::size_t i : taken) some.columns.push_back(a.columns[at + i]);
    return some;
}

double bias_gain(const Arranged& a, std::string_view kind) {
    const double none = constant_crps(a.errors, a.weights);
    return none > 0 ? 1 - constant_crps(cross_fitted_errors(a, kind), a.weights) / none : 0;
}

}  // namespace

BiasGain bias_gain(const Arranged& a) {
    constexpr std::size_t kMaxParameters = 1001;
    constexpr double kMaxWork = 2e10;  // products; some ten seconds
    // Effects of categories are means, which take no time.
    const auto numbers = std::span(a.ranges).subspan(fields::category_count(a.ranges));
    BiasGain gains;
    for (const std::string& name : fields::correction_names()) {
        gains.push_back(0);
        const auto field = fields::correction_field(name, numbers);
        if (!field || field->parameters() > kMaxParameters || a.rows() < 2 * field->parameters()) continue;
        const auto parameters = static_cast<double>(field->parameters());
        const double work = static_cast<double>(a.rows() * a.folds()) * parameters * parameters;
        const Arranged some = thinned(a, static_cast<std::size_t>(std::ceil(work / kMaxWork)));
        if (some.rows() >= 2 * field->parameters()) gains.back() = bias_gain(some, name);
    }
    return gains;
}

}  // namespace accrue::fitting
