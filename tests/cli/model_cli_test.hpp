// What the tests of fit, predict and show share: small archives and fits that take milliseconds.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "core/random.hpp"

namespace accrue::test {

class ModelCliTest : public CliTest {
protected:
    // Columns x, mu, y, e = y - mu, station (text), day (ISO 8601), w, true_sigma; errors are 0.3 + x wide.
    std::string archive(const std::string& name = "a.csv", int rows = 60, std::uint64_t seed = 1) const {
        core::Random random(seed);
        std::string text = "x,mu,y,e,station,day,w,true_sigma\n";
        for (int i = 0; i < rows; ++i) {
            const double x = random.uniform();
            const double mu = random.normal();
            const double e = (0.3 + x) * random.normal();
            text += fmt::format("{},{},{},{},s{},2024-{:02}-{:02},{},{}\n", x, mu, mu + e, e, i % 7, 1 + i / 28 % 12,
                                1 + i % 28, 1 + i % 3, 0.3 + x);
        }
        return folder_.file(name, text);
    }

    // "fit FILE --prediction mu --observation y --starts 1 --threads 1 --quiet -o m.json" and more.
    std::vector<std::string> fit_arguments(const std::string& file, const std::vector<std::string>& more = {}) const {
        return with({"fit", file, "--prediction", "mu", "--observation", "y", "--starts", "1", "--threads", "1",
                     "--quiet", "-o", folder_.path("m.json")},
                    more);
    }
    static std::vector<std::string> with(std::vector<std::string> all, const std::vector<std::string>& more) {
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    // Fits sigma(x) to the errors y - mu of an archive and returns the model's path.
    std::string fitted(const std::vector<std::string>& more = {"--inputs", "x"}) const {
        output(fit_arguments(archive(), more));
        return folder_.path("m.json");
    }

    static std::vector<std::string> lines(const std::string& text) { return split(text, '\n'); }
    static std::vector<std::string> cells(const std::string& line) { return split(line, ','); }

private:
    static std::vector<std::string> split(const std::string& text, char separator) {
        std::vector<std::string> parts;
        std::size_t begin = 0;
        for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
            parts.push_back(text.substr(begin, end - begin));
        if (begin < text.size() || separator == ',') parts.push_back(text.substr(begin));
        return parts;
    }
};

}  // namespace accrue::test
