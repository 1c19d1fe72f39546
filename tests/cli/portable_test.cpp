// `accrue fit --portable`: the same bytes whatever the processor offers.
#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Portable : public ModelCliTest {};

TEST_F(Portable, FitsAreTheSameAtEveryInstructionLevel) {
    const std::string file = archive("a.csv", 200);
    // A processor without AVX-512, one without AVX2 either, and this one.
    const std::vector<const char*> processors = {"", "glibc.cpu.hwcaps=-AVX512F",
                                                 "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA"};
    std::vector<std::string> models;
    for (const char* processor : processors) {
        RunOptions options;
        options.in_child = [processor] { ::setenv("GLIBC_TUNABLES", processor, 1); };
        const Ended run = accrue(fit_arguments(file, {"--inputs", "x", "--portable"}), options);
        EXPECT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.err, "");
        models.push_back(folder_.content("m.json"));
        // The last of them has the baseline without being asked.
        if (models.size() < processors.size()) continue;
        EXPECT_EQ(accrue(fit_arguments(file, {"--inputs", "x"}), options).status, 0);
        models.push_back(folder_.content("m.json"));
    }
    for (const std::string& model : models) EXPECT_TRUE(model == models[0]);
}

TEST_F(Portable, TheFlagMayHaveAValue) {
    const std::string file = archive();
    // As long as one variable of the environment may be, so that accrue cannot start itself with more in it.
    const RunOptions full{.in_child = [] { ::setenv("GLIBC_TUNABLES", std::string(131'040, 'x').c_str(), 1); }};
    for (const char* flag : {"--portable", "--portable=true", "--portable=1"})
        EXPECT_EQ(refusal(accrue(fit_arguments(file, {"--inputs", "x", flag}), full), 1),
                  "--portable has to start accrue again, and cannot: Argument list too long")
            << flag;
    output(fit_arguments(file, {"--inputs", "x", "--portable=false"}), full);
}

}  // namespace
}  // namespace accrue::test
