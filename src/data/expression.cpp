#include "accrue/expression.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/cells.hpp"

namespace accrue {

namespace {

using Operation = Expression::Operation;
using Step = Expression::Step;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kLongestShown = 80;

struct Function {
    const char* name;
    Operation operation;
    std::size_t least;  // arguments
    bool of_list;       // takes any number of them, and patterns
};

constexpr std::array kFunctions = {
    Function{"mean", Operation::mean, 1, true}, Function{"spread", Operation::spread, 2, true},
    Function{"min", Operation::min, 1, true},   Function{"max", Operation::max, 1, true},
    Function{"sum", Operation::sum, 1, true},   Function{"sqrt", Operation::sqrt, 1, false},
    Function{"log", Operation::log, 1, false},  Function{"exp", Operation::exp, 1, false},
    Function{"abs", Operation::abs, 1, false},
};

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool is_quote(char c) {
    return c == '\'' || c == '"' || c == '`';
}

bool is_wildcard(char c) {
    return c == '*' || c == '?';
}

bool has_wildcard(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_wildcard);
}

// Where the number that begins at `at` ends; `at` itself when none does.
std::size_t number_end(std::string_view text, std::size_t at, double& value) {
    if (at == text.size() || !((text[at] >= '0' && text[at] <= '9') || text[at] == '.')) return at;
    const auto result = fast_float::from_chars(text.data() + at, text.data() + text.size(), value);
    if (result.ec == std::errc::invalid_argument) return at;
    return static_cast<std::size_t>(result.ptr - text.data());
}

// Whether the name matches the pattern: * stands for any characters, ? for one.
bool matches(std::string_view pattern, std::string_view name) {
    const auto after_character = [&](std::size_t at) {
        for (++at; at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U;) ++at;
        return at;
    };
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = std::string_view::npos;  // the last one, which takes more where the rest does not fit
    std::size_t taken = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = n;
        } else if (p < pattern.size() && pattern[p] == '?') {
            ++p;
            n = after_character(n);
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::vector<std::string> all_matching(std::string_view pattern, std::span<const std::string> names) {
    std::vector<std::string> found;
    for (const std::string& name : names)
        if (!name.empty() && matches(pattern, name)) found.push_back(name);
    return found;
}

bool contains(std::span<const std::string> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The name as it is written in an expression.
std::string written(const std::string& name) {
    double ignored = 0;
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), is_name_character) &&
                       number_end(name, 0, ignored) < name.size();
    if (plain) return name;
    for (const char quote : {'`', '\'', '"'})
        if (name.find(quote) == std::string::npos) return quote + name + quote;
    core::refuse("column '{}' has all three kinds of quotes in its name: rename it", printable(name));
}

class Parser {
public:
    // Without `names` every name is a column, and patterns stay what they are.
    Parser(std::string_view text, std::optional<std::span<const std::string>> names, const std::string& where)
        : text_(text), names_(names), where_(where) {}

    void parse() {
        sum();
        if (at_ < text_.size() && text_[at_] == ')') refuse_at("the parenthesis at position {} was never opened", at_);
        if (at_ < text_.size()) refuse_unexpected();
        if (columns.empty()) refuse("it names no column");
    }

    // What stands at the beginning, when that is a pattern and all of the text.
    std::optional<std::string_view> whole_pattern() {
        skip_blanks();
        if (at_ == text_.size()) return std::nullopt;
        std::string_view pattern;
        if (is_quote(text_[at_])) {
            const std::size_t close = text_.find(text_[at_], at_ + 1);
            if (close == std::string_view::npos) return std::nullopt;
            pattern = text_.substr(at_ + 1, close - at_ - 1);
            if (!has_wildcard(pattern) || is_column(pattern)) return std::nullopt;
            at_ = close + 1;
        } else {
            pattern = word_at(at_);
            if (!is_pattern(pattern)) return std::nullopt;
            at_ += pattern.size();
        }
        skip_blanks();
        return at_ == text_.size() ? std::optional(pattern) : std::nullopt;
    }

    std::vector<std::string> columns;
    std::vector<Step> steps;
    std::size_t deepest = 0;

private:
    void sum() {
        product();
        for (;;) {
            if (take('+')) {
                product();
                add(Operation::add, 2);
            } else if (take('-')) {
                product();
                add(Operation::subtract, 2);
            } else {
                return;
            }
        }
    }

    void product() {
        factor();
        for (;;) {
            if (take('*')) {
                factor();
                add(Operation::multiply, 2);
            } else if (take('/')) {
                factor();
                add(Operation::divide, 2);
            } else {
                return;
            }
        }
    }

    void factor() {
        constexpr std::size_t kDeepest = 100;
        if (++nesting_ > kDeepest) refuse("it is nested more than 100 deep");
        if (take('-')) {
            factor();
            add(Operation::negate, 1);
        } else if (take('+')) {
            factor();
        } else {
            primary();
        }
        --nesting_;
    }

    void primary() {
        skip_blanks();
        if (at_ == text_.size()) refuse("a column or a number is missing at the end");
        const char c = text_[at_];
        if (c == '(') {
            const std::size_t open = at_++;
            const bool list_before = std::exchange(in_list_, false);
            sum();
            in_list_ = list_before;
            close(open);
        } else if (is_quote(c)) {
            quoted();
        } else if (is_name_character(c) || is_wildcard(c)) {
            word();
        } else {
            refuse_unexpected();
        }
    }

    void close(std::size_t open) {
        if (take(')')) return;
        if (at_ == text_.size()) refuse_at("the parenthesis at position {} is never closed", open);
        refuse_unexpected();
    }

    void quoted() {
        const std::size_t close = text_.find(text_[at_], at_ + 1);
        if (close == std::string_view::npos) refuse_at("the quote at position {} is never closed", at_);
        const std::string_view name = text_.substr(at_ + 1, close - at_ - 1);
        if (names_ && !is_column(name) && has_wildcard(name))
            pattern(name, close + 1);
        else
            column(name, close + 1);
    }

    void word() {
        if (const std::string_view found = word_at(at_); is_pattern(found)) {
            pattern(found, at_ + found.size());
            return;
        }
        std::size_t end = at_;
        while (end < text_.size() && is_name_character(text_[end])) ++end;
        if (end == at_) refuse_unexpected();  // a * or ? where names are not known
        double value = 0;
        if (const std::size_t number = number_end(text_, at_, value); number >= end && number > at_) {
            if (!std::isfinite(value)) refuse_at("the number at position {} is too large for a double", at_);
            at_ = number;
            add_operand({Operation::number, 0, 0, value});
            return;
        }
        const std::string_view name = text_.substr(at_, end - at_);
        std::size_t next = end;
        while (next < text_.size() && data::is_blank(text_[next])) ++next;
        if (next < text_.size() && text_[next] == '(') {
            at_ = next;
            function(name);
        } else {
            column(name, end);
        }
    }

    void function(std::string_view name) {
        const auto* known =
            std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
        if (known == kFunctions.end()) refuse_function(name);
        const std::size_t open = at_++;
        const bool list_before = std::exchange(in_list_, false);
        std::size_t arguments = 0;
        skip_blanks();
        if (at_ < text_.size() && text_[at_] != ')') {
            do {
                in_list_ = known->of_list;
                patterned_ = 0;
                sum();
                arguments += std::max<std::size_t>(patterned_, 1);
                patterned_ = 0;
            } while (take(','));
        }
        in_list_ = list_before;
        close(open);
        if (!known->of_list && arguments != 1)
            refuse(fmt::format("{} takes one argument, but has {}", known->name, arguments));
        if (arguments < known->least)
            refuse(fmt::format("{} needs at least {}, but has {}", known->name, counted(known->least, "column"),
                               arguments));
        add(known->operation, arguments);
    }

    [[noreturn]] void refuse_function(std::string_view name) const {
        std::vector<std::string> known;
        for (const Function& function : kFunctions) known.emplace_back(function.name);
        const std::string nearest = nearest_name(std::string(name), known);
        refuse(fmt::format("there is no function '{}'{} Functions: {}", printable(name),
                           nearest.empty() ? "." : fmt::format("; did you mean '{}'?", nearest), name_list(known)));
    }

    void column(std::string_view name, std::size_t end) {
        if (names_ && !is_column(name)) {
            const std::vector<std::string> known(names_->begin(), names_->end());
            const std::string nearest = nearest_name(std::string(name), known);
            refuse(fmt::format("{} has no column '{}'{} Columns: {}", where_, printable(name),
                               nearest.empty() ? "." : fmt::format("; did you mean '{}'?", printable(nearest)),
                               name_list(known)));
        }
        operand(std::string(name));
        at_ = end;
    }

    // Columns in place of a pattern: they are arguments of the function around it.
    void pattern(std::string_view wildcards, std::size_t end) {
        const std::vector<std::string> found = all_matching(wildcards, *names_);
        if (found.empty())
            refuse(fmt::format("no column of {} matches '{}'. Columns: {}", where_, printable(wildcards),
                               name_list({names_->begin(), names_->end()})));
        std::size_t before = at_;
        while (before > 0 && data::is_blank(text_[before - 1])) --before;
        std::size_t next = end;
        while (next < text_.size() && data::is_blank(text_[next])) ++next;
        const bool alone = before > 0 && (text_[before - 1] == '(' || text_[before - 1] == ',') &&
                           next < text_.size() && (text_[next] == ',' || text_[next] == ')');
        if (!in_list_ || !alone)
            refuse(fmt::format("'{}' stands for {}: put it alone into mean, spread, min, max or sum",
                               printable(wildcards), counted(found.size(), "column")));
        for (const std::string& name : found) operand(name);
        at_ = end;
        patterned_ = found.size();
    }

    void operand(const std::string& name) {
        const auto [place, is_new] = places_.try_emplace(name, columns.size());
        if (is_new) columns.push_back(name);
        add_operand({Operation::column, 0, place->second, 0});
    }

    void add_operand(const Step& step) {
        steps.push_back(step);
        deepest = std::max(deepest, ++depth_);
    }

    void add(Operation operation, std::size_t arguments) {
        steps.push_back({operation, arguments, 0, 0});
        depth_ -= arguments - 1;
    }

    // Characters that a name or a pattern may have, from there on.
    std::string_view word_at(std::size_t from) const {
        std::size_t end = from;
        while (end < text_.size() && (is_name_character(text_[end]) || is_wildcard(text_[end]))) ++end;
        return text_.substr(from, end - from);
    }

    // A word that stands at at_. A * in it multiplies where something to multiply stands on both of its sides.
    bool is_pattern(std::string_view word) const {
        if (!names_ || !has_wildcard(word)) return false;
        if (word.front() == '*' || word.find('?') != std::string_view::npos) return true;
        std::size_t next = at_ + word.size();
        while (next < text_.size() && data::is_blank(text_[next])) ++next;
        const bool ends = next == text_.size() || text_[next] == ',' || text_[next] == ')';
        if (word.back() == '*') return ends;
        if (!ends && text_[next] == '(') return false;
        const bool all_known = [&] {
            for (std::size_t from = at_; from <= at_ + word.size();) {
                const std::size_t end = std::min(text_.find('*', from), at_ + word.size());
                double ignored = 0;
                if (!is_column(text_.substr(from, end - from)) &&
                    (end == from || number_end(text_, from, ignored) < end))
                    return false;
                from = end + 1;
            }
            return true;
        }();
        return !all_known && !all_matching(word, *names_).empty();
    }

    bool is_column(std::string_view name) const { return names_ && contains(*names_, name); }

    bool take(char wanted) {
        skip_blanks();
        if (at_ == text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }
    void skip_blanks() {
        while (at_ < text_.size() && data::is_blank(text_[at_])) ++at_;
    }

    [[noreturn]] void refuse(const std::string& what) const {
        core::refuse("'{}': {}", printable(text_, kLongestShown), what);
    }
    [[noreturn]] void refuse_at(fmt::format_string<std::size_t> what, std::size_t at) const {
        refuse(fmt::format(what, at + 1));
    }
    [[noreturn]] void refuse_unexpected() const {
        if (at_ == text_.size()) refuse("it is not complete");
        refuse(fmt::format("'{}' at position {} is not expected there", printable(text_.substr(at_, 1)), at_ + 1));
    }

    std::string_view text_;
    std::optional<std::span<const std::string>> names_;
    const std::string& where_;
    std::size_t at_ = 0;
    std::size_t nesting_ = 0;
    std::size_t depth_ = 0;      // of the stack
    bool in_list_ = false;       // directly inside a function that takes patterns
    std::size_t patterned_ = 0;  // columns that the last argument's pattern stands for
    std::map<std::string, std::size_t, std::less<>> places_;
};

double square(double x) {
    return x * x;
}

double list_value(Operation operation, std::span<const double> values) {
    const auto count = static_cast<double>(values.size());
    double total = 0;
    switch (operation) {
        case Operation::min:
            return *std::min_element(values.begin(), values.end());
        case Operation::max:
            return *std::max_element(values.begin(), values.end());
        default:
            for (const double value : values) total += value;
    }
    if (operation == Operation::sum) return total;
    const double mean = total / count;
    if (operation == Operation::mean) return mean;
    double squares = 0;
    for (const double value : values) squares += square(value - mean);
    return std::sqrt(squares / (count - 1));
}

// The result of a step; its arguments are the last on the stack.
double step_value(const Step& step, std::span<const double> arguments, std::span<const double> operands) {
    switch (step.operation) {
        case Operation::number:
            return step.number;
        case Operation::column:
            return operands[step.column];
        case Operation::negate:
            return -arguments[0];
        case Operation::add:
            return arguments[0] + arguments[1];
        case Operation::subtract:
            return arguments[0] - arguments[1];
        case Operation::multiply:
            return arguments[0] * arguments[1];
        case Operation::divide:
            return arguments[0] / arguments[1];
        case Operation::sqrt:
            return std::sqrt(arguments[0]);
        case Operation::log:
            return std::log(arguments[0]);
        case Operation::exp:
            return std::exp(arguments[0]);
        case Operation::abs:
            return std::abs(arguments[0]);
        default:
            return list_value(step.operation, arguments);
    }
}

std::string failure(const Step& step, std::span<const double> arguments) {
    if (step.operation == Operation::divide && arguments[1] == 0) return "divides by zero";
    if (step.operation == Operation::sqrt) return fmt::format("takes the square root of {}", arguments[0]);
    if (step.operation == Operation::log) return fmt::format("takes the logarithm of {}", arguments[0]);
    return step.operation == Operation::column ? "is not finite" : "is too large for a double";
}

// Room for the stack of most expressions, so that a row allocates nothing.
class Stack {
public:
    explicit Stack(std::size_t deepest) {
        if (deepest > kNear) far_.resize(deepest);
        values_ = far_.empty() ? near_ : far_.data();
    }
    // The step's result in place of its arguments.
    bool run(const Step& step, std::span<const double> operands) {
        const std::span<const double> arguments = arguments_of(step);
        const double result = step_value(step, arguments, operands);
        if (!std::isfinite(result)) return false;
        used_ -= step.arguments;
        values_[used_++] = result;
        return true;
    }
    std::span<const double> arguments_of(const Step& step) const {
        return {values_ + used_ - step.arguments, step.arguments};
    }
    double top() const { return values_[used_ - 1]; }

private:
    static constexpr std::size_t kNear = 64;
    double near_[kNear];
    std::vector<double> far_;
    double* values_;
    std::size_t used_ = 0;
};

// A part of an expression as it is written, and how tightly its last operation binds: 1 for sums, 2 for products, 3 for
// the rest.
struct Part {
    std::string text;
    int binds = 3;

    std::string within(int tightest) const { return binds < tightest ? fmt::format("({})", text) : text; }
};

// The expression of these steps. Parentheses stand where the order of the operations needs them, so that it is read as
// the same steps.
std::string spelled(std::span<const Step> steps, std::span<const std::string> columns) {
    std::vector<Part> parts;
    const auto take = [&] {
        Part last = std::move(parts.back());
        parts.pop_back();
        return last;
    };
    const auto join = [&](const char* sign, int binds) {
        const Part right = take();
        const Part left = take();
        parts.push_back({fmt::format("{} {} {}", left.within(binds), sign, right.within(binds + 1)), binds});
    };
    for (const Step& step : steps) {
        switch (step.operation) {
            case Operation::number:
                parts.push_back({fmt::format("{}", step.number)});
                break;
            case Operation::column:
                parts.push_back({written(columns[step.column])});
                break;
            case Operation::negate:
                parts.push_back({fmt::format("-{}", take().within(3))});
                break;
            case Operation::add:
                join("+", 1);
                break;
            case Operation::subtract:
                join("-", 1);
                break;
            case Operation::multiply:
                join("*", 2);
                break;
            case Operation::divide:
                join("/", 2);
                break;
            default: {
                std::string list;
                for (std::size_t k = parts.size() - step.arguments; k < parts.size(); ++k)
                    list += (list.empty() ? "" : ", ") + parts[k].text;
                parts.resize(parts.size() - step.arguments);
                const auto* function = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& known) {
                    return known.operation == step.operation;
                });
                parts.push_back({fmt::format("{}({})", function->name, list)});
            }
        }
    }
    return parts.back().text;
}

const std::string kNowhere;

}  // namespace

Expression::Expression(std::string_view text, std::span<const std::string> names, const std::string& where) {
    Parser parser(text, names, where);
    parser.parse();
    columns_ = std::move(parser.columns);
    steps_ = std::move(parser.steps);
    text_ = spelled(steps_, columns_);
    deepest_ = parser.deepest;
}

double Expression::value(std::span<const double> operands) const {
    for (const double operand : operands)
        if (std::isnan(operand)) return kNaN;
    Stack stack(deepest_);
    for (const Step& step : steps_)
        if (!stack.run(step, operands)) return kInfinity;
    return stack.top();
}

std::vector<double> Expression::values(std::span<const std::span<const double>> operands) const {
    core::require(operands.size() == columns_.size(), "'{}' has {} columns, but {} were given", text_, columns_.size(),
                  operands.size());
    const std::size_t rows = operands.front().size();
    for (std::size_t k = 0; k < operands.size(); ++k)
        core::require(operands[k].size() == rows, "column '{}' has {} rows, but '{}' has {}", printable(columns_[k]),
                      operands[k].size(), printable(columns_.front()), rows);
    std::vector<double> results(rows);
    std::vector<double> row(operands.size());
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t k = 0; k < row.size(); ++k) row[k] = operands[k][i];
        results[i] = value(row);
        if (std::isinf(results[i])) core::refuse("row {}: {}", i + 1, problem(row));
    }
    return results;
}

std::string Expression::problem(std::span<const double> operands) const {
    Stack stack(deepest_);
    std::string what;
    for (const Step& step : steps_) {
        const std::span<const double> arguments = stack.arguments_of(step);
        if (stack.run(step, operands)) continue;
        what = failure(step, arguments);
        break;
    }
    constexpr std::size_t kMaxShown = 6;
    std::string values;
    for (std::size_t k = 0; k < std::min(columns_.size(), kMaxShown); ++k)
        values += fmt::format("{}{} = {}", k == 0 ? "" : ", ", printable(columns_[k]), operands[k]);
    if (columns_.size() > kMaxShown) values += ", ...";
    return fmt::format("{} {}: {}", printable(text_, kLongestShown), what, values);
}

std::optional<Expression> computed_column(const std::string& name, std::span<const std::string> names,
                                          const std::string& where) {
    const auto is_sign = [](char c) {
        return is_quote(c) || is_wildcard(c) || std::string_view("()+-/").find(c) != std::string_view::npos;
    };
    if (std::none_of(name.begin(), name.end(), is_sign)) return std::nullopt;
    try {
        return Expression(name, names, where);
    } catch (const InputError&) {
        // 'wind-sped' was meant as a name.
        if (!nearest_name(name, {names.begin(), names.end()}).empty()) return std::nullopt;
        throw;
    }
}

std::optional<std::vector<std::string>> matching_columns(std::string_view text, std::span<const std::string> names) {
    const auto pattern = Parser(text, names, kNowhere).whole_pattern();
    if (!pattern) return std::nullopt;
    return all_matching(*pattern, names);
}

std::vector<std::string> named_columns(std::string_view text) {
    try {
        Parser parser(text, std::nullopt, kNowhere);
        parser.parse();
        return parser.columns;
    } catch (const InputError&) {
        return {};
    }
}

std::vector<std::string> split_columns(std::string_view list) {
    // The end of a quoted name at `at`, or `at` itself. A quote behind a letter is an apostrophe, and one that is never
    // closed, like such a parenthesis, is a character like others.
    const auto quote_end = [&](std::size_t at) {
        if (!is_quote(list[at]) || (at > 0 && is_name_character(list[at - 1]))) return at;
        const std::size_t close = list.find(list[at], at + 1);
        return close == std::string_view::npos ? at : close;
    };
    const auto parenthesis_end = [&](std::size_t at) {
        std::size_t open = 0;
        for (std::size_t i = at; i < list.size(); ++i) {
            i = quote_end(i);
            open += list[i] == '(';
            if (list[i] == ')' && --open == 0) return i;
        }
        return at;
    };
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        if (i == list.size() || list[i] == ',') {
            parts.emplace_back(data::trim(list.substr(begin, i - begin)));
            begin = i + 1;
        } else {
            i = list[i] == '(' ? parenthesis_end(i) : quote_end(i);
        }
    }
    return parts;
}

}  // namespace accrue
