// Columns computed from columns: the language, its values, and how files are read with it.
#include "accrue/expression.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "accrue/archive.hpp"
#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "data/transform.hpp"
#include "temporary_folder.hpp"

namespace accrue {
namespace {

using Names = std::vector<std::string>;

const Names kNames = {"x", "y", "fc1", "fc2", "fc10", "wind speed", "a,b", "it's", "2m_temp", "1"};

double value_of(std::string_view text, std::vector<double> operands) {
    return Expression(text, kNames, "t.csv").value(operands);
}

std::string message_of(std::string_view text) {
    try {
        (void)Expression(text, kNames, "t.csv");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Expression, FollowsTheRulesOfArithmetic) {
    EXPECT_EQ(value_of("x - y - 1", {5, 3}), 1);
    EXPECT_EQ(value_of("x + y * 2", {5, 3}), 11);
    EXPECT_EQ(value_of("(x + y) * 2", {5, 3}), 16);
    EXPECT_EQ(value_of("x / y / 2", {12, 3}), 2);
    EXPECT_EQ(value_of("-x * -y", {5, 3}), 15);
    EXPECT_EQ(value_of("- - x", {5}), 5);
    EXPECT_EQ(value_of("2.5e-1*x", {8}), 2);
    EXPECT_EQ(value_of("x*x+x", {3}), 12);
    EXPECT_EQ(value_of("x*(y+1)", {3, 4}), 15);
}

TEST(Expression, HasTheFunctionsThatItNames) {
    EXPECT_EQ(value_of("sqrt(x)", {9}), 3);
    EXPECT_EQ(value_of("abs(x)", {-9}), 9);
    EXPECT_EQ(value_of("exp(x)", {0}), 1);
    EXPECT_EQ(value_of("log(x)", {1}), 0);
    EXPECT_EQ(value_of("2*sqrt(x)", {9}), 6);
    EXPECT_EQ(value_of("mean(x, y, 1)", {4, 7}), 4);
    EXPECT_EQ(value_of("min(x, y) + max(x, y)", {4, 7}), 11);
    EXPECT_EQ(value_of("sum(x, x, y)", {4, 7}), 15);
    // The divisor is one less than the number of values: ((1-2)^2 + (3-2)^2) / 1.
    EXPECT_EQ(value_of("spread(x, y)", {1, 3}), std::sqrt(2.0));
}

TEST(Expression, WritesOutPatterns) {
    const Expression mean("mean(fc*) - x", kNames, "t.csv");
    EXPECT_EQ(mean.text(), "mean(fc1, fc2, fc10) - x");
    EXPECT_EQ(mean.columns(), (Names{"fc1", "fc2", "fc10", "x"}));
    EXPECT_EQ(mean.value(std::vector<double>{1, 2, 6, 10}), -7);
    EXPECT_EQ(Expression("spread(fc?)", kNames, "t.csv").text(), "spread(fc1, fc2)");
    EXPECT_EQ(Expression("max(*speed, '*,b')", kNames, "t.csv").text(), "max(`wind speed`, `a,b`)");
    EXPECT_EQ(Expression(mean.text(), kNames, "t.csv").text(), mean.text());
}

TEST(Expression, HasOneSpelling) {
    const Names names = {"a", "b", "c", "wind speed"};
    for (const auto& [text, spelled] :
         std::vector<std::pair<std::string, std::string>>{{"a+1", "a + 1"},
                                                          {"( a )", "a"},
                                                          {"a-(b-c)", "a - (b - c)"},
                                                          {"(a-b)-c", "a - b - c"},
                                                          {"a+(b+c)", "a + (b + c)"},
                                                          {"a*(b+c)/2", "a * (b + c) / 2"},
                                                          {"a/(b*c)", "a / (b * c)"},
                                                          {"-(a+b)*-c", "-(a + b) * -c"},
                                                          {"+a", "a"},
                                                          {"1e-3*'wind speed'", "0.001 * `wind speed`"},
                                                          {"mean( a,b ) -sqrt(c)", "mean(a, b) - sqrt(c)"},
                                                          {"max(a+b,-c,(b))", "max(a + b, -c, b)"}}) {
        const Expression first(text, names, "t.csv");
        EXPECT_EQ(first.text(), spelled);
        const Expression again(first.text(), names, "t.csv");
        EXPECT_EQ(again.text(), spelled);
        ASSERT_EQ(again.columns(), first.columns());
        const std::vector<double> row = {0.1, 0.2, 0.7, 0.3};
        const std::span<const double> operands = std::span(row).first(first.columns().size());
        EXPECT_EQ(again.value(operands), first.value(operands)) << "the same operations in the same order";
    }
}

TEST(Expression, AStarMultipliesWhereBothSidesAreColumnsOrNumbers) {
    EXPECT_EQ(Expression("x*y", kNames, "t.csv").columns(), (Names{"x", "y"}));
    EXPECT_EQ(Expression("sum(x*y)", kNames, "t.csv").value(std::vector<double>{3, 5}), 15);
    EXPECT_EQ(Expression("sum(f*0)", Names{"f1_0", "f2_0"}, "t.csv").text(), "sum(f1_0, f2_0)");
    EXPECT_EQ(Expression("f*2", Names{"f", "f12"}, "t.csv").columns(), (Names{"f"}));
}

TEST(Expression, TakesNamesInAnyKindOfQuotes) {
    EXPECT_EQ(value_of("'wind speed' - `a,b` + \"it's\"", {5, 3, 1}), 3);
    EXPECT_EQ(value_of("2m_temp * 2", {4}), 8);
    EXPECT_EQ(value_of("`1` * 2", {4}), 8);
}

TEST(Expression, IsMissingWhereAnOperandIs) {
    EXPECT_TRUE(std::isnan(value_of("x / y", {1, NAN})));
    EXPECT_TRUE(std::isnan(value_of("mean(fc*)", {1, NAN, 3})));
    EXPECT_TRUE(std::isnan(value_of("x / y", {NAN, 0})));
}

TEST(Expression, SaysWhyAValueIsNotFinite) {
    const auto problem = [](std::string_view text, std::vector<double> operands) {
        const Expression expression(text, kNames, "t.csv");
        EXPECT_TRUE(std::isinf(expression.value(operands)));
        return expression.problem(operands);
    };
    EXPECT_EQ(problem("x / y", {1, 0}), "x / y divides by zero: x = 1, y = 0");
    EXPECT_EQ(problem("1 / (1 / (x - y))", {2, 2}), "1 / (1 / (x - y)) divides by zero: x = 2, y = 2");
    EXPECT_EQ(problem("sqrt(x)", {-4}), "sqrt(x) takes the square root of -4: x = -4");
    EXPECT_EQ(problem("log(x)", {0}), "log(x) takes the logarithm of 0: x = 0");
    EXPECT_EQ(problem("exp(x)", {1000}), "exp(x) is too large for a double: x = 1000");
}

TEST(Expression, RefusesWhatItCannotRead) {
    EXPECT_EQ(message_of("mean(x, y"), "'mean(x, y': the parenthesis at position 5 is never closed");
    EXPECT_EQ(message_of("x + y)"), "'x + y)': the parenthesis at position 6 was never opened");
    EXPECT_EQ(message_of("x + "), "'x + ': a column or a number is missing at the end");
    EXPECT_EQ(message_of("x $ y"), "'x $ y': '$' at position 3 is not expected there");
    EXPECT_EQ(message_of("x y"), "'x y': 'y' at position 3 is not expected there");
    EXPECT_EQ(message_of("'x"), "''x': the quote at position 1 is never closed");
    EXPECT_EQ(message_of("1 + 2"), "'1 + 2': it names no column");
    EXPECT_EQ(message_of("x + 1e999"), "'x + 1e999': the number at position 5 is too large for a double");
    EXPECT_EQ(message_of("sqr(x)"),
              "'sqr(x)': there is no function 'sqr'; did you mean 'sqrt'? Functions: mean, spread, "
              "min, max, sum, sqrt, log, exp, abs");
    EXPECT_EQ(message_of("system(x)"),
              "'system(x)': there is no function 'system'. Functions: mean, spread, min, max, "
              "sum, sqrt, log, exp, abs");
    EXPECT_EQ(message_of("sqrt(x, y)"), "'sqrt(x, y)': sqrt takes one argument, but has 2");
    EXPECT_EQ(message_of("mean()"), "'mean()': mean needs at least 1 column, but has 0");
    EXPECT_EQ(message_of("spread(x)"), "'spread(x)': spread needs at least 2 columns, but has 1");
    EXPECT_EQ(message_of("x - fc3"),
              "'x - fc3': t.csv has no column 'fc3'; did you mean 'fc1'? Columns: x, y, fc1, fc2, "
              "fc10, wind speed, a,b, it's, 2m_temp, 1");
    EXPECT_EQ(message_of("mean(P*)"),
              "'mean(P*)': no column of t.csv matches 'P*'. Columns: x, y, fc1, fc2, fc10, wind "
              "speed, a,b, it's, 2m_temp, 1");
    EXPECT_EQ(message_of("x - fc*"),
              "'x - fc*': 'fc*' stands for 3 columns: put it alone into mean, spread, min, max or sum");
    for (const char* text : {"mean((fc*) + 1)", "mean(-fc*)", "sqrt(fc*)", "mean(2 * fc*)", "(fc*)"})
        EXPECT_NE(message_of(text).find("stands for 3 columns"), std::string::npos) << text;
    EXPECT_EQ(message_of(std::string(500, '(') + "x"),
              "'" + std::string(80, '(') + "...': it is nested more than 100 deep");
}

TEST(Expression, AMisspeltNameIsStillAName) {
    EXPECT_FALSE(computed_column("xx", kNames, "t.csv"));
    EXPECT_FALSE(computed_column("wind-speed", kNames, "t.csv"));
    EXPECT_TRUE(computed_column("x-y", kNames, "t.csv"));
}

TEST(Expression, ListsAreSplitOutsideOfParenthesesAndQuotes) {
    EXPECT_EQ(split_columns("a, b"), (Names{"a", "b"}));
    EXPECT_EQ(split_columns("mean(a,b),wdir:cyclic(360),'c,d'"), (Names{"mean(a,b)", "wdir:cyclic(360)", "'c,d'"}));
    EXPECT_EQ(split_columns("max('a)',b),c"), (Names{"max('a)',b)", "c"}));
    EXPECT_EQ(split_columns("it's,o'clock"), (Names{"it's", "o'clock"}));
    EXPECT_EQ(split_columns("mean(a,b"), (Names{"mean(a", "b"}));
    EXPECT_EQ(split_columns("'a,b"), (Names{"'a", "b"}));
}

TEST(Expression, PatternsStandForColumns) {
    EXPECT_EQ(matching_columns("fc*", kNames), (Names{"fc1", "fc2", "fc10"}));
    EXPECT_EQ(matching_columns("*", kNames), kNames);
    EXPECT_EQ(matching_columns("'w* s*d'", kNames), (Names{"wind speed"}));
    EXPECT_EQ(matching_columns("Q*", kNames), Names{});
    EXPECT_FALSE(matching_columns("x*y", kNames));
    EXPECT_FALSE(matching_columns("mean(fc*)", kNames));
    EXPECT_FALSE(matching_columns("x", kNames));
}

class ComputedColumns : public testing::Test {
protected:
    static std::string message(const std::vector<std::string>& files, const std::vector<ColumnRequest>& columns,
                               const ReadOptions& options = {}) {
        try {
            (void)read_table(files, columns, options);
        } catch (const InputError& error) {
            const std::string text = error.what();
            return text.substr(text.rfind('/', text.find(".csv")) + 1);
        }
        return "no error";
    }
    test::TemporaryFolder folder_;
};

TEST_F(ComputedColumns, AreReadLikeColumns) {
    const std::string file = folder_.file("t.csv", "f1,f2,y,station\n1,3,5,a\n2,6,,b\n4,8,1,c\n");
    const std::vector<ColumnRequest> columns = {{"y - mean(f*)"}, {"f1"}, {"station", Kind::text}};
    const Table table = read_table({file}, columns, {.missing = Missing::drop});
    EXPECT_EQ(table.dropped(), 1U);
    const auto errors = table.numbers("y - mean(f*)");
    EXPECT_EQ(std::vector<double>(errors.begin(), errors.end()), (std::vector<double>{3, -5}));
    EXPECT_EQ(table.numbers("f1")[1], 4);
    EXPECT_EQ(table.text("station").labels, (Names{"a", "c"}));
    const Table kept = read_table({file}, columns, {.missing = Missing::keep});
    EXPECT_TRUE(std::isnan(kept.numbers("y - mean(f*)")[1]));
}

TEST_F(ComputedColumns, AColumnOfThatNameGoesFirst) {
    const std::string file = folder_.file("t.csv", "y,1,y-1\n5,2,7\n");
    EXPECT_EQ(read_table({file}, {{"y-1"}}).numbers("y-1")[0], 7);
    EXPECT_EQ(read_table({file}, {{"y - 1"}}).numbers("y - 1")[0], 4);
}

TEST_F(ComputedColumns, RefusalsNameFileRowAndValues) {
    const std::string file = folder_.file("t.csv", "x,y\n1,2\n3,0\n,4\n");
    EXPECT_EQ(message({file}, {{"x / y"}}), "t.csv row 2 (line 3): x / y divides by zero: x = 3, y = 0");
    EXPECT_EQ(message({file}, {{"y - 1", Kind::number, Rule::not_negative}}),
              "t.csv row 2 (line 3): y - 1 must not be negative; it is -1");
    EXPECT_EQ(message({file}, {{"x + y"}}),
              "t.csv row 3 (line 4), column 'x': value is missing; use --missing drop to skip such rows");
    EXPECT_EQ(message({file}, {{"x + z"}}), "t.csv has no column 'z'. Columns: x, y")
        << "the expression stands before it";
    EXPECT_EQ(message({file}, {{"xy"}}), "t.csv has no column 'xy'. Columns: x, y");
}

TEST_F(ComputedColumns, AreTheSameFromEveryChunkAndFromAPipe) {
    std::string text = "a,b\n";
    for (int i = 1; i <= 5000; ++i) text += std::to_string(i) + "," + std::to_string(i % 7 + 1) + "\n";
    const std::string file = folder_.file("t.csv", text);
    const auto whole = read_table({file}, {{"a / b"}});
    std::vector<double> slabs;
    read_slabs({file}, {{"a / b"}}, {.slab_bytes = 100}, [&](const Table& slab) {
        const auto values = slab.numbers("a / b");
        slabs.insert(slabs.end(), values.begin(), values.end());
    });
    const auto values = whole.numbers("a / b");
    EXPECT_EQ(slabs, std::vector<double>(values.begin(), values.end()));
    EXPECT_EQ(values[4998], 4999.0 / (4999 % 7 + 1));
}

TEST_F(ComputedColumns, AreComputedForPredictionsToo) {
    const std::string file = folder_.file("t.csv", "a,b\n1,2\n3,\n5,6\n");
    const std::string output = folder_.path("out.csv");
    data::TransformPlan plan;
    plan.inputs = {{"a + b"}, {"a"}};
    plan.added = {{"c", "sum"}, {"d", "a"}};
    data::transform_rows({file}, output, plan, [](auto values, auto results, std::size_t) {
        for (std::size_t k = 0; k < 2; ++k) std::copy(values[k].begin(), values[k].end(), results[k].begin());
    });
    std::ifstream stream(output);
    std::stringstream written;
    written << stream.rdbuf();
    EXPECT_EQ(written.str(), "a,b,c,d\n1,2,3,1\n3,,,\n5,6,11,5\n");
}

TEST_F(ComputedColumns, PatternsOfRolesAndInputsAreWrittenOut) {
    const std::string file = folder_.file("t.csv", "f1,f2,P1,P2,Pname,y\n1,2,3,4,a,5\n");
    RowSource source;
    source.files = {file};
    source.roles.prediction = "mean(f*)";
    source.roles.observation = "y";
    Names inputs = {"P*", "sqrt(P1)", "spread(f*)", "P2"};
    expand_columns(source, inputs);
    EXPECT_EQ(source.roles.prediction, "mean(f1, f2)");
    EXPECT_EQ(inputs, (Names{"P1", "sqrt(P1)", "spread(f1, f2)", "P2"}));
    inputs = {"*"};
    expand_columns(source, inputs);
    EXPECT_EQ(inputs, (Names{"f1", "f2", "P1", "P2"}));
    inputs = {"'P1'", "`Pname`"};
    expand_columns(source, inputs);
    EXPECT_EQ(inputs, (Names{"P1", "Pname"}));
    inputs = {"wdir:cyclic(360)"};
    expand_columns(source, inputs);
    EXPECT_EQ(inputs, (Names{"wdir:cyclic(360)"}));
    inputs = {"Q*"};
    EXPECT_THROW(expand_columns(source, inputs), InputError);
    inputs = {"y*"};
    EXPECT_THROW(expand_columns(source, inputs), InputError);
}

TEST_F(ComputedColumns, InputsNeverHoldPartsOfTheErrors) {
    const std::string file = folder_.file("t.csv", "f,y,x,y-1\n1,2,3,4\n");
    RowSource source;
    source.files = {file};
    source.roles.prediction = "f";
    source.roles.observation = "sqrt(y)";
    EXPECT_EQ(default_inputs(source), (Names{"x", "y-1"}));
    EXPECT_NO_THROW(read_archive(source, {{"x"}}, 8, 1));
    EXPECT_NO_THROW(read_archive(source, {{"y-1"}}, 8, 1)) << "the column of that name";
    EXPECT_THROW(read_archive(source, {{"y"}}, 8, 1), InputError);
    EXPECT_THROW(read_archive(source, {{"x - y"}}, 8, 1), InputError);
    source.roles.prediction = "mean(f, x)";
    EXPECT_EQ(default_inputs(source), (Names{"y-1"})) << "what the prediction is made of is no input by default";
}

}  // namespace
}  // namespace accrue
