// Every way in which files and options can be wrong: one message that names file, row, column and rule; exit status 2;
// nothing on standard output.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cli/cli_test.hpp"
#include "core/random.hpp"

namespace accrue::test {
namespace {

class BadInput : public CliTest {
protected:
    std::string message(const std::vector<std::string>& arguments, const RunOptions& options = {}) const {
        return refusal(accrue(arguments, options));
    }
    // For a file of this text, read in the usual way.
    std::string message_for(std::string_view text, const std::vector<std::string>& more = {}) const {
        return message_for_file(folder_.file("t.csv", text), more);
    }
    std::string message_for_file(const std::string& file, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> arguments = {"evaluate",      file, "--prediction", "mu",
                                              "--observation", "y",  "--sigma",      "s"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return message(arguments);
    }
};

TEST_F(BadInput, AMissingFile) {
    EXPECT_EQ(message_for_file(folder_.path("none.csv")), "cannot read none.csv: No such file or directory");
    EXPECT_EQ(message_for_file(folder_.path("a/b/c.csv")), "cannot read a/b/c.csv: No such file or directory");
    EXPECT_EQ(message_for_file(""), "the name of an input file is empty");
}

TEST_F(BadInput, AnEmptyFile) {
    EXPECT_EQ(message_for(""), "t.csv is empty");
    EXPECT_EQ(message_for("\n \n\n"), "t.csv is empty: it has only blank lines");
    EXPECT_EQ(message({"evaluate", "-", "--error", "e", "--sigma", "s"}), "standard input is empty");
    EXPECT_EQ(message_for_file("/dev/null"), "/dev/null is empty");
}

TEST_F(BadInput, AHeaderWithoutRows) {
    EXPECT_EQ(message_for("mu,y,s\n"), "t.csv has a header but no rows");
    EXPECT_EQ(message_for("mu,y,s"), "t.csv has a header but no rows");
}

TEST_F(BadInput, AnUnknownColumnWithTheNearestName) {
    EXPECT_EQ(message_for("mu,y,S,sd\n1,2,3,4\n"), "t.csv has no column 's'; did you mean 'S'? Columns: mu, y, S, sd");
    EXPECT_EQ(message({"evaluate", folder_.file("t.csv", "error,sigma\n1,2\n"), "--error", "eror", "--sigma", "sigma"}),
              "t.csv has no column 'eror'; did you mean 'error'? Columns: error, sigma");
    EXPECT_EQ(message_for("mu,y,s\n1,2,3\n", {"--weight", "importance"}),
              "t.csv has no column 'importance'. Columns: mu, y, s");
    EXPECT_EQ(message_for("mu,y,s\n1,2,3\n", {"--group", "station"}),
              "t.csv has no column 'station'. Columns: mu, y, s");
    EXPECT_EQ(message({"evaluate", folder_.file("t.csv", "1,2\n3,4\n"), "--no-header", "--error", "1", "--sigma", "3"}),
              "t.csv has no column '3'; without a header its columns are numbered 1 to 2");
    const std::string second = folder_.file("second.csv", "mu,y\n1,2\n");
    EXPECT_EQ(message_for("mu,y,s\n1,2,3\n", {second}), "second.csv has no column 's'. Columns: mu, y");
}

TEST_F(BadInput, AColumnNameThatAppearsTwice) {
    EXPECT_EQ(message_for("mu,y,s,s\n1,2,3,3\n"), "t.csv has 2 columns named 's'; rename all but one");
}

TEST_F(BadInput, TextInANumberColumn) {
    EXPECT_EQ(message_for("mu,y,s\n1,2,3\n1,two,3\n"), "t.csv row 2 (line 3), column 'y': 'two' is not a number");
    EXPECT_EQ(message_for("mu;y;s\n1;2,5;3\n"),
              "t.csv row 1 (line 2), column 'y': '2,5' has a decimal comma: write 2.5");
    EXPECT_EQ(message_for("mu,y,s\n1e400,2,3\n"),
              "t.csv row 1 (line 2), column 'mu': '1e400' is too large for a double");
    EXPECT_EQ(message_for("mu,y,s\n1,inf,3\n"), "t.csv row 1 (line 2), column 'y': 'inf' is not finite");
    EXPECT_EQ(message_for("mu,y,s\n1,2,3\n1,\"a\nb\",3\n"),
              "t.csv row 2 (line 3), column 'y': 'a\\x0ab' is not a number");
    EXPECT_EQ(message_for("mu,y,s\n1,2,3\n-1e308,1e308,3\n"),
              "t.csv row 2 (line 3): y - mu is too large for a double: 1e+308 - -1e+308");
    EXPECT_EQ(message_for("mu,y,s\n,,\n-1e308,1e308,3\n", {"--missing", "drop"}),
              "t.csv row 2 (line 3): y - mu is too large for a double: 1e+308 - -1e+308");
}

TEST_F(BadInput, MissingValues) {
    const std::string rule = ": value is missing; use --missing drop to skip such rows";
    for (const char* missing : {"", "NA", "NaN", "nan", "null"}) {
        const std::string row = std::string("1,") + missing + ",3\n";
        EXPECT_EQ(message_for("mu,y,s\n1,2,3\n" + row), "t.csv row 2 (line 3), column 'y'" + rule);
        EXPECT_EQ(message_for("mu,y,s\n1,2,3\n" + row, {"--missing", "refuse"}),
                  "t.csv row 2 (line 3), column 'y'" + rule);
    }
    EXPECT_EQ(message_for("mu,y,s,g\n1,2,3,\n", {"--group", "g"}), "t.csv row 1 (line 2), column 'g'" + rule);
}

TEST_F(BadInput, NoRowsLeftAfterDropping) {
    EXPECT_EQ(message_for("mu,y,s\n1,,3\nNA,2,3\n", {"--missing", "drop"}),
              "t.csv: no rows are left: all 2 rows had a missing value");
}

TEST_F(BadInput, SigmaThatIsNotPositiveAndFinite) {
    const auto sigma = [&](const std::string& text) { return message_for("mu,y,s\n1,2,1\n1,2," + text + "\n"); };
    const std::string place = "t.csv row 2 (line 3), column 's': ";
    EXPECT_EQ(sigma("0"), place + "s must be positive; it is 0");
    EXPECT_EQ(sigma("-0.5"), place + "s must be positive; it is -0.5");
    EXPECT_EQ(sigma("-0"), place + "s must be positive; it is -0");
    EXPECT_EQ(sigma("nan"), place + "value is missing; use --missing drop to skip such rows");
    EXPECT_EQ(sigma("inf"), place + "'inf' is not finite");
    EXPECT_EQ(sigma("-Infinity"), place + "'-Infinity' is not finite");
    EXPECT_EQ(sigma("1e999"), place + "'1e999' is too large for a double");
    // Dropping rows with missing values is no licence for a bad sigma.
    EXPECT_EQ(message_for("mu,y,s\n1,2,0\n", {"--missing", "drop"}),
              "t.csv row 1 (line 2), column 's': s must be positive; it is 0");
}

TEST_F(BadInput, WeightsThatAreNegativeOrAllZero) {
    EXPECT_EQ(message_for("mu,y,s,w\n1,2,3,1\n1,2,3,-1\n", {"--weight", "w"}),
              "t.csv row 2 (line 3), column 'w': w must not be negative; it is -1");
    EXPECT_EQ(message_for("mu,y,s,w\n1,2,3,0\n1,2,3,0\n", {"--weight", "w"}),
              "t.csv, column 'w': every weight is 0; at least one must be positive");
}

TEST_F(BadInput, RowsOfDifferentLengths) {
    EXPECT_EQ(message_for("mu,y,s\n1,2,3\n1,2,3,4\n"), "t.csv row 2 (line 3) has 4 fields, the header has 3");
    EXPECT_EQ(message_for("mu,y,s\n1,2,3\n1,2\n1,2,3\n"), "t.csv row 2 (line 3) has 2 fields, the header has 3");
}

TEST_F(BadInput, AFileThatEndsInTheMiddleOfARow) {
    EXPECT_EQ(message_for("mu,y,s\n1,2,3\n1,2"),
              "t.csv row 2 (line 3) has 2 fields, the header has 3: the file seems to end in the middle of the row");
    EXPECT_EQ(message_for("mu,y,s\n1,2,\"3"), "t.csv row 1 (line 2) has a quote that is never closed");
}

TEST_F(BadInput, ADirectory) {
    EXPECT_EQ(message_for_file(folder_.path(".")), ". is a directory, not a file");
}

TEST_F(BadInput, AFileWithoutPermission) {
    const std::string file = folder_.file("t.csv", "mu,y,s\n1,2,3\n");
    ::chmod(file.c_str(), 0);
    ::chmod(folder_.folder().c_str(), 0755);
    RunOptions as_nobody;
    if (::geteuid() == 0) {  // root may read everything
        as_nobody.in_child = [] {
            constexpr unsigned kNobody = 65534;
            if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(126);
        };
    }
    if (accrue({"--version"}, as_nobody).status != 0) GTEST_SKIP() << "another user cannot run the program here";
    const std::vector<std::string> arguments = {"evaluate", file, "--error", "y", "--sigma", "s"};
    EXPECT_EQ(message(arguments, as_nobody), "cannot read t.csv: Permission denied");
    if (::geteuid() == 0) {
        EXPECT_EQ(message({"generate", "G", "-o", folder_.path("g.csv")}, as_nobody),
                  "cannot write g.csv: Permission denied");
    }
}

TEST_F(BadInput, BinaryRubbish) {
    core::Random random(11);
    for (int i = 0; i < 20; ++i) {
        std::string rubbish(1 + random.below(100'000), ' ');
        for (char& c : rubbish) c = static_cast<char>(random.below(256));
        EXPECT_NE(message_for(rubbish).find("t.csv"), std::string::npos);
    }
    EXPECT_EQ(message_for("\x1f\x8b\x08 packed\n"),
              "t.csv does not look like a text table (it is compressed: let its name end in .gz, or unpack it first)");
    EXPECT_EQ(message_for(std::string_view("mu,y,s\n1,2,3\0\n", 14)), "t.csv does not look like a text table");
    // The program itself, as a file.
    EXPECT_NE(message_for_file(support::binary()).find("does not look like a text table"), std::string::npos);
}

TEST_F(BadInput, ParquetAndArrowFilesWithAWayToConvertThem) {
    const std::string rule =
        ", which the command does not read; write it as CSV first (DuckDB: COPY 'x.parquet' TO 'x.csv'; pandas: "
        "read_parquet and to_csv), or call accrue.fit in Python, which takes such tables";
    const std::string parquet = folder_.file("t.parquet", std::string("PAR1\x15\x04\x15\0\0PAR1", 13));
    const std::string arrow = folder_.file("t.arrow", std::string("ARROW1\0\0\xff\xff\xff\xff", 12));
    EXPECT_EQ(message_for_file(parquet), "t.parquet is a Parquet file" + rule);
    EXPECT_EQ(message_for_file(arrow), "t.arrow is an Arrow file" + rule);
    EXPECT_EQ(message({"fit", parquet, "--prediction", "f", "--observation", "y", "-o", folder_.path("m.json")}),
              "t.parquet is a Parquet file" + rule);
    EXPECT_EQ(message({"evaluate", "-", "--error", "e", "--sigma", "s"}, {.input = folder_.content("t.parquet")}),
              "standard input is a Parquet file" + rule);
    // By its first bytes, not by its name; and a column may be called PAR1.
    output({"evaluate", folder_.file("u.parquet", "PAR1,y,s\n1,2,1\n2,1,1\n"), "--prediction", "PAR1", "--observation",
            "y", "--sigma", "s"});
}

TEST_F(BadInput, ASingleLineOf100Megabytes) {
    const std::string line(100'000'000, '7');
    EXPECT_EQ(message_for(line), "t.csv does not look like a text table: its first line is longer than 4 MiB");
    EXPECT_EQ(message_for("mu,y,s\n" + line),
              "t.csv row 1 (line 2) has 1 field, the header has 3: the file seems to end in the middle of the row");
    EXPECT_EQ(message({"evaluate", "-", "--error", "e", "--sigma", "s"}, {.input = line}),
              "standard input does not look like a text table: its first line is longer than 4 MiB");
}

TEST_F(BadInput, LevelsOutside0To1) {
    const auto levels = [&](const std::string& text) { return message_for("mu,y,s\n1,2,3\n", {"--levels", text}); };
    EXPECT_EQ(levels("0"), "--levels: 0 is not between 0 and 1");
    EXPECT_EQ(levels("0.5,1"), "--levels: 1 is not between 0 and 1");
    EXPECT_EQ(levels("-0.5"), "--levels: -0.5 is not between 0 and 1");
    EXPECT_EQ(levels("95"), "--levels: 95 is not between 0 and 1");
    EXPECT_EQ(levels("nan"), "--levels: nan is not between 0 and 1");
    const std::string help = " ('accrue evaluate --help' explains the options)";
    EXPECT_EQ(levels("half"), "Could not convert: --levels = half" + help);
    EXPECT_EQ(levels("0.5;0.9"), "Could not convert: --levels = 0.5;0.9" + help);
}

TEST_F(BadInput, OptionsThatAreUnknownMissingOrExcludeEachOther) {
    const std::string file = folder_.file("t.csv", "mu,y,s,e\n1,2,3,1\n");
    const std::string help = " ('accrue evaluate --help' explains the options)";
    EXPECT_EQ(message_for_file(file, {"--sgima", "s"}), "there is no option '--sgima'; did you mean '--sigma'?" + help);
    EXPECT_EQ(message_for_file(file, {"--colour=red"}), "there is no option '--colour'" + help);
    EXPECT_EQ(message_for_file(file, {"--error", "e"}), "--prediction excludes --error" + help);
    EXPECT_EQ(message({"evaluate", file, "--prediction", "mu", "--sigma", "s"}),
              "--prediction requires --observation" + help);
    EXPECT_EQ(message({"evaluate", file, "--observation", "y", "--sigma", "s"}),
              "--sigma lies around a prediction: give --prediction");
    EXPECT_EQ(message({"evaluate", file, "--sigma", "s"}), "give --prediction and --observation, or --error" + help);
    EXPECT_EQ(message({"evaluate", file, "--error", "e"}),
              "--sigma, --model, --members or --quantile-columns is required" + help);
    EXPECT_EQ(message({"evaluate", "--error", "e", "--sigma", "s"}), "FILE is required" + help);
    EXPECT_EQ(message_for_file(file, {"--missing", "ignore"}),
              "--missing: must be one of {drop,refuse}, but it is 'ignore'" + help);
    EXPECT_EQ(message_for_file(file, {"--missing", "dorp"}),
              "--missing: must be one of {drop,refuse}, but it is 'dorp'; did you mean 'drop'?" + help);
    EXPECT_EQ(message_for_file(file, {"--threads", "-1"}), "--threads: '-1' is not a count" + help);
    EXPECT_EQ(message_for_file(file, {"--threads", "1", "--threads", "2"}),
              "--threads is given 2 times, but takes one value" + help);
    EXPECT_EQ(message_for_file(file, {"--line\nbreak"}).find('\n'), std::string::npos);
}

TEST_F(BadInput, AnOptionThatDoesNotExistGoesBeforeWhatIsMissingBecauseOfIt) {
    const std::string file = folder_.file("t.csv", "lead,mu,y\n1,2,3\n");
    const std::string help = " ('accrue fit --help' explains the options)";
    EXPECT_EQ(message({"fit", file, "--input", "lead", "--prediction", "mu", "--observation", "y", "-o", "m.json"}),
              "there is no option '--input'; did you mean '--inputs'?" + help);
    EXPECT_EQ(message({"fit", file, "--prediction", "mu", "--observation", "y", "--ouput", "m.json"}),
              "there is no option '--ouput'; did you mean '--output'?" + help);
    EXPECT_EQ(message({"fit", file, "--form", "netwrok"}),
              "--form is 'netwrok', but must be one of auto, clusters, constant, network, polynomial; did you mean "
              "'network'?" +
                  help);
    EXPECT_EQ(message({"--versoin"}),
              "there is no option '--versoin'; did you mean '--version'? ('accrue --help' explains "
              "the options)");
}

TEST_F(BadInput, AColumnAmongTheFilesIsAnInputWithoutAComma) {
    const std::string file = folder_.file("t.csv", "lead,wdir,mu,y\n1,2,3,4\n");
    EXPECT_EQ(message({"fit", file, "--inputs", "lead", "wdir", "mu", "--prediction", "mu", "--observation", "y", "-o",
                       folder_.path("m.json")}),
              "'wdir' is not a file but a column of t.csv; separate inputs with commas: --inputs lead,wdir,mu");
    EXPECT_EQ(message({"fit", "--inputs", "lead", "wdir", file, "--prediction", "mu", "--observation", "y", "-o",
                       folder_.path("m.json")}),
              "'wdir' is not a file but a column of t.csv; separate inputs with commas: --inputs lead,wdir");
    EXPECT_EQ(message({"evaluate", file, "mu", "--error", "y", "--sigma", "lead"}),
              "'mu' is not a file but a column of t.csv: name an option before it");
    EXPECT_NE(message({"evaluate", file, "other.csv", "--error", "y", "--sigma", "lead"}).find("other.csv"),
              std::string::npos);
}

}  // namespace
}  // namespace accrue::test
