// A small forecasting problem in which everything is real but the world.
//
// The world (Lorenz 1996, two scales): K = 8 slow variables X on a ring, each coupled to J = 32 fast ones Y; the
// 256 fast variables form one ring of their own.
//   dX_k/dt = -X_{k-1} (X_{k-2} - X_{k+1}) - X_k + F - (h c/b) sum_j Y_{j,k}
//   dY_j/dt = -c b Y_{j+1} (Y_{j+2} - Y_{j-1}) - c Y_j + (h c/b) X_{k(j)}          F = 20, h = 1, b = 10, c = 10
// The model sees the slow scale only and replaces the coupling term by a line in X_k, fitted by least squares on a
// stretch of the world before the archive starts:
//   dX_k/dt = -X_{k-1} (X_{k-2} - X_{k+1}) - X_k + F + intercept + slope X_k
// It starts from the true X (no analysis error), so a forecast is wrong only because of what the line leaves out and
// because the system, chaotic, amplifies it; observations are the true X. One time unit is about five days of weather.
//
// Rows: a forecast starts every time unit, and its rows are ordered by lead time, then site (1 to 8). Site k's error
// at the next start is nearly uncorrelated with this one (|r| up to 0.05), but the 40 rows of one start time share
// their causes: group by start_time. The error's sd grows from 0.1 at the shortest lead to 2 at the longest (X itself:
// mean 3.7, sd 5.1), and at a fixed lead it varies by a factor of 2 to 3 with the start values. The mean error is below
// a fifth of the sd at every lead; the line's misfit, a curve in X_k, shows as a bias that depends on `start`.
//
// Same numbers everywhere: the trajectory is chaotic, so the last place of one operation decides about the whole
// archive. Only + - * / are used, which IEEE 754 rounds correctly, in an order that the source fixes; no fused
// multiply-adds (CMakeLists.txt), no mathematical library, and uniform random numbers, which are one product each.
#include <algorithm>
#include <array>
#include <utility>

#include "core/random.hpp"
#include "generate/generators.hpp"

namespace accrue::generators {

namespace {

constexpr std::size_t kSites = 8;
constexpr std::size_t kFastPerSite = 32;
constexpr std::size_t kFast = kSites * kFastPerSite;
constexpr double kForcing = 20.0;
constexpr double kTimeScale = 10.0;                           // c: how much faster the fast variables are
constexpr double kSpaceScale = 10.0;                          // b: how much smaller they are
constexpr double kCoupling = 1.0 * kTimeScale / kSpaceScale;  // h c/b, with h = 1

// RK4 steps. Against a step of 0.0005 the truth's error is 4e-6 after the shortest lead and 0.02 after 0.4 units, where
// the model's is 0.1 and 0.7; the model's own is below 1e-5 (root mean square) at every lead. At 0.005 the truth is
// still stable.
constexpr double kTruthStep = 0.002;
constexpr std::size_t kTruthStepsPerUnit = 500;
constexpr double kModelStep = 0.005;

// Lead times double from 6 hours to 4 days of weather; in units of time and in steps of truth and model.
struct Lead {
    double time;
    std::size_t truth_steps;
    std::size_t model_steps;
};
constexpr std::array kLeads = {Lead{0.05, 25, 10}, Lead{0.1, 50, 20}, Lead{0.2, 100, 40}, Lead{0.4, 200, 80},
                               Lead{0.8, 400, 160}};
static_assert(kLeads.back().truth_steps <= kTruthStepsPerUnit, "a forecast ends before the next one starts");

// From random numbers to the attractor, and the stretch that the closure is fitted on, sampled every 0.1 units.
constexpr std::size_t kSpinUpSteps = 10 * kTruthStepsPerUnit;
constexpr std::size_t kTrainingSamples = 500;
constexpr std::size_t kTrainingInterval = kTruthStepsPerUnit / 10;

using Slow = std::array<double, kSites>;

// The advection and damping of Lorenz 1996 at site k, the part that truth and model share.
double slow_tendency(const Slow& x, std::size_t k) {
    const double left1 = x[(k + kSites - 1) % kSites];
    const double left2 = x[(k + kSites - 2) % kSites];
    const double right1 = x[(k + 1) % kSites];
    return left1 * (right1 - left2) - x[k] + kForcing;
}

class TwoScale {
public:
    explicit TwoScale(core::Random& random) {
        // Anywhere near the attractor will do: the spin-up forgets it.
        for (double& value : x_) value = 10.0 * random.uniform();
        for (std::size_t j = 0; j < kFast; ++j) y_.at(j) = random.uniform() - 0.5;
    }

    const Slow& slow() const { return x_; }

    // sum_j Y_{j,k} times -(h c/b): what the model has to guess.
    Slow coupling() const { return coupling_of(y_); }

    void advance(std::size_t steps) {
        for (std::size_t s = 0; s < steps; ++s) step();
    }

private:
    // The ring of fast variables, with the neighbours across its seam repeated at both ends so that the loop over it
    // has no wrap-around and vectorises. `close` repeats them.
    struct Ring {
        static constexpr std::size_t kBefore = 8;  // one is needed; eight keep the ring itself aligned
        static constexpr std::size_t kAfter = 8;   // two are needed
        alignas(64) std::array<double, kBefore + kFast + kAfter> values{};

        double& at(std::size_t j) { return values[kBefore + j]; }
        double* begin() { return values.data() + kBefore; }
        const double* begin() const { return values.data() + kBefore; }
        void close() {
            values[kBefore - 1] = at(kFast - 1);
            values[kBefore + kFast] = at(0);
            values[kBefore + kFast + 1] = at(1);
        }
    };

    // The order of each sum is part of the result: eight strided sums, then pairs.
    static Slow coupling_of(const Ring& y) {
        Slow term;
        for (std::size_t k = 0; k < kSites; ++k) {
            const double* fast = y.begin() + k * kFastPerSite;
            std::array<double, 8> sum{};
            for (std::size_t j = 0; j < kFastPerSite; j += 8)
                for (std::size_t lane = 0; lane < 8; ++lane) sum[lane] += fast[j + lane];
            const double total = ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
            term[k] = -kCoupling * total;
        }
        return term;
    }

    enum class Stage { first, middle, last };

    // One stage of RK4: the tendency at (x, y) enters the step's increment with its weight. The next point is the
    // origin plus `ahead` times the tendency or, after the last stage, plus the increment.
    template <Stage kStage>
    void stage(const Slow& x, Ring& y, double weight, double ahead, Slow& next_x, Ring& next_y) {
        y.close();
        const auto update = [=](double origin, double slope, double& increment) {
            const double share = weight * slope;
            increment = kStage == Stage::first ? share : increment + share;
            return origin + (kStage == Stage::last ? increment : ahead * slope);
        };
        const Slow term = coupling_of(y);
        for (std::size_t k = 0; k < kSites; ++k) next_x[k] = update(x_[k], slow_tendency(x, k) + term[k], dx_[k]);
        for (std::size_t k = 0; k < kSites; ++k) {
            const double forcing = kCoupling * x[k];
            const double* left = y.begin() + k * kFastPerSite - 1;
            const double* origin = y_.begin() + k * kFastPerSite;
            double* increment = dy_.begin() + k * kFastPerSite;
            double* next = next_y.begin() + k * kFastPerSite;
            for (std::size_t j = 0; j < kFastPerSite; ++j) {
                const double advection = (kTimeScale * kSpaceScale) * (left[j + 2] * (left[j] - left[j + 3]));
                next[j] = update(origin[j], advection - kTimeScale * left[j + 1] + forcing, increment[j]);
            }
        }
    }

    void step() {
        constexpr double kHalf = kTruthStep / 2.0;
        constexpr double kThird = kTruthStep / 3.0;
        constexpr double kSixth = kTruthStep / 6.0;
        stage<Stage::first>(x_, y_, kSixth, kHalf, stage_x_[0], stage_y_[0]);
        stage<Stage::middle>(stage_x_[0], stage_y_[0], kThird, kHalf, stage_x_[1], stage_y_[1]);
        stage<Stage::middle>(stage_x_[1], stage_y_[1], kThird, kTruthStep, stage_x_[0], stage_y_[0]);
        stage<Stage::last>(stage_x_[0], stage_y_[0], kSixth, 0.0, x_, y_);
    }

    Slow x_;
    Ring y_;
    Slow dx_{};
    Ring dy_;
    std::array<Slow, 2> stage_x_{};
    std::array<Ring, 2> stage_y_;
};

class Model {
public:
    // Fits the closure while the truth runs on.
    explicit Model(TwoScale& truth) {
        double sum_x = 0.0;
        double sum_u = 0.0;
        double sum_xx = 0.0;
        double sum_xu = 0.0;
        for (std::size_t sample = 0; sample < kTrainingSamples; ++sample) {
            truth.advance(kTrainingInterval);
            const Slow u = truth.coupling();
            for (std::size_t k = 0; k < kSites; ++k) {
                const double x = truth.slow()[k];
                sum_x += x;
                sum_u += u[k];
                sum_xx += x * x;
                sum_xu += x * u[k];
            }
        }
        constexpr double kCount = static_cast<double>(kTrainingSamples * kSites);
        slope_ = (kCount * sum_xu - sum_x * sum_u) / (kCount * sum_xx - sum_x * sum_x);
        intercept_ = (sum_u - slope_ * sum_x) / kCount;
    }

    void advance(Slow& x, std::size_t steps) const {
        for (std::size_t s = 0; s < steps; ++s) {
            const Slow k1 = tendency(x);
            const Slow k2 = tendency(ahead(x, kModelStep / 2.0, k1));
            const Slow k3 = tendency(ahead(x, kModelStep / 2.0, k2));
            const Slow k4 = tendency(ahead(x, kModelStep, k3));
            for (std::size_t k = 0; k < kSites; ++k)
                x[k] += (kModelStep / 6.0) * ((k1[k] + k4[k]) + 2.0 * (k2[k] + k3[k]));
        }
    }

private:
    Slow tendency(const Slow& x) const {
        Slow slope;
        for (std::size_t k = 0; k < kSites; ++k) slope[k] = slow_tendency(x, k) + (intercept_ + slope_ * x[k]);
        return slope;
    }

    static Slow ahead(const Slow& x, double time, const Slow& slope) {
        Slow there;
        for (std::size_t k = 0; k < kSites; ++k) there[k] = x[k] + time * slope[k];
        return there;
    }

    double intercept_ = 0.0;
    double slope_ = 0.0;

public:
    // The closure as a later version of the model has it, which is worse: the CRPS of its errors grows to about three
    // times as much.
    Model changed() const {
        Model other = *this;
        other.intercept_ += 1.5;
        other.slope_ *= 0.5;
        return other;
    }
};

}  // namespace

GeneratedData changing_lorenz(std::size_t rows, std::uint64_t seed, double change_at) {
    GeneratedData data;
    data.names = {"start_time", "lead_time",    "site",         "start_left2", "start_left1",
                  "start",      "start_right1", "start_right2", "prediction",  "observation"};
    data.columns.resize(data.names.size());
    for (std::vector<double>& column : data.columns) column.reserve(rows);

    core::Random random(seed);
    TwoScale truth(random);
    truth.advance(kSpinUpSteps);
    Model model(truth);
    bool changed = false;

    // Neither the spin-up nor the fit depends on `rows`: a longer archive starts with the rows of a shorter one.
    std::size_t written = 0;
    for (std::size_t unit = 0; written < rows; ++unit) {
        if (!changed && static_cast<double>(written) >= change_at * static_cast<double>(rows)) {
            model = model.changed();
            changed = true;
        }
        const Slow start = truth.slow();
        Slow forecast = start;
        std::size_t truth_steps = 0;
        std::size_t model_steps = 0;
        for (const Lead& lead : kLeads) {
            truth.advance(lead.truth_steps - std::exchange(truth_steps, lead.truth_steps));
            model.advance(forecast, lead.model_steps - std::exchange(model_steps, lead.model_steps));
            const std::size_t sites = std::min(kSites, rows - written);
            for (std::size_t k = 0; k < sites; ++k) {
                const auto neighbour = [&](std::size_t offset) { return start[(k + offset) % kSites]; };
                const std::array values = {static_cast<double>(unit),
                                           lead.time,
                                           static_cast<double>(k + 1),
                                           neighbour(kSites - 2),
                                           neighbour(kSites - 1),
                                           start[k],
                                           neighbour(1),
                                           neighbour(2),
                                           forecast[k],
                                           truth.slow()[k]};
                for (std::size_t c = 0; c < values.size(); ++c) data.columns[c].push_back(values[c]);
            }
            written += sites;
            if (written == rows) return data;
        }
        truth.advance(kTruthStepsPerUnit - truth_steps);
    }
    return data;
}

GeneratedData lorenz(std::size_t rows, std::uint64_t seed) {
    constexpr double kNever = 2;
    return changing_lorenz(rows, seed, kNever);
}

}  // namespace accrue::generators
