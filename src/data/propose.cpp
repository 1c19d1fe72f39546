#include "accrue/propose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "accrue/error.hpp"
#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/file_start.hpp"
#include "data/netcdf_file.hpp"

namespace accrue {

namespace {

// ---- Names

// The words of a name, in lower case: "windObs_10m" has wind, obs, 10, m.
std::vector<std::string> words_of(std::string_view name) {
    enum class Sign { other, lower, upper, digit };
    const auto sign = [](char c) {
        if (c >= 'a' && c <= 'z') return Sign::lower;
        if (c >= 'A' && c <= 'Z') return Sign::upper;
        return c >= '0' && c <= '9' ? Sign::digit : Sign::other;
    };
    std::vector<std::string> words;
    Sign before = Sign::other;
    for (const char c : name) {
        const Sign now = sign(c);
        if (now != Sign::other) {
            if (now != before && !(before == Sign::upper && now == Sign::lower)) words.emplace_back();
            words.back() += static_cast<char>(now == Sign::upper ? c - 'A' + 'a' : c);
        }
        before = now;
    }
    return words;
}

using Words = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view word, Words words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_one_of(const std::vector<std::string>& name, Words words) {
    return std::any_of(name.begin(), name.end(), [&](const std::string& word) { return is_one_of(word, words); });
}

// "rainfc", "windobs"
bool has_ending(const std::vector<std::string>& name, Words endings) {
    return std::any_of(name.begin(), name.end(), [&](const std::string& word) {
        return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
            return word.size() >= ending.size() + 2 && word.ends_with(ending);
        });
    });
}

// How strongly a name sounds like the thing: 0 not at all, 3 like nothing else.
int strength(const std::vector<std::string>& name, Words whole, Words words, Words endings) {
    // These are about a forecast or an observation, and are none.
    if (has_one_of(name, {"time",  "date",  "hour", "hours", "day",  "lead",     "horizon", "step",   "id",    "run",
                          "init",  "sd",    "std",  "sigma", "var",  "variance", "spread",  "error",  "err",   "flag",
                          "count", "index", "type", "name",  "rank", "station",  "quality", "weight", "number"}))
        return 0;
    if (name.size() == 1 && is_one_of(name[0], whole)) return 3;
    if (has_one_of(name, words)) return 2;
    return has_ending(name, endings) ? 1 : 0;
}

int sounds_like_prediction(const std::vector<std::string>& name) {
    return strength(name, {"mu", "f", "mean", "prediction", "forecast", "pred"},
                    {"pred",  "preds", "predicted", "prediction", "predictions", "forecast", "forecasts",
                     "fc",    "fcst",  "hat",       "yhat",       "nwp",         "modelled", "modeled",
                     "model", "sim",   "simulated", "estimate",   "estimated",   "ensmean",  "mu"},
                    {"fc", "fcst", "pred", "forecast", "hat"});
}

int sounds_like_observation(const std::vector<std::string>& name) {
    return strength(name, {"y", "obs", "observation", "observed", "truth", "target", "actual"},
                    {"obs", "observed", "observation", "observations", "truth", "actual", "actuals", "measured",
                     "measurement", "measurements", "target", "outcome", "response", "verification"},
                    {"obs", "observed"});
}

bool sounds_like_error(const std::vector<std::string>& name) {
    return (name.size() == 1 && is_one_of(name[0], {"e"})) ||
           has_one_of(name, {"error", "errors", "err", "residual", "residuals", "resid"});
}

// The beginning of a forecast, or an event: what rows that err together share.
bool sounds_like_group(const std::vector<std::string>& name) {
    if (has_one_of(name, {"storm", "event", "episode", "case", "cycle", "trajectory", "simulation", "experiment",
                          "init", "initialisation", "initialization", "reference", "issue", "issued", "basetime"}))
        return true;
    return (has_one_of(name, {"start", "base", "forecast"}) && has_one_of(name, {"time", "date"})) ||
           (name.size() == 1 && is_one_of(name[0], {"run", "group"}));
}

bool sounds_like_time(const std::vector<std::string>& name) {
    return has_one_of(name, {"time", "date", "datetime", "timestamp", "epoch"}) && !has_one_of(name, {"lead"});
}

// ---- Values

// A column as it was read.
struct Column {
    std::string name;
    std::vector<std::string> words = {};
    std::optional<Kind> kind = {};        // none: it cannot be read along with the others
    std::span<const double> values = {};  // of numbers and times
    std::size_t rows = 0;
    std::size_t missing = 0;
    std::size_t distinct = 0;  // of texts and times, and of numbers up to a limit
    bool is_constant = false;
    bool counts_rows = false;
    double lowest = 0, highest = 0;
    bool is_sorted = true;

    bool is_number() const { return kind == Kind::number; }
    bool can_be_used() const { return is_number() && !is_constant && !counts_rows && 2 * missing < rows; }
};

void summarise_numbers(Column& column) {
    double last = std::numeric_limits<double>::quiet_NaN();
    std::set<double> seen;
    constexpr std::size_t kMaxDistinct = 10'000;  // more are as good as all
    bool whole_steps = true;
    column.rows = column.values.size();
    column.lowest = std::numeric_limits<double>::infinity();
    column.highest = -column.lowest;
    for (const double value : column.values) {
        if (std::isnan(value)) {
            ++column.missing;
            continue;
        }
        column.lowest = std::min(column.lowest, value);
        column.highest = std::max(column.highest, value);
        if (value < last) column.is_sorted = false;
        if (!std::isnan(last) && value != last + 1) whole_steps = false;
        if (seen.size() < kMaxDistinct) seen.insert(value);
        last = value;
    }
    column.distinct = seen.size();
    column.is_constant = seen.size() <= 1;
    const double first = column.values.empty() ? 0 : column.values.front();
    column.counts_rows =
        column.is_number() && whole_steps && !column.is_constant && column.missing == 0 && (first == 0 || first == 1);
}

// Moments of two columns over the rows in which both have a value, at most so many rows, spread over all.
struct Pair {
    double cov = 0, var_a = 0, var_b = 0, shift = 0;

    double correlation() const { return var_a > 0 && var_b > 0 ? cov / std::sqrt(var_a * var_b) : 0; }
    double concordance() const {
        const double all = var_a + var_b + shift * shift;
        return all > 0 ? 2 * cov / all : 0;
    }
};

Pair compare_columns(std::span<const double> a, std::span<const double> b) {
    constexpr std::size_t kMaxRows = 20'000;
    const std::size_t step = a.size() / kMaxRows + 1;
    double n = 0, mean_a = 0, mean_b = 0;
    Pair pair;
    for (std::size_t i = 0; i < a.size(); i += step) {
        if (std::isnan(a[i]) || std::isnan(b[i])) continue;
        ++n;
        const double da = a[i] - mean_a;
        const double db = b[i] - mean_b;
        mean_a += da / n;
        mean_b += db / n;
        pair.cov += da * (b[i] - mean_b);
        pair.var_a += da * (a[i] - mean_a);
        pair.var_b += db * (b[i] - mean_b);
    }
    if (n < 3) return {};
    for (double* sum : {&pair.cov, &pair.var_a, &pair.var_b}) *sum /= n;
    pair.shift = mean_a - mean_b;
    return pair;
}

// ---- Reading

// The first rows of the file.
std::optional<Table> first_rows(const std::string& file, const std::vector<ColumnRequest>& columns, ReadOptions options,
                                std::size_t bytes, bool& all) {
    struct Enough {};
    options.missing = Missing::keep;
    options.slab_bytes = bytes;
    std::optional<Table> rows;
    all = true;
    try {
        read_slabs({file}, columns, options, [&](const Table& slab) {
            all = !rows.has_value();
            if (rows) throw Enough();
            rows = slab;
        });
    } catch (const Enough&) {  // of the rows; the rest of the file need not be read
    }
    return rows;
}

constexpr std::size_t kFewBytes = std::size_t{1} << 20U;

bool can_be_read(const std::string& file, const ColumnRequest& column, const ReadOptions& options,
                 std::size_t bytes = kFewBytes) {
    try {
        bool all = true;
        const std::optional<Table> rows = first_rows(file, {column}, options, bytes, all);
        if (!rows || rows->rows() == 0) return false;
        if (column.kind == Kind::text) return true;
        const auto values = rows->numbers(column.name);
        return std::any_of(values.begin(), values.end(), [](double value) { return !std::isnan(value); });
    } catch (const InputError& error) {
        if (error.error_number() != 0) throw;  // of the machine, not of the column
        return false;
    }
}

// The first rows of every file, one behind the other.
std::optional<Table> first_rows_of_all(const std::vector<std::string>& files, const std::vector<ColumnRequest>& columns,
                                       const ReadOptions& options, bool& all) {
    constexpr std::size_t kMinBytes = std::size_t{1} << 16U;
    const std::size_t bytes = std::max(options.slab_bytes / files.size(), kMinBytes);
    std::optional<Table> first = first_rows(files[0], columns, options, bytes, all);
    if (!first || files.size() == 1) return first;
    std::size_t count = first->rows();
    std::map<std::string, std::vector<double>> numbers;
    std::map<std::string, TextColumn> texts;
    std::set<std::string> dates;
    for (const ColumnRequest& column : columns) {
        if (first->has_dates(column.name)) dates.insert(column.name);
        if (column.kind == Kind::text)
            texts[column.name] = first->text(column.name);
        else
            numbers[column.name].assign(first->numbers(column.name).begin(), first->numbers(column.name).end());
    }
    for (std::size_t k = 1; k < files.size(); ++k) {
        bool whole = true;
        const std::optional<Table> rows = first_rows(files[k], columns, options, bytes, whole);
        all = all && whole;
        if (!rows) continue;
        count += rows->rows();
        for (auto& [name, values] : numbers)
            values.insert(values.end(), rows->numbers(name).begin(), rows->numbers(name).end());
        for (auto& [name, text] : texts) {
            const TextColumn& more = rows->text(name);
            std::map<std::string, std::uint32_t> places;
            for (const std::string& label : text.labels)
                places.emplace(label, static_cast<std::uint32_t>(places.size()));
            for (const std::string& label : more.labels)
                if (places.emplace(label, static_cast<std::uint32_t>(places.size())).second)
                    text.labels.push_back(label);
            for (const std::uint32_t code : more.codes) text.codes.push_back(places.at(more.labels[code]));
        }
    }
    return Table(count, 0, std::move(numbers), std::move(texts), std::move(dates));
}

// How many different labels there are; an empty one is a gap.
std::size_t count_labels(const TextColumn& text) {
    return text.labels.size() - static_cast<std::size_t>(std::count(text.labels.begin(), text.labels.end(), ""));
}

bool has_hours(std::span<const double> times) {
    constexpr double kDay = 86400;
    std::optional<double> first;
    for (const double time : times) {
        if (std::isnan(time)) continue;
        const double hour = std::fmod(time, kDay);
        if (first && hour != *first) return true;
        first = hour;
    }
    return false;
}

// NetCDF: the variable along whose dimensions most others lie. It makes no difference to text tables.
std::vector<std::string> find_numeric(const std::string& file, ReadOptions& options) {
    std::vector<std::string> most;
    const std::vector<std::string> all = numeric_columns(file, options);
    for (const std::string& name : all) {
        ReadOptions along = options;
        along.rows_of = name;
        std::vector<std::string> numeric = numeric_columns(file, along);
        if (numeric.size() > most.size()) {
            most = std::move(numeric);
            options = along;
        }
        if (most.size() == all.size()) break;
    }
    return most;
}

// ---- The proposal

class Proposer {
public:
    explicit Proposer(const RowSource& source)
        : files_(source.files), file_(files_.at(0)), options_(source.read_options()) {
        for (const std::string& file : files_)
            core::require(
                !data::is_read_once(file),
                "{} can be read only once, so its columns cannot be looked at first: name them with {} and {}",
                display_name(file), core::option("prediction"), core::option("observation"));
        read();
    }

    Proposal propose() {
        choose_errors();
        choose_time();
        choose_group();
        choose_weight();
        choose_inputs();
        describe();
        return std::move(proposal_);
    }

private:
    void read();
    void compare_files();
    void choose_errors();
    void choose_time();
    void choose_group();
    void choose_weight();
    void choose_inputs();
    void describe();
    void remark(const Column& column);

    Column* best(const std::function<double(const Column&)>& value, double more_than);
    double agreement(const Column& a, const Column& b) const {
        return compare_columns(a.values, b.values).concordance();
    }
    // How much of a column the others explain, those that may be the other one of a pair left out.
    double in_common(const Column& column, const Column& other) const;
    void give(Column& column, const char* role, std::string& place, const std::string& reason);
    bool has_role(const Column& column) const { return !roles_[index(column)].empty(); }
    std::size_t index(const Column& column) const { return static_cast<std::size_t>(&column - columns_.data()); }

    std::vector<std::string> files_;
    std::string file_;  // the first, whose columns they are
    ReadOptions options_;
    std::optional<Table> table_;
    std::vector<Column> columns_;
    std::vector<std::string> roles_, reasons_;  // of the columns
    Column* observation_ = nullptr;
    Column* prediction_ = nullptr;
    Column* time_ = nullptr;
    Proposal proposal_;
};

void Proposer::read() {
    const std::vector<std::string> names = column_names(file_, options_);
    const std::vector<std::string> numeric = find_numeric(file_, options_);
    std::vector<ColumnRequest> requests;
    for (const std::string& name : names) {
        if (name.empty() || std::count(names.begin(), names.end(), name) > 1) continue;
        Column column{name, words_of(name)};
        if (std::find(numeric.begin(), numeric.end(), name) != numeric.end())
            column.kind = Kind::number;
        else if (can_be_read(file_, {name, Kind::time}, options_))
            column.kind = Kind::time;
        else if (can_be_read(file_, {name, Kind::text}, options_))
            column.kind = Kind::text;
        columns_.push_back(std::move(column));
    }
    roles_.resize(columns_.size());
    reasons_.resize(columns_.size());
    compare_files();
    for (const Column& column : columns_)
        if (column.kind) requests.push_back({column.name, *column.kind});
    if (requests.empty()) return;
    table_ = first_rows_of_all(files_, requests, options_, proposal_.all_rows);
    proposal_.rows = table_->rows();
    for (Column& column : columns_) {
        if (!column.kind) continue;
        if (column.kind != Kind::text) {
            column.values = table_->numbers(column.name);
            summarise_numbers(column);
            continue;
        }
        const TextColumn& text = table_->text(column.name);
        const auto gap = std::find(text.labels.begin(), text.labels.end(), "");
        const auto gap_code = static_cast<std::uint32_t>(gap - text.labels.begin());
        column.rows = table_->rows();
        column.missing = static_cast<std::size_t>(std::count(text.codes.begin(), text.codes.end(), gap_code));
        column.distinct = count_labels(text);
        column.is_constant = column.distinct <= 1;
    }
}

// A column has to be in every file, and to be of one kind.
void Proposer::compare_files() {
    for (std::size_t k = 1; k < files_.size(); ++k) {
        const std::vector<std::string> names = column_names(files_[k], options_);
        const std::vector<std::string> numeric = numeric_columns(files_[k], options_);
        const auto has = [](const std::vector<std::string>& list, const std::string& name) {
            return std::find(list.begin(), list.end(), name) != list.end();
        };
        for (Column& column : columns_) {
            if (!column.kind) continue;
            std::string& reason = reasons_[index(column)];
            if (!has(names, column.name))
                reason = fmt::format("not in {}", display_name(files_[k]));
            else if (column.is_number() && !has(numeric, column.name))
                reason = fmt::format("no numbers in {}", display_name(files_[k]));
            else if (!column.is_number() && !can_be_read(files_[k], {column.name, *column.kind}, options_))
                reason = fmt::format("cannot be read in {}", display_name(files_[k]));
            if (!reason.empty()) column.kind.reset();
        }
    }
}

Column* Proposer::best(const std::function<double(const Column&)>& value, double more_than) {
    Column* found = nullptr;
    for (Column& column : columns_) {
        if (!column.can_be_used() || has_role(column)) continue;
        const double its = value(column);
        if (!(its > more_than)) continue;
        more_than = its;
        found = &column;
    }
    return found;
}

double Proposer::in_common(const Column& column, const Column& other) const {
    double sum = 0;
    for (const Column& third : columns_) {
        if (&third == &column || &third == &other || !third.can_be_used()) continue;
        const double r = compare_columns(column.values, third.values).correlation();
        sum += r * r;
    }
    return sum;
}

void Proposer::give(Column& column, const char* role, std::string& place, const std::string& reason) {
    place = column.name;
    roles_[index(column)] = role;
    reasons_[index(column)] = reason;
}

void Proposer::choose_errors() {
    // Two columns that agree less are hardly a prediction and what came of it; a poor prediction may have a good name.
    constexpr double kMinAgreement = 0.5;
    constexpr double kMinWithName = 0.1;
    constexpr const char* kByName = "by its name";
    const auto observed = [](const Column& c) { return sounds_like_observation(c.words); };
    const auto predicted = [](const Column& c) { return sounds_like_prediction(c.words); };
    Column* y = best(observed, 0);
    Column* mu = best([&](const Column& c) { return &c == y ? 0 : predicted(c); }, 0);
    std::string why_y = kByName, why_mu = kByName;
    if (mu != nullptr && y == nullptr) {
        y = best([&](const Column& c) { return predicted(c) > 0 ? 0 : agreement(c, *mu); }, kMinWithName);
        why_y = "of all other columns it agrees most with the prediction";
    }
    if (mu != nullptr && y != nullptr) {
        // Of several predictions that which agrees most; of names that say it better or worse the better ones.
        const int strongest = predicted(*mu);
        Column* nearest =
            best([&](const Column& c) { return &c != y && predicted(c) == strongest ? agreement(c, *y) : 0; }, 0);
        if (nearest != nullptr && nearest != mu) {
            mu = nearest;
            why_mu = fmt::format("by its name, and agrees most with {}", printable(y->name));
        }
    }
    if (mu == nullptr && y != nullptr) {
        mu = best([&](const Column& c) { return &c == y ? 0 : agreement(c, *y); }, kMinAgreement);
        if (mu != nullptr) why_mu = fmt::format("agrees most with {}", printable(y->name));
    }
    Column* error = best([](const Column& c) { return sounds_like_error(c.words) ? 1.0 : 0.0; }, 0);
    if (y == nullptr && error != nullptr) {
        give(*error, "error", proposal_.roles.error, kByName);
        return;
    }
    if (y == nullptr && mu == nullptr) {
        double most = kMinAgreement;
        for (Column& a : columns_)
            for (Column& b : columns_) {
                if (&a >= &b || !a.can_be_used() || !b.can_be_used()) continue;
                const double its = agreement(a, b);
                if (!(its > most)) continue;
                most = its;
                y = &a;
                mu = &b;
            }
        if (y != nullptr) {
            if (in_common(*y, *mu) > in_common(*mu, *y)) std::swap(y, mu);
            why_y = fmt::format("agrees with {} more than any two other columns do", printable(mu->name));
            why_mu = "goes more with the other columns than the observation does";
        }
    }
    if (y == nullptr) {
        std::vector<std::string> names;
        for (const Column& column : columns_) names.push_back(column.name);
        core::refuse(
            "{}: no column looks like an observation; name it with {}, and the prediction with {}. Columns: {}",
            display_name(file_), core::option("observation"), core::option("prediction"), name_list(names));
    }
    observation_ = y;
    prediction_ = mu;
    give(*y, "observation", proposal_.roles.observation, why_y);
    if (mu != nullptr) give(*mu, "prediction", proposal_.roles.prediction, why_mu);
    proposal_.learn_mean = mu == nullptr;
}

void Proposer::choose_time() {
    constexpr std::size_t kMinTimes = 50;  // fewer make no blocks to hold out
    int most = 0;
    for (Column& column : columns_) {
        if (!column.kind || column.distinct < kMinTimes || has_role(column) || 2 * column.missing > column.rows)
            continue;
        const bool by_name = sounds_like_time(column.words) && !sounds_like_group(column.words);
        int rank = 0;
        // Numbers may be times of day, or of anything else.
        if (column.is_number() && by_name && column.is_sorted) rank = 1;
        if (column.kind == Kind::time) rank = by_name ? 3 : 2;
        if (rank == 3 && has_one_of(column.words, {"valid"})) rank = 4;
        if (rank <= most) continue;
        most = rank;
        time_ = &column;
    }
    if (time_ != nullptr)
        give(*time_, "time", proposal_.roles.time, "folds are blocks of time, so that the past forecasts the future");
}

void Proposer::choose_group() {
    constexpr std::size_t kMinGroups = 10;
    const auto repeats = [&](const Column& column) {
        return column.kind && column.distinct >= kMinGroups && 2 * column.distinct <= proposal_.rows &&
               2 * column.missing < column.rows;
    };
    Column* group = nullptr;
    for (Column& column : columns_)
        if (group == nullptr && repeats(column) && sounds_like_group(column.words) &&
            (!has_role(column) || &column == time_))
            group = &column;
    if (group == nullptr && time_ != nullptr && repeats(*time_)) group = time_;
    if (group == nullptr) return;
    if (group != time_) {
        give(*group, "group", proposal_.roles.group, "rows that share it err together");
        return;
    }
    proposal_.roles.group = group->name;
    roles_[index(*group)] = "time, group";
    reasons_[index(*group)] += "; rows of one time err together";
}

void Proposer::choose_weight() {
    for (Column& column : columns_) {
        if (has_role(column) || !column.can_be_used() || column.lowest <= 0 || column.words.size() != 1 ||
            !is_one_of(column.words[0], {"weight", "weights"}))
            continue;
        give(column, "weight", proposal_.roles.weight, "by its name");
        return;
    }
}

void Proposer::choose_inputs() {
    // A column that is the error, or the observation in another unit, would give the answer away.
    constexpr double kSame = 0.9999;
    std::vector<double> errors;
    if (prediction_ != nullptr) {
        errors.resize(observation_->values.size());
        std::transform(observation_->values.begin(), observation_->values.end(), prediction_->values.begin(),
                       errors.begin(), std::minus<>());
    }
    bool gaps = false;
    for (Column& column : columns_) {
        const std::size_t i = index(column);
        if (has_role(column)) {
            gaps = gaps || column.missing > 0;
            continue;
        }
        const auto follows = [&](std::span<const double> answer) {
            return !answer.empty() && std::abs(compare_columns(column.values, answer).correlation()) > kSame;
        };
        if (!column.kind && !reasons_[i].empty()) continue;
        if (!column.kind)
            reasons_[i] = "cannot be read along with the others";
        else if (column.is_constant)
            reasons_[i] = proposal_.all_rows ? "constant" : "constant in these rows";
        else if (column.counts_rows)
            reasons_[i] = "counts the rows";
        else if (2 * column.missing >= column.rows)
            reasons_[i] = "mostly missing";
        else if (!column.is_number())
            reasons_[i] = "";
        else if (sounds_like_observation(column.words) > 1 || sounds_like_error(column.words) ||
                 has_one_of(column.words, {"true"}))
            reasons_[i] = "by its name nothing that is known when predicting";
        else if (column.name.find(',') != std::string::npos)
            reasons_[i] = "its name has a comma, which stands between inputs";
        else if (follows(errors) || (observation_ != nullptr && follows(observation_->values)))
            reasons_[i] = "follows from the observation";
        else {
            roles_[i] = "input";
            proposal_.inputs.push_back(column.name);
            gaps = gaps || column.missing > 0;
        }
    }
    // Errors often grow with what is predicted.
    if (prediction_ != nullptr) {
        proposal_.inputs.push_back(prediction_->name);
        roles_[index(*prediction_)] = "prediction, input";
    }
    core::require(!proposal_.inputs.empty(), "{} has no numeric column that could be an input; name some with {}",
                  display_name(file_), core::option("inputs"));
    if (gaps) proposal_.missing = Missing::drop;
}

void Proposer::remark(const Column& column) {
    if (!column.kind || column.is_constant || column.counts_rows) return;
    const std::string name = printable(column.name);
    if (column.kind == Kind::text && roles_[index(column)].empty() && 2 * column.distinct <= column.rows)
        proposal_.remarks.push_back(category_offer(column.name, column.distinct));
    if (column.kind == Kind::time && table_->has_dates(column.name))
        proposal_.remarks.push_back(time_offer(column.name, has_hours(column.values)));
    if (roles_[index(column)] != "input" || column.lowest < 0) return;
    const auto cyclic = [&](double period, double nearly, Words words) {
        if (has_one_of(column.words, words) && column.highest <= period && column.highest >= nearly)
            proposal_.remarks.push_back(fmt::format("{} ({:g} to {:g}) could be cyclic: {}:cyclic({:g})", name,
                                                    column.lowest, column.highest, name, period));
    };
    cyclic(360, 300, {"dir", "direction", "wdir", "wd", "azimuth", "bearing", "aspect"});
    cyclic(24, 20, {"hour"});
    cyclic(12, 11, {"month"});
}

void Proposer::describe() {
    for (const Column& column : columns_) {
        std::string content = "unknown";
        if (column.kind == Kind::number) content = "number";
        if (column.kind == Kind::time) content = "time";
        if (column.kind == Kind::text) content = "text, " + counted(column.distinct, "value");
        if (column.missing > 0)
            content += fmt::format(", {:.2g}% missing",
                                   100.0 * static_cast<double>(column.missing) / static_cast<double>(column.rows));
        proposal_.columns.push_back({column.name, content, roles_[index(column)], reasons_[index(column)]});
        remark(column);
    }
}

}  // namespace

std::string category_offer(const std::string& name, std::size_t values, std::size_t of_rows) {
    const std::string text = printable(name);
    std::string count = values == 0 ? "" : ", " + counted(values, "value");
    if (of_rows > 0) count += fmt::format(" in the first {}", counted(of_rows, "row"));
    return fmt::format("{} (text{}) could be an input: {}:category", text, count, text);
}

std::string time_offer(const std::string& name, bool has_hours) {
    const std::string text = printable(name);
    return has_hours ? fmt::format("{} (time) could give two inputs: {}:season and {}:hour", text, text, text)
                     : fmt::format("{} (time) could give an input: {}:season", text, text);
}

std::vector<std::string> offered_inputs(const RowSource& source, std::span<const Input> inputs) {
    constexpr std::size_t kMaxOffers = 10;
    constexpr std::size_t kGlance = std::size_t{1} << 16U;
    const std::string& file = source.files.at(0);
    if (data::is_read_once(file) || source.isolate) return {};
    std::vector<std::string> offers;
    try {
        const ReadOptions options = source.read_options();
        std::set<std::string> passed;
        for (const auto& [role, column] : source.roles.all())
            if (role != "time" && role != "recalibrate_group") passed.insert(column);
        for (const Input& input : inputs) passed.insert(input.column);
        for (const std::string& name : numeric_columns(file, options)) passed.insert(name);
        // A variable of NetCDF with a text for every row could be long, and is hardly a category.
        const bool netcdf = data::is_netcdf(file);
        const std::vector<std::string> labels = netcdf ? repeated_labels(file, options) : std::vector<std::string>{};
        std::vector<ColumnRequest> requests;
        for (const std::string& name : column_names(file, options)) {
            if (name.empty() || !passed.insert(name).second || requests.size() == kMaxOffers) continue;
            const bool may_be_text = !netcdf || std::find(labels.begin(), labels.end(), name) != labels.end();
            if (can_be_read(file, {name, Kind::time}, options, kGlance))
                requests.push_back({name, Kind::time});
            else if (may_be_text && can_be_read(file, {name, Kind::text}, options, kGlance))
                requests.push_back({name, Kind::text});
        }
        if (requests.empty()) return {};
        bool all = true;
        const std::optional<Table> rows = first_rows(file, requests, options, kFewBytes, all);
        if (!rows) return {};
        for (const ColumnRequest& request : requests) {
            if (request.kind == Kind::time) {
                if (rows->has_dates(request.name))
                    offers.push_back(time_offer(request.name, has_hours(rows->numbers(request.name))));
                continue;
            }
            const std::size_t values = count_labels(rows->text(request.name));
            if (values > 1 && 2 * values <= rows->rows())
                offers.push_back(category_offer(request.name, values, all ? 0 : rows->rows()));
        }
    } catch (const InputError& error) {
        if (error.error_number() != 0) throw;
        return {};  // of a column that nobody asked for
    }
    return offers;
}

Proposal propose(const RowSource& source) {
    return Proposer(source).propose();
}

}  // namespace accrue
