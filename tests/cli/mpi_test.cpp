// Processes that mpirun starts share a fit.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Mpi : public ModelCliTest {
protected:
    static std::vector<std::string> mpirun(int processes, const std::vector<std::string>& arguments) {
        return with({ACCRUE_MPIRUN, "--oversubscribe", "-n", std::to_string(processes)}, command(arguments));
    }
    // As root in a container too, and without a shell to other hosts. What MPI keeps until its end is no leak of ours.
    static void environment() {
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        ::setenv("OMPI_MCA_plm_rsh_agent", "", 1);
        ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
        ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    }
    static Ended run_by(int processes, const std::vector<std::string>& arguments) {
        return support::run(mpirun(processes, arguments), {.in_child = environment});
    }
    // The lines that accrue itself has printed, not mpirun.
    static std::vector<std::string> own_lines(const std::string& text) {
        std::vector<std::string> own;
        for (const std::string& line : lines(text))
            if (line.starts_with("accrue")) own.push_back(line);
        return own;
    }
    void expect_same_for_any_number(const std::vector<std::string>& arguments) {
        const std::string alone = output(arguments);
        const std::string model = folder_.content("m.json");
        for (const int processes : {2, 3, 7}) {
            std::filesystem::remove(folder_.path("m.json"));
            const Ended run = run_by(processes, arguments);
            EXPECT_EQ(run.status, 0) << run.err;
            EXPECT_EQ(run.out, alone) << processes << ": printed once";
            EXPECT_EQ(own_lines(run.err).size(), 0U) << run.err;
            EXPECT_EQ(folder_.content("m.json"), model) << processes;
        }
    }
};

TEST_F(Mpi, TheModelIsTheSameForAnyNumberOfProcesses) {
    expect_same_for_any_number(fit_arguments(archive("a.csv", 600), {"--inputs", "x,station:category"}));
    expect_same_for_any_number(
        fit_arguments(archive("b.csv", 300), {"--inputs", "x", "--time", "day", "--group", "station"}));
}

TEST_F(Mpi, LorenzFiveDimensionsAndAGrid) {
    const std::string lorenz = folder_.path("lorenz.csv");
    output({"generate", "lorenz", "--rows", "1200", "-o", lorenz});
    expect_same_for_any_number({"fit", lorenz, "--inputs", "lead_time,start", "--prediction", "prediction",
                                "--observation", "observation", "--group", "start_time", "--quiet", "-o",
                                folder_.path("m.json")});
    const std::string five = folder_.path("5D.csv");
    output({"generate", "5D", "--rows", "600", "-o", five});
    expect_same_for_any_number(
        {"fit", five, "--prediction", "f", "--observation", "y", "--quiet", "-o", folder_.path("m.json")});
    const std::string grid = folder_.path("grid.nc");
    std::string cdl =
        "netcdf grid { dimensions: site = 6 ; time = 40 ; variables: double x(site, time) ; double e(site, "
        "time) ; double site(site) ; data: site = 1, 2, 3, 4, 5, 6 ; x = ";
    core::Random random(4);
    for (int i = 0; i < 240; ++i) cdl += fmt::format("{}{}", i == 0 ? "" : ", ", random.uniform());
    cdl += " ; e = ";
    for (int i = 0; i < 240; ++i) cdl += fmt::format("{}{}", i == 0 ? "" : ", ", random.normal());
    ASSERT_EQ(support::run({"/usr/bin/ncgen", "-o", grid, folder_.file("grid.cdl", cdl + " ; }")}).status, 0);
    expect_same_for_any_number(
        {"fit", grid, "--inputs", "x", "--error", "e", "--group", "site", "--quiet", "-o", folder_.path("m.json")});
}

TEST_F(Mpi, BadInputIsSaidOnce) {
    const Ended none = run_by(3, fit_arguments(folder_.path("none.csv"), {"--inputs", "x"}));
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(own_lines(none.err).size(), 1U) << none.err;
    const Ended usage = run_by(3, fit_arguments(archive(), {"--seed", "x"}));
    EXPECT_NE(usage.status, 0);
    EXPECT_EQ(own_lines(usage.err).size(), 1U) << usage.err;
    const Ended input = run_by(2, fit_arguments("-", {"--inputs", "x"}));
    EXPECT_EQ(own_lines(input.err),
              (std::vector<std::string>{"accrue: standard input goes to one of the processes only: name files"}));
    const Ended evaluate = run_by(2, {"evaluate", archive(), "--error", "e", "--sigma", "true_sigma"});
    EXPECT_EQ(evaluate.status, 2);
    EXPECT_EQ(own_lines(evaluate.err),
              (std::vector<std::string>{"accrue: several processes were started, but 'fit' alone shares its work "
                                        "among them: start this without mpirun"}));
    EXPECT_EQ(folder_.files(), 1U) << "the archive";
}

// Processes whose parent this is.
std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const int process = std::atoi(entry.path().filename().c_str());
        if (process == 0) continue;
        std::ifstream file(entry.path() / "stat");
        std::string text{std::istreambuf_iterator<char>(file), {}};
        const std::size_t name_end = text.rfind(')');
        if (name_end == std::string::npos) continue;
        char state = 0;
        int own = 0;
        if (std::sscanf(text.c_str() + name_end + 1, " %c %d", &state, &own) == 2 && own == parent)
            children.push_back(process);
    }
    return children;
}

TEST_F(Mpi, KilledProcessesGoOnToTheSameModel) {
    const std::string file = archive("a.csv", 4000, 7);
    const std::string checkpoint = folder_.path("starts");
    const std::vector<std::string> arguments = {"fit",
                                                file,
                                                "--prediction",
                                                "mu",
                                                "--observation",
                                                "y",
                                                "--inputs",
                                                "x",
                                                "--family",
                                                "normal",
                                                "--bias",
                                                "none",
                                                "--form",
                                                "network",
                                                "--quiet",
                                                "-o",
                                                folder_.path("m.json")};
    output(arguments);
    const std::string model = folder_.content("m.json");
    std::filesystem::remove(folder_.path("m.json"));
    const char* asked = std::getenv("ACCRUE_KILLS");
    const int kills = asked == nullptr ? 3 : std::atoi(asked);
    core::Random random(12);
    const std::vector<std::string> resumed = with(arguments, {"--checkpoint", checkpoint, "--resume"});
    std::uint64_t longest = 1000;  // ms from the start of the processes to the kill; less where fits end before
    for (int k = 0; k < kills;) {
        support::Process process(mpirun(2, resumed), environment);
        for (int tries = 0; tries < 1000 && children_of(process.id()).empty(); ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::this_thread::sleep_for(std::chrono::milliseconds(random.below(longest)));
        const std::vector<pid_t> ranks = children_of(process.id());
        if (!ranks.empty()) ::kill(ranks[random.below(ranks.size())], SIGKILL);
        const Ended run = process.wait();
        if (run.status != 0 || run.signal != 0) {
            ++k;
            // Another process may still have been there when the first had written the model; a half one there is not.
            if (std::filesystem::exists(folder_.path("m.json"))) {
                EXPECT_EQ(folder_.content("m.json"), model);
            }
            std::filesystem::remove(folder_.path("m.json"));
            continue;
        }
        ASSERT_EQ(folder_.content("m.json"), model) << "after " << k << " kills";
        std::filesystem::remove(folder_.path("m.json"));
        longest = longest * 3 / 4 + 1;
    }
    const Ended run = run_by(3, resumed);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(folder_.content("m.json"), model);
    EXPECT_FALSE(std::filesystem::exists(checkpoint));
}

}  // namespace
}  // namespace accrue::test
