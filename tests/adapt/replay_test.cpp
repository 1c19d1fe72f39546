#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "accrue/predict.hpp"
#include "accrue/threads.hpp"
#include "adapt/timed_archive.hpp"

namespace accrue {
namespace {

using test::timed_model;
using test::TimedArchive;

ReplayOptions stations() {
    ReplayOptions options;
    options.time = "t";
    options.group = "station";
    return options;
}

TEST(Replay, EndsInTheStateOfAnUpdate) {
    const TimedArchive archive(40, 3, 0.5, 1.3, 1, true);
    ReplayOptions options = stations();
    options.levels = {0.5, 0.9};
    const Replay replayed = replay(timed_model(), archive.rows(), options);
    EXPECT_EQ(timed_model().with_state(replayed.state).text(), update(timed_model(), archive.rows(), options).text());
}

// Rows before a time are the same whatever comes at and after it.
TEST(Replay, NeverLooksAhead) {
    const TimedArchive archive(40, 2, 0.5, 1.3, 2);
    TimedArchive other = archive;
    for (std::size_t i = 50; i < other.y.size(); ++i) other.y[i] += 3;
    const Replay a = replay(timed_model(), archive.rows(), stations());
    const Replay b = replay(timed_model(), other.rows(), stations());
    for (std::size_t i = 0; i < 52; ++i) {  // rows 51 and 52 are of the first time that differs
        EXPECT_EQ(a.moves[i].shift, b.moves[i].shift) << i;
        EXPECT_EQ(a.moves[i].scale, b.moves[i].scale) << i;
    }
    EXPECT_NE(a.moves[52].shift, b.moves[52].shift);
}

TEST(Replay, NeighboursInTimeThatErrTogetherAreWorthFewerRows) {
    TimedArchive archive(300, 1, 0, 1, 5);
    ReplayOptions options;
    options.time = "t";
    const Replay apart = replay(timed_model(), archive.rows(), options);
    EXPECT_EQ(apart.fixed_figures.dependence, Dependence::none);
    EXPECT_EQ(apart.fixed_figures.mean_rows(), 300);
    for (std::size_t i = 0; i < archive.y.size(); ++i) archive.y[i] += 3 * std::sin(0.1 * static_cast<double>(i));
    const Replay together = replay(timed_model(), archive.rows(), options);
    EXPECT_EQ(together.fixed_figures.dependence, Dependence::neighbours);
    EXPECT_LT(together.fixed_figures.mean_rows(), 200);
}

// Each station has an offset that the static model knows nothing of: 4,000 rows say as much of a bias as 40 stations,
// to within the chance of so many.
TEST(Replay, RowsOfAGroupThatErrTogetherAreWorthFewerRows) {
    const TimedArchive archive(100, 40, 0, 0.5, 16, true);
    const Replay replayed = replay(timed_model(), archive.rows(), stations());
    EXPECT_EQ(replayed.fixed_figures.dependence, Dependence::groups);
    EXPECT_LT(replayed.fixed_figures.effective_rows_of_mean, 80);
    EXPECT_FALSE(replayed.fixed_figures.diagram.group_pointwise.low.empty());
    // These are learned: before they are, the first rows of a station err together, later ones do not.
    EXPECT_GT(replayed.figures.effective_rows_of_mean, 4 * replayed.fixed_figures.effective_rows_of_mean);
    // The same where the first rows are not scored.
    ReplayOptions late = stations();
    late.from = "50";
    EXPECT_LT(replay(timed_model(), archive.rows(), late).fixed_figures.effective_rows_of_mean, 80);
}

TEST(Replay, ADelayLeavesOutWhatIsNotKnownYet) {
    const TimedArchive archive(40, 2, 0.5, 1.3, 3);
    TimedArchive other = archive;
    for (std::size_t i = 50; i < other.y.size(); ++i) other.y[i] += 3;
    ReplayOptions options = stations();
    options.delay = "3";
    const Replay a = replay(timed_model(), archive.rows(), options);
    const Replay b = replay(timed_model(), other.rows(), options);
    for (std::size_t i = 0; i < 56; ++i) EXPECT_EQ(a.moves[i].shift, b.moves[i].shift) << i;
    EXPECT_NE(a.moves[56].shift, b.moves[56].shift);
    // A lead does the same.
    ReplayOptions plain = stations();
    TimedRows led = archive.rows();
    const std::vector<double> leads(led.times.size(), 3);
    led.leads = leads;
    const Replay c = replay(timed_model(), led, plain);
    for (std::size_t i = 0; i < a.moves.size(); ++i) EXPECT_EQ(a.moves[i].shift, c.moves[i].shift) << i;
}

TEST(Replay, DoesNotDependOnTheOrderOfStations) {
    const TimedArchive archive(30, 2, 0.5, 1.3, 4);
    TimedArchive by_station = archive;
    std::vector<std::size_t> order;
    for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t i = s; i < archive.x.size(); i += 2) order.push_back(i);
    for (std::size_t k = 0; k < order.size(); ++k) {
        by_station.x[k] = archive.x[order[k]];
        by_station.mu[k] = archive.mu[order[k]];
        by_station.y[k] = archive.y[order[k]];
        by_station.times[k] = archive.times[order[k]];
        by_station.codes[k] = archive.codes[order[k]];
    }
    const Replay a = replay(timed_model(), archive.rows(), stations());
    const Replay b = replay(timed_model(), by_station.rows(), stations());
    for (std::size_t k = 0; k < order.size(); ++k) EXPECT_EQ(b.moves[k].shift, a.moves[order[k]].shift);
}

// A world that is shifted by half a sigma and half as wide again: 1,200 rows, so the coverage of 90% is right to 0.9%
// (one standard error), and the static one is about 70%.
TEST(Replay, RegainsCalibrationThatAStaticModelLost) {
    const TimedArchive archive(400, 3, 0.5, 1.5, 5);
    const Replay replayed = replay(timed_model(), archive.rows(), stations());
    EXPECT_NEAR(replayed.figures.coverage[2].observed, 0.9, 0.035);
    EXPECT_LT(replayed.fixed_figures.coverage[2].observed, 0.8);
    EXPECT_LT(replayed.figures.crps, 0.97 * replayed.fixed_figures.crps);
    EXPECT_LT(replayed.pinball, replayed.fixed_pinball);
    ASSERT_EQ(replayed.figures.by.size(), 1U);
    EXPECT_EQ(replayed.figures.by[0].values.size(), 10U);
}

TEST(Replay, LeavesAModelThatIsRightNearlyAlone) {
    const TimedArchive archive(400, 3, 0, 1, 6);
    const Replay replayed = replay(timed_model(), archive.rows(), {});
    EXPECT_LT(replayed.figures.crps, 1.01 * replayed.fixed_figures.crps);
}

// Errors that become those of an exponential distribution, or one of two values: no shift and no scale makes up for it.
TimedArchive reshaped(bool two_values) {
    TimedArchive archive(400, 3, 0, 1, 30);
    for (std::size_t i = 0; i < archive.y.size(); ++i) {
        const double unit = std::exp(archive.x[i]);
        const double z = (archive.y[i] - archive.mu[i]) / unit;
        const double above = std::erfc(z / std::numbers::sqrt2) / 2;
        archive.y[i] = archive.mu[i] + unit * (two_values ? std::copysign(1, z) + 0.1 * z : -std::log(above) - 1);
    }
    return archive;
}

TEST(Replay, LearnsAShape) {
    for (const bool two_values : {false, true}) {
        const TimedArchive archive = reshaped(two_values);
        ReplayOptions options;
        options.from = "100";
        const Replay without = replay(timed_model(), archive.rows(), options);
        options.shape = true;
        const Replay with = replay(timed_model(), archive.rows(), options);
        EXPECT_LT(with.figures.crps, 0.995 * without.figures.crps) << two_values;
        EXPECT_LT(with.figures.calibration_error, 0.6 * without.figures.calibration_error) << two_values;
        // Of the rows themselves nothing is known before their time.
        TimedArchive other = archive;
        for (std::size_t i = 900; i < other.y.size(); ++i) other.y[i] += 3;
        const Replay changed = replay(timed_model(), other.rows(), options);
        for (std::size_t i = 0; i < 903; ++i) ASSERT_EQ(changed.forecast.mean[i], with.forecast.mean[i]) << i;
    }
}

TEST(Replay, AShapeCostsLittleWhereThereIsNoneToLearn) {
    const TimedArchive archive(400, 3, 0.3, 1.2, 31);
    ReplayOptions options;
    const Replay without = replay(timed_model(), archive.rows(), options);
    options.shape = true;
    EXPECT_LT(replay(timed_model(), archive.rows(), options).figures.crps, 1.003 * without.figures.crps);
}

TEST(Replay, IsTheSameForAnyNumberOfThreads) {
    const TimedArchive archive = reshaped(false);
    ReplayOptions options = stations();
    options.shrink = "auto";
    options.shape = true;
    const auto run = [&](int threads) {
        std::optional<Replay> replayed;
        with_threads(threads, [&] { replayed = replay(timed_model(), archive.rows(), options); });
        return to_json(*replayed).dump() + timed_model().with_state(replayed->state).text();
    };
    EXPECT_EQ(run(1), run(3));
}

TEST(Replay, ScoresFromATimeOn) {
    const TimedArchive archive(40, 2, 0.5, 1.3, 7);
    ReplayOptions options = stations();
    options.from = "30";
    const Replay replayed = replay(timed_model(), archive.rows(), options);
    EXPECT_EQ(replayed.figures.rows, 20U);
    EXPECT_EQ(std::accumulate(replayed.scored.begin(), replayed.scored.end(), 0), 20);
    options.from = "99";
    EXPECT_EQ(support::refusal([&] { replay(timed_model(), archive.rows(), options); }),
              "--from: there is no row from 99 on");
}

// The spread rises with x in the archive, and falls with it in this world: no shift and no scale makes up for that.
TimedArchive turned(std::size_t days, std::uint64_t seed) {
    TimedArchive archive(days, 5, 0, 1, seed);
    for (std::size_t i = 0; i < archive.y.size(); ++i)
        archive.y[i] = archive.mu[i] + std::exp(-4 * archive.x[i]) * (archive.y[i] - archive.mu[i]);
    return archive;
}

ReplayOptions refitting() {
    ReplayOptions options;
    options.refit = "30";
    options.window = "40";
    return options;
}

TEST(Replay, FitsAgainOnASchedule) {
    const TimedArchive archive = turned(120, 9);
    const Replay refitted = replay(timed_model(), archive.rows(), refitting());
    ASSERT_EQ(refitted.refits.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(refitted.refits[k].time, 40 + 30 * static_cast<double>(k));
        EXPECT_EQ(refitted.refits[k].rows, 200U);  // 40 days of five stations
    }
    // The state at the end is that of the last one.
    ASSERT_TRUE(refitted.refitted);
    const Model& last = *refitted.refitted;
    EXPECT_NE(last.text(), timed_model().text());
    const TimedArchive next(1, 5, 0, 1, 13, false, 120);
    EXPECT_NO_THROW(update(last.with_state(refitted.state), next.rows()));
    ReplayOptions late = refitting();
    late.from = "40";
    ReplayOptions learning;
    learning.from = "40";
    // A sigma that is wrong by a factor of e at both ends costs about a tenth of the CRPS.
    EXPECT_LT(replay(timed_model(), archive.rows(), late).figures.crps,
              0.95 * replay(timed_model(), archive.rows(), learning).figures.crps);
    EXPECT_LT(refitted.fixed_figures.crps, 1.0001 * replay(timed_model(), archive.rows()).fixed_figures.crps);
}

TEST(Replay, FitsFromThePastAlone) {
    const TimedArchive archive = turned(120, 10);
    TimedArchive other = archive;
    // From day 70 on, a day of a fit, which may not see that day.
    for (std::size_t i = 350; i < other.y.size(); ++i) other.y[i] += 3;
    const Replay a = replay(timed_model(), archive.rows(), refitting());
    const Replay b = replay(timed_model(), other.rows(), refitting());
    for (std::size_t i = 0; i < 355; ++i) {
        ASSERT_EQ(a.forecast.sigma[i], b.forecast.sigma[i]) << i;
        ASSERT_EQ(a.moves[i].shift, b.moves[i].shift) << i;
    }
    EXPECT_NE(a.moves[355].shift, b.moves[355].shift);
    // What is on its way takes no part either: as with observations that come ten days earlier in another world.
    ReplayOptions delayed = refitting();
    delayed.delay = "10";
    const Replay c = replay(timed_model(), archive.rows(), delayed);
    EXPECT_EQ(c.refits[0].rows, 155U);  // days 0 to 30
    const Replay d = replay(timed_model(), other.rows(), delayed);
    for (std::size_t i = 0; i < 400; ++i) ASSERT_EQ(c.forecast.sigma[i], d.forecast.sigma[i]) << i;
}

// How wide a row is moved depends on its sigma, to the power of the trust less 1: on that of the fit that forecasts it,
// also where its observation arrives after the next fit. The world turns round every 40 days, so that sigmas are not
// trusted.
TEST(Replay, MovesGoByTheSigmaOfTheFitThatForecasts) {
    TimedArchive archive(240, 5, 0, 1, 20);
    for (std::size_t i = 0; i < archive.y.size(); ++i) {
        const double slope = static_cast<int>(archive.times[i]) / 40 % 2 == 0 ? 2 : -4;
        archive.y[i] = archive.mu[i] + std::exp(slope * archive.x[i]) * (archive.y[i] - archive.mu[i]);
    }
    ReplayOptions options;
    options.refit = "20";
    options.window = "60";
    options.delay = "25";
    const Replay replayed = replay(timed_model(), archive.rows(), options);
    std::size_t distrusted = 0;
    for (std::size_t i = 300; i + 1 < archive.y.size(); ++i) {
        if (archive.times[i] != archive.times[i + 1]) continue;
        const auto log_sigma = [&](std::size_t row) {
            return std::log(replayed.forecast.sigma[row] / replayed.moves[row].scale);
        };
        const double wider = std::log(replayed.moves[i].scale / replayed.moves[i + 1].scale);
        const double sigmas = log_sigma(i) - log_sigma(i + 1);
        const auto off = [&](double trust) { return std::fabs(wider - (trust - 1) * sigmas); };
        // Rounding of logarithms of sums over some hundred rows.
        ASSERT_LT(std::min({off(1), off(0.5), off(0)}), 1e-9) << i;
        distrusted += off(1) > 1e-3 ? 1 : 0;
    }
    EXPECT_GT(distrusted, 100U);
}

// A map of each fit's own: errors are skewed, and the family that is fitted is symmetric.
Model recalibrated_model(double calibration_share) {
    support::Rows data = support::some_rows(400, 11);
    core::Random random(12);
    for (std::size_t i = 0; i < data.errors.size(); ++i) {
        data.errors[i] = std::expm1(data.errors[i] / 2);
        data.prediction.push_back(random.normal());
        data.times.push_back(static_cast<double>(i));
    }
    FitOptions options;
    options.form = "polynomial";
    options.family = "normal";
    options.recalibrate = "isotonic";
    options.calibration_share = calibration_share;
    return fit(data.archive(), options).model;
}

TEST(Replay, FitsARecalibratedModelAgainWithAMapOfItsOwn) {
    for (const double share : {0.0, 0.3}) {
        const Model model = recalibrated_model(share);
        TimedArchive archive(120, 5, 0, 1, 14);
        for (std::size_t i = 0; i < archive.y.size(); ++i)
            archive.y[i] = archive.mu[i] - std::expm1((archive.y[i] - archive.mu[i]) / 2);  // skewed the other way
        const Replay refitted = replay(model, archive.rows(), refitting());
        ASSERT_EQ(refitted.refits.size(), 3U);
        ASSERT_TRUE(refitted.refitted);
        const Model& last = *refitted.refitted;
        ASSERT_TRUE(last.family()->recalibrated());
        // Rows before the first fit have the model's map, those after the last one that of this fit.
        const std::size_t early = 150;
        const std::size_t late = archive.y.size() - 1;
        const Forecast as_fitted = forecast_rows(model, archive.rows().inputs, archive.mu, archive.mu.size());
        const Forecast as_last = forecast_rows(last, archive.rows().inputs, archive.mu, archive.mu.size());
        for (const auto& [row, forecast] : {std::pair{early, as_fitted}, std::pair{late, as_last}}) {
            const Moved moved = refitted.moves[row];
            for (const double p : {0.05, 0.5, 0.95}) {
                const double score = moved.shift + moved.scale * normal_family()->quantile(p, {});
                const Distribution own = forecast.row(row);
                const Standardised unmoved(own.family);
                // Quadrature of the moments, to 1e-9, and rounding.
                EXPECT_NEAR(refitted.forecast.row(row).quantile(p),
                            own.mean + own.sigma * unmoved.of_normal_score(score), 1e-8 * own.sigma)
                    << row;
            }
        }
        // The map of the first fit leans the wrong way; 400 rows from day 40 on.
        ReplayOptions late_ones = refitting();
        late_ones.from = "40";
        const Replay scored = replay(model, archive.rows(), late_ones);
        EXPECT_LT(scored.figures.crps, scored.fixed_figures.crps);
        EXPECT_LT(scored.figures.calibration_error, 0.1);
        const TimedArchive next(1, 5, 0, 1, 13, false, 120);
        EXPECT_NO_THROW(update(last.with_state(refitted.state), next.rows()));
    }
}

TEST(Replay, ARecalibratedModelEndsInTheStateOfItsUpdates) {
    const Model model = recalibrated_model(0);
    const TimedArchive archive(30, 2, 0.5, 1.3, 15);
    const Replay replayed = replay(model, archive.rows(), {});
    const Model once = update(model, archive.rows(), {});
    EXPECT_EQ(model.with_state(replayed.state).text(), once.text());
    Model daily = model;
    for (std::size_t at = 0; at < archive.x.size(); at += 2)
        daily = Model::parse(update(daily, archive.rows(at, at + 2)).text());
    EXPECT_EQ(daily.text(), once.text());
    // What predict says of the next day is what a replay that goes on says.
    const TimedArchive next(1, 2, 0, 1, 16, false, 30);
    const Forecast ahead = forecast_at(once, next.rows().inputs, next.mu, next.times);
    const Replay on = replay(once, next.rows(), {});
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(ahead.mean[i], on.forecast.mean[i]);
        EXPECT_EQ(ahead.sigma[i], on.forecast.sigma[i]);
        EXPECT_EQ(ahead.row(i).quantile(0.1), on.forecast.row(i).quantile(0.1));
    }
}

TEST(Replay, SaysWhyItCannotFitAgain) {
    const TimedArchive archive = turned(30, 11);
    ReplayOptions options = refitting();
    EXPECT_EQ(support::refusal([&] { replay(timed_model(), archive.rows(), options); }),
              "--window is '40', which is longer than all rows: the model is never fitted again");
    options.window.clear();
    EXPECT_EQ(support::refusal([&] { replay(timed_model(), archive.rows(), options); }), "--refit needs --window");
    options.window = "10";
    options.refit.clear();
    EXPECT_EQ(support::refusal([&] { replay(timed_model(), archive.rows(), options); }), "--window needs --refit");
    options.refit = "0";
    EXPECT_EQ(support::refusal([&] { replay(timed_model(), archive.rows(), options); }),
              "--refit: 0 is not more than 0");
    options.refit = "5";
    options.delay = "12";
    EXPECT_EQ(support::refusal([&] { replay(timed_model(), archive.rows(), options); }),
              "--refit: no observation of the --window before 10 is known");
}

// Rows with the adaptive intervals that a replay issued for them.
struct Issued {
    std::vector<double> lower, upper;

    explicit Issued(const Replay& replayed) {
        for (std::size_t i = 0; i < replayed.tails.size(); ++i) {
            const Distribution own = replayed.forecast.row(i);
            const auto [below, above] = adaptive_interval(Standardised(own.family), replayed.tails[i]);
            lower.push_back(own.mean + below * own.sigma);
            upper.push_back(own.mean + above * own.sigma);
        }
    }
    std::size_t missed(const TimedArchive& archive) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < lower.size(); ++i)
            count += archive.y[i] < lower[i] || archive.y[i] > upper[i] ? 1 : 0;
        return count;
    }
};

// One row a time: the tail is what the issued intervals made of it, and their coverage lies within the bound.
void expect_promise(const Replay& replayed, const TimedArchive& archive, double level, double later) {
    const Issued issued(replayed);
    const auto times = static_cast<double>(archive.y.size());
    const auto missed = static_cast<double>(issued.missed(archive));
    constexpr double kRate = 0.02;
    // Rounding of as many sums.
    EXPECT_NEAR(replayed.state.tails()[0], 1 - level + kRate * (times * (1 - level) - missed), 1e-9);
    EXPECT_NEAR(replayed.adaptive[0].observed, 1 - missed / times, 1e-12);
    EXPECT_NEAR(replayed.adaptive[0].observed, level,
                (std::max(level, 1 - level) + kRate * (later + 1)) / (kRate * times));
}

// A fit begins the state anew; the record of the intervals goes on, with those that were issued before the fit and
// observed after it.
TEST(Replay, AdaptiveIntervalsKeepTheirPromiseAcrossFits) {
    const TimedArchive archive(400, 1, 1, 2, 12);
    for (const double delay : {0, 7, 60}) {  // the last is longer than from fit to fit
        ReplayOptions options;
        options.levels = {0.8};
        options.refit = "50";
        options.window = "100";
        options.delay = fmt::format("{}", delay);
        const Replay replayed = replay(timed_model(), archive.rows(), options);
        EXPECT_EQ(replayed.refits.size(), 6U);
        expect_promise(replayed, archive, 0.8, std::max(0.0, delay - 1));
    }
}

TEST(Replay, AdaptiveIntervalsCoverInTheLongRun) {
    const TimedArchive archive(1000, 1, 1, 2, 8);
    ReplayOptions options;
    options.levels = {0.8};
    expect_promise(replay(timed_model(), archive.rows(), options), archive, 0.8, 0);
}

// Worlds that a state follows too late: errors that come round again in the time that observations take, that grow
// without end, that are huge for a while and then none.
TEST(Replay, AdaptiveIntervalsCoverInTheLongRunHoweverLateObservationsCome) {
    constexpr std::size_t kDays = 4000;
    for (const std::string world : {"sine", "drift", "blocks"}) {
        TimedArchive archive(kDays, 1, 0, 0.5, 17);
        for (std::size_t i = 0; i < kDays; ++i) {
            const auto day = static_cast<double>(i);
            double& y = archive.y[i];
            if (world == "sine") y += std::sin(day * std::numbers::pi / 20);
            if (world == "drift") y = archive.mu[i] + (1 + day / 500) * (y - archive.mu[i]) + day / 200;
            if (world == "blocks") y = archive.mu[i] + (i / 30 % 2 == 0 ? (i % 2 == 0 ? 1e4 : -1e4) : 0);
        }
        for (const double delay : {0, 5, 10, 20}) {
            ReplayOptions options;
            options.forget = "20";
            options.levels = {0.9};
            options.delay = fmt::format("{}", delay);
            SCOPED_TRACE(fmt::format("{}, delay {}", world, delay));
            const Replay replayed = replay(timed_model(), archive.rows(), options);
            expect_promise(replayed, archive, 0.9, std::max(0.0, delay - 1));
            // An update with the intervals that were issued has the same record.
            const Issued issued(replayed);
            TimedRows rows = archive.rows();
            rows.issued = {{issued.lower, issued.upper}};
            EXPECT_EQ(update(timed_model(), rows, options).state()->json().dump(), replayed.state.json().dump());
            // A lead is as late as a delay.
            if (delay == 0) continue;
            TimedRows led = archive.rows();
            const std::vector<double> leads(kDays, delay);
            led.leads = leads;
            options.delay.clear();
            expect_promise(replay(timed_model(), led, options), archive, 0.9, delay - 1);
        }
    }
}

}  // namespace
}  // namespace accrue
