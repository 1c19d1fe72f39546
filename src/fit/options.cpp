#include "accrue/options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "fields/kinds.hpp"
#include "fields/linear.hpp"
#include "fit/objective.hpp"
#include "fit/prepare.hpp"

namespace accrue {

namespace {

using Json = nlohmann::ordered_json;

template <auto Member>
OptionMember member() {
    using Value = std::remove_cvref_t<decltype(std::declval<FitOptions>().*Member)>;
    if constexpr (std::is_same_v<Value, std::optional<double>>)
        return {
            OptionType::optional_number,
            [](const FitOptions& options, Json& value) { value = options.*Member ? Json(*(options.*Member)) : Json(); },
            [](FitOptions& options, const Json& value) {
                (options.*Member).reset();
                if (!value.is_null()) options.*Member = value.get<double>();
            }};
    else
        return {std::is_same_v<Value, std::string>           ? OptionType::choice
                : std::is_same_v<Value, std::vector<double>> ? OptionType::numbers
                : std::is_same_v<Value, bool>                ? OptionType::flag
                : std::is_floating_point_v<Value>            ? OptionType::number
                                                             : OptionType::count,
                [](const FitOptions& options, Json& value) { value = options.*Member; },
                [](FitOptions& options, const Json& value) { options.*Member = value.get<Value>(); }};
}

// The one option of which it matters that it was given.
OptionMember recalibrate_member() {
    OptionMember own = member<&FitOptions::recalibrate>();
    own.set = [](FitOptions& options, const Json& value) {
        options.recalibrate = value.get<std::string>();
        options.recalibrate_given = true;
    };
    return own;
}

std::vector<OptionChoice> without_help(const std::vector<std::string>& names) {
    std::vector<OptionChoice> choices;
    for (const std::string& name : names) choices.push_back({name});
    return choices;
}

template <typename Find>
std::vector<OptionChoice> with_help(const std::vector<std::string>& names, const Find& find) {
    std::vector<OptionChoice> choices;
    for (const std::string& name : names) choices.push_back({name, std::string(find(name).help())});
    return choices;
}

std::vector<OptionChoice> forms() {
    std::vector<OptionChoice> choices = with_help(form_names(), fields::kind);
    choices.insert(choices.begin(),
                   OptionChoice{fitting::kAuto, "a network, averaged with a polynomial where there is one input"});
    return choices;
}
std::vector<OptionChoice> families() {
    std::vector<OptionChoice> choices =
        with_help(family_names(), [](const std::string& name) -> const Family& { return *family(name); });
    choices.insert(choices.begin(), OptionChoice{fitting::kAuto, "the simplest that held-out rows do not refute"});
    return choices;
}
std::vector<OptionChoice> recipes() {
    return {{"default", "folds, every row is used and every row is held out once"}, {"paper", "one random split"}};
}
std::vector<OptionChoice> biases() {
    std::vector<OptionChoice> choices = without_help(fields::correction_names());
    choices.insert(choices.begin(), OptionChoice{fitting::kAuto, "the simplest that held-out rows do not refute"});
    choices.push_back(
        {fitting::kLearnedLocation, "linearly, and by a location that is learned in the same network as the scale"});
    return choices;
}
std::vector<OptionChoice> bound_kinds() {
    return {{fitting::kAuto, "censored where observations sit on a bound, else truncated"},
            {"censored", "the probability beyond a bound sits on it"},
            {"truncated", "the distribution ends there"}};
}
std::vector<OptionChoice> means() {
    std::vector<OptionChoice> choices = with_help(fields::mean_kind_names(), fields::mean_kind);
    choices.insert(choices.begin(), OptionChoice{"none"});
    choices.insert(choices.begin() + 1, OptionChoice{fitting::kAuto, "the simplest that held-out rows do not refute"});
    return choices;
}

std::vector<FitOption> make_table() {
    using core::message;
    using core::option;
    constexpr double kMaxInt = std::numeric_limits<int>::max();
    return {
        {.name = "form",
         .command = "--form",
         .member = member<&FitOptions::form>(),
         .choices = forms,
         .help = "How sigma depends on the inputs",
         .more = "A network suits any number of inputs. Where there is one input, which is a number, auto averages log "
                 "sigma "
                 "of a network and a polynomial, by weights that held-out rows decide (up to 20,000 rows). The order "
                 "of a polynomial and the number of clusters are chosen "
                 "by held-out rows. A constant is the same everywhere, and needs no input."},
        {.name = "family",
         .command = "--family",
         .member = member<&FitOptions::family>(),
         .choices = families,
         .help = "Distribution of the errors",
         .more = "Its scale depends on the inputs; recalibration maps its probabilities."},
        {.name = "recipe",
         .command = "--recipe",
         .member = member<&FitOptions::recipe>(),
         .choices = recipes,
         .help = "How rows are used",
         .more = "The default makes an ensemble of all folds and starts. The paper's takes the start that is best on "
                 "validation rows, and shows figures of test rows."},
        {.name = "score",
         .command = "--score",
         .member = member<&FitOptions::score>(),
         .choices = [] { return without_help(fitting::score_names()); },
         .help = "Cost to minimise: accuracy and reliability together, or one score alone",
         .more = "ar is the accuracy-reliability score; crps and nlpd are there to compare with. docs/notation.md has "
                 "the formulas."},
        {.name = "balance",
         .command = "--balance",
         .member = member<&FitOptions::balance>(),
         .min = 0,
         .max = 1,
         .placeholder = "NUMBER",
         .help = "ar: weight of accuracy against reliability, 0 to 1",
         .more = "1 is accuracy alone. Scores other than ar do not use it."},
        {.name = "balance_front",
         .command = "--balance-front",
         .member = member<&FitOptions::balance_front>(),
         .min = 0,
         .max = 1,
         .placeholder = "NUMBER,...",
         .help = "ar: fit with each of these balances too, and show what they give on held-out rows",
         .more =
             message("The model is that of {}; the others are fitted in the same way, with its family and location, "
                     "and take as long. docs/distributions.md has an example.",
                     option("balance"))},
        {.name = "bias",
         .command = "--bias",
         .member = member<&FitOptions::bias>(),
         .choices = biases,
         .help = "Correct the prediction by a constant, or linearly in the inputs and the prediction",
         .more =
             "The verdict of a fit says what a correction would gain. Held-out rows are corrected without their own "
             "fold."},
        {.name = "mean",
         .command = "--mean",
         .member = member<&FitOptions::mean>(),
         .choices = means,
         .help = message("Learn the mean too, from {} alone; a row's error comes from means that never saw it",
                         option("observation")),
         .more = message("none: the archive has predictions, or errors. With constant the location is learned together "
                         "with the scale ({}), else the mean comes first. auto fits both ways, with a Gaussian process "
                         "up to 300 rows, and takes the first that none after it beats clearly on held-out rows.",
                         option("bias", fitting::kLearnedLocation))},
        {.name = "lower",
         .command = "--lower",
         .member = member<&FitOptions::lower>(),
         .placeholder = "NUMBER",
         .help = "Bound below which no observation can lie, or none",
         .more =
             "The forecast gives no probability to what lies beyond. Errors alone do not tell it: the fit has to know "
             "the observations."},
        {.name = "upper",
         .command = "--upper",
         .member = member<&FitOptions::upper>(),
         .placeholder = "NUMBER",
         .help = "Bound above which no observation can lie, or none",
         .more = "As for the lower bound."},
        {.name = "bound_kind",
         .command = "--bound-kind",
         .member = member<&FitOptions::bound_kind>(),
         .choices = bound_kinds,
         .help = "What happens at the bounds",
         .more = "It is chosen by the observations where it is not given."},
        {.name = "recalibrate",
         .command = "--recalibrate",
         .member = recalibrate_member(),
         .choices =
             [] {
                 return std::vector<OptionChoice>{
                     {fitting::kAuto, "none, or the one that held-out rows ask for"},
                     {"none"},
                     {"isotonic", "the map that fits these rows"},
                     {"conformal", "ranks over n + 1, for intervals with a promised coverage"}};
             },
         .help = "Map the forecast's probabilities to what held-out rows showed, for errors that are skewed",
         .more =
             message("A forecast is then no longer Gaussian. Every fold is judged by a map of the other folds' rows. "
                     "auto looks for a map from 500 rows on, and is none for the paper's recipe, with {}, and, where "
                     "it is not given by its name, for {} with {}. docs/recalibration.md says how it chooses, and what "
                     "is promised.",
                     option("observation_error"), option("family", std::string(normal_family()->name())),
                     option("bias", "none"))},
        {.name = "calibration_share",
         .command = "--calibration-share",
         .member = member<&FitOptions::calibration_share>(),
         .min = 0,
         .max = 0.9,
         .placeholder = "SHARE",
         .recipe = "default",
         .help = "Share of rows set apart for the recalibration, which enter nothing else; 0: rows out of fold make "
                 "the map",
         .more =
             "For a guarantee of coverage. The rows are drawn at random, groups whole; with times they are the latest "
             "block."},
        {.name = "folds",
         .command = "--folds",
         .member = member<&FitOptions::folds>(),
         .min = 2,
         .placeholder = "COUNT",
         .recipe = "default",
         .help = "Number of folds (default recipe)",
         .more = "Rows are dealt at random, groups whole, times in contiguous blocks (docs/groups.md)."},
        {.name = "training_share",
         .command = "--split",
         .member = member<&FitOptions::training_share>(),
         .min = 0,
         .max = 1,
         .ends_excluded = true,
         .placeholder = "SHARE",
         .recipe = "paper",
         .help = "Paper recipe: share of rows for training",
         .more = "The rows are drawn at random."},
        {.name = "validation_share",
         .command = "--split",
         .member = member<&FitOptions::validation_share>(),
         .min = 0,
         .max = 1,
         .ends_excluded = true,
         .placeholder = "SHARE",
         .recipe = "paper",
         .help = "Share for validation; the rest is the test set",
         .more = "These rows stop the training and choose the start."},
        {.name = "starts",
         .command = "--starts",
         .member = member<&FitOptions::starts>(),
         .min = 0,
         .max = 1000,
         .placeholder = "COUNT",
         .help = "Random starts per fold; 0: 3, or 5 for the paper's recipe",
         .more = "Of networks; other forms have one start. A model file has the number that was used."},
        {.name = "patience",
         .command = "",
         .member = member<&FitOptions::patience>(),
         .min = 0,
         .max = kMaxInt,
         .placeholder = "COUNT",
         .help = "Iterations without a better validation cost before a start ends; 0: 10 or 30",
         .more = "30 is for the default recipe in folds of at least 500 rows, where starts cross a plateau before they "
                 "find anything and cost is smooth enough to wait. A model file has the number that was used."},
        {.name = "max_iterations",
         .command = "",
         .member = member<&FitOptions::max_iterations>(),
         .min = 1,
         .max = kMaxInt,
         .placeholder = "COUNT",
         .help = "Iterations of a start, at most",
         .more = message("Most starts end before, by {}.", option("patience"))},
        {.name = "stages",
         .command = "--no-stages",
         .member = member<&FitOptions::stages>(),
         .help =
             "From 100,000 rows on, train networks on growing samples first; without stages, on all rows throughout",
         .more =
             "More starts begin than are carried on, and those end on all rows. Without stages a fit takes twice as "
             "long, and eight times with a million rows."},
        {.name = "seed",
         .command = "--seed",
         .member = member<&FitOptions::seed>(),
         .min = 0,
         .placeholder = "NUMBER",
         .help = "Same seed, same model, byte for byte, for the same order of rows on processors of one level; on "
                 "another, or with rows in another order, it differs as one of another seed does",
         .more = "It decides folds, splits and starts. The number of threads changes nothing."},
    };
}

// Words where the text is not of the option's type.
Json parsed(OptionType type, std::string_view text) {
    const char* end = text.data() + text.size();
    const auto whole = [&](auto value) {  // 010 is not a count
        const auto read = std::from_chars(text.data(), end, value);
        const bool plain = text.size() < 2 || text.front() != '0';
        return plain && read.ec == std::errc{} && read.ptr == end ? Json(value) : Json(text);
    };
    if (type == OptionType::count) return text.starts_with('-') ? whole(std::int64_t{0}) : whole(std::uint64_t{0});
    if (type == OptionType::optional_number && text == "none") return Json();
    if (type == OptionType::number || type == OptionType::optional_number) {
        double value = 0;
        const auto read = std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), end, value);
        if (read.ec == std::errc{} && read.ptr == end) return value;
    }
    if (type == OptionType::numbers) {
        Json list = Json::array();
        for (std::string_view rest = text; !rest.empty() || list.empty();) {
            const std::size_t end_of_one = std::min(rest.find(','), rest.size());
            list.push_back(parsed(OptionType::number, rest.substr(0, end_of_one)));
            if (end_of_one == rest.size()) break;
            rest.remove_prefix(end_of_one + 1);
            if (rest.empty()) list.push_back("");
        }
        // One that is not a number is shown alone.
        const auto bad = std::find_if(list.begin(), list.end(), [](const Json& value) { return !value.is_number(); });
        return bad == list.end() ? list : *bad;
    }
    if (type == OptionType::flag && (text == "true" || text == "false")) return text == "true";
    return text;
}

std::string rule(const FitOption& option, bool of_type) {
    if (option.type() == OptionType::choice) return fmt::format("one of {}", fmt::join(option.choice_names(), ", "));
    if (option.type() == OptionType::flag) return "true or false";
    if (option.type() == OptionType::optional_number) return "a number or none";
    if (option.type() == OptionType::numbers && !of_type) return "a list of numbers";
    if (!of_type) return option.type() == OptionType::number ? "a number" : "a whole number";
    if (!option.max) return fmt::format("at least {}", *option.min);
    if (option.ends_excluded) return fmt::format("more than {} and less than {}", *option.min, *option.max);
    return fmt::format("between {} and {}", *option.min, *option.max);
}

std::string shown(const Json& value) {
    if (value.is_number_float()) return fmt::format("{}", value.get<double>());
    return value.is_string() ? fmt::format("'{}'", value.get<std::string>()) : value.dump();
}

}  // namespace

std::vector<std::string> FitOption::choice_names() const {
    std::vector<std::string> names;
    if (choices != nullptr)
        for (const OptionChoice& choice : choices()) names.push_back(choice.name);
    return names;
}

Message FitOption::full_help() const {
    std::vector<std::string> each;
    if (choices != nullptr)
        for (const OptionChoice& choice : choices())
            if (!choice.help.empty()) each.push_back(choice.name + ": " + choice.help);
    return each.empty() ? help : core::message("{}. {}", help, fmt::format("{}", fmt::join(each, "; ")));
}

Json FitOption::get(const FitOptions& options) const {
    Json value;
    member.get(options, value);
    return value;
}

bool FitOption::is_of_type(const Json& value) const {
    switch (type()) {
        case OptionType::choice:
            return value.is_string();
        case OptionType::number:
            return value.is_number();
        case OptionType::optional_number:
            return value.is_null() || value.is_number();
        case OptionType::numbers:
            return value.is_array() &&
                   std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_number(); });
        case OptionType::count:
            return value.is_number_integer();
        case OptionType::flag:
            break;
    }
    return value.is_boolean();
}

void FitOption::check(const Json& value) const {
    const bool of_type = is_of_type(value);
    bool good = of_type;
    if (of_type && type() == OptionType::choice) {
        const std::vector<std::string> names = choice_names();
        good = std::count(names.begin(), names.end(), value.get<std::string>()) > 0;
    }
    const auto in_range = [&](double number) {
        return ends_excluded ? number > *min && number < *max : number >= *min && (!max || number <= *max);
    };
    Json bad = value;  // of several the first
    if (of_type && type() == OptionType::numbers) {
        for (const Json& one : value)
            if (good && !in_range(one.get<double>())) {
                good = false;
                bad = one;
            }
    } else if (of_type && min) {
        good = in_range(value.get<double>());
    }
    if (of_type && type() == OptionType::optional_number) good = value.is_null() || std::isfinite(value.get<double>());
    if (good) return;
    const std::string meant =
        of_type && type() == OptionType::choice ? suggestion(value.get<std::string>(), choice_names()) : "";
    core::refuse("{} is {}, but must be {}{}", in_message(), shown(bad), rule(*this, of_type), meant);
}

void FitOption::set(FitOptions& options, const Json& value) const {
    check(value);
    member.set(options, value);
}

void FitOption::set_text(FitOptions& options, std::string_view text) const {
    set(options, parsed(type(), text));
}

const std::vector<FitOption>& fit_options() {
    static const std::vector<FitOption> table = make_table();
    return table;
}

const FitOption& fit_option(std::string_view name) {
    const std::vector<FitOption>& table = fit_options();
    const auto found = std::find_if(table.begin(), table.end(), [&](const FitOption& o) { return o.name == name; });
    if (found != table.end()) return *found;
    std::vector<std::string> names;
    for (const FitOption& option : table) names.push_back(option.name);
    const std::string meant = suggestion(std::string(name), names);
    core::refuse("a fit has no option '{}'{} Options: {}", name, meant.empty() ? "." : meant, fmt::join(names, ", "));
}

}  // namespace accrue
