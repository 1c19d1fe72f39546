// A small model and rows through time, with the memory that they point to.
#pragma once

#include "accrue/adapt.hpp"
#include "support/archives.hpp"

namespace accrue::test {

// Days from 0 on, `stations` rows each: y = mu + (0.6 to 1.6)(shift + scale*N(0, 1)), and each station has an offset of
// its own where `offsets`.
struct TimedArchive {
    std::vector<double> x, mu, y, times;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;

    TimedArchive(std::size_t days, std::size_t stations, double shift, double scale, std::uint64_t seed,
                 bool offsets = false, double first_day = 0) {
        core::Random random(seed);
        for (std::size_t s = 0; s < stations; ++s) labels.push_back(fmt::format("s{}", s));
        for (std::size_t day = 0; day < days; ++day)
            for (std::size_t s = 0; s < stations; ++s) {
                x.push_back(random.uniform(-0.5, 0.5));
                mu.push_back(random.normal());
                const double offset = !offsets ? 0 : s % 2 == 0 ? 1 : -1;
                y.push_back(mu.back() + std::exp(x.back()) * (shift + offset + scale * random.normal()));
                times.push_back(first_day + static_cast<double>(day));
                codes.push_back(static_cast<std::uint32_t>(s));
            }
    }

    TimedRows rows(std::size_t begin = 0, std::size_t end = std::string::npos) const {
        const std::size_t count = std::min(end, x.size()) - begin;
        TimedRows rows;
        rows.inputs = {std::span(x).subspan(begin, count)};
        rows.prediction = std::span(mu).subspan(begin, count);
        rows.observation = std::span(y).subspan(begin, count);
        rows.times = std::span(times).subspan(begin, count);
        rows.groups = {std::span(codes).subspan(begin, count), labels};
        return rows;
    }
};

inline const Model& timed_model() {
    static const Model model = [] {
        support::Rows data = support::some_rows(400, 11);
        core::Random random(12);
        for (std::size_t i = 0; i < data.errors.size(); ++i) {
            data.prediction.push_back(random.normal());
            data.times.push_back(static_cast<double>(i));
        }
        FitOptions options;
        options.form = "polynomial";
        return fit(data.archive(), options).model;
    }();
    return model;
}

}  // namespace accrue::test
