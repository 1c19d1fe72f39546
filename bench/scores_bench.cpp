// The accuracy-reliability cost with its gradient: as evaluate computes it, as the inner loop of a fit does, and in
// scalar; its ranks alone; the mean CRPS.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "objective.hpp"
#include "scores/ranks.hpp"
#include "suite.hpp"

namespace accrue::bench {

namespace {

// An error and a sigma come in, a slope goes out.
constexpr RowCost kScoreCost{3 * sizeof(double), 0};

struct Rows {
    std::vector<double> errors, sigmas, log_sigmas, out;
    explicit Rows(std::size_t n) : errors(n), sigmas(n), log_sigmas(n), out(n) {
        std::mt19937_64 engine(1);
        std::normal_distribution<double> normal;
        std::uniform_real_distribution<double> spread(0.2, 2);
        for (std::size_t i = 0; i < n; ++i) {
            sigmas[i] = spread(engine);
            log_sigmas[i] = std::log(sigmas[i]);
            errors[i] = sigmas[i] * normal(engine);
        }
    }
};

// Of the size that was asked for last: repetitions come in any order, and the rows take longer to make than to score.
Rows& rows_of(benchmark::State& state) {
    static std::vector<std::unique_ptr<Rows>> made;
    const auto n = static_cast<std::size_t>(state.range(0));
    for (const auto& rows : made)
        if (rows->errors.size() == n) return *rows;
    return *made.emplace_back(std::make_unique<Rows>(n));
}

void accuracy_reliability_reference(benchmark::State& state) {
    Rows& rows = rows_of(state);
    for (auto _ : state)
        benchmark::DoNotOptimize(reference::accuracy_reliability(rows.errors, rows.sigmas, 0.4, {}, rows.out));
    count_rows(state, rows.errors.size(), kScoreCost);
}

void accuracy_reliability(benchmark::State& state) {
    Rows& rows = rows_of(state);
    ScoreWorkspace workspace;
    with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state)
            benchmark::DoNotOptimize(
                accrue::accuracy_reliability(rows.errors, rows.sigmas, 0.4, {}, rows.out, &workspace));
    });
    count_rows(state, rows.errors.size(), kScoreCost);
}

// A sigma that costs nothing: an objective over it is the score as the inner loop of a fit computes it, from log sigma
// to the slopes, and next to nothing else. Its one parameter changes the order of the rows, as a step of a fit does.
class Given final : public fields::Field {
public:
    explicit Given(std::span<const double> log_sigmas) : log_sigmas_(log_sigmas) {}

    std::string_view name() const override { return "given"; }
    std::size_t parameters() const override { return 1; }
    std::vector<double> start(core::Random&, std::span<const double>) const override { return {1}; }
    void values(std::span<const double> parameters, const fields::Columns&, std::size_t begin, std::size_t end,
                double* out, std::size_t) const override {
        for (std::size_t i = begin; i < end; ++i) out[i - begin] = parameters[0] * log_sigmas_[i];
    }
    void add_gradient(std::span<const double>, const fields::Columns&, std::size_t, std::size_t, const double* slopes,
                      std::size_t, double* gradient) const override {
        gradient[0] += slopes[0];  // the slopes are what is measured; bringing them to parameters is a form's work
    }

private:
    std::span<const double> log_sigmas_;
};

void score_in_fit(benchmark::State& state) {
    const Rows& rows = rows_of(state);
    const std::size_t n = rows.errors.size();
    const Given form(rows.log_sigmas);
    const auto objective = make_objective(form, {nullptr, n, 0}, rows.errors, {fitting::Score::Kind::ar, 0.4},
                                          fitting::Objective::of_descent(n));
    double step = 0;
    double gradient = 0;
    with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state) {
            const double parameter = 1 + 0.05 * std::sin(++step);
            double cost = 0;
            (*objective)({&parameter, 1}, cost, {&gradient, 1});
            benchmark::DoNotOptimize(cost);
        }
    });
    count_rows(state, n, kScoreCost);
}

std::vector<double> standardised(const Rows& rows) {
    std::vector<double> t(rows.errors.size());
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = rows.errors[i] / rows.sigmas[i];
    return t;
}

// A t comes in, its place goes out.
constexpr RowCost kRankCost{2 * sizeof(double), 0};

void ranks(benchmark::State& state) {
    Rows& rows = rows_of(state);
    const std::vector<double> t = standardised(rows);
    scores::RankBuffers buffers;
    with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state) {
            scores::mid_ranks(t, {}, static_cast<double>(t.size()), rows.out, buffers);
            benchmark::DoNotOptimize(rows.out.data());
        }
    });
    count_rows(state, t.size(), kRankCost);
}

void ranks_reference(benchmark::State& state) {
    Rows& rows = rows_of(state);
    const std::vector<double> t = standardised(rows);
    std::vector<std::pair<double, std::size_t>> sorted(t.size());
    for (auto _ : state) {
        for (std::size_t i = 0; i < t.size(); ++i) sorted[i] = {t[i], i};
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < t.size(); ++i)
            rows.out[sorted[i].second] = (2 * static_cast<double>(i) + 1) / static_cast<double>(t.size());
        benchmark::DoNotOptimize(rows.out.data());
    }
    count_rows(state, t.size(), kRankCost);
}

void mean_crps(benchmark::State& state) {
    Rows& rows = rows_of(state);
    with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state) benchmark::DoNotOptimize(accrue::mean_crps(rows.errors, rows.sigmas, {}, rows.out));
    });
    count_rows(state, rows.errors.size(), kScoreCost);
}

void mean_crps_reference(benchmark::State& state) {
    Rows& rows = rows_of(state);
    const auto n = static_cast<double>(rows.errors.size());
    for (auto _ : state) {
        double sum = 0;
        for (std::size_t i = 0; i < rows.errors.size(); ++i) {
            const ValueAndSlope row = reference::crps(rows.errors[i], rows.sigmas[i]);
            sum += row.value;
            rows.out[i] = row.slope / n;
        }
        benchmark::DoNotOptimize(sum);
    }
    count_rows(state, rows.errors.size(), kScoreCost);
}

const std::vector<std::int64_t> kSizes = {100, 10'000, 1'000'000, 10'000'000};
constexpr std::int64_t kMillion = 1'000'000;

BENCHMARK(accuracy_reliability_reference)->ArgName("rows")->ArgsProduct({kSizes})->UseRealTime();
BENCHMARK(accuracy_reliability)->ArgNames({"rows", "threads"})->ArgsProduct({kSizes, thread_counts()})->UseRealTime();
BENCHMARK(score_in_fit)->ArgNames({"rows", "threads"})->ArgsProduct({kSizes, thread_counts()})->UseRealTime();
BENCHMARK(ranks_reference)->ArgName("rows")->Arg(kMillion)->UseRealTime();
BENCHMARK(ranks)->ArgNames({"rows", "threads"})->ArgsProduct({{kMillion}, thread_counts()})->UseRealTime();
BENCHMARK(mean_crps_reference)->ArgName("rows")->Arg(kMillion)->UseRealTime();
BENCHMARK(mean_crps)->ArgNames({"rows", "threads"})->ArgsProduct({{kMillion}, thread_counts()})->UseRealTime();

}  // namespace

}  // namespace accrue::bench
