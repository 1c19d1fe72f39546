// Roles of columns: the rules between them, and the rows of files that have them.
#include "accrue/archive.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/archives.hpp"
#include "temporary_folder.hpp"

namespace accrue {
namespace {

using support::refusal;
using Names = std::vector<std::string>;
using Inputs = std::vector<Input>;
using Numbers = std::vector<double>;

Roles pair_of_columns() {
    Roles roles;
    roles.prediction = "mu";
    roles.observation = "y";
    return roles;
}

TEST(Roles, SayWhatTheRowsAreAbout) {
    Roles roles = pair_of_columns();
    EXPECT_EQ(roles.subject(), "error = y - mu");
    EXPECT_TRUE(roles.have_errors());
    roles.prediction.clear();
    EXPECT_EQ(roles.subject(), "observation = y");
    EXPECT_FALSE(roles.have_errors());
    roles.error = "e";
    EXPECT_EQ(roles.subject(), "error = e");
}

TEST(Roles, GiveErrorsInOneWay) {
    Roles roles;
    EXPECT_EQ(refusal([&] { require_errors(roles); }), "give --prediction and --observation, or --error");
    roles = pair_of_columns();
    EXPECT_NO_THROW(require_errors(roles));
    roles.error = "e";
    EXPECT_EQ(refusal([&] { require_errors(roles); }), "give either --error, or --prediction and --observation");
}

TEST(Roles, ForbidInputsThatAreNotKnownWhenPredicting) {
    const Roles roles = pair_of_columns();
    EXPECT_NO_THROW(require_inputs(Inputs{{"x"}, {"mu"}}, roles));
    EXPECT_EQ(refusal([&] { require_inputs(Inputs{{"x"}, {"x"}}, roles); }), "--inputs names 'x' twice");
    EXPECT_EQ(refusal([&] {
                  require_inputs(Inputs{{"x"}, {"y"}}, roles);
              }),
              "--inputs names 'y', which is what the errors are made of: it is not known when predicting");
}

TEST(Roles, LeaveTheOtherColumnsAsInputs) {
    Roles roles = pair_of_columns();
    roles.weight = "w";
    EXPECT_EQ(default_inputs(Names{"a", "mu", "w", "b", "y"}, roles), (Names{"a", "b"}));
    EXPECT_EQ(default_inputs(Names{"mu", "w", "y"}, roles), Names{"mu"});
    roles.prediction.clear();
    EXPECT_EQ(default_inputs(Names{"w", "y"}, roles), Names{});
}

TEST(Errors, AreObservationLessPrediction) {
    const Numbers y = {1, 2.5, -1};
    const Numbers mu = {0.5, 3, -1};
    Archive archive;
    archive.roles = pair_of_columns();
    archive.observation = y;
    archive.prediction = mu;
    EXPECT_EQ(errors_of(archive), (Numbers{0.5, -0.5, 0}));
    const Numbers missing = {0, 1, std::numeric_limits<double>::quiet_NaN()};
    archive.prediction = missing;
    EXPECT_EQ(refusal([&] { errors_of(archive); }),
              "prediction 'mu' of row 3 is nan, but must be finite; leave such rows out");
    archive.prediction = std::span(mu).first(2);
    EXPECT_EQ(refusal([&] { errors_of(archive); }), "observation has 3 rows, but prediction 2");
}

class ReadArchives : public testing::Test {
protected:
    // Rows 1, 2, ... with x = row, mu = 10 row, y = mu + 1, site a or b.
    std::string file(int rows) const {
        std::string text = "x,mu,y,w,site,day\n";
        for (int i = 1; i <= rows; ++i)
            text += fmt::format("{},{},{},{},{},2024-01-{:02}\n", i, 10 * i, 10 * i + 1, i % 3, i % 2 == 0 ? 'a' : 'b',
                                1 + i % 28);
        return folder_.file("rows.csv", text);
    }
    static RowSource source(const std::string& file) {
        RowSource source;
        source.files = {file};
        source.roles = pair_of_columns();
        source.roles.weight = "w";
        source.roles.group = "site";
        source.roles.time = "day";
        source.by = {"site", "x"};
        return source;
    }
    test::TemporaryFolder folder_;
};

TEST_F(ReadArchives, HaveEveryRoleAndATitle) {
    const ReadRows rows = read_archive(source(file(200)), {{"x"}}, 0, 1);
    const Archive& archive = rows.archive;
    ASSERT_EQ(archive.errors.size(), 200U);
    EXPECT_EQ(archive.errors[7], 1);
    EXPECT_EQ(archive.inputs.at(0)[7], 8);
    EXPECT_EQ(archive.prediction[7], 80);
    EXPECT_TRUE(archive.observation.empty());
    EXPECT_EQ(archive.weights[7], 2);
    EXPECT_EQ(archive.groups.labels[archive.groups.codes[7]], "a");
    EXPECT_TRUE(archive.times_are_dates);
    EXPECT_EQ(archive.times[1] - archive.times[0], 86400);
    ASSERT_EQ(archive.by.size(), 2U);
    EXPECT_EQ(archive.by[1].rows.labels[archive.by[1].rows.codes[7]], "8");
    EXPECT_EQ(archive.sampled_from, 0U);
    EXPECT_EQ(archive.roles.time, "day");
    EXPECT_EQ(rows.title, "200 rows of " + folder_.path("rows.csv") + "; error = y - mu");
}

TEST_F(ReadArchives, KeepTheObservationsWhereTheMeanIsToBeLearned) {
    RowSource only = source(file(100));
    only.roles.prediction.clear();
    const ReadRows rows = read_archive(only, {{"x"}}, 0, 1);
    EXPECT_TRUE(rows.archive.errors.empty());
    EXPECT_EQ(rows.archive.observation[7], 81);
}

TEST_F(ReadArchives, AreASampleWhereMemoryIsShort) {
    RowSource limited = source(file(5000));
    limited.memory = 200'000;
    const ReadRows rows = read_archive(limited, {{"x"}}, 1000, 1);
    const Archive& archive = rows.archive;
    EXPECT_EQ(archive.sampled_from, 5000U);
    // Seven eighths of the memory in rows of 1,000 bytes and a little more.
    EXPECT_GE(archive.errors.size(), 100U);
    EXPECT_LT(archive.errors.size(), 175U);
    for (std::size_t i = 0; i < archive.errors.size(); ++i) EXPECT_EQ(archive.prediction[i], 10 * archive.inputs[0][i]);
    EXPECT_NE(rows.title.find("a random sample (memory limit 200 kB; --memory or --sample changes it)"),
              std::string::npos)
        << rows.title;
    // The same seed gives the same rows, another one others.
    const ReadRows again = read_archive(limited, {{"x"}}, 1000, 1);
    EXPECT_TRUE(std::equal(again.archive.inputs[0].begin(), again.archive.inputs[0].end(), archive.inputs[0].begin()));
    const ReadRows other = read_archive(limited, {{"x"}}, 1000, 2);
    EXPECT_FALSE(std::equal(other.archive.inputs[0].begin(), other.archive.inputs[0].end(), archive.inputs[0].begin()));
    limited.memory = 20'000;
    EXPECT_NE(refusal([&] { read_archive(limited, {{"x"}}, 1000, 1); }).find("memory of 20 kB has room for 1"),
              std::string::npos);
}

TEST_F(ReadArchives, NameWhatBreaksARule) {
    const std::string path = file(100);
    RowSource twice = source(path);
    twice.by = {"site", "site"};
    EXPECT_EQ(refusal([&] { read_archive(twice, {{"x"}}, 0, 1); }), "--by names 'site' twice");
    EXPECT_NE(refusal([&] { read_archive(source(path), {{"y"}}, 0, 1); }).find("made of"), std::string::npos);
    const std::string large = folder_.file("large.csv", "x,mu,y\n1,-1e308,1e308\n");
    RowSource far;
    far.files = {large};
    far.roles = pair_of_columns();
    EXPECT_EQ(refusal([&] { read_archive(far, {{"x"}}, 0, 1); }),
              large + " row 1 (line 2): y - mu is too large for a double: 1e+308 - -1e+308");
}

TEST_F(ReadArchives, FindInputsInTheFirstFile) {
    EXPECT_EQ(default_inputs(source(file(50))), (Names{"x"}));
    RowSource none = source(folder_.file("none.csv", "y,site\n1,a\n"));
    none.roles.prediction.clear();
    EXPECT_NE(refusal([&] { default_inputs(none); }).find("no numeric column that could be an input"),
              std::string::npos);
    none.files = {"-"};
    EXPECT_NE(refusal([&] { default_inputs(none); }).find("standard input can be read only once"), std::string::npos);
}

}  // namespace
}  // namespace accrue
