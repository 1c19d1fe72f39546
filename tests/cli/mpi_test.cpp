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
    void expect_same_for_any_number(const std::vector<std::string>& arguments,
                                    const std::vector<int>& numbers = {1, 2, 3, 4, 7}) {
        const std::string alone = output(arguments);
        const std::string model = folder_.content("m.json");
        for (const int processes : numbers) {
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
        fit_arguments(archive("b.csv", 300), {"--inputs", "x", "--time", "day", "--group", "station"}), {2, 3});
}

TEST_F(Mpi, LorenzFiveDimensionsAndAGrid) {
    const std::string lorenz = folder_.path("lorenz.csv");
    output({"generate", "lorenz", "--rows", "600", "-o", lorenz});
    expect_same_for_any_number({"fit", lorenz, "--inputs", "lead_time,start", "--prediction", "prediction",
                                "--observation", "observation", "--group", "start_time", "--quiet", "-o",
                                folder_.path("m.json")});
    const std::string five = folder_.path("5D.csv");
    output({"generate", "5D", "--rows", "400", "-o", five});
    expect_same_for_any_number(
        {"fit", five, "--prediction", "f", "--observation", "y", "--quiet", "-o", folder_.path("m.json")});
    const std::string grid = folder_.path("grid.nc");
    std::string cdl =
        "netcdf grid { dimensions: site = 6 ; time = 40 ; variables: double x(site, time) ; double e(site, "
        "time) ; double site(site) ; double time(time) ; time:units = \"days since 2020-01-01\" ; data: site = 1, 2, "
        "3, 4, 5, 6 ; time = 0";
    for (int i = 1; i < 40; ++i) cdl += fmt::format(", {}", i);
    cdl += " ; x = ";
    core::Random random(4);
    for (int i = 0; i < 240; ++i) cdl += fmt::format("{}{}", i == 0 ? "" : ", ", random.uniform());
    cdl += " ; e = ";
    for (int i = 0; i < 240; ++i) cdl += fmt::format("{}{}", i == 0 ? "" : ", ", random.normal());
    ASSERT_EQ(support::run({"/usr/bin/ncgen", "-o", grid, folder_.file("grid.cdl", cdl + " ; }")}).status, 0);
    expect_same_for_any_number({"fit", grid, "--inputs", "x", "--error", "e", "--group", "site", "--time", "time",
                                "--quiet", "-o", folder_.path("m.json")});
}

// From 15,000 rows of training on ranks are counted.
TEST_F(Mpi, ManyRowsGiveTheSameModel) {
    const std::string file = folder_.path("G.csv");
    output({"generate", "G", "--rows", "20000", "-o", file});
    expect_same_for_any_number(
        {"fit", file, "--inputs", "x", "--prediction", "f", "--observation", "y", "--family", "normal", "--bias",
         "none", "--form", "network", "--starts", "1", "--quiet", "-o", folder_.path("m.json")},
        {2});
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

// Each process in a shell of its own first.
std::vector<std::string> in_shell(const std::string& before, std::vector<std::string> mpirun) {
    const auto accrue = std::find(mpirun.begin(), mpirun.end(), support::binary());
    const std::vector<std::string> shell = {"/bin/sh", "-c", before + "; exec \"$@\"", "sh"};
    mpirun.insert(accrue, shell.begin(), shell.end());
    return mpirun;
}

// srun --mpi=pmix sets PMIX_* and SLURM_*, and not what mpirun sets.
TEST_F(Mpi, ProcessesOfSlurmAreKnown) {
    const std::vector<std::string> arguments = fit_arguments(archive("a.csv", 100), {"--inputs", "x"});
    const std::string alone = output(arguments);
    const std::string model = folder_.content("m.json");
    const std::string slurm =
        "unset $(env | sed -n 's/^\\(OMPI_[A-Z_]*\\)=.*/\\1/p' | grep -v OMPI_MCA); export SLURM_NTASKS=2 ";
    for (const char* size : {"SLURM_STEP_NUM_TASKS=2", "SLURM_JOB_NUM_NODES=1"}) {
        const Ended run = support::run(in_shell(slurm + size, mpirun(2, arguments)), {.in_child = environment});
        EXPECT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.out, alone) << size << ": printed once";
        EXPECT_EQ(folder_.content("m.json"), model) << size;
    }
    const Ended wrong =
        support::run(in_shell(slurm + "SLURM_STEP_NUM_TASKS=4", mpirun(2, arguments)), {.in_child = environment});
    EXPECT_EQ(wrong.status, 2) << wrong.err;
    EXPECT_EQ(own_lines(wrong.err),
              (std::vector<std::string>{"accrue: 4 processes were started, but MPI knows of 2: start them by the "
                                        "mpirun of the MPI that accrue was built with, or by srun --mpi=pmix"}));
}

TEST_F(Mpi, AFullDiskOfOneProcessEndsAll) {
    // Files of 2 kB at most in the second process: less than a start has.
    const std::vector<std::string> arguments =
        fit_arguments(archive("a.csv", 600),
                      {"--inputs", "x", "--form", "network", "--checkpoint", folder_.path("starts"), "--resume"});
    const Ended run = support::run(
        in_shell("if [ $OMPI_COMM_WORLD_RANK = 1 ]; then ulimit -f 4; fi", mpirun(3, arguments)), {.in_child = [] {
            environment();
            ::setenv("OMPI_MCA_btl", "self,tcp", 1);  // shared memory would be a file that is too large
        }});
    EXPECT_EQ(run.status, 1);
    const std::vector<std::string> own = own_lines(run.err);
    ASSERT_EQ(own.size(), 1U) << run.err;
    EXPECT_TRUE(own[0].starts_with("accrue (process 2 of 3): ")) << own[0];
    EXPECT_NE(own[0].find("File too large"), std::string::npos) << own[0];
    EXPECT_FALSE(std::filesystem::exists(folder_.path("m.json")));
    output(arguments);
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
