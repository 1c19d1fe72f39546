// fit and predict with bad archives, bad model files, full disks, and ends that nobody planned: one message, the right
// exit status, the old file or none.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "accrue/model.hpp"
#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

using Clock = std::chrono::steady_clock;

class Faults : public ModelCliTest {
protected:
    std::string fit_message(std::string_view text, const std::vector<std::string>& more = {}) const {
        return fit_file_message(folder_.file("t.csv", text), more);
    }
    std::string fit_file_message(const std::string& file, const std::vector<std::string>& more = {}) const {
        const std::string message = refusal(accrue(fit_arguments(file, more)));
        EXPECT_FALSE(std::filesystem::exists(folder_.path("m.json"))) << message;
        return message;
    }
    // For a model file of this text.
    std::string model_message(std::string_view text) const {
        return model_file_message(folder_.file("bad.json", text));
    }
    std::string model_file_message(const std::string& file) const {
        const std::string message = refusal(accrue({"show", file}));
        EXPECT_EQ(refusal(accrue({"predict", file, "-", "-o", "-"}, {.input = "x,mu\n1,2\n"})), message);
        EXPECT_EQ(refusal(accrue({"evaluate", "-", "--error", "e", "--model", file}, {.input = "x,e\n1,2\n"})),
                  message);
        return message;
    }
    // Files besides those that the tests name.
    std::size_t temporary_files() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.folder()))
            count += entry.path().filename().string().starts_with(".accrue-") ? 1 : 0;
        return count;
    }
};

TEST_F(Faults, archives_that_cannot_be_read) {
    EXPECT_EQ(fit_file_message(folder_.path("none.csv")), "cannot read none.csv: No such file or directory");
    EXPECT_EQ(fit_file_message(folder_.path(".")), ". is a directory, not a file");
    EXPECT_EQ(fit_message(""), "t.csv is empty");
    EXPECT_EQ(fit_message("x,mu,y\n", {"--inputs", "x"}), "t.csv has a header but no rows");
    EXPECT_EQ(fit_message("x,mu,Y\n1,2,3\n", {"--inputs", "x"}),
              "t.csv has no column 'y'; did you mean 'Y'? Columns: x, mu, Y");
    EXPECT_EQ(fit_message("wind,mu,y\n1,2,3\n", {"--inputs", "wnd"}),
              "t.csv has no column 'wnd'; did you mean 'wind'? Columns: wind, mu, y");
    EXPECT_EQ(fit_message("x,mu,y\n1,2,3\none,2,3\n", {"--inputs", "x"}),
              "t.csv row 2 (line 3), column 'x': 'one' is not a number");
    EXPECT_EQ(fit_message("x,mu,y\n1,2,3\n,2,3\n"),
              "t.csv row 2 (line 3), column 'x': value is missing; use --missing drop to skip such rows");
    EXPECT_EQ(fit_message("x,mu,y\n1,2,3\n1,2\n4,5,6\n"), "t.csv row 2 (line 3) has 2 fields, the header has 3");
    EXPECT_EQ(fit_message("x,mu,y\n1,2,3\n1,2"),
              "t.csv row 2 (line 3) has 2 fields, the header has 3: the file seems to end in the middle of the row");
    EXPECT_EQ(fit_message("x,mu,y\n1,,3\n1,2,\n", {"--inputs", "x", "--missing", "drop"}),
              "t.csv: no rows are left: all 2 rows had a missing value");
    EXPECT_EQ(fit_file_message(ACCRUE_BINARY).find("does not look like a text table") == std::string::npos, false);
    EXPECT_EQ(fit_message(std::string(100'000'000, '7')),
              "t.csv does not look like a text table: its first line is longer than 4 MiB");
    EXPECT_EQ(fit_message("x,mu,y,t\n1,2,3,noon\n", {"--inputs", "x", "--time", "t"})
                  .find("t.csv row 1 (line 2), column 't'"),
              0U);
}

TEST_F(Faults, archives_that_cannot_be_fitted) {
    const std::string three = "x,mu,y\n1,2,3\n2,3,5\n3,4,4.5\n";
    EXPECT_EQ(fit_message(three), "3 rows cannot make 5 folds; use more rows or fewer --folds");
    EXPECT_EQ(fit_message("x,mu,y\n1,2,2\n2,3,3\n3,4,4\n4,5,5\n5,6,6\n"),
              "all errors are zero: the predictions equal the observations, and there is no spread to learn");
    EXPECT_EQ(
        fit_message("x,mu,y,g\n1,2,3,a\n2,3,5,a\n3,4,4.5,a\n4,4,4.5,a\n5,4,4.5,a\n", {"--inputs", "x", "--group", "g"}),
        "column 'g' has a single group, which cannot be held out; use another column");
    EXPECT_EQ(fit_message("station,mu,y\na,2,3\n", {"--inputs", "station"}),
              "t.csv row 1 (line 2), column 'station': 'a' is not a number");
    EXPECT_EQ(fit_message("a,e\nx,1\n", {}), "t.csv has no column 'mu'. Columns: a, e");
    EXPECT_EQ(
        refusal(accrue({"fit", folder_.file("t.csv", "a,e\nx,1\n"), "--error", "e", "-o", folder_.path("m.json")})),
        "t.csv has no numeric column that could be an input; name some with --inputs");
    EXPECT_EQ(fit_message("x\xff,mu,y\n1,2,3\n2,3,5\n3,4,4.5\n4,4,4.5\n5,4,4.5\n"),
              "the column name 'x\\xff' is not UTF-8, which a model file needs: rename it");
    // Small enough to be worth a fit all the same.
    EXPECT_EQ(accrue(fit_arguments(folder_.path("t.csv"), {"--inputs", "mu", "--folds", "2"})).status, 0);
}

TEST_F(Faults, an_archive_without_permission) {
    const std::string file = archive();
    ::chmod(file.c_str(), 0);
    ::chmod(folder_.folder().c_str(), 0777);
    RunOptions as_nobody;
    if (::geteuid() == 0) {
        as_nobody.in_child = [] {
            constexpr unsigned kNobody = 65534;
            if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(126);
        };
    }
    if (accrue({"--version"}, as_nobody).status != 0) GTEST_SKIP() << "another user cannot run the program here";
    EXPECT_EQ(refusal(accrue(fit_arguments(file, {"--inputs", "x"}), as_nobody)),
              "cannot read a.csv: Permission denied");
    EXPECT_EQ(refusal(accrue({"show", file}, as_nobody)), "cannot read a.csv: Permission denied");
    EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(Faults, options_that_make_no_sense) {
    const std::string file = archive();
    const std::string help = " ('accrue fit --help' explains the options)";
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x,x"}), "--inputs names 'x' twice");
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x,y"}),
              "--inputs names 'y', which is what the errors are made of: it is not known when predicting");
    EXPECT_EQ(fit_file_message(file, {"--folds", "-1"}), "--folds: '-1' is not a count" + help);
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x", "--folds", "1"}), "there must be at least 2 folds; there are 1");
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x", "--balance", "1.5"}),
              "--balance is 1.5, but must be between 0 and 1");
    EXPECT_EQ(fit_file_message(file, {"--form", "spline"}),
              "--form: 'spline' is none of {clusters,constant,network,polynomial}" + help);
    EXPECT_EQ(fit_file_message(file, {"--split", "0.5"}), "--split: takes two shares, such as 0.56,0.14" + help);
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x", "--recipe", "paper", "--split", "0.9,0.1"}),
              "60 rows cannot be divided into 54 for training, 6 for validation and a test set");
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x", "--recipe", "paper", "--group", "station"}),
              "the paper's recipe divides rows at random; --group and --time go with --recipe default");
    EXPECT_NE(fit_file_message(file, {"--inputs", "x,mu", "--form", "polynomial"}).find("one input"),
              std::string::npos);
    EXPECT_EQ(
        refusal(accrue(fit_arguments("-"), {.input = folder_.content("a.csv")})),
        "standard input can be read only once, so its columns cannot be looked at first: name some with --inputs");
    const auto writing = [&](const std::string& output, const std::vector<std::string>& more = {}) {
        return refusal(accrue(
            with({"fit", file, "--inputs", "x", "--prediction", "mu", "--observation", "y", "-o", output}, more)));
    };
    EXPECT_EQ(writing("-", {"--json"}), "-o - and --json both write to standard output: give the model a file");
    EXPECT_EQ(writing(file), "a.csv is a file to read: write the model to another one");
    EXPECT_EQ(writing(folder_.path("no/m.json")), "cannot write no/m.json: there is no folder 'no'");
    EXPECT_EQ(writing("/dev/null", {"--starts", "-1"}), "--starts: '-1' is not a count" + help);
    EXPECT_EQ(writing("/dev/null", {"--starts", "1000000000"}),
              "there are 1000000000 starts, but at most 1000 are allowed");
}

TEST_F(Faults, one_enormous_outlier_is_fitted) {
    const std::string file = archive();
    folder_.file("a.csv", folder_.content("a.csv") + "0.5,0,1e300,1e300,s1,2024-01-01,1,1\n");
    for (const char* bias : {"none", "linear"})
        for (const char* form : {"network", "polynomial"}) {
            output(fit_arguments(file, {"--inputs", "x", "--bias", bias, "--form", form}));
            EXPECT_EQ(accrue({"show", folder_.path("m.json")}).status, 0) << bias << " " << form;
        }
}

TEST_F(Faults, model_files_that_are_not_whole) {
    const std::string text = folder_.content(fitted().empty() ? "" : "m.json");
    const std::string prefix = "bad.json cannot be used as a model: ";
    EXPECT_EQ(model_file_message(folder_.path("none.json")), "cannot read none.json: No such file or directory");
    EXPECT_EQ(model_file_message(folder_.folder() + "/").find("it is a directory") != std::string::npos, true);
    core::Random random(6);
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(
            model_message(text.substr(0, random.below(text.size() - 2))).find(prefix + "it is not JSON, or cut short"),
            0U);
    EXPECT_EQ(model_message("").find(prefix), 0U);
    EXPECT_EQ(model_message("x,mu,y\n1,2,3\n").find(prefix + "it is not JSON"), 0U);
    EXPECT_EQ(model_message("[1, 2]").find(prefix + "it is not an accrue model"), 0U);
    EXPECT_EQ(model_message("{}").find(prefix + "it is not an accrue model"), 0U);
    EXPECT_EQ(model_message(R"({"format": 7})").find(prefix), 0U);
    EXPECT_EQ(model_message(R"({"format": "accrue model"})").find(prefix), 0U);
    std::string later = text;
    later.replace(later.find("\"format_version\": 1"), 19, "\"format_version\": 2");
    EXPECT_EQ(model_message(later), prefix + "it has format version 2, this accrue reads up to 1; use a newer accrue");
}

TEST_F(Faults, a_model_file_with_one_weight_edited) {
    const std::string text = folder_.content(fitted().empty() ? "" : "m.json");
    const std::size_t weights = text.find("\"parameters\":[") + 14;
    core::Random random(7);
    for (int i = 0; i < 8; ++i) {
        // The last digit of some weight: a change of 1e-16.
        std::string edited = text;
        std::size_t at = edited.find(',', weights + random.below(2000)) - 1;
        edited[at] = edited[at] == '1' ? '2' : '1';
        EXPECT_EQ(model_message(edited),
                  "bad.json cannot be used as a model: its checksum does not match: the file was edited or damaged");
    }
}

TEST_F(Faults, model_files_of_brackets_are_refused_in_little_memory) {
    const auto refused = [&](const std::string& file) {
        const RunOptions little{.in_child = [] {
            const rlimit limit{400U << 20U, 400U << 20U};
            support::limit_data(limit);
        }};
        return refusal(accrue({"show", file}, little));
    };
    EXPECT_EQ(refused(folder_.file("b.json", std::string(100'000'000, '['))),
              "b.json cannot be used as a model: it is nested too deeply");
    EXPECT_EQ(refused(folder_.file("b.json", std::string(300'000'000, '['))),
              "b.json cannot be used as a model: it is larger than any model (286 MB)");
    folder_.file("b.json", "[");
    std::filesystem::resize_file(folder_.path("b.json"), std::uintmax_t{1} << 40U);
    EXPECT_EQ(refused(folder_.path("b.json")),
              "b.json cannot be used as a model: it is larger than any model (1048576 MB)");
    std::filesystem::remove(folder_.path("b.json"));
    // Says that it is empty, and never ends.
    EXPECT_EQ(refused("/dev/zero"), "/dev/zero cannot be used as a model: it is larger than any model");
}

TEST_F(Faults, rows_that_cannot_be_predicted) {
    const std::string model = fitted();
    const auto message = [&](std::string_view text) {
        const std::string file = folder_.file("t.csv", text);
        folder_.file("out.csv", "old");
        const std::string said = refusal(accrue({"predict", model, file, "-o", folder_.path("out.csv")}));
        EXPECT_EQ(folder_.content("out.csv"), "old");
        EXPECT_EQ(temporary_files(), 0U);
        return said;
    };
    EXPECT_EQ(message(""), "t.csv is empty");
    EXPECT_EQ(message("x,mu\n"), "t.csv has a header but no rows");
    EXPECT_EQ(message("mu,y\n1,2\n"), "t.csv has no column 'x'. Columns: mu, y");
    EXPECT_EQ(message("x,mu\n1,2\none,2\n"), "t.csv row 2 (line 3), column 'x': 'one' is not a number");
    EXPECT_EQ(message("x,mu\n1,2\n1e400,2\n"), "t.csv row 2 (line 3), column 'x': '1e400' is too large for a double");
    EXPECT_EQ(message("x,mu\n1,2\n1,2,3\n"), "t.csv row 2 (line 3) has 3 fields, the header has 2");
    EXPECT_EQ(message("x,mu\n1,2\n1"),
              "t.csv row 2 (line 3) has 1 field, the header has 2: the file seems to end in the middle of the row");
    EXPECT_NE(message(std::string(100'000'000, '7')).find("first line is longer than 4 MiB"), std::string::npos);
    EXPECT_NE(message(std::string("\0\1\2\3", 4)).find("t.csv"), std::string::npos);
    EXPECT_EQ(refusal(accrue({"predict", model, folder_.path("none.csv"), "-o", "-"})),
              "cannot read none.csv: No such file or directory");
    EXPECT_EQ(refusal(accrue({"predict", model, folder_.path("."), "-o", "-"})), ". is a directory, not a file");
}

TEST_F(Faults, a_full_disk_leaves_the_old_file) {
    const std::string file = archive();
    const std::string model = fitted();
    const std::string whole = folder_.content("m.json");
    const RunOptions small{.in_child = [] {
        const rlimit limit{4096, 4096};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }};
    EXPECT_EQ(refusal(accrue(fit_arguments(file, {"--inputs", "x", "--seed", "2"}), small), 1),
              "cannot write m.json: File too large");
    EXPECT_EQ(folder_.content("m.json"), whole);
    folder_.file("out.csv", "old");
    const std::string many = archive("many.csv", 5000);
    EXPECT_EQ(refusal(accrue({"predict", model, many, "-o", folder_.path("out.csv")}, small), 1),
              "cannot write out.csv: File too large");
    EXPECT_EQ(folder_.content("out.csv"), "old");
    EXPECT_EQ(refusal(accrue({"predict", model, many, "-o", "/dev/full"}), 1),
              "cannot write /dev/full: No space left on device");
    EXPECT_EQ(refusal(accrue({"fit", file, "--inputs", "x", "--prediction", "mu", "--observation", "y", "--starts", "1",
                              "--quiet", "-o", "/dev/full"}),
                      1),
              "cannot write /dev/full: No space left on device");
    EXPECT_EQ(temporary_files(), 0U);
}

TEST_F(Faults, a_full_file_system_leaves_the_old_file) {
    const std::string disk = folder_.path("disk");
    std::filesystem::create_directory(disk);
    if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "cannot mount a small disk";
    folder_.file("disk/m.json", "old");
    const std::string file = archive();
    // A model of one member takes some 10 kB, fifteen of them more than the disk holds.
    const Ended run = accrue({"fit", file, "--inputs", "x", "--prediction", "mu", "--observation", "y", "--starts", "3",
                              "--quiet", "-o", disk + "/m.json"});
    EXPECT_EQ(refusal(run, 1), "cannot write disk/m.json: No space left on device");
    EXPECT_EQ(folder_.content("disk/m.json"), "old");
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(disk)) ++files;
    EXPECT_EQ(files, 1U);
    EXPECT_EQ(::umount(disk.c_str()), 0);
}

// Whatever kill -9 leaves beside it, such as a temporary file, the model is the old one or a whole new one.
TEST_F(Faults, a_killed_fit_never_leaves_half_a_model) {
    const std::string file = archive();
    const auto arguments = [&](int seed) {
        return command(fit_arguments(file, {"--inputs", "x", "--seed", std::to_string(seed)}));
    };
    const auto begin = Clock::now();
    ASSERT_EQ(support::run(arguments(0)).status, 0);
    auto longest = std::chrono::duration<double>(Clock::now() - begin);
    core::Random random(12);
    int killed = 0;
    for (int i = 1; i <= 50; ++i) {
        support::Process process(arguments(i));
        // From before the start to some time after the usual end, which is learnt on the way: machines that run tests
        // are busy at one moment and idle at the next.
        std::this_thread::sleep_for(random.uniform() * longest);
        process.signal(SIGKILL);
        const bool in_time = process.wait().signal == SIGKILL;
        killed += in_time ? 1 : 0;
        longest *= in_time ? 1.2 : 0.8;
        EXPECT_NO_THROW(Model::load(folder_.path("m.json"))) << "kill " << i;
    }
    EXPECT_GT(killed, 10) << "the test should kill, not wait";
    EXPECT_EQ(support::run(arguments(51)).status, 0) << "the next fit works";
    EXPECT_EQ(Model::load(folder_.path("m.json")).json()["configuration"]["seed"], 51);
}

TEST_F(Faults, an_interrupted_fit_stops_at_once_and_leaves_nothing) {
    const std::string file = archive("a.csv", 20'000);
    for (const int signal : {SIGINT, SIGTERM}) {
        support::Process process(command({"fit", file, "--inputs", "x,w", "--prediction", "mu", "--observation", "y",
                                          "--starts", "100", "--quiet", "-o", folder_.path("m.json")}));
        for (int i = 0; i < 3000 && temporary_files() == 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        const auto begin = Clock::now();
        process.signal(signal);
        const Ended run = process.wait();
        // All the starts take minutes; a second is what stopping may take, on machines that are not busy.
        EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));
        EXPECT_EQ(run.status, 128 + signal);
        EXPECT_EQ(run.out + run.err, "");
        EXPECT_EQ(folder_.files(), 1U) << "only the archive";
    }
}

}  // namespace
}  // namespace accrue::test
