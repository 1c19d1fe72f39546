// What a model has learned from observations that came after its fit: how the normal scores of its forecasts have
// moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accrue/model.hpp"

namespace accrue {

// The shift and scale of the normal scores of a row's forecast, and what is added to the moved ones at the knots of
// their shape (accrue/adapted.hpp); null: nothing.
struct Moved {
    double shift = 0;
    double scale = 1;
    std::shared_ptr<const std::vector<double>> shape = nullptr;
};

// The forecasts after their normal scores have moved, a move for every row; and the family that they then have: a
// normal forecast stays one unless it is shaped.
Forecast adapted(const Forecast& forecast, std::span<const Moved> moves, bool shaped = false);
SharedFamily adapted_family(const SharedFamily& family, bool shaped = false);

// What a state is made with; it keeps this for good.
struct StateOptions {
    std::string time;        // column of the times, by which the state has its clock
    std::string group = {};  // column of groups that have a shift of their own, such as stations; empty: none
    bool dates = false;      // times are seconds since 1970, not plain numbers
    // How old an observation is when its weight has fallen to 1/e, in the unit of the times (seconds for dates);
    // infinity: nothing is forgotten. How far the fitted sigmas are trusted to tell rows apart: 1 fully, 0 not at all.
    // And how many observations speak for the fitted model, and of a group for what all groups have in common. Of
    // several, those whose forecasts had the lowest CRPS so far are used at every moment.
    std::vector<double> forget = {};  // empty: forget_candidates()
    std::vector<double> trust = {1, 0.5, 0};
    std::vector<double> shrink = {4};
    std::vector<std::string> correct = {};  // inputs in which the shift is linear as well
    double ridge = 16;                      // as many observations speak for no such correction
    std::vector<double> levels = {};        // of intervals with a long-run coverage (State::tails)
    double rate = 0.02;                     // by which their tails move at an observation
    // Whether the shape of the moved scores is learned too: at every moment with the forgetting time that had the
    // lowest CRPS so far, or not at all.
    bool shape = false;
};

// The interval of a moved forecast that leaves out this tail (State::tails), in its row's standard deviations around
// the mean; it may be infinite.
std::pair<double, double> adaptive_interval(const Standardised& row, double tail);

// The probability, by a moved forecast, of a normal score at least as far out as this one: where it is less than a
// tail, the row lies outside of that tail's interval.
double tail_of(double score, const Moved& moved);

// The forgetting times to choose from where nobody named one: 5 days to 160 days and never; of plain numbers the same
// with 1 for a day.
std::vector<double> forget_candidates(bool dates);
// And the numbers of observations: 4, the default, first, then 1, 16 and 64.
std::vector<double> shrink_candidates();

// [STATE] A row's normal score z is believed to be N(k shift, (k scale)^2) with k = (sigma/s)^(trust - 1), s being the
// geometric mean of the sigmas seen. The shift is b0 + b x + g: b by a ridge regression over all observations with
// weights exp(-age/forget), towards 0 by `shrink` (b0) and `ridge` (b) observations; g, of the row's group, the mean of
// what is left, towards 0 by `shrink`. The scale is the mean of what the shifts forecast before left, as sqrt(pi/2)
// times its absolute value, towards 1 by `shrink`. For the shift an observation counts as lying at most
// kFarthestForShift scales from its forecast, for the scale kFarthestForScale: single rows move neither far. The CRPS
// by which candidates are chosen is that of the normal z, times sigma. What a forgetting time and a trust have summed
// up serves every `shrink`: for the shift an observation counts as it lies from what the best of these forecast. A
// state is a function of the observations in the order of their times: the same, byte for byte, whether they came at
// once or day by day.
// [SHAPE] With `shape` the scores that the moves in use leave are counted in 16 bins that are equally probable, with
// weights exp(-age/forget), kShapePrior being spread over all of them; forecasts are mapped through the polygon between
// normal scores that makes the counts equal.
class State {
public:
    static constexpr double kFarthestForShift = 1;
    static constexpr double kFarthestForScale = 2.5;
    static constexpr double kShapePrior = 128;

    // Throws InputError for an option out of range.
    explicit State(StateOptions options);

    const StateOptions& options() const { return options_; }
    double clock() const { return clock_; }  // of the last observation; -infinity before the first
    std::size_t rows() const { return rows_; }
    std::size_t steps() const { return steps_; }  // different times
    // Those in use.
    double forget() const { return forget(pair(best_)); }
    double trust() const { return trust(pair(best_)); }
    double shrink() const { return shrink(best_); }

    // A group's number, kNoGroup where it was never seen: it has what all have in common.
    static constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();
    std::size_t group(const std::string& label) const;

    // What holds at one time, which is not before the clock. The state must outlive it.
    class Moment {
    public:
        // Of a row with this sigma of the fitted model; x has a value for each of `correct`.
        Moved of(double sigma, std::size_t group, std::span<const double> x) const;

    private:
        friend State;
        Moment(const State& state, std::size_t candidate, double time);
        double unit(double sigma) const;  // k
        // Before it is multiplied with k.
        double shift(std::size_t group, std::span<const double> x) const;

        const State& state_;
        std::size_t candidate_;
        double time_;
        std::vector<double> coefficients_;
        double scale_ = 1;
        double log_unit_ = 0;  // log s; not used before the first observation
        std::shared_ptr<const std::vector<double>> shape_;
    };
    Moment at(double time) const { return {*this, best_, time}; }

    // What was observed: a row's normal score by the fitted model, its sigma, the label of its group, and x.
    struct Observation {
        double score;
        double sigma;
        std::string_view group;
        std::span<const double> x;
        // Of every level, whether it fell outside the interval that was issued for it. Empty: outside of one that is
        // made now, from all that came before.
        std::span<const std::uint8_t> missed = {};
    };
    // All observations of one time, which must lie after the clock.
    void observe(double time, std::span<const Observation> rows);

    // Of every level: the probability to leave out at both ends together, by which an interval of the moved forecast
    // covers that level in the long run. 0 or less: the interval is infinite; 1 or more: it is the median, and what it
    // covers is counted as missed. Every time moves a tail a by rate*(1 - level - share missed). Where no row is
    // forecast with more than D earlier times still unobserved, -(D + 1)*rate*level < a <= 1 + (D + 1)*rate*(1 -
    // level): at 0 nothing is missed any more but what was forecast before, and those are D times at most. So over T
    // times in a row the mean share that is not missed lies within (1 + (D + 1)*rate)/(rate*T) of the level whatever is
    // observed, and over the first T within (max(level, 1 - level) + (D + 1)*rate)/(rate*T).
    const std::vector<double>& tails() const { return tails_; }
    // Goes on with those of a state of the same levels: what they promise is about the whole record.
    void continue_tails(const State& before);

    // The object in the model file (docs/model-file.md). from_json throws InputError for what is no state.
    nlohmann::ordered_json json() const;
    static State from_json(const nlohmann::ordered_json& json);

private:
    // Sums with the weights of one forgetting time each, as they were when the last observation was added. Of every
    // candidate side by side, so that a row is added to all of them at once:
    struct Sums {
        std::vector<double> left;  // by forecasts, as the scale takes it
        std::vector<double> loss;  // CRPS of all forecasts so far
        // Of every pair:
        std::vector<double> log_sigmas;
        std::vector<double> products;  // of (1, x) with itself, the lower triangle by rows: the first is the weight
        std::vector<double> scores;    // of (1, x) with the score
        // Of every group, one after the other, each as of its own last time: of (1, x), and of scores.
        std::vector<double> groups;
        // Of `shape`: of every forgetting time what is in each bin; CRPS of all forecasts so far without a shape, and
        // with that of each forgetting time.
        std::vector<double> shape_counts, shape_loss;
    };

    std::size_t width() const { return options_.correct.size() + 1; }
    // A pair is a forgetting time with a trust: forget[0] with every trust, then forget[1]. A candidate is a pair with
    // a shrink: all pairs with shrink[0], then all with shrink[1].
    std::size_t pairs() const { return options_.forget.size() * options_.trust.size(); }
    std::size_t candidates() const { return pairs() * options_.shrink.size(); }
    std::size_t pair(std::size_t candidate) const { return candidate % pairs(); }
    double forget(std::size_t pair) const { return options_.forget[pair / options_.trust.size()]; }
    double trust(std::size_t pair) const { return options_.trust[pair % options_.trust.size()]; }
    double shrink(std::size_t candidate) const { return options_.shrink[candidate / pairs()]; }
    // That of a pair with the lowest loss so far, the first of equals.
    std::size_t best_of(std::size_t pair) const;
    void add_group(const std::string& label, double time);
    // By how much the weights of every pair fall in this time.
    const std::vector<double>& fades(double gap);
    // The shape of a forgetting time, counts being as much less as `gap` is long.
    std::vector<double> shape(std::size_t forget, double gap) const;
    void count_shape(double time, std::span<const Observation> rows, std::span<const std::size_t> groups);
    void move_tails(double time, std::span<const Observation> rows, std::span<const std::size_t> groups);

    StateOptions options_;
    double clock_ = -std::numeric_limits<double>::infinity();
    std::size_t rows_ = 0;
    std::size_t steps_ = 0;
    std::size_t best_ = 0;
    Sums sums_;
    std::vector<std::string> labels_;
    std::unordered_map<std::string, std::size_t> groups_;
    std::vector<double> group_times_;
    std::vector<double> tails_;
    double gap_ = -1;  // of fades_; times are mostly as far apart as those before
    std::vector<double> fades_;
};

}  // namespace accrue
