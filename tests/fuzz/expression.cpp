// Columns computed from columns: expressions made from the input have the value that a plain evaluation of their tree
// has, and any text is refused, or means the same when its patterns are written out.
#include "accrue/expression.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "accrue/error.hpp"
#include "fuzz/target.hpp"

namespace accrue::fuzz {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const std::vector<std::string> kNames = {"x", "y", "f1", "f2", "f10", "wind speed", "t*", "it's", "2m", "7"};
const std::array<const char*, 10> kWritten = {"x",    "y",      "`f1`", "'f2'", "f10", "\"wind speed\"",
                                              "'t*'", "`it's`", "2m",   "'7'"};

// A value with what may go wrong on the way: missing operands go before everything else.
struct Outcome {
    double value = 0;
    bool finite = true;
};

struct Tree {
    std::string text;
    Outcome outcome;
};

Outcome of(double value, std::initializer_list<Outcome> parts) {
    bool finite = std::isfinite(value);
    for (const Outcome& part : parts) finite = finite && part.finite;
    return {value, finite};
}

class Maker {
public:
    Maker(Bytes& bytes, const std::vector<double>& values) : bytes_(bytes), values_(values) {}

    std::vector<bool> used = std::vector<bool>(kNames.size(), false);

    // `tight`: as an operand of any operator.
    Tree make(int depth, bool tight) {
        const std::size_t choice = depth > 4 || bytes_.empty() ? bytes_.below(2) : bytes_.below(8);
        switch (choice) {
            case 0:
                return column(bytes_.below(kNames.size()));
            case 1: {
                const std::string text = fmt::format("{}{}", bytes_.byte(), bytes_.flag() ? "e-1" : "");
                return {text, {std::stod(text), true}};
            }
            case 2:
                return binary(depth, tight);
            case 3:
                return unary(depth);
            case 4:
                return list(depth);
            case 5: {
                Tree inner = make(depth + 1, false);
                return {gap() + "(" + inner.text + ")", inner.outcome};
            }
            default:
                return binary(depth, tight);
        }
    }

private:
    std::string gap() { return bytes_.below(4) == 0 ? " " : ""; }

    Tree column(std::size_t k) {
        used[k] = true;
        return {kWritten[k], {values_[k], true}};
    }

    Tree binary(int depth, bool tight) {
        const char sign = "+-*/"[bytes_.below(4)];
        const Tree a = make(depth + 1, true);
        const Tree b = make(depth + 1, true);
        const double x = a.outcome.value;
        const double y = b.outcome.value;
        const double value = sign == '+' ? x + y : sign == '-' ? x - y : sign == '*' ? x * y : x / y;
        // Blanks around it, since a * between letters may be part of a pattern.
        std::string text = a.text + " " + sign + " " + b.text;
        if (tight) text = "(" + text + ")";
        return {text, of(value, {a.outcome, b.outcome})};
    }

    Tree unary(int depth) {
        static constexpr std::array<const char*, 5> kFunctions = {"sqrt", "log", "exp", "abs", "-"};
        const std::size_t k = bytes_.below(kFunctions.size());
        const Tree a = make(depth + 1, false);
        const double x = a.outcome.value;
        const double value = k == 0   ? std::sqrt(x)
                             : k == 1 ? std::log(x)
                             : k == 2 ? std::exp(x)
                             : k == 3 ? std::abs(x)
                                      : -x;
        if (k == 4) return {"(-(" + a.text + "))", of(value, {a.outcome})};
        return {std::string(kFunctions[k]) + gap() + "(" + a.text + ")", of(value, {a.outcome})};
    }

    Tree list(int depth) {
        static constexpr std::array<const char*, 5> kFunctions = {"mean", "sum", "min", "max", "spread"};
        const std::size_t k = bytes_.below(kFunctions.size());
        std::vector<Outcome> parts;
        std::string text;
        const auto add = [&](const Tree& tree) {
            parts.push_back(tree.outcome);
            text += (text.empty() ? "" : ",") + gap() + tree.text;
        };
        for (std::size_t left = 2 + bytes_.below(3); left > 0; --left) add(make(depth + 1, false));
        if (bytes_.flag()) {
            text += ",f*";
            for (const std::size_t f : {2U, 3U, 4U}) parts.push_back(column(f).outcome);
        }
        double total = 0;
        double least = parts[0].value;
        double most = parts[0].value;
        Outcome result;
        for (const Outcome& part : parts) {
            total += part.value;
            least = std::min(least, part.value);
            most = std::max(most, part.value);
            result.finite = result.finite && part.finite;
        }
        const auto count = static_cast<double>(parts.size());
        const double mean = total / count;
        double squares = 0;
        for (const Outcome& part : parts) squares += (part.value - mean) * (part.value - mean);
        const std::array<double, 5> values = {mean, total, least, most, std::sqrt(squares / (count - 1))};
        result.value = values[k];
        result.finite = result.finite && std::isfinite(result.value);
        return {std::string(kFunctions[k]) + "(" + text + ")", result};
    }

    Bytes& bytes_;
    const std::vector<double>& values_;
};

double computed(const Expression& expression, const std::vector<double>& values) {
    std::vector<double> operands;
    for (const std::string& column : expression.columns()) {
        const auto found = std::find(kNames.begin(), kNames.end(), column);
        expect(found != kNames.end(), "'{}' is no column", column);
        operands.push_back(values[static_cast<std::size_t>(found - kNames.begin())]);
    }
    const double value = expression.value(operands);
    if (std::isinf(value)) expect(!expression.problem(operands).empty(), "a problem without a message");
    return value;
}

void check_tree(Bytes& bytes, const std::vector<double>& values) {
    Maker maker(bytes, values);
    const Tree tree = maker.make(0, false);
    bool missing = false;
    bool any = false;
    for (std::size_t k = 0; k < kNames.size(); ++k) {
        missing = missing || (maker.used[k] && std::isnan(values[k]));
        any = any || maker.used[k];
    }
    try {
        const Expression expression(tree.text, kNames, "t");
        expect(any, "'{}' has no column", tree.text);
        const double value = computed(expression, values);
        const double wanted = missing               ? kNaN
                              : tree.outcome.finite ? tree.outcome.value
                                                    : std::numeric_limits<double>::infinity();
        expect(same_bits(value, wanted), "'{}' is {}, but should be {}", tree.text, value, wanted);
    } catch (const InputError& error) {
        expect(!any, "'{}' was refused: {}", tree.text, error.what());
    }
}

void check_text(std::string_view text, const std::vector<double>& values) {
    (void)matching_columns(text, kNames);
    (void)named_columns(text);
    std::string joined;
    const std::vector<std::string> parts = split_columns(text);
    for (const std::string& part : parts) joined += (&part == &parts.front() ? "" : ",") + part;
    expect(split_columns(joined) == parts, "parts of '{}' are cut again", text);
    std::optional<Expression> expression;
    try {
        expression.emplace(text, kNames, "t");
    } catch (const InputError&) {
        return;
    }
    const Expression again(expression->text(), kNames, "t");
    expect(again.text() == expression->text(), "'{}' is written out twice", text);
    expect(again.columns() == expression->columns(), "'{}' has other columns when it is written out", text);
    expect(same_bits(computed(again, values), computed(*expression, values)), "'{}' has two values", text);
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
    Bytes bytes(input);
    std::vector<double> values;
    for (std::size_t k = 0; k < kNames.size(); ++k) {
        const std::uint8_t byte = bytes.byte();
        values.push_back(byte == 255 ? kNaN : byte == 254 ? 1e300 : (static_cast<double>(byte) - 100) / 4);
    }
    if (bytes.flag())
        check_tree(bytes, values);
    else
        check_text(bytes.rest(), values);
}

}  // namespace accrue::fuzz
