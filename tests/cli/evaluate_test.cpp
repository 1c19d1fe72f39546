// `accrue evaluate`, from the outside: the figures of the real binary against plain formulas.
#include <fmt/format.h>

#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <regex>
#include <string>

#include "cli/cli_test.hpp"
#include "core/random.hpp"

namespace accrue::test {
namespace {

struct Rows {
    std::vector<double> mu, y, wrong, right, weight;
    std::vector<std::string> group;
    std::size_t size() const { return mu.size(); }
};

// `right` is the true sigma, `wrong` is none.
Rows make_rows(std::size_t n) {
    core::Random random(20);
    Rows rows;
    for (std::size_t i = 0; i < n; ++i) {
        const double sigma = std::exp(0.5 * random.normal());
        rows.mu.push_back(10 * random.normal());
        rows.y.push_back(rows.mu.back() + 0.2 * sigma + sigma * random.normal());
        rows.right.push_back(sigma);
        rows.wrong.push_back(0.5);
        rows.weight.push_back(static_cast<double>(random.below(4)));
        rows.group.push_back(fmt::format("station {}", random.below(5)));
    }
    return rows;
}

std::string csv(const Rows& rows, std::size_t begin, std::size_t end, const std::string& delimiter = ",",
                bool header = true) {
    const auto line = [&](const std::vector<std::string>& cells) {
        return fmt::format("{}\n", fmt::join(cells, delimiter));
    };
    std::string text = header ? line({"mu", "y", "wrong", "right", "weight", "group"}) : "";
    for (std::size_t i = begin; i < end; ++i)
        text += line({fmt::format("{}", rows.mu[i]), fmt::format("{}", rows.y[i]), fmt::format("{}", rows.wrong[i]),
                      fmt::format("{}", rows.right[i]), fmt::format("{}", rows.weight[i]), '"' + rows.group[i] + '"'});
    return text;
}

double crps(double e, double s) {
    const double z = e / s;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double cdf = std::erfc(-z / std::numbers::sqrt2) / 2;
    return s * (z * (2 * cdf - 1) + 2 * density - 1 / std::sqrt(std::numbers::pi));
}

// The figures of docs/evaluate.md, each from its definition.
Json expected(const std::vector<double>& e, const std::vector<double>& s, std::vector<double> w,
              const std::vector<double>& levels) {
    const std::size_t n = e.size();
    if (w.empty()) w.assign(n, 1);
    const double total = std::accumulate(w.begin(), w.end(), 0.0);
    for (double& weight : w) weight /= total;
    const auto mean = [&](const std::function<double(std::size_t)>& f) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += w[i] * f(i);
        return sum;
    };
    const auto z = [&](std::size_t i) { return e[i] / s[i]; };
    const auto pit = [&](std::size_t i) { return std::erfc(-z(i) / std::numbers::sqrt2) / 2; };
    const double constant = std::sqrt(2 / std::numbers::pi) / 2;

    Json figures;
    const double effective = 1 / mean([&](std::size_t i) { return w[i]; });
    figures["effective_rows"] = effective;
    figures["crps"] = mean([&](std::size_t i) { return crps(e[i], s[i]); });
    // The best constant by golden sections, in log sigma.
    const auto constant_crps = [&](double x) { return mean([&](std::size_t i) { return crps(e[i], std::exp(x)); }); };
    double low = -5;
    double high = 5;
    const double golden = std::numbers::phi - 1;
    while (high - low > 1e-9) {
        const double a = high - golden * (high - low);
        const double b = low + golden * (high - low);
        (constant_crps(a) < constant_crps(b) ? high : low) = constant_crps(a) < constant_crps(b) ? b : a;
    }
    figures["crps_skill"] = 1 - figures["crps"].get<double>() / constant_crps((low + high) / 2);
    figures["nlpd"] =
        mean([&](std::size_t i) { return std::log(s[i]) + z(i) * z(i) / 2 + std::log(2 * std::numbers::pi) / 2; });

    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return z(a) < z(b); });
    double rs = -constant;
    double before = 0;
    double largest = 0;
    for (const std::size_t i : order) {
        const double t = z(i) / std::numbers::sqrt2;
        rs += w[i] * (t * (std::erf(t) + 1 - 2 * before - w[i]) + std::exp(-t * t) / std::sqrt(std::numbers::pi));
        largest = std::max(largest, std::fabs(pit(i) - before));
        before += w[i];
        largest = std::max(largest, std::fabs(pit(i) - before));
    }
    figures["rs"] = rs;
    figures["rs_floor"] = constant / effective;
    const auto whole = static_cast<std::size_t>(std::lround(effective));
    double reliability = 0;
    for (std::size_t i = 1; i <= whole; ++i) {
        const double t = boost::math::erf_inv((2 * static_cast<double>(i) - 1) / static_cast<double>(whole) - 1);
        reliability += std::exp(-t * t) / std::sqrt(std::numbers::pi) / static_cast<double>(whole);
    }
    const double accuracy =
        std::erf(std::sqrt(std::log(4.0)) / 2) * mean([&](std::size_t i) { return std::fabs(e[i]); });
    const double beta = reliability / (accuracy + reliability);
    figures["beta"] = beta;
    figures["ar"] = beta * figures["crps"].get<double>() + (1 - beta) * rs;
    figures["calibration_error_percent"] = 100 * largest;
    figures["sign_bound_percent"] = 100 * std::fabs(mean([&](std::size_t i) { return e[i] < 0 ? 1 : 0; }) - 0.5);
    const double mean_z = mean(z);
    figures["mean_z"] = mean_z;
    figures["sd_z"] = std::sqrt(mean([&](std::size_t i) { return (z(i) - mean_z) * (z(i) - mean_z); }));
    figures["sharpness"] = std::sqrt(mean([&](std::size_t i) { return s[i] * s[i]; }));
    figures["rmse"] = std::sqrt(mean([&](std::size_t i) { return e[i] * e[i]; }));
    for (const double level : levels) {
        const double quantile = std::numbers::sqrt2 * boost::math::erf_inv(level);
        const double width = mean([&](std::size_t i) { return 2 * quantile * s[i]; });
        figures["coverage"].push_back(
            {{"level", level},
             {"observed", mean([&](std::size_t i) { return std::fabs(e[i]) <= quantile * s[i] ? 1 : 0; })},
             {"mean_width", width},
             {"interval_score", width + 2 / (1 - level) * mean([&](std::size_t i) {
                                            return std::max(0.0, std::fabs(e[i]) - quantile * s[i]);
                                        })}});
    }
    return figures;
}

// Every number of `wanted` within 1e-10 of its scale: sums of some hundred rows in another order differ by 1e-14, and
// the plain formulas cancel a few more digits.
void expect_near(const Json& result, const Json& wanted, const std::string& where = "") {
    for (const auto& [key, value] : wanted.items()) {
        const Json& own = wanted.is_array() ? result.at(std::stoul(key)) : result.at(key);
        if (value.is_structured()) {
            expect_near(own, value, where + "/" + key);
        } else {
            const double scale = std::max(1.0, std::fabs(value.get<double>()));
            EXPECT_NEAR(own.get<double>(), value.get<double>(), 1e-10 * scale) << where << "/" << key;
        }
    }
}

std::vector<std::string> keys(const Json& object) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    return names;
}

class Evaluate : public CliTest {
protected:
    Evaluate() : rows_(make_rows(600)), file_(folder_.file("t.csv", csv(rows_, 0, rows_.size()))) {
        for (std::size_t i = 0; i < rows_.size(); ++i) errors_.push_back(rows_.y[i] - rows_.mu[i]);
    }
    std::vector<std::string> arguments(const std::vector<std::string>& files,
                                       const std::vector<std::string>& more) const {
        std::vector<std::string> all = {"evaluate"};
        all.insert(all.end(), files.begin(), files.end());
        all.insert(all.end(), {"--prediction", "mu", "--observation", "y"});
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    Json evaluated(const std::vector<std::string>& more) const { return json(arguments({file_}, more)); }

    Rows rows_;
    std::string file_;
    std::vector<double> errors_;
};

TEST_F(Evaluate, PrintsTheDocumentedKeysInOrder) {
    const Json result = evaluated({"--sigma", "right"});
    const std::vector<std::string> wanted = {"name",
                                             "rows",
                                             "dropped",
                                             "effective_rows",
                                             "effective_rows_of_mean",
                                             "effective_rows_of_spread",
                                             "neighbour_correlation",
                                             "recalibrated",
                                             "crps",
                                             "crps_skill",
                                             "constant_sigma",
                                             "nlpd",
                                             "rs",
                                             "rs_floor",
                                             "ar",
                                             "beta",
                                             "calibration_error_percent",
                                             "calibration_floor_percent",
                                             "calibration_p_value",
                                             "sign_bound_percent",
                                             "mean_z",
                                             "sd_z",
                                             "z_quantiles",
                                             "sharpness",
                                             "rmse",
                                             "coverage",
                                             "reliability_diagram",
                                             "verdict",
                                             "by"};
    EXPECT_EQ(keys(result), wanted);
    EXPECT_EQ(result["name"], "right");
    EXPECT_EQ(result["rows"], 600);
    EXPECT_EQ(result["dropped"], 0);
    EXPECT_EQ(result["by"], Json::array());
    EXPECT_EQ(keys(result["coverage"][0]),
              (std::vector<std::string>{"level", "observed", "mean_width", "interval_score"}));
    EXPECT_EQ(keys(result["verdict"]), (std::vector<std::string>{"summary", "remarks"}));
}

TEST_F(Evaluate, FiguresAreThoseOfPlainFormulas) {
    const std::vector<double> levels = {0.5, 0.9, 0.95};
    expect_near(evaluated({"--sigma", "right"}), expected(errors_, rows_.right, {}, levels));
    expect_near(evaluated({"--sigma", "wrong"}), expected(errors_, rows_.wrong, {}, levels));
    expect_near(evaluated({"--sigma", "right", "--weight", "weight"}),
                expected(errors_, rows_.right, rows_.weight, levels));
}

TEST_F(Evaluate, FloorAndPValueFollowTheKolmogorovDistribution) {
    const Json result = evaluated({"--sigma", "right"});
    const double n = 600;
    // The classical series with its correction for finite n, good to half a percent.
    const auto survival = [&](double distance) {
        const double x = (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n)) * distance;
        double sum = 0;
        for (int k = 1; k < 20; ++k) sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
        return sum;
    };
    const double error = result["calibration_error_percent"].get<double>() / 100;
    EXPECT_NEAR(result["calibration_p_value"].get<double>(), survival(error), 5e-3);
    const double floor = result["calibration_floor_percent"].get<double>() / 100;
    EXPECT_NEAR(survival(floor), 0.5, 5e-3) << "the floor is the median";
}

TEST_F(Evaluate, TheReliabilityDiagramCountsRows) {
    const Json diagram = evaluated({"--sigma", "wrong"})["reliability_diagram"];
    ASSERT_EQ(diagram["probability"].size(), 101U);
    for (std::size_t k = 0; k <= 100; ++k) {
        const double p = static_cast<double>(k) / 100;
        EXPECT_DOUBLE_EQ(diagram["probability"][k].get<double>(), p);
        double below = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            below += (std::erf(errors_[i] / rows_.wrong[i] / std::numbers::sqrt2) + 1) / 2 <= p ? 1 : 0;
        EXPECT_NEAR(diagram["observed"][k].get<double>(), below / 600, 1e-15) << p;
        for (const char* band : {"band_90_pointwise", "band_90_simultaneous"}) {
            EXPECT_LE(diagram[band]["low"][k].get<double>(), p + 1e-15);
            EXPECT_GE(diagram[band]["high"][k].get<double>(), p - 1e-15);
        }
    }
}

TEST_F(Evaluate, SeveralForecastsStandSideBySideAndAreWhatEachIsAlone) {
    const Json both = evaluated({"--sigma", "wrong", "--sigma", "right"});
    EXPECT_EQ(keys(both), (std::vector<std::string>{"forecasts", "comparison", "lowest_crps"}));
    EXPECT_EQ(both["comparison"][0]["first"], "wrong");
    EXPECT_EQ(both["comparison"][0]["second"], "right");
    EXPECT_EQ(both["lowest_crps"]["name"], "right");
    EXPECT_EQ(both["lowest_crps"]["others"][0]["name"], "wrong");
    EXPECT_EQ(both["lowest_crps"]["others"][0]["clear"], true);
    EXPECT_EQ(both["lowest_crps"]["others"][0]["difference"], both["comparison"][0]["crps"]["difference"]);
    ASSERT_EQ(both["forecasts"].size(), 2U);
    EXPECT_EQ(both["forecasts"][0], evaluated({"--sigma", "wrong"}));
    EXPECT_EQ(both["forecasts"][1], evaluated({"--sigma", "right"}));
}

TEST_F(Evaluate, ValuesOfAColumnHaveFiguresOfTheirOwn) {
    const Json result = evaluated({"--sigma", "right", "--by", "group", "--by", "weight"});
    ASSERT_EQ(result["by"].size(), 2U);
    EXPECT_EQ(result["by"][0]["column"], "group");
    EXPECT_EQ(result["by"][1]["column"], "weight");
    EXPECT_EQ(result["by"][1]["values"].size(), 4U) << "numbers are values too";
    const Json values = result["by"][0]["values"];
    ASSERT_EQ(values.size(), 5U);
    EXPECT_EQ(values[0]["name"], rows_.group[0]) << "in the order of their first row";
    std::size_t sum = 0;
    for (const Json& group : values) {
        std::vector<double> e;
        std::vector<double> s;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (rows_.group[i] != group["name"]) continue;
            e.push_back(errors_[i]);
            s.push_back(rows_.right[i]);
        }
        EXPECT_EQ(group["rows"], e.size());
        sum += e.size();
        expect_near(group, expected(e, s, {}, {0.5, 0.9, 0.95}), group["name"]);
        EXPECT_FALSE(group.contains("by"));
    }
    EXPECT_EQ(sum, rows_.size());
    EXPECT_FALSE(result["reliability_diagram"].contains("group_band_90_pointwise")) << "only --group is resampled";
    EXPECT_EQ(result["crps"], evaluated({"--sigma", "right"})["crps"]) << "values do not change the whole";
    EXPECT_EQ(refusal(accrue(arguments({file_}, {"--sigma", "right", "--by", "group", "--by", "group"}))),
              "--by names 'group' twice");
}

TEST_F(Evaluate, GroupsAreResampledAndHaveNoFiguresOfTheirOwn) {
    const Json result = evaluated({"--sigma", "right", "--group", "group"});
    EXPECT_EQ(result["by"], Json::array());
    EXPECT_EQ(result["reliability_diagram"]["group_band_90_pointwise"]["low"].size(), 101U);
    EXPECT_EQ(output(arguments({file_}, {"--sigma", "right", "--group", "group"})).find("station"), std::string::npos);
    EXPECT_EQ(result["crps"], evaluated({"--sigma", "right"})["crps"]) << "groups do not change the whole";
    const Json both = evaluated({"--sigma", "right", "--group", "group", "--by", "group"});
    EXPECT_EQ(both["reliability_diagram"], result["reliability_diagram"]);
    EXPECT_EQ(both["by"], evaluated({"--sigma", "right", "--by", "group"})["by"]);
}

TEST_F(Evaluate, MonthsAreLookedAtWhereThereIsATime) {
    // 300 rows a month for a year; in January observations lie a sigma above the forecast.
    core::Random random(3);
    std::string text = "day,x,mu,y,s\n";
    for (int month = 1; month <= 12; ++month)
        for (int i = 0; i < 300; ++i)
            text += fmt::format("2021-{:02}-{:02},{},0,{},1\n", month, 1 + i % 28, random.uniform(),
                                random.normal() + (month == 1 ? 1 : 0));
    const std::string file = folder_.file("year.csv", text);
    const std::vector<std::string> same = {
        "evaluate", file, "--prediction", "mu", "--observation", "y", "--sigma", "s", "--conditional", "--inputs", "x"};
    std::vector<std::string> with_time = same;
    with_time.insert(with_time.end(), {"--time", "day"});
    const Json judged = json(with_time);
    EXPECT_EQ(judged.at("conditional").at("worst").get<std::string>().substr(0, 28), "in January observations lie ");
    EXPECT_NE(judged.at("verdict").dump().find("in January"), std::string::npos);
    EXPECT_NE(judged.at("verdict").dump().find("would help a fit: accrue fit --inputs TIME:season."),
              std::string::npos);
    const Json without_time = json(same);
    for (const Json& column : without_time.at("conditional").at("columns")) EXPECT_NE(column.at("name"), "month");
}

TEST_F(Evaluate, WhatHelpsAShapeIsARecalibrationOrAFamily) {
    core::Random random(3);
    std::string text = "k,x,e,s\n";
    for (int i = 0; i < 6000; ++i) {
        const double x = random.uniform();
        const double other = i / 6 % 2 == 0 ? 1 : -1;
        text += fmt::format("s{},{},{},1\n", i % 6, x, i % 6 == 2 || x > 0.9 ? other : random.normal());
    }
    const std::string file = folder_.file("shapes.csv", text);
    const auto judged = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = {"evaluate", file, "--error", "e", "--sigma", "s", "--conditional"};
        all.insert(all.end(), more.begin(), more.end());
        return json(all);
    };
    const Json group = judged({"--by", "k"});
    EXPECT_TRUE(group["conditional"]["worst"].get<std::string>().starts_with(
        "where k is 's2' the calibration error is 34% (floor 2.6%)"))
        << group["conditional"]["worst"];
    EXPECT_NE(group["verdict"].dump().find("would help: accrue fit --recalibrate-group k."), std::string::npos);
    const Json along = judged({"--inputs", "x"});
    EXPECT_TRUE(
        std::regex_match(along["conditional"]["worst"].get<std::string>(),
                         std::regex("where x is above [0-9.]* the calibration error is 3\\d% \\(floor 3\\.\\d%\\).*")))
        << along["conditional"]["worst"];
    EXPECT_NE(along["verdict"].dump().find("would help: accrue fit --inputs x --family sinh-arcsinh."),
              std::string::npos);
}

TEST_F(Evaluate, WhatWasNotLookedAtIsNotCalledCalibratedThere) {
    core::Random random(3);
    const auto said = [&](int rows, const std::vector<std::string>& more) {
        std::string text = "e,s,x\n";
        for (int i = 0; i < rows; ++i) text += fmt::format("{},1,{}\n", random.normal(), random.uniform());
        std::vector<std::string> all = {"evaluate", folder_.file("e.csv", text), "--error", "e", "--sigma", "s"};
        all.insert(all.end(), more.begin(), more.end());
        return json(all)["verdict"]["summary"].get<std::string>();
    };
    const std::string on_average = "Calibrated on average: ";
    EXPECT_TRUE(said(1000, {}).starts_with(on_average));
    EXPECT_TRUE(said(1000, {"--conditional"}).starts_with(on_average)) << "errors alone have no places";
    EXPECT_TRUE(said(150, {"--conditional", "--inputs", "x"}).starts_with(on_average)) << "too few for two bins";
    EXPECT_TRUE(said(1000, {"--conditional", "--inputs", "x"}).starts_with("Calibrated: "));
}

TEST_F(Evaluate, LevelsAreThoseAskedFor) {
    const Json result = evaluated({"--sigma", "right", "--levels", "0.999,0.1"});
    ASSERT_EQ(result["coverage"].size(), 2U);
    expect_near(result, expected(errors_, rows_.right, {}, {0.999, 0.1}));
}

TEST_F(Evaluate, AnErrorColumnStandsForTwo) {
    std::string text = "e,s\n";
    for (std::size_t i = 0; i < rows_.size(); ++i) text += fmt::format("{},{}\n", errors_[i], rows_.right[i]);
    Json result = json({"evaluate", folder_.file("e.csv", text), "--error", "e", "--sigma", "s"});
    result["name"] = "right";
    EXPECT_EQ(result, evaluated({"--sigma", "right"}));
}

TEST_F(Evaluate, FilesArePooledInTheOrderGiven) {
    const std::string one = folder_.file("one.csv", csv(rows_, 0, 100));
    const std::string two = folder_.file("two.csv", csv(rows_, 100, 600, ";"));
    EXPECT_EQ(json(arguments({one, two}, {"--sigma", "right", "--group", "group"})),
              evaluated({"--sigma", "right", "--group", "group"}));
}

TEST_F(Evaluate, StandardInputIsAFileToo) {
    EXPECT_EQ(json(arguments({"-"}, {"--sigma", "right"}), {.input = csv(rows_, 0, 600)}),
              evaluated({"--sigma", "right"}));
    const std::string one = folder_.file("one.csv", csv(rows_, 0, 100));
    EXPECT_EQ(json(arguments({one, "-"}, {"--sigma", "right"}), {.input = csv(rows_, 100, 600)}),
              evaluated({"--sigma", "right"}));
}

TEST_F(Evaluate, AnyDelimiterWillDoAndSoWillNoHeader) {
    const Json wanted = evaluated({"--sigma", "right"});
    for (const char* delimiter : {",", ";", "\t", " ", "   "}) {
        const std::string file = folder_.file("d.csv", csv(rows_, 0, 600, delimiter));
        EXPECT_EQ(json(arguments({file}, {"--sigma", "right"})), wanted) << "'" << delimiter << "'";
        const std::string bare = folder_.file("b.csv", csv(rows_, 0, 600, delimiter, false));
        Json result =
            json({"evaluate", bare, "--no-header", "--prediction", "1", "--observation", "2", "--sigma", "4"});
        result["name"] = "right";
        EXPECT_EQ(result, wanted) << "'" << delimiter << "'";
    }
    std::string windows = "\xEF\xBB\xBF" + csv(rows_, 0, 600);
    for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) windows.insert(at, "\r");
    EXPECT_EQ(json(arguments({folder_.file("w.csv", windows)}, {"--sigma", "right"})), wanted);
}

TEST_F(Evaluate, RowsWithMissingValuesAreDroppedAndCountedOnRequest) {
    const std::string gaps = csv(rows_, 0, 300) + ",1,1,1,1,a\n1,NA,1,1,1,a\n" + csv(rows_, 300, 600, ",", false);
    const std::string file = folder_.file("g.csv", gaps + "1,1,1,nan,1,a\n");
    Json result = json(arguments({file}, {"--sigma", "right", "--missing", "drop"}));
    EXPECT_EQ(result["dropped"], 3);
    result["dropped"] = 0;
    EXPECT_EQ(result, evaluated({"--sigma", "right"}));
    const std::string report = output(arguments({file}, {"--sigma", "right", "--missing", "drop"}));
    EXPECT_NE(report.find("(3 dropped: a value was missing)"), std::string::npos) << report;
}

TEST_F(Evaluate, BytesDoNotDependOnTheNumberOfThreads) {
    const Rows many = make_rows(100'000);
    const std::string file = folder_.file("many.csv", csv(many, 0, many.size()));
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{}, {"--weight", "weight"}, {"--group", "group", "--by", "group"}}) {
        std::vector<std::string> all =
            arguments({file}, {"--sigma", "right", "--sigma", "wrong", "--json", "--threads"});
        all.insert(all.end() - 1, more.begin(), more.end());
        std::string one;
        for (const char* threads : {"1", "2", "3", "0"}) {
            all.push_back(threads);
            const std::string text = output(all);
            all.pop_back();
            if (one.empty()) one = text;
            EXPECT_TRUE(text == one) << threads << " threads";
        }
    }
}

TEST_F(Evaluate, AnOddLabelDoesNotCostTheFigures) {
    const std::string file = folder_.file("l.csv", "e,s,g\n1,1,Z\xFCrich\n-1,2,\"a\tb\"\n");
    const Json result = json({"evaluate", file, "--error", "e", "--sigma", "s", "--by", "g"});
    EXPECT_EQ(result["by"][0]["values"][0]["name"], "Z\xEF\xBF\xBDrich") << "not UTF-8: a replacement character";
    EXPECT_EQ(result["by"][0]["values"][1]["name"], "a\tb");
    const std::string report = output({"evaluate", file, "--error", "e", "--sigma", "s", "--by", "g"});
    EXPECT_NE(report.find("Z\\xfcrich"), std::string::npos) << report;
}

// The report for people.

TEST_F(Evaluate, TheReportShowsFiguresFloorVerdictAndDiagram) {
    const std::string report = output(arguments({file_}, {"--sigma", "wrong", "--sigma", "right"}));
    const Json both = evaluated({"--sigma", "wrong", "--sigma", "right"});
    for (const Json& forecast : both["forecasts"]) {
        for (const char* key : {"crps", "rs", "rs_floor", "ar", "nlpd", "sharpness", "rmse"})
            EXPECT_NE(report.find(fmt::format(" {:.4g}", forecast[key].get<double>())), std::string::npos) << key;
        for (const char* key : {"calibration_error_percent", "calibration_floor_percent", "sign_bound_percent"})
            EXPECT_NE(report.find(fmt::format(" {:.2f}%", forecast[key].get<double>())), std::string::npos) << key;
    }
    EXPECT_TRUE(report.starts_with("600 rows of " + file_ + "; error = y - mu\n")) << report;
    EXPECT_NE(report.find("wrong: Overconfident by about"), std::string::npos) << report;
    EXPECT_NE(report.find("Lowest CRPS: right. Clearly lower than that of wrong (by "), std::string::npos) << report;
    EXPECT_NE(report.find("o wrong, x right"), std::string::npos) << report;
    EXPECT_EQ(report.find('{'), std::string::npos);
}

std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0;
    std::size_t line = 0;
    for (const char c : text) longest = std::max(longest, line = c == '\n' ? 0 : line + 1);
    return longest;
}

TEST_F(Evaluate, TheReportFitsATerminalWhateverTheNames) {
    const std::string name(200, 'n');
    std::string text = "e," + name + "1," + name + "2,g\n";
    for (std::size_t i = 0; i < 100; ++i)
        text += fmt::format("{},{},1,{}{}\n", errors_[i], rows_.right[i], std::string(90, 'g'), i % 20);
    const std::string report = output({"evaluate", folder_.file("long.csv", text), "--error", "e", "--sigma",
                                       name + "1", "--sigma", name + "2", "--by", "g"});
    // Only the lines that name a forecast in full may be longer: a verdict, the winner, the head of a table by value.
    std::string others;
    for (std::size_t begin = 0, end = 0; (end = report.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const std::string line = report.substr(begin, end - begin + 1);
        if (line.find(name) == std::string::npos && !line.starts_with("100 rows of")) others += line;
    }
    EXPECT_LE(longest_line(others), 80U) << report;
    EXPECT_NE(report.find("and 8 more; --json lists them all"), std::string::npos) << report;
    EXPECT_NE(report.find("nnnnnnn1 "), std::string::npos) << "a shortened name keeps its end: " << report;

    std::vector<std::string> many = arguments({file_}, {});
    for (int i = 0; i < 12; ++i) many.insert(many.end(), {"--sigma", i % 2 == 0 ? "right" : "wrong"});
    EXPECT_LE(longest_line(output(many)),
              std::max<std::size_t>(80, ("600 rows of " + file_ + "; error = y - mu").size()));
}

TEST_F(Evaluate, OneOrTwoRowsAreEnoughForAReport) {
    const std::string one =
        output({"evaluate", folder_.file("one.csv", "e,s\n0.5,1\n"), "--error", "e", "--sigma", "s"});
    EXPECT_TRUE(one.starts_with("1 row of ")) << one;
    EXPECT_NE(one.find("for 1 row."), std::string::npos) << one;
    EXPECT_EQ(one.find("nan"), std::string::npos) << one;
    EXPECT_EQ(one.find("1 rows"), std::string::npos) << one;
    const std::string two =
        output({"evaluate", folder_.file("two.csv", "e,s\n0,1\n0,1\n"), "--error", "e", "--sigma", "s"});
    EXPECT_TRUE(two.starts_with("2 rows of ")) << two;
    EXPECT_EQ(two.find("nan"), std::string::npos) << two;
    const Json result = json({"evaluate", folder_.path("two.csv"), "--error", "e", "--sigma", "s"});
    EXPECT_TRUE(result["crps_skill"].is_null()) << "no constant sigma can be compared with: every error is zero";
}

}  // namespace
}  // namespace accrue::test
