// fit and predict with bad archives, bad model files, full disks and interruptions: one message, the right exit status,
// the old file or none. tests/faults has the campaigns: kills, and everything that can fail failing once.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "accrue/fit.hpp"
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

TEST_F(Faults, ArchivesThatCannotBeRead) {
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
    EXPECT_EQ(fit_file_message(support::binary()).find("does not look like a text table") == std::string::npos, false);
    EXPECT_EQ(fit_message(std::string(100'000'000, '7')),
              "t.csv does not look like a text table: its first line is longer than 4 MiB");
    EXPECT_EQ(fit_message("x,mu,y,t\n1,2,3,noon\n", {"--inputs", "x", "--time", "t"})
                  .find("t.csv row 1 (line 2), column 't'"),
              0U);
}

TEST_F(Faults, ArchivesThatCannotBeFitted) {
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

TEST_F(Faults, AnArchiveWithoutPermission) {
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

TEST_F(Faults, OptionsThatMakeNoSense) {
    const std::string file = archive();
    const std::string help = " ('accrue fit --help' explains the options)";
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x,x"}), "--inputs names 'x' twice");
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x,y"}),
              "--inputs names 'y', which is what the errors are made of: it is not known when predicting");
    EXPECT_EQ(fit_file_message(file, {"--folds", "-1"}), "--folds is -1, but must be at least 2" + help);
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x", "--folds", "1"}), "--folds is 1, but must be at least 2" + help);
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x", "--balance", "1.5"}),
              "--balance is 1.5, but must be between 0 and 1" + help);
    EXPECT_EQ(fit_file_message(file, {"--form", "spline"}),
              "--form is 'spline', but must be one of auto, clusters, constant, network, polynomial" + help);
    EXPECT_EQ(fit_file_message(file, {"--split", "0.5"}), "--split: takes 2 values, such as 0.33,0.33" + help);
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x", "--recipe", "paper", "--split", "0.9,0.1"}),
              "60 rows cannot be divided into 54 for training, 6 for validation and a test set");
    EXPECT_EQ(fit_file_message(file, {"--inputs", "x", "--recipe", "paper", "--group", "station"}),
              "the paper's recipe divides rows at random; --group, --fold-group and --time go with --recipe default");
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
    EXPECT_EQ(writing("/dev/null", {"--starts", "-1"}), "--starts is -1, but must be between 0 and 1000" + help);
    EXPECT_EQ(writing("/dev/null", {"--starts", "1000000000"}),
              "--starts is 1000000000, but must be between 0 and 1000" + help);
}

TEST_F(Faults, OneEnormousOutlierIsFitted) {
    const std::string file = archive();
    folder_.file("a.csv", folder_.content("a.csv") + "0.5,0,1e300,1e300,s1,2024-01-01,1,1\n");
    for (const char* bias : {"none", "linear"})
        for (const std::string& form : form_names()) {
            output(fit_arguments(file, {"--inputs", "x", "--bias", bias, "--form", form}));
            EXPECT_EQ(accrue({"show", folder_.path("m.json")}).status, 0) << bias << " " << form;
        }
}

TEST_F(Faults, ModelFilesThatAreNotWhole) {
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
    later.replace(later.find("\"format_version\": 4"), 19, "\"format_version\": 9");
    EXPECT_EQ(model_message(later), prefix + "it has format version 9, this accrue reads up to 8; use a newer accrue");
}

TEST_F(Faults, AModelFileWithOneWeightEdited) {
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

TEST_F(Faults, ModelFilesOfBracketsAreRefusedInLittleMemory) {
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

TEST_F(Faults, SixtyMegabytesOfRubbishAreRefusedInLittleTimeAndMemory) {
    const std::string text = folder_.content(fitted().empty() ? "" : "m.json");
    const auto repeated = [](const std::string& piece, std::size_t size) {
        std::string all;
        while (all.size() < size) all += piece;
        return all;
    };
    const auto many = [&](const std::string& begin, const std::string& piece, const std::string& end) {
        return begin + repeated(piece, 60'000'000) + end;
    };
    const auto numbered = [] {
        std::string all = "{";
        for (int i = 0; all.size() < 60'000'000; ++i) all += fmt::format("\"k{}\":0,", i);
        return all + "\"k\":0}";
    };
    // With a checksum that is right: blanks between tokens, here those behind a brace, do not count.
    const auto sealed = [](const std::string& all) {
        std::uint64_t sum = 0xcbf29ce484222325ULL;
        char last = 0;
        for (const char c : all) {
            if (c == ' ' && last == '{') continue;
            sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
            last = c;
        }
        return all.substr(0, all.size() - 1) + fmt::format(",\"checksum\":\"{:016x}\"}}", sum);
    };
    const auto refused = [&](const std::string& content) {
        const RunOptions little{.in_child = [] {
            const rlimit limit{300'000'000, 300'000'000};
            support::limit_data(limit);
            // Reading takes less than a second of a machine that is not busy; what is quadratic takes many minutes.
            const rlimit seconds{60, 60};
            ::setrlimit(RLIMIT_CPU, &seconds);
        }};
        const std::string message = refusal(accrue({"show", folder_.file("b.json", content)}, little));
        const std::string prefix = "b.json cannot be used as a model: ";
        return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
    };
    const std::string head = R"({"format":"accrue model","format_version":1,)";
    EXPECT_EQ(refused(many("[", "{},", "{}]")).substr(0, 11), "it has more");
    EXPECT_EQ(refused(many("[", "{},{},\"some text that takes room\",", "{}]")), "it is not an accrue model");
    EXPECT_EQ(refused(many("\"", "abcdefghij", "\"")), "it is not an accrue model");
    EXPECT_EQ(refused(sealed(many(head + R"("fit":{"starts":[)", "{        },", "{}]}}"))),
              "its entry 'fit.starts[0].fold' is missing");
    EXPECT_EQ(refused(sealed(many(head + R"("columns":{"inputs":[")", "abcdefghij", "\"]}}"))),
              "its entry 'columns.inputs[0]' is longer than 4194304 bytes");
    EXPECT_EQ(refused(sealed(many(head + R"("test_vectors":[)", "0.12345678,", "0]}"))),
              "its entry 'test_vectors[0]' is a number, but must be an object");
    EXPECT_EQ(refused(numbered()), "it is not an accrue model");
    EXPECT_EQ(refused(sealed(head + numbered().substr(1))), "its entry 'k0' is unknown");
    EXPECT_EQ(refused(sealed(head + "\"verification\":" + numbered() + "}")),
              "it has more than 100000 values in entries that are unknown");

    // All that it should be, but for its test vectors; what only people read is enormous.
    Json model = Json::parse(text);
    model.erase("checksum");
    model["test_vectors"][0]["sigma"] = 2 * model["test_vectors"][0]["sigma"].get<double>();
    model["verification"]["by"] = "PLACE";
    model["sigma"]["members"][0]["parameters"] = Json::array({"NUMBERS"});
    const auto filled = [&](const std::string& by, const std::string& numbers) {
        std::string all = model.dump();
        all.replace(all.find("\"PLACE\""), 7, by);
        return all.replace(all.find("\"NUMBERS\""), 9, numbers);
    };
    // With so many digits that the count of values does not give it away.
    std::string parameters = Json::parse(text)["sigma"]["members"][0]["parameters"].dump();
    parameters = parameters.substr(1, parameters.size() - 2);
    std::string by;
    for (int column = 0; column < 290; ++column)
        by += R"(,{"column":"c","values":[)" +
              repeated(R"({"rows":1000000000000000,"crps":0.1234567890123456},)", 200'000) + R"({"rows":1,"crps":0}]})";
    by = "[" + by.substr(1) + "]";
    const std::string wrong = "it does not reproduce its own test vectors";
    EXPECT_EQ(refused(sealed(filled(by, parameters))).substr(0, wrong.size()), wrong);
    // Short numbers take many times their text.
    EXPECT_EQ(refused(sealed(filled("[]", many("", "0,", "0")))).substr(0, 11), "it has more");
    EXPECT_EQ(refused(sealed(filled("[]", many("", "0.00000000000,", "0")))).substr(0, 13), "a network has");
}

TEST_F(Faults, AModelFileCannotWriteToTheTerminal) {
    Json model = Json::parse(folder_.content(fitted().empty() ? "" : "m.json"));
    const std::string evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\x7f";
    model["columns"]["observation"] = evil;
    model["configuration"][evil] = evil;
    model["inputs"][0]["name"] = evil;
    model["columns"]["inputs"][0] = evil;
    model["accrue_version"] = evil;
    model["verification"]["kind"] = evil;
    model["verification"]["verdict"]["summary"] = evil;
    model["verification"]["verdict"]["remarks"] = Json::array({evil});
    model["fit"]["starts"][0]["reason"] = evil;
    model["fit"]["starts"][0]["kept"] = false;
    model["fit"]["starts"][0]["skill"] = nullptr;
    model.erase("checksum");
    std::uint64_t sum = 0xcbf29ce484222325ULL;
    for (const char c : model.dump()) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    model["checksum"] = fmt::format("{:016x}", sum);
    const std::string file = folder_.file("evil.json", model.dump());
    for (const bool json : {false, true}) {
        const std::string shown =
            output(json ? std::vector<std::string>{"show", file, "--json"} : std::vector<std::string>{"show", file});
        for (const char c : shown)
            EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)) << shown;
        EXPECT_EQ(shown.find("\u009b"), std::string::npos);
        if (json) {
            EXPECT_EQ(Json::parse(shown)["accrue_version"], evil);
        }
    }
}

TEST_F(Faults, RowsThatCannotBePredicted) {
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

TEST_F(Faults, AFullDiskLeavesTheOldFile) {
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

TEST_F(Faults, AFullFileSystemLeavesTheOldFile) {
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

TEST_F(Faults, AClosedStandardStreamIsNotWrittenIntoTheModel) {
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
        support::Process process(command({"fit", "-", "--inputs", "x", "--prediction", "mu", "--observation", "y",
                                          "--starts", "1", "-o", folder_.path("m.json")}),
                                 [standard] { ::close(standard); });
        for (int i = 0; i < 3000 && temporary_files() == 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ASSERT_EQ(temporary_files(), 1U);
        EXPECT_EQ(std::filesystem::read_symlink(fmt::format("/proc/{}/fd/{}", process.id(), standard)), "/dev/null");
        archive();
        process.write(folder_.content("a.csv"));
        const Ended run = process.wait();
        EXPECT_EQ(run.status, standard == STDOUT_FILENO ? 1 : 0) << "what cannot be printed is an error";
        EXPECT_NO_THROW(Model::load(folder_.path("m.json")));
        EXPECT_EQ(temporary_files(), 0U);
    }
}

TEST_F(Faults, AnInterruptedFitStopsAtOnceAndLeavesNothing) {
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
