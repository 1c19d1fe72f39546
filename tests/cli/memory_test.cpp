// Archives that memory has no room for.
#include <sys/resource.h>

#include <filesystem>

#include "data/kept_rows.hpp"
#include "model_cli_test.hpp"

namespace accrue::test {
namespace {

class LargerThanMemory : public ModelCliTest {
protected:
    static constexpr int kRows = 1000;

    std::vector<std::string> evaluate_arguments(const std::string& file, const std::vector<std::string>& more) const {
        return with({"evaluate", file, "--prediction", "mu", "--observation", "y"}, more);
    }
    Json model() const { return Json::parse(folder_.content("m.json")); }
    // What a fit has learned and seen, without what it was asked for and the check of the whole file.
    static Json result(Json model) {
        model.erase("configuration");
        model.erase("checksum");
        return model;
    }
};

TEST_F(LargerThanMemory, LittleMemoryGivesTheSameFiguresSlabBySlab) {
    const std::string file = archive("a.csv", kRows);
    output(fit_arguments(file, {"--inputs", "x", "--form", "polynomial", "--bias", "linear"}));
    const std::string whole = folder_.content("m.json");
    // Slabs are a thirty-second part of the memory, so that these are many.
    output(fit_arguments(file, {"--inputs", "x", "--form", "polynomial", "--bias", "linear", "--memory", "400K"}));
    EXPECT_EQ(folder_.content("m.json"), whole);
    for (const std::vector<std::string>& forecasts :
         std::vector<std::vector<std::string>>{{"--sigma", "true_sigma"},
                                               {"--model", folder_.path("m.json")},
                                               {"--sigma", "true_sigma", "--model", folder_.path("m.json"), "--weight",
                                                "w", "--group", "station", "--by", "day"}}) {
        const auto arguments = evaluate_arguments(file, forecasts);
        EXPECT_EQ(json(arguments), json(with(arguments, {"--memory", "200K"})));
    }
}

TEST_F(LargerThanMemory, ABadCellHasTheSameMessageSlabBySlab) {
    std::string text = folder_.content(std::filesystem::path(archive("a.csv", kRows)).filename());
    const std::size_t at = text.find('\n', text.size() / 2) + 1;
    const auto row = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    text.insert(at, "oh,");
    const std::string file = folder_.file("bad.csv", text);
    const auto arguments = evaluate_arguments(file, {"--sigma", "true_sigma"});
    const std::string said = refusal(accrue(arguments));
    EXPECT_EQ(said, fmt::format("bad.csv row {} (line {}) has 9 fields, the header has 8", row, row + 1));
    EXPECT_EQ(refusal(accrue(with(arguments, {"--memory", "200K"}))), said);
}

TEST_F(LargerThanMemory, SizesAreReadAsPeopleWriteThem) {
    const std::string file = folder_.file("t.csv", "mu,y,s\n1,2,3\n2,4,1\n");
    const auto run = [&](const std::string& size) {
        return accrue({"evaluate", file, "--prediction", "mu", "--observation", "y", "--sigma", "s", "--memory", size});
    };
    for (const char* size : {"500M", "1.5G", "64MiB", "2 gb", "30000000"}) EXPECT_EQ(run(size).status, 0) << size;
    for (const char* size : {"-5M", "0", "10Q", "M", "", "5Mx", "5bogus", "5Mi5", "nan", "1e30G"})
        EXPECT_NE(run(size).err.find(fmt::format("'{}' is not a size; write 500M or 1.5G", size)), std::string::npos)
            << size;
}

TEST_F(LargerThanMemory, ASampleIsNeverSilent) {
    const std::string file = archive("a.csv", kRows);
    const auto arguments = evaluate_arguments(file, {"--sigma", "true_sigma"});
    EXPECT_EQ(lines(output(with(arguments, {"--memory", "20K"})))[0],
              "620 of 1000 rows of " + file +
                  ", a random sample (memory limit 20 kB; --memory or --sample changes it); error = y - mu");
    EXPECT_EQ(lines(output(with(arguments, {"--sample", "300"})))[0],
              "300 of 1000 rows of " + file + ", a random sample (--sample); error = y - mu");
    EXPECT_EQ(lines(output(with(arguments, {"--sample", "1000"})))[0], "1000 rows of " + file + "; error = y - mu");
    const Json figures = json(with(arguments, {"--sample", "300"}));
    EXPECT_EQ(figures["rows"], 300);
    EXPECT_EQ(figures["sampled_from"], 1000);
    EXPECT_FALSE(json(arguments).contains("sampled_from"));

    const Json fitted = json(fit_arguments(file, {"--inputs", "x", "--form", "constant", "--sample", "300"}));
    EXPECT_EQ(fitted["rows"], 300);
    EXPECT_EQ(fitted["sampled_from"], 1000);
    EXPECT_EQ(model()["configuration"]["rows"], 300);
    EXPECT_EQ(model()["configuration"]["sampled_from"], 1000);
    EXPECT_NE(output(fit_arguments(file, {"--inputs", "x", "--form", "constant", "--memory", "100K"}))
                  .find("of 1000 rows of " + file + ", a random sample (memory limit 100 kB"),
              std::string::npos);
    EXPECT_EQ(refusal(accrue(with(arguments, {"--memory", "1K"}))),
              "memory of 1 kB has room for 31 rows, which is too little: a row needs 28 bytes");
}

TEST_F(LargerThanMemory, AFitOfASampleIsTheFitOfItsRows) {
    const std::string file = archive("a.csv", kRows);
    const std::vector<std::string> more = {"--inputs", "x", "--form", "polynomial", "--group", "station"};
    output(fit_arguments(file, with(more, {"--sample", "400", "--seed", "7"})));
    const std::string sampled = folder_.content("m.json");

    data::KeptRows kept(1, false, 400, 7);
    std::vector<double> numbers(kRows);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
    kept.append(std::vector<std::span<const double>>{numbers}, {});
    kept.finish();
    const std::vector<std::string> all = lines(folder_.content("a.csv"));
    std::string text = all[0] + "\n";
    for (const double row : kept.column(0)) text += all[1 + static_cast<std::size_t>(row)] + "\n";
    output(fit_arguments(folder_.file("some.csv", text), with(more, {"--seed", "7"})));
    // Not EXPECT_EQ, which would print both.
    EXPECT_TRUE(result(Json::parse(sampled)) == result(model()));

    output(fit_arguments(file, with(more, {"--sample", "400", "--seed", "8"})));
    EXPECT_FALSE(result(Json::parse(sampled)) == result(model()));
}

TEST_F(LargerThanMemory, AFitOfASampleHasTheSameBytesForAnyThreads) {
    const std::string file = archive("a.csv", kRows);
    std::vector<std::string> models;
    for (const char* threads : {"1", "2", "3"}) {
        output({"fit", file, "--prediction", "mu", "--observation", "y", "--inputs", "x", "--starts", "1", "--sample",
                "200", "--threads", threads, "--quiet", "-o", folder_.path("m.json")});
        models.push_back(folder_.content("m.json"));
    }
    EXPECT_EQ(models[0], models[1]);
    EXPECT_EQ(models[0], models[2]);
}

// Sanitizers take more address space than any limit leaves.
#ifndef __SANITIZE_ADDRESS__
TEST_F(LargerThanMemory, FilesBeyondTheLimitOnAddressSpaceAreWorkedThrough) {
    const std::string file = folder_.path("large.csv");
    output({"generate", "5D", "--rows", "700000", "-o", file});
    constexpr rlim_t kLimit = 150'000'000;  // the program itself takes about half of it
    ASSERT_GT(std::filesystem::file_size(file), 90'000'000U);
    const RunOptions limited{.in_child = [] {
        const rlimit limit{kLimit, kLimit};
        ::setrlimit(RLIMIT_AS, &limit);
    }};
    const std::vector<std::string> roles = {"--prediction", "f", "--observation", "y", "--threads", "2"};
    EXPECT_EQ(json(with({"evaluate", file, "--sigma", "true_sigma"}, roles), limited)["rows"], 700000);
    const std::string model = folder_.path("m.json");
    const Json fitted =
        json(with({"fit", file, "--form", "constant", "--inputs", "x1,x2", "--quiet", "-o", model}, roles), limited);
    EXPECT_EQ(fitted["sampled_from"], 700000);
    EXPECT_GT(fitted["rows"], 50000);
    EXPECT_EQ(json(with({"evaluate", file, "--model", model}, roles), limited)["rows"], 700000);
    output({"predict", model, file, "-o", folder_.path("out.csv"), "--threads", "2"}, limited);
    EXPECT_GT(std::filesystem::file_size(folder_.path("out.csv")), std::filesystem::file_size(file));
}
#endif

TEST_F(LargerThanMemory, FiguresOfAnyNumberOfValuesTakeLittle) {
    core::Random random(14);
    std::string text = "mu,y,s,station\n";
    for (int i = 0; i < 300'000; ++i) text += fmt::format("0,{:.3f},1,s{}\n", random.normal(), i);
    const std::string file = folder_.file("stations.csv", text);
    const RunOptions little{.in_child = [] {
        const rlimit limit{600U << 20U, 600U << 20U};
        support::limit_data(limit);
    }};
    const Json by =
        json(with(evaluate_arguments(file, {"--sigma", "s", "--threads", "1"}), {"--by", "station"}), little);
    const Json& station = by.at("by").at(0);
    EXPECT_EQ(station.at("values_in_all"), 300'000);
    EXPECT_EQ(station.at("values").size(), 10'000U);
}

TEST_F(LargerThanMemory, ATableOfManyColumnsAndFewRowsTakesLittle) {
    core::Random random(9);
    std::string text;
    for (int k = 0; k < 12'000; ++k) text += fmt::format("x{},", k);
    const std::string inputs = text.substr(0, text.size() - 1);
    text += "mu,y\n";
    for (int i = 0; i < 30; ++i) {
        for (int k = 0; k < 12'000; ++k) text += fmt::format("{:.2f},", random.normal());
        text += fmt::format("{},{}\n", random.normal(), random.normal());
    }
    const std::string file = folder_.file("wide.csv", text);
    const RunOptions little{.in_child = [] {
        const rlimit limit{800U << 20U, 800U << 20U};  // a matrix of columns by columns has 1.1 GiB
        support::limit_data(limit);
    }};
    for (const char* bias : {"none", "linear"}) {
        output(fit_arguments(file, {"--inputs", inputs, "--form", "constant", "--bias", bias}), little);
        const Json coefficients = model().at("bias").at("coefficients");
        EXPECT_EQ(coefficients.size(), std::string(bias) == "none" ? 0U : 12'002U);
    }
}

TEST_F(LargerThanMemory, WideTablesNeedRoomForTheirParameters) {
    constexpr int kInputs = 1000;  // 50 weights each in every network
    std::string text = "mu,y";
    for (int k = 0; k < kInputs; ++k) text += fmt::format(",x{}", k);
    core::Random random(3);
    for (int i = 0; i < 60; ++i) {
        text += fmt::format("\n0,{}", random.normal());
        for (int k = 0; k < kInputs; ++k) text += fmt::format(",{:.2f}", random.uniform());
    }
    const std::string file = folder_.file("wide.csv", text + "\n");
    const auto arguments = [&](const char* memory, const char* threads = "1") -> std::vector<std::string> {
        return {"fit",      file, "--prediction",        "mu",    "--observation", "y",
                "--starts", "1",  "--threads",           threads, "--quiet",       "--memory",
                memory,     "-o", folder_.path("m.json")};
    };
    EXPECT_EQ(
        refusal(accrue(arguments("20M"))),
        "memory of 20 MB is too little: a fit with so many inputs needs 26 MB whatever its rows; use fewer inputs, "
        "another form or more memory");
    // Enough for one start at a time; more threads would take more.
    output(arguments("40M"));
    const std::string one_by_one = folder_.content("m.json");
    output(arguments("40M", "8"));
    EXPECT_TRUE(folder_.content("m.json") == one_by_one);
}

}  // namespace
}  // namespace accrue::test
