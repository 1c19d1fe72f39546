// `accrue evaluate` of ensembles, quantiles and baselines, and its further scores, from the outside.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "cli/cli_test.hpp"
#include "core/random.hpp"

namespace accrue::test {
namespace {

const std::string kHelp = " ('accrue evaluate --help' explains the options)";
constexpr std::size_t kRows = 400;
constexpr std::size_t kMembers = 20;

struct Rows {
    std::vector<double> mu, y, sigma, q05, q50, q95;
    std::vector<std::vector<double>> members;
    std::vector<std::size_t> group;
};

Rows make_rows() {
    core::Random random(3);
    Rows rows;
    for (std::size_t i = 0; i < kRows; ++i) {
        const double sigma = std::exp(0.5 * random.normal());
        rows.mu.push_back(5 * random.normal());
        rows.sigma.push_back(sigma);
        rows.y.push_back(rows.mu[i] + sigma * random.normal());
        rows.q05.push_back(rows.mu[i] - 1.6448536 * sigma);
        rows.q50.push_back(rows.mu[i]);
        rows.q95.push_back(rows.mu[i] + 1.6448536 * sigma);
        std::vector<double> members;
        for (std::size_t k = 0; k < kMembers; ++k) members.push_back(rows.mu[i] + sigma * random.normal());
        rows.members.push_back(members);
        rows.group.push_back(i / 10);
    }
    return rows;
}

class Scores : public CliTest {
protected:
    Scores() : rows_(make_rows()) {
        std::string text = "mu,y,sigma,q05,q50,q95,group";
        for (std::size_t k = 0; k < kMembers; ++k) text += fmt::format(",P{}", k + 1);
        text += "\n";
        for (std::size_t i = 0; i < kRows; ++i)
            text += fmt::format("{},{},{},{},{},{},g{},{}\n", rows_.mu[i], rows_.y[i], rows_.sigma[i], rows_.q05[i],
                                rows_.q50[i], rows_.q95[i], rows_.group[i], fmt::join(rows_.members[i], ","));
        file_ = folder_.file("rows.csv", text);
    }

    Json scores(std::vector<std::string> more) const {
        std::vector<std::string> all = {"evaluate", file_, "--observation", "y"};
        all.insert(all.end(), more.begin(), more.end());
        return json(all);
    }
    std::string refused(std::vector<std::string> more) const {
        std::vector<std::string> all = {"evaluate", file_, "--observation", "y"};
        all.insert(all.end(), more.begin(), more.end());
        return refusal(accrue(all));
    }

    Rows rows_;
    std::string file_;
};

double plain_crps(const std::vector<double>& members, double y) {
    double distance = 0;
    double pairs = 0;
    for (const double a : members) {
        distance += std::fabs(a - y);
        for (const double b : members) pairs += std::fabs(a - b);
    }
    const auto m = static_cast<double>(members.size());
    return distance / m - pairs / (2 * m * m);
}

TEST_F(Scores, OfAnEnsembleAreThoseOfItsMembers) {
    const Json result = scores({"--members", "P*"});
    EXPECT_EQ(result["name"], "P*");
    EXPECT_EQ(result["kind"], "members");
    EXPECT_EQ(result["members"], kMembers);
    double crps = 0;
    for (std::size_t i = 0; i < kRows; ++i) crps += plain_crps(rows_.members[i], rows_.y[i]) / kRows;
    EXPECT_NEAR(result["crps"].get<double>(), crps, 1e-12);
    EXPECT_LT(result["fair_crps"], result["crps"]);
    const auto shares = result["rank_histogram"]["share"].get<std::vector<double>>();
    EXPECT_EQ(shares.size(), kMembers + 1);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
    EXPECT_TRUE(result["nlpd"].is_null());
    EXPECT_FALSE(result["coverage"][1]["observed"].is_null());
    EXPECT_TRUE(result["coverage"][2]["observed"].is_null());  // 95% needs 39 members
    EXPECT_TRUE(result["verdict"]["summary"].get<std::string>().starts_with("Calibrated")) << result["verdict"];
    EXPECT_FALSE(result.contains("conditional"));
    // Right everywhere, also along a column that has nothing to do with it.
    const Json everywhere = scores({"--members", "P*", "--conditional", "--inputs", "q50"})["conditional"];
    ASSERT_EQ(everywhere["columns"].size(), 1U) << everywhere;
    EXPECT_EQ(everywhere["columns"][0]["name"], "q50");
    double rows = 0;
    for (const Json& place : everywhere["columns"][0]["places"]) rows += place["rows"].get<double>();
    EXPECT_EQ(rows, kRows);
    // A list of columns is the same.
    EXPECT_EQ(scores({"--members", "P1,P2"})["members"], 2);
    EXPECT_TRUE(scores({"--members", "P1"})["fair_crps"].is_null());
}

TEST_F(Scores, OfQuantilesAreQuantileScores) {
    const Json result = scores({"--quantile-columns", "q05=0.05,q50=0.5,q95=0.95"});
    EXPECT_EQ(result["kind"], "quantiles");
    EXPECT_EQ(result["name"], "q05 to q95");
    EXPECT_TRUE(result["crps_is_approximate"]);
    double sum = 0;
    for (const auto& [level, column] : {std::pair{0.05, &rows_.q05}, {0.5, &rows_.q50}, {0.95, &rows_.q95}})
        for (std::size_t i = 0; i < kRows; ++i) {
            const double apart = rows_.y[i] - (*column)[i];
            sum += (apart < 0 ? level - 1 : level) * apart / kRows;
        }
    EXPECT_NEAR(result["crps"].get<double>(), 2 * sum / 3, 1e-12);
    ASSERT_EQ(result["quantile_scores"].size(), 3U);
    ASSERT_EQ(result["quantile_intervals"].size(), 1U);
    EXPECT_NEAR(result["quantile_intervals"][0]["level"].get<double>(), 0.9, 1e-12);
    EXPECT_EQ(result["coverage"][1]["observed"], result["quantile_intervals"][0]["observed"]);
    EXPECT_TRUE(result["coverage"][0]["observed"].is_null());
    EXPECT_FALSE(result.contains("reliability_diagram"));
    EXPECT_FALSE(result.contains("nlpd"));
    EXPECT_EQ(result["verdict"]["summary"], "Calibrated on average at all its levels, as far as 400 rows can tell.");
}

// Forty rows of each group share most of their errors.
TEST_F(Scores, OfQuantilesCountWhatRowsAreWorth) {
    std::size_t off = 0;
    constexpr std::size_t kArchives = 20;
    for (std::uint64_t seed = 0; seed < kArchives; ++seed) {
        core::Random random(seed, 4);
        std::string text = "y,a,b,c,group\n";
        std::vector<double> shifts(50);
        for (double& shift : shifts) shift = random.normal();
        // One row of each group after the other: no neighbours tell it.
        for (std::size_t i = 0; i < 2000; ++i)
            text += fmt::format("{},-1.6448536,0,1.6448536,g{}\n",
                                std::sqrt(0.7) * shifts[i % 50] + std::sqrt(0.3) * random.normal(), i % 50);
        const std::string file = folder_.file("shared.csv", text);
        const Json grouped = json(
            {"evaluate", file, "--observation", "y", "--quantile-columns", "a=0.05,b=0.5,c=0.95", "--group", "group"});
        EXPECT_LT(grouped["effective_rows"].get<double>(), 250);
        EXPECT_GT(grouped["effective_rows"].get<double>(), 30);
        off += grouped["verdict"]["summary"].get<std::string>().starts_with("Not calibrated") ? 1 : 0;
        for (const Json& level : grouped["quantile_scores"]) {
            const double at = level["level"];
            // Where a share of 50 to 250 rows lies with probability 90%.
            EXPECT_GT(level["high"].get<double>() - level["low"].get<double>(), 3.2 * std::sqrt(at * (1 - at) / 250));
        }
    }
    // Three levels, beyond three standard errors each: about one archive in 200, and D of 50 groups is not exact.
    EXPECT_LE(off, 1U);
}

TEST_F(Scores, SideBySideAreCompared) {
    const Json result =
        scores({"--prediction", "mu", "--sigma", "sigma", "--members", "P*", "--quantile-columns", "q05=0.05,q95=0.95",
                "--baselines", "constant,climatology,isotonic", "--group", "group"});
    std::vector<std::string> names;
    for (const Json& one : result["forecasts"]) names.push_back(one["name"]);
    EXPECT_EQ(names, (std::vector<std::string>{"sigma", "P*", "q05 to q95", "baseline constant", "baseline climatology",
                                               "baseline isotonic"}));
    for (std::size_t f = 3; f < 6; ++f) {
        EXPECT_TRUE(result["forecasts"][f]["fitted_on_these_rows"]);
        EXPECT_EQ(result["forecasts"][f]["kind"], "baseline");
    }
    ASSERT_EQ(result["comparison"].size(), 5U);
    const auto crps = [&](std::size_t f) { return result["forecasts"][f]["crps"].get<double>(); };
    for (const std::size_t f : {1U, 3U, 4U, 5U}) {
        EXPECT_NEAR(result["comparison"][f - 1]["crps"]["difference"].get<double>(), crps(f) - crps(0), 1e-6);
        EXPECT_EQ(result["comparison"][f - 1]["independent"], "groups");
    }
    EXPECT_LT(crps(0), crps(1));
    EXPECT_LT(crps(0), crps(3));
    EXPECT_LT(crps(5), crps(4));
    // The quantiles are those of sigma, to eight digits.
    const Json& quantiles = result["comparison"][1];
    EXPECT_TRUE(quantiles["crps"]["difference"].is_null());
    EXPECT_EQ(quantiles["quantile_score"]["levels"], (std::vector<double>{0.05, 0.95}));
    EXPECT_NEAR(quantiles["quantile_score"]["difference"].get<double>(), 0, 1e-6);
    EXPECT_EQ(result["lowest_crps"]["name"], "sigma");
}

TEST_F(Scores, ByQuantilesAloneAreComparedToo) {
    const Json result = scores({"--quantile-columns", "q05=0.05,q95=0.95", "--quantile-columns", "q50=0.05,mu=0.95"});
    EXPECT_EQ(result["forecasts"].size(), 2U);
    EXPECT_GT(result["comparison"][0]["quantile_score"]["difference"], 0);
    const std::string sentence = result["lowest_crps"]["sentence"];
    EXPECT_NE(
        sentence.find("Its mean quantile score over the levels 0.05, 0.95 is clearly lower than that of q50 to mu"),
        std::string::npos)
        << sentence;
}

TEST_F(Scores, AtThresholdsAndLevels) {
    const Json result = scores({"--prediction", "mu", "--sigma", "sigma", "--members", "P*", "--exceed", "0,6",
                                "--quantile-scores", "0.1,0.5", "--decompose"});
    for (const Json& one : result["forecasts"]) {
        ASSERT_EQ(one["exceed"].size(), 2U);
        double above = 0;
        for (const double y : rows_.y) above += y > 6 ? 1.0 / kRows : 0;
        const Json& at = one["exceed"][1];
        EXPECT_NEAR(at["observed"].get<double>(), above, 1e-12);
        EXPECT_LT(at["threshold_weighted_crps"], one["crps"]);
        const Json& brier = at["brier"];
        EXPECT_NEAR(brier["score"].get<double>(),
                    brier["miscalibration"].get<double>() - brier["discrimination"].get<double>() +
                        brier["uncertainty"].get<double>(),
                    1e-12);
        EXPECT_NEAR(brier["uncertainty"].get<double>(), above * (1 - above), 1e-12);
        EXPECT_EQ(at["reliability"]["probability"].size(), at["reliability"]["band_90_pointwise"]["low"].size());
        EXPECT_EQ(one["quantile_scores"].size(), 2U);
        const Json& parts = one["crps_parts"];
        const double sum = parts["miscalibration"].get<double>() - parts["discrimination"].get<double>() +
                           parts["uncertainty"].get<double>();
        EXPECT_NEAR(sum, one["crps"].get<double>(), 2e-3 * one["crps"].get<double>());
    }
    double brier = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
        const double p = std::erfc((0 - rows_.mu[i]) / rows_.sigma[i] / std::sqrt(2.0)) / 2;
        brier += std::pow(p - (rows_.y[i] > 0 ? 1 : 0), 2) / kRows;
    }
    EXPECT_NEAR(result["forecasts"][0]["exceed"][0]["brier"]["score"].get<double>(), brier, 1e-12);
}

TEST_F(Scores, AreSaidInWords) {
    const std::string text = output({"evaluate", file_, "--prediction", "mu", "--observation", "y", "--sigma", "sigma",
                                     "--members", "P*", "--quantile-columns", "q05=0.05,q50=0.5,q95=0.95", "--exceed",
                                     "0", "--decompose", "--baselines", "climatology,isotonic"});
    for (const char* part :
         {"P*: 20 members; fair CRPS", "Ranks of the observations", "sigma: CRPS ", "miscalibration",
          "above 0: observed", "quantile score", "fitted on these very rows",
          "Lowest CRPS apart from the baselines:", "90% interval coverage", "Calibrated on average at all"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
}

TEST_F(Scores, RefuseWhatIsNotThere) {
    EXPECT_TRUE(
        refused({"--members", "Q*"}).starts_with("--members: no column of rows.csv matches 'Q*'. Columns: mu, y"))
        << refused({"--members", "Q*"});
    EXPECT_TRUE(refused({"--members", "P1,P99"}).find("P99") != std::string::npos);
    EXPECT_EQ(refused({"--quantile-columns", "q05"}),
              "--quantile-columns: 'q05' is not a column with its level; write q05=0.05" + kHelp);
    EXPECT_EQ(refused({"--quantile-columns", "q05=5"}),
              "--quantile-columns: the level of 'q05' is 5, but must be between 0 and 1");
    EXPECT_EQ(refused({"--quantile-columns", "q05=0.5,q50=0.5"}),
              "--quantile-columns: 'q05' and 'q50' have the same level, 0.5");
    EXPECT_TRUE(refused({"--quantile-columns", "q95=0.05,q05=0.95"})
                    .starts_with("rows.csv row 1 (line 2), columns 'q95' and 'q05': quantiles cross: "));
    EXPECT_EQ(refused({"--members", "P*", "--baselines", "climatolgy"}),
              "--baselines must be one of constant, climatology, isotonic, but it is 'climatolgy'; did you mean "
              "'climatology'?");
    EXPECT_EQ(refused({"--members", "P*", "--baselines", "isotonic"}),
              "--baselines isotonic needs a prediction: give --prediction and --observation");
    EXPECT_EQ(refused({"--members", "P*", "--quantile-scores", "1"}), "--quantile-scores: 1 is not between 0 and 1");
    EXPECT_EQ(refused({"--members", "P*", "--exceed", "inf"}), "--exceed: inf is not a number");
    const std::string errors = folder_.file("errors.csv", "e,s\n1,1\n2,1\n");
    EXPECT_EQ(refusal(accrue({"evaluate", errors, "--error", "e", "--sigma", "s", "--exceed", "0"})),
              "what is asked for needs observations, not errors alone: give --observation in place of --error");
    EXPECT_EQ(refusal(accrue({"evaluate", file_, "--observation", "y"})),
              "--sigma, --model, --members or --quantile-columns is required" + kHelp);
}

TEST_F(Scores, TakeOneRowTiesAndEqualMembers) {
    for (const char* text : {"y,a,b\n1,1,1\n", "y,a,b\n1,2,2\n3,2,2\n", "y,a,b\n0,0,0\n0,0,0\n0,0,0\n"}) {
        const std::string file = folder_.file("few.csv", text);
        const Json result = json({"evaluate", file, "--observation", "y", "--members", "a,b", "--quantile-columns",
                                  "a=0.1,b=0.9", "--exceed", "0", "--decompose", "--baselines", "climatology"});
        EXPECT_EQ(result["forecasts"].size(), 3U);
    }
}

}  // namespace
}  // namespace accrue::test
