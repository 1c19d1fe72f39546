#include "optimise/minimise.hpp"

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace accrue::optimise {
namespace {

constexpr Method kMethods[] = {Method::lbfgs, Method::bfgs};

bool rosenbrock(std::span<const double> x, double& value, std::span<double> gradient) {
    const double a = 1 - x[0];
    const double b = x[1] - x[0] * x[0];
    value = a * a + 100 * b * b;
    if (!gradient.empty()) {
        gradient[0] = -2 * a - 400 * x[0] * b;
        gradient[1] = 200 * b;
    }
    return true;
}

// Least at 3, and defined only below 1: the best that may be reached is near 1.
bool walled(std::span<const double> x, double& value, std::span<double> gradient) {
    if (x[0] >= 1) return false;
    value = (x[0] - 3) * (x[0] - 3);
    if (!gradient.empty()) gradient[0] = 2 * (x[0] - 3);
    return true;
}

Watch go_on(int, std::span<const double>, double) {
    return Watch::go_on;
}

Options tight(Method method) {
    return {.method = method, .max_iterations = 400, .function_tolerance = 1e-14, .gradient_tolerance = 1e-10};
}

TEST(Minimise, FindsTheMinimumOfRosenbrock) {
    for (const Method method : kMethods) {
        const Outcome outcome = minimise(rosenbrock, {-1.2, 1}, go_on, tight(method));
        EXPECT_NEAR(outcome.x[0], 1, 1e-6);
        EXPECT_NEAR(outcome.x[1], 1, 1e-6);
        EXPECT_LT(outcome.value, 1e-12);
        EXPECT_EQ(outcome.reason, Reason::converged);
        EXPECT_GT(outcome.iterations, 5);
        EXPECT_GE(outcome.evaluations, outcome.iterations);
    }
}

TEST(Minimise, ShowsTheWatcherWhatItHas) {
    for (const Method method : kMethods) {
        int expected = 0;
        double last = INFINITY;
        const auto watcher = [&](int iteration, std::span<const double> x, double value) {
            EXPECT_EQ(iteration, expected++);
            double own = 0;
            rosenbrock(x, own, {});
            EXPECT_EQ(own, value) << "the watcher sees other parameters than those of the value";
            EXPECT_LE(value, last);
            last = value;
            return Watch::go_on;
        };
        const Outcome outcome = minimise(rosenbrock, {-1.2, 1}, watcher, tight(method));
        EXPECT_EQ(outcome.iterations + 1, expected);
        EXPECT_EQ(outcome.value, last);
    }
}

TEST(Minimise, StopsWhenTheWatcherSaysSo) {
    for (const Method method : kMethods)
        for (const int when : {0, 1, 7}) {
            std::vector<double> seen;
            const auto watcher = [&](int iteration, std::span<const double> x, double) {
                seen.assign(x.begin(), x.end());
                return iteration == when ? Watch::stop : Watch::go_on;
            };
            const Outcome outcome = minimise(rosenbrock, {-1.2, 1}, watcher, tight(method));
            EXPECT_EQ(outcome.reason, Reason::stopped_by_watcher);
            EXPECT_EQ(outcome.iterations, when);
            EXPECT_EQ(outcome.x, seen);
        }
}

TEST(Minimise, StopsAfterTheMostIterations) {
    Options options = tight(Method::lbfgs);
    options.max_iterations = 3;
    const Outcome outcome = minimise(rosenbrock, {-1.2, 1}, go_on, options);
    EXPECT_EQ(outcome.reason, Reason::max_iterations);
    EXPECT_EQ(outcome.iterations, 3);
}

TEST(Minimise, NeverEndsWhereTheFunctionIsNotDefined) {
    for (const Method method : kMethods) {
        const auto watcher = [](int, std::span<const double> x, double) {
            EXPECT_LT(x[0], 1);
            return Watch::go_on;
        };
        const Outcome outcome = minimise(walled, {-2}, watcher, tight(method));
        EXPECT_LT(outcome.x[0], 1);
        EXPECT_GE(outcome.x[0], -2);
        double value = 0;
        ASSERT_TRUE(walled(outcome.x, value, {}));
        EXPECT_EQ(value, outcome.value);
    }
}

TEST(Minimise, ASlopeThatIsNoNumberIsWhereTheFunctionIsNotDefined) {
    for (const Method method : kMethods) {
        const auto torn = [](std::span<const double> x, double& value, std::span<double> gradient) {
            value = (x[0] - 3) * (x[0] - 3);
            if (!gradient.empty()) gradient[0] = x[0] < 1 ? 2 * (x[0] - 3) : NAN;
            return true;
        };
        const Outcome outcome = minimise(
            torn, {-2}, [](int, std::span<const double>, double) { return Watch::go_on; }, tight(method));
        EXPECT_TRUE(std::isfinite(outcome.value));
        EXPECT_LE(outcome.value, 25);
    }
}

TEST(Minimise, AStartAtTheMinimumIsShownToo) {
    for (const Method method : kMethods) {
        int shown = 0;
        const auto watcher = [&](int iteration, std::span<const double> x, double value) {
            ++shown;
            EXPECT_EQ(iteration, 0);
            EXPECT_EQ(x[0], 1);
            EXPECT_EQ(value, 0);
            return Watch::go_on;
        };
        const Outcome outcome = minimise(rosenbrock, {1, 1}, watcher, tight(method));
        EXPECT_EQ(shown, 1);
        EXPECT_EQ(outcome.reason, Reason::converged);
        EXPECT_EQ(outcome.iterations, 0);
        EXPECT_EQ(outcome.value, 0);
    }
}

TEST(Minimise, AStartWithoutAValueIsAnOutcomeToo) {
    for (const Method method : kMethods) {
        const Outcome outcome = minimise(walled, {2}, go_on, tight(method));
        EXPECT_EQ(outcome.reason, Reason::no_step);
        EXPECT_EQ(outcome.x, std::vector<double>{2});
        EXPECT_EQ(outcome.iterations, 0);
        EXPECT_EQ(outcome.value, INFINITY);
    }
}

TEST(Minimise, PrintsNothingWhenTheLineSearchFails) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    for (const Method method : kMethods) {
        // The gradient points the wrong way: no step along it is better.
        const auto liar = [](std::span<const double> x, double& value, std::span<double> gradient) {
            value = x[0] * x[0];
            if (!gradient.empty()) gradient[0] = -2 * x[0];
            return true;
        };
        minimise(liar, {1}, go_on, tight(method));
        minimise(walled, {-2}, go_on, tight(method));
        minimise(walled, {2}, go_on, tight(method));
    }
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Minimise, LeavesTheLogLevelOfTheProcessAsItIs) {
    const int before = FLAGS_minloglevel;
    for (const int level : {google::GLOG_INFO, google::GLOG_ERROR}) {
        FLAGS_minloglevel = level;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([] {
                for (int i = 0; i < 20; ++i) minimise(rosenbrock, {-1.2, 1}, go_on, tight(Method::lbfgs));
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(FLAGS_minloglevel, level);
    }
    FLAGS_minloglevel = before;
}

TEST(Minimise, ReasonsHaveWords) {
    EXPECT_EQ(to_string(Reason::stopped_by_watcher), "stopped early");
    EXPECT_EQ(to_string(Reason::converged), "converged");
    EXPECT_EQ(to_string(Reason::max_iterations), "maximum number of iterations reached");
    EXPECT_EQ(to_string(Reason::no_step), "no better step found");
}

TEST(Adam, GoesToTheMinimumAndShowsItsSteps) {
    Options options;
    options.method = Method::adam;
    options.max_iterations = 2000;
    std::vector<int> shown;
    const Outcome outcome = minimise(
        [](std::span<const double> x, double& value, std::span<double> gradient) {
            value = (x[0] - 1) * (x[0] - 1) + 10 * (x[1] + 2) * (x[1] + 2);
            if (!gradient.empty()) {
                gradient[0] = 2 * (x[0] - 1);
                gradient[1] = 20 * (x[1] + 2);
            }
            return true;
        },
        {0, 0},
        [&](int iteration, std::span<const double>, double) {
            shown.push_back(iteration);
            return Watch::go_on;
        },
        options);
    // Its last steps are as long as the last rate.
    EXPECT_NEAR(outcome.x[0], 1, 10 * kAdamLastRate);
    EXPECT_NEAR(outcome.x[1], -2, 10 * kAdamLastRate);
    EXPECT_EQ(outcome.reason, Reason::max_iterations);
    EXPECT_EQ(outcome.iterations, 2000);
    ASSERT_GT(shown.size(), 3U);
    EXPECT_EQ(shown[1], kAdamWatched);
    EXPECT_EQ(shown.back(), 2000);
}

TEST(Adam, MinimisesTheMeanOfItsParts) {
    const auto about = [](double centre) -> Function {
        return [centre](std::span<const double> x, double& value, std::span<double> gradient) {
            value = (x[0] - centre) * (x[0] - centre);
            if (!gradient.empty()) gradient[0] = 2 * (x[0] - centre);
            return true;
        };
    };
    const std::vector<Function> parts = {about(0), about(1), about(5)};
    Options options;
    options.max_iterations = 3000;
    const Outcome outcome = minimise_parts(parts, {4}, go_on, options);
    EXPECT_NEAR(outcome.x[0], 2, 0.02);
}

TEST(Adam, StopsWhereItIsToldToAndWhereThereIsNoValue) {
    Options options;
    options.method = Method::adam;
    const auto stop = [](int iteration, std::span<const double>, double) {
        return iteration >= 20 ? Watch::stop : Watch::go_on;
    };
    EXPECT_EQ(minimise(rosenbrock, {-1.2, 1}, stop, options).iterations, 20);
    EXPECT_EQ(minimise(rosenbrock, {-1.2, 1}, stop, options).reason, Reason::stopped_by_watcher);
    EXPECT_EQ(minimise(walled, {0.99}, go_on, options).reason, Reason::no_step);
    EXPECT_TRUE(std::isinf(minimise(walled, {2}, go_on, options).value));
}

}  // namespace
}  // namespace accrue::optimise
