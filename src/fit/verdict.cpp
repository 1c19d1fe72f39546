#include "fit/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "fields/kinds.hpp"
#include "fields/linear.hpp"
#include "fit/prepare.hpp"

namespace accrue::fitting {

namespace {

constexpr double kFewRows = 100;
constexpr double kLittleSkill = 0.005;  // below this a constant does as well
constexpr double kWorthCorrecting = 0.01;
constexpr double kKinder = 0.02;  // a share of the CRPS that is worth a word

}  // namespace

Verdict fit_verdict(const Verification& v, const FitOptions& options, const BiasGain& gain) {
    const fields::Kind& form = form_of(options);
    Verdict result = verdict(v);
    if (form.needs_inputs() && !(v.crps_skill > kLittleSkill))
        result.remarks.push_back(core::message(
            "sigma(x) is no better than a constant here (skill {:+.1f}%): the inputs say little about the size of the "
            "errors. Try other inputs, or {}.",
            100 * v.crps_skill, core::option("form", std::string(fields::constant_kind().name()))));
    const std::vector<std::string> corrections = fields::correction_names();
    // A location that is learned has a linear correction below it.
    const auto own =
        learns_location(options)
            ? gain.end() - 1
            : gain.begin() + (std::find(corrections.begin(), corrections.end(), options.bias) - corrections.begin());
    const double best = *std::max_element(own, gain.end());
    // The gain is that of Gaussians, and says nothing of a forecast whose recalibration has moved its mean already.
    if (options.recalibrate == "none" && best > *own + kWorthCorrecting) {
        // The simplest of those that are hardly worse than the best.
        const auto advised =
            std::find_if(own + 1, gain.end(), [&](double g) { return !(best > g + kWorthCorrecting / 2); });
        const OptionName bias = core::option("bias", corrections[static_cast<std::size_t>(advised - gain.begin())]);
        const double percent = 100 * (*advised - *own);
        result.remarks.push_back(
            own == gain.begin()
                ? core::message("The predictions are biased: {} would lower the CRPS by about {:.1f}%.", bias, percent)
                : core::message("{} would lower the CRPS by another {:.1f}%.", bias, percent));
    }
    if (v.effective_rows < kFewRows && form.random_starts())
        result.remarks.emplace_back(
            fmt::format("With {} rows a {} learns little; believe sigma(x) only where it agrees with what you know.",
                        v.rows, form.name()));
    return result;
}

bool folds_are_by_row(const Archive& archive, const FitOptions& options) {
    return archive.groups.codes.empty() && archive.fold_groups.codes.empty() && archive.times.empty() &&
           options.recipe == "default";
}

void add_conditional(Verdict& verdict, const ConditionalCalibration& conditional,
                     const std::optional<FoldComparison>& folds, const Archive& archive, const FitOptions& options) {
    accrue::add_conditional(verdict, conditional);
    if (!conditional.passes) {
        const Condition::Role role = *conditional.worst_role;
        const InputKind of_time = conditional.worst_column == "month" ? InputKind::season : InputKind::hour;
        const bool input =
            role == Condition::Role::input || role == Condition::Role::prediction ||
            (role == Condition::Role::time && std::any_of(archive.input_types.begin(), archive.input_types.end(),
                                                          [&](const InputType& type) { return type.kind == of_time; }));
        const fields::Kind& form = form_of(options);
        const bool grows = form.gives_any_outputs() && form.random_starts();
        const bool is_bias = conditional.worst_fault == ConditionalPlace::Fault::bias;
        const std::string of_shape = "sinh-arcsinh";
        const std::string& group = conditional.worst_group;
        const bool has_own = options.recalibrate != "none" && group == archive.roles.recalibrate_group;
        const bool may_have_own =
            !group.empty() && !has_own && options.recipe == "default" && archive.observation_error.empty();
        const auto help = [&] {
            if (!input)
                return core::message("An input that tells these rows apart would help: see {}.",
                                     core::option("inputs"));
            if (is_bias && !learns_location(options) && grows)
                return core::message("{} may help there.", core::option("bias", kLearnedLocation));
            if (!is_bias && !grows)
                return core::message("{} may help there.",
                                     core::option("form", std::string(fields::default_kind().name())));
            if (conditional.is_of_shape() && options.family != of_shape && archive.observation_error.empty())
                return core::message("{} may help there.", core::option("family", of_shape));
            return core::message("Another input that tells these rows apart may help there: see {}.",
                                 core::option("inputs"));
        };
        // A map of its own is what mends the shape of a value.
        if (!conditional.is_of_shape() || !may_have_own) verdict.remarks.push_back(help());
        if (may_have_own)
            verdict.remarks.push_back(core::message("{} {} may give its values recalibrations of their own.",
                                                    core::option("recalibrate", kAuto),
                                                    core::option("recalibrate_group", group)));
    }
    if (!conditional.neighbours_err_together || !folds_are_by_row(archive, options)) return;
    // What a quick model gains from neighbours that were in other folds.
    const double kinder = folds ? folds->crps_by_block / folds->crps_by_row - 1 : 0;
    verdict.remarks.push_back(core::message(
        "Folds by row are too kind where neighbouring rows err together{}. Name what they share with {}, or their time "
        "with {}.",
        kinder > kKinder ? fmt::format(": the CRPS of a quick model is {:.0f}% higher where whole blocks of rows are "
                                       "held out",
                                       100 * kinder)
                         : "",
        core::option("group"), core::option("time")));
}

nlohmann::ordered_json conditional_in_file(const ConditionalCalibration& conditional) {
    nlohmann::ordered_json json = to_json(conditional);
    for (auto& column : json["columns"])
        if (column["places"].size() > kMaxValuesInFile) column["places"] = nlohmann::ordered_json::array();
    return json;
}

namespace {

constexpr std::size_t kRowsLookedAt = 100'000;
constexpr double kFewOfMany = 0.01;     // a share that is worth a remark
constexpr std::size_t kMinCount = 20;   // and a number that is no accident
constexpr double kExpectedBeyond = 10;  // none of so many expected ones happens once in 20,000 archives

// To 12 digits: an observation that was computed from prediction and error is rounded beyond them.
double rounded(double y) {
    if (y == 0) return 0;
    const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(y))) - 11);
    return unit > 0 ? std::nearbyint(y / unit) * unit : y;
}

// One end of the observations.
struct End {
    const char* option;  // of a bound
    const char* beyond;
    bool lower;
};

bool are_many(double some, double all) {
    return some >= std::max(kFewOfMany * all, static_cast<double>(kMinCount));
}

// Of observations on a bound where a truncated forecast has no probability.
Message truncated_remark(const End& end, std::span<const double> sorted, double bound) {
    const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), rounded(bound));
    const auto count = static_cast<double>(sorted.size());
    const auto equal = static_cast<double>(to - from);
    if (!are_many(equal, count)) return {};
    return core::message(
        "{:.1f}% of the observations are {:.12g}, which is {}, and a truncated forecast gives that no probability: {} "
        "does.",
        100 * equal / count, bound, core::option(end.option), core::option("bound_kind", kCensored));
}

// Of observations that sit on their last value, or of forecasts that expect some beyond it; empty for others.
// `expected` gives how many the forecasts expect beyond a value.
Message end_remark(const End& end, std::span<const double> sorted,
                   const std::function<double(bool lower, double value)>& expected) {
    const auto count = static_cast<double>(sorted.size());
    const double middle = sorted[sorted.size() / 2];
    const double last = end.lower ? sorted.front() : sorted.back();
    if (sorted.front() == sorted.back()) return {};
    const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), last);
    const auto equal = static_cast<double>(to - from);
    const auto option = [&](double bound) { return core::option(end.option, fmt::format("{:.12g}", bound)); };
    if (are_many(equal, count))
        return core::message("{:.1f}% of the observations are {:.12g}, and none is {}: {} lets the forecast say so.",
                             100 * equal / count, last, end.beyond, option(last));
    const double beyond = expected(end.lower, last);
    if (beyond < std::max(kExpectedBeyond, kFewOfMany * count)) return {};
    // Zero where the last one is nearly that.
    constexpr double kNearly = 0.05;
    const bool zero = (end.lower ? last : -last) >= 0 && std::fabs(last) < kNearly * std::fabs(middle - last);
    return core::message(
        "The forecasts expect {:.1f}% of the observations to be {} than {:.4g}, but none is: where that is a bound, {} "
        "makes it one.",
        100 * beyond / count, end.beyond, last, option(zero ? 0.0 : last));
}

// Of a value between the ends that many observations have.
Message atom_remark(std::span<const double> sorted) {
    std::size_t largest = 0;
    double value = 0;
    for (std::size_t from = 0; from < sorted.size();) {
        const auto end = std::upper_bound(sorted.begin(), sorted.end(), sorted[from]);
        const auto to = static_cast<std::size_t>(end - sorted.begin());
        const bool is_end = from == 0 || to == sorted.size();
        if (!is_end && to - from > largest) {
            largest = to - from;
            value = sorted[from];
        }
        from = to;
    }
    const double share = static_cast<double>(largest) / static_cast<double>(sorted.size());
    if (share < kManyEqual) return {};
    return core::message("{:.0f}% of the observations are {:.12g}: a forecast without an atom there cannot say so.",
                         100 * share, value);
}

}  // namespace

std::vector<Message> observation_remarks(const Archive& archive, const FitOptions& options,
                                         std::span<const double> errors, std::span<const double> sigmas,
                                         const Families& forecasts) {
    if (archive.prediction.empty() && archive.observation.empty()) return {};
    const Limits limits = limits_of(options);
    const std::size_t step = (archive.errors.size() + kRowsLookedAt - 1) / kRowsLookedAt;
    std::vector<std::size_t> rows;
    std::vector<double> sorted;
    for (std::size_t i = 0; i < archive.errors.size(); i += step) {
        if (std::isnan(sigmas[i]) || (!archive.weights.empty() && archive.weights[i] == 0)) continue;
        rows.push_back(i);
        sorted.push_back(rounded(observation_of(archive, i, limits)));
    }
    if (rows.size() < kMinCount) return {};
    std::sort(sorted.begin(), sorted.end());
    const RowFamilies families(forecasts, sigmas.size());
    const auto expected = [&](bool lower, double value) {
        double sum = 0;
        for (const std::size_t i : rows) {
            const double z = (value - observation_of(archive, i, limits) + errors[i]) / sigmas[i];
            sum += families.with(i, [&](const Standardised& row) { return lower ? row.cdf(z) : row.survival(z); });
        }
        return sum;
    };
    std::vector<Message> remarks;
    const auto add = [&](Message remark) {
        if (remark != Message()) remarks.push_back(std::move(remark));
    };
    for (const End& end : {End{"lower", "less", true}, End{"upper", "more", false}}) {
        if (!(end.lower ? limits.has_lower() : limits.has_upper()))
            add(end_remark(end, sorted, expected));
        else if (options.bound_kind == kTruncated)
            add(truncated_remark(end, sorted, end.lower ? limits.lower : limits.upper));
    }
    add(atom_remark(sorted));
    return remarks;
}

}  // namespace accrue::fitting
