#include "accrue/propose.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>

#include "accrue/error.hpp"
#include "core/random.hpp"
#include "data/temporary_folder.hpp"

namespace accrue::test {
namespace {

using Names = std::vector<std::string>;

class Proposing : public testing::Test {
protected:
    // A table of so many rows, each made from its number; the random numbers are the same for all tables.
    Proposal propose(const std::string& header, const std::function<std::string(int row)>& make, int rows = 200) {
        random_ = core::Random(1);
        std::string text = header + "\n";
        for (int i = 0; i < rows; ++i) text += make(i) + "\n";
        return accrue::propose({.files = {folder_.file("archive.csv", text)}, .roles = {}});
    }
    std::string refusal(const std::string& header, const std::function<std::string(int row)>& make) {
        try {
            propose(header, make);
        } catch (const InputError& error) {
            std::string message = error.what();
            return message.erase(0, message.find("archive.csv"));
        }
        return "nothing was refused";
    }
    double noise() { return random_.normal(); }
    static const ProposedColumn& column(const Proposal& proposal, const std::string& name) {
        for (const ProposedColumn& column : proposal.columns)
            if (column.name == name) return column;
        throw std::runtime_error("no column " + name);
    }

    core::Random random_{1};
    TemporaryFolder folder_;
};

TEST_F(Proposing, GoesByNamesWhereTheySaySomething) {
    // Every number is noise, so that nothing else can tell.
    const auto three = [&](int) { return fmt::format("{},{},{}", noise(), noise(), noise()); };
    for (const auto& [y, mu] : {std::pair{"y", "mu"},
                                {"obs", "fc"},
                                {"observed", "predicted"},
                                {"t2m_obs", "t2m_fcst"},
                                {"windObs", "windForecast"},
                                {"target", "y_hat"},
                                {"Observation", "Prediction"}}) {
        for (const bool swapped : {false, true}) {
            const Proposal proposal = propose(fmt::format("{},x,{}", swapped ? y : mu, swapped ? mu : y), three);
            EXPECT_EQ(proposal.roles.observation, y);
            EXPECT_EQ(proposal.roles.prediction, mu);
            EXPECT_EQ(proposal.inputs, (Names{"x", mu}));
            EXPECT_EQ(proposal.missing, Missing::refuse);
            EXPECT_FALSE(proposal.learn_mean);
            EXPECT_EQ(proposal.rows, 200U);
            EXPECT_TRUE(proposal.all_rows);
        }
    }
    // What a forecast is described by is no forecast.
    EXPECT_EQ(propose("forecast_hour,fcst,obs", three).roles.prediction, "fcst");
    EXPECT_EQ(propose("model_id,fc,obs", three).roles.prediction, "fc");
}

TEST_F(Proposing, GoesByAgreementWhereNamesAreSilent) {
    // Irradiance, its forecast made of two inputs, and two temperatures that go together less.
    const auto row = [&](int) {
        const double sky = 500 + 200 * noise();
        const double cloud = 100 * noise();
        const double warm = 10 + 5 * noise();
        return fmt::format("{},{},{},{},{},{}", sky - cloud + 80 * noise(), sky - cloud, sky, cloud, warm,
                           warm - 3 + 2 * noise());
    };
    const Proposal proposal = propose("ghi,ssrd,clear,cloud,t2m,d2m", row);
    EXPECT_EQ(proposal.roles.observation, "ghi");
    EXPECT_EQ(proposal.roles.prediction, "ssrd");
    EXPECT_EQ(column(proposal, "ghi").reason, "agrees with ssrd more than any two other columns do");
    EXPECT_EQ(proposal.inputs, (Names{"clear", "cloud", "t2m", "d2m", "ssrd"}));
    // One name is enough to know the other.
    EXPECT_EQ(propose("ghi,ssrd_forecast,clear,cloud,t2m,d2m", row).roles.observation, "ghi");
    EXPECT_EQ(propose("y,ssrd,clear,cloud,t2m,d2m", row).roles.prediction, "ssrd");
}

TEST_F(Proposing, TakesTheBestOfSeveralForecasts) {
    const Proposal proposal = propose("price,forecast1,forecast2", [&](int) {
        const double price = 50 + 10 * noise();
        return fmt::format("{},{},{}", price, price + 9 * noise(), price + 3 * noise());
    });
    EXPECT_EQ(proposal.roles.observation, "price");
    EXPECT_EQ(proposal.roles.prediction, "forecast2");
    EXPECT_EQ(proposal.inputs, (Names{"forecast1", "forecast2"}));
}

TEST_F(Proposing, KnowsPoorForecastsByTheirNames) {
    // Members of an ensemble agree with each other more than with what came.
    const Proposal proposal = propose("rain,rainfc.1,rainfc.2", [&](int) {
        const double forecast = noise();
        return fmt::format("{},{},{}", 0.4 * forecast + noise(), forecast + 0.1 * noise(), forecast + 0.2 * noise());
    });
    EXPECT_EQ(proposal.roles.observation, "rain");
    EXPECT_EQ(proposal.roles.prediction.substr(0, 7), "rainfc.");
}

TEST_F(Proposing, LearnsTheMeanWhereNothingPredicts) {
    const Proposal proposal =
        propose("a,b,y", [&](int) { return fmt::format("{},{},{}", noise(), noise(), 100 + noise()); });
    EXPECT_TRUE(proposal.learn_mean);
    EXPECT_EQ(proposal.roles.prediction, "");
    EXPECT_EQ(proposal.inputs, (Names{"a", "b"}));
}

TEST_F(Proposing, TakesErrorsWhereThereIsNothingElse) {
    const Proposal proposal = propose("lead,error", [&](int i) { return fmt::format("{},{}", i % 5, noise()); });
    EXPECT_EQ(proposal.roles.error, "error");
    EXPECT_EQ(proposal.inputs, Names{"lead"});
}

TEST_F(Proposing, LeavesOutWhatSaysNothingOrTooMuch) {
    const Proposal proposal =
        propose("id,place,version,wind,mu,y,e,y_fahrenheit,true_sigma,other_obs,rare,\"a,b\"", [&](int i) {
            const double mu = noise();
            const double y = mu + noise();
            return fmt::format("{},oslo,3,{},{},{},{},{},{},{},{},{}", i + 1, noise(), mu, y, y - mu, 32 + 1.8 * y,
                               1 + 0.1 * noise(), noise(), i % 3 == 0 ? fmt::format("{}", noise()) : "", noise());
        });
    EXPECT_EQ(proposal.inputs, (Names{"wind", "mu"}));
    EXPECT_EQ(proposal.missing, Missing::refuse) << "gaps in a column that is left out are nobody's concern";
    for (const auto& [name, reason] : {std::pair{"id", "counts the rows"},
                                       {"place", "constant"},
                                       {"version", "constant"},
                                       {"e", "by its name nothing that is known when predicting"},
                                       {"y_fahrenheit", "follows from the observation"},
                                       {"true_sigma", "by its name nothing that is known when predicting"},
                                       {"other_obs", "by its name nothing that is known when predicting"},
                                       {"rare", "mostly missing"},
                                       {"a,b", "its name has a comma, which stands between inputs"}})
        EXPECT_EQ(column(proposal, name).reason, reason) << name;
}

TEST_F(Proposing, FindsTimesAndGroups) {
    const auto date = [](int day) { return fmt::format("2024-{:02}-{:02}", 1 + day / 28 % 12, 1 + day % 28); };
    const auto numbers = [&] { return fmt::format("{},{}", noise(), noise()); };
    Proposal proposal = propose("date,mu,y", [&](int i) { return date(i) + "," + numbers(); });
    EXPECT_EQ(proposal.roles.time, "date");
    EXPECT_EQ(proposal.roles.group, "") << "every row has a time of its own";
    proposal = propose(
        "date,mu,y", [&](int i) { return date(i / 4) + "," + numbers(); }, 400);
    EXPECT_EQ(proposal.roles.time, "date");
    EXPECT_EQ(proposal.roles.group, "date") << "four rows per day";
    EXPECT_EQ(column(proposal, "date").role, "time, group");
    EXPECT_EQ(proposal.remarks, Names{"date (time) could give an input: date:season"});
    proposal = propose(
        "init_time,lead_time,valid_time,mu,y",
        [&](int i) { return fmt::format("{},{},{},{}", date(i / 4), 24 * (i % 4), date(i / 4 + i % 4), numbers()); },
        400);
    EXPECT_EQ(proposal.roles.time, "valid_time");
    EXPECT_EQ(proposal.roles.group, "init_time");
    EXPECT_EQ(proposal.inputs, (Names{"lead_time", "mu"}));
    proposal = propose("storm,mu,y", [&](int i) { return fmt::format("s{},{}", i / 5, numbers()); });
    EXPECT_EQ(proposal.roles.group, "storm");
    EXPECT_EQ(proposal.roles.time, "");
    proposal = propose("time,mu,y", [&](int i) { return fmt::format("{},{}", 6 * i, numbers()); });
    EXPECT_EQ(proposal.roles.time, "time") << "a number by its name and its order";
}

TEST_F(Proposing, SaysWhatElseColumnsCouldGive) {
    const Proposal proposal = propose("station,note,wdir,time,weight,mu,y", [&](int i) {
        return fmt::format("s{},n{},{},2024-01-{:02}T{:02}:00,{},{},{}", i % 41, i, 360 * random_.uniform(), 1 + i / 24,
                           i % 24, 1 + i % 2, noise(), noise());
    });
    EXPECT_EQ(proposal.roles.weight, "weight");
    ASSERT_EQ(proposal.remarks.size(), 3U) << fmt::format("{}", fmt::join(proposal.remarks, "\n"));
    EXPECT_EQ(proposal.remarks[0], "station (text, 41 values) could be an input: station:category");
    EXPECT_TRUE(proposal.remarks[1].ends_with("could be cyclic: wdir:cyclic(360)")) << proposal.remarks[1];
    EXPECT_EQ(proposal.remarks[2], "time (time) could give two inputs: time:season and time:hour");
}

TEST_F(Proposing, DropsRowsWithGaps) {
    const Proposal proposal = propose("wind,mu,y", [&](int i) {
        return fmt::format("{},{},{}", i % 10 == 0 ? "NA" : fmt::format("{}", noise()), noise(), noise());
    });
    EXPECT_EQ(proposal.missing, Missing::drop);
    EXPECT_EQ(column(proposal, "wind").content, "number, 10% missing");
}

TEST_F(Proposing, RefusesWhatItCannotTell) {
    EXPECT_EQ(refusal("a,b,c", [&](int) { return fmt::format("{},{},{}", noise(), 9 + noise(), -noise()); }),
              "archive.csv: no column looks like an observation; name it with --observation, and the prediction with "
              "--prediction. Columns: a, b, c");
    EXPECT_EQ(refusal("a,b", [](int i) { return fmt::format("s{},t", i); }),
              "archive.csv: no column looks like an observation; name it with --observation, and the prediction with "
              "--prediction. Columns: a, b");
    EXPECT_THROW(accrue::propose({.files = {"-"}, .roles = {}}), InputError);
    EXPECT_THROW(accrue::propose({.files = {folder_.path("none.csv")}, .roles = {}}), InputError);
}

TEST_F(Proposing, LooksAtAllFiles) {
    std::string first = "mu,y,x,z,station,note\n";
    std::string second = "station,mu,y,x,note,z\n";
    for (int i = 0; i < 200; ++i) {
        const double mu = noise();
        first += fmt::format("{},{},{},{},s{},{}\n", mu, mu + noise() / 3, noise(), noise(), i % 20, i);
        second += fmt::format("s{},{},{},{},ok,bad{}\n", 20 + i % 21, mu, mu + noise() / 3, noise(), i % 3);
    }
    const std::vector<std::string> files = {folder_.file("a.csv", first), folder_.file("b.csv", second)};
    const Proposal proposal = accrue::propose({.files = files, .roles = {}});
    EXPECT_EQ(proposal.rows, 400U);
    EXPECT_EQ(proposal.inputs, (Names{"x", "mu"}));
    EXPECT_EQ(column(proposal, "z").role, "");
    EXPECT_EQ(column(proposal, "z").reason, "no numbers in " + files[1]);
    EXPECT_EQ(proposal.remarks, Names{"station (text, 41 values) could be an input: station:category"});
    const std::string third = folder_.file("c.csv", "mu,y,station\n1,2,s1\n2,3,s2\n");
    const Proposal fewer = accrue::propose({.files = {files[0], third}, .roles = {}});
    EXPECT_EQ(column(fewer, "x").reason, "not in " + third);
    EXPECT_EQ(fewer.inputs, Names{"mu"});
}

TEST_F(Proposing, OffersColumnsThatAFitDidNotUse) {
    std::string text = "mu,y,station,weather,day,remark\n";
    for (int i = 0; i < 200; ++i)
        text += fmt::format("{},{},s{},{},2024-01-{:02},remark {}\n", noise(), noise(), i % 41,
                            i % 2 == 0 ? "dry" : "wet", 1 + i % 28, i);
    RowSource source;
    source.files = {folder_.file("a.csv", text)};
    source.roles.prediction = "mu";
    source.roles.observation = "y";
    const auto offers = [&](const std::vector<Input>& inputs) { return offered_inputs(source, inputs); };
    EXPECT_EQ(offers({{"mu"}}), (Names{"station (text, 41 values) could be an input: station:category",
                                       "weather (text, 2 values) could be an input: weather:category",
                                       "day (time) could give an input: day:season"}));
    EXPECT_EQ(offers({{"station", InputKind::category}, {"day", InputKind::season}}),
              Names{"weather (text, 2 values) could be an input: weather:category"});
    source.roles.group = "weather";
    source.roles.time = "day";
    EXPECT_EQ(offers({{"station", InputKind::category}}), Names{"day (time) could give an input: day:season"});
    source.files = {"-"};
    EXPECT_EQ(offers({}), Names{});
}

TEST_F(Proposing, OffersWithALookAtTheBeginning) {
    std::string text = "e,station\n";
    for (int i = 0; i < 300'000; ++i) text += fmt::format("1,s{}\n", i % 41);
    RowSource source;
    source.files = {folder_.file("a.csv", text)};
    source.roles.error = "e";
    const Names offers = offered_inputs(source, {});
    ASSERT_EQ(offers.size(), 1U);
    EXPECT_TRUE(offers[0].starts_with("station (text, 41 values in the first ")) << offers[0];
    EXPECT_TRUE(offers[0].ends_with(" rows) could be an input: station:category")) << offers[0];
}

}  // namespace
}  // namespace accrue::test
