// A build without npm, which has no report page: it says so, before any work, and loses nothing.
#include <filesystem>

#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class NoPage : public ModelCliTest {};

TEST_F(NoPage, SaysWhatIsMissing) {
    const std::string message =
        "this accrue was built without npm, so it cannot draw: install nodejs and npm (scripts/bootstrap does), then "
        "build "
        "it again";
    const std::string file = archive();
    EXPECT_EQ(refusal(accrue({"report", file, "--error", "e", "--sigma", "w", "-o", folder_.path("r.html")}), 1),
              message);
    EXPECT_EQ(refusal(accrue(fit_arguments(file, {"--report", folder_.path("r.html")})), 1), message);
    EXPECT_FALSE(std::filesystem::exists(folder_.path("r.html")));
    EXPECT_FALSE(std::filesystem::exists(folder_.path("m.json")));
}

}  // namespace
}  // namespace accrue::test
