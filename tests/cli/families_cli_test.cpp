// A family that is loaded beside the library is a choice of the command like any other.
#include <fmt/ranges.h>

#include "accrue/family.hpp"
#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class FamilyCli : public ModelCliTest {
protected:
    static RunOptions with_toy() {
        RunOptions options;
        options.in_child = [] { ::setenv("LD_PRELOAD", ACCRUE_WITH_TOY_FAMILY, 1); };
        return options;
    }
};

TEST_F(FamilyCli, HelpListsWhatIsRegistered) {
    std::vector<std::string> names = family_names();
    names.insert(names.begin(), "auto");
    const std::string own = fmt::format("--family {{{}", fmt::join(names, ","));
    EXPECT_NE(accrue({"fit", "--help"}).out.find(own + "}"), std::string::npos);
    EXPECT_NE(accrue({"fit", "--help"}, with_toy()).out.find(own + ",toy}"), std::string::npos);
}

TEST_F(FamilyCli, FitsPredictsAndEvaluates) {
    const std::string file = archive("a.csv", 200);
    const Ended fitted = accrue(fit_arguments(file, {"--inputs", "x", "--family", "toy"}), with_toy());
    ASSERT_EQ(fitted.status, 0) << fitted.err;
    const std::string model = folder_.path("m.json");
    const std::string out = folder_.path("out.csv");
    const Ended predicted = accrue({"predict", model, file, "--quantiles", "0.05,0.5,0.95", "-o", out}, with_toy());
    EXPECT_EQ(predicted.status, 0) << predicted.err;
    EXPECT_EQ(accrue({"show", model}, with_toy()).status, 0);
    const Ended without = accrue({"show", model});
    EXPECT_EQ(without.status, 2);
    EXPECT_NE(without.err.find("there is no family 'toy'; known are"), std::string::npos) << without.err;
}

TEST_F(FamilyCli, OnlyARecalibratedGaussianHasAGaussianInside) {
    const std::string file = archive("a.csv", 200);
    for (const char* family : {"normal", "toy"}) {
        const auto arguments = fit_arguments(file, {"--inputs", "x", "--family", family, "--recalibrate", "isotonic"});
        ASSERT_EQ(accrue(arguments, with_toy()).status, 0);
        const std::string table = accrue({"predict", folder_.path("m.json"), file, "-o", "-"}, with_toy()).out;
        const std::string header = table.substr(0, table.find('\n'));
        const char* added = std::string(family) == "normal"
                                ? "true_sigma,mean,sigma,gaussian_mean,gaussian_sigma,off_support"
                                : "true_sigma,mean,sigma,off_support";
        EXPECT_TRUE(header.ends_with(added)) << header;
    }
}

}  // namespace
}  // namespace accrue::test
