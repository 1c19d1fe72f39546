// What the tests of the command share: a folder of their own, the real binary, and what a refusal looks like.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/temporary_folder.hpp"
#include "support/places.hpp"
#include "support/run.hpp"

namespace accrue::test {

using support::Ended;
using support::RunOptions;
using Json = nlohmann::ordered_json;

class CliTest : public testing::Test {
protected:
    static std::vector<std::string> command(const std::vector<std::string>& arguments) {
        std::vector<std::string> all = {support::binary()};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return all;
    }
    static Ended accrue(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
        return support::run(command(arguments), options);
    }
    // What a command that must succeed prints.
    static std::string output(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
        const Ended run = accrue(arguments, options);
        EXPECT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.err, "");
        return run.out;
    }
    static Json json(std::vector<std::string> arguments, const RunOptions& options = {}) {
        arguments.emplace_back("--json");
        return Json::parse(output(arguments, options));
    }

    // The message without "accrue: ", its newline and the test's folder. Fails unless it is a single line, nothing is
    // on standard output and the exit status is the given one.
    std::string refusal(const Ended& run, int status = 2) const {
        EXPECT_EQ(run.status, status) << "signal " << run.signal << ": " << run.err;
        EXPECT_EQ(run.out, "") << "nothing may be printed before everything has succeeded";
        EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
        EXPECT_LT(run.err.size(), 600U) << run.err;
        const std::string start = "accrue: ";
        if (!run.err.starts_with(start) || run.err.back() != '\n') return "not a message: " + run.err;
        std::string message = run.err.substr(start.size(), run.err.size() - start.size() - 1);
        const std::string folder = folder_.folder() + "/";
        for (std::size_t at; (at = message.find(folder)) != std::string::npos;) message.erase(at, folder.size());
        return message;
    }

    TemporaryFolder folder_;
};

}  // namespace accrue::test
