// What a model has learned from observations that came after its fit: how the normal scores of its forecasts have
// moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accrue/model.hpp"

namespace accrue {

// The shift and scale of the normal scores of a row's forecast (accrue/adapted.hpp).
struct Moved {
    double shift = 0;
    double scale = 1;
};

// The forecasts after their normal scores have moved, a move for every row; and the family that they then have: a
// normal forecast stays one.
Forecast adapted(const Forecast& forecast, std::span<const Moved> moves);
SharedFamily adapted_family(const SharedFamily& family);

// What a state is made with; it keeps this for good.
struct StateOptions {
    std::string time;        // column of the times, by which the state has its clock
    std::string group = {};  // column of groups that have a shift of their own, such as stations; empty: none
    bool dates = false;      // times are seconds since 1970, not plain numbers
    // How old an observation is when its weight has fallen to 1/e, in the unit of the times (seconds for dates);
    // infinity: nothing is forgotten. And how far the fitted sigmas are trusted to tell rows apart: 1 fully, 0 not at
    // all. Of several, the pair whose forecasts had the lowest CRPS so far is used at every moment.
    std::vector<double> forget = {};  // empty: forget_candidates()
    std::vector<double> trust = {1, 0.5, 0};
    // As many observations as these speak for the fitted model, and of a group for what all groups have in common.
    double shrink = 4;
    std::vector<std::string> correct = {};  // inputs in which the shift is linear as well
    double ridge = 16;                      // as many observations speak for no such correction
    std::vector<double> levels = {};        // of intervals with a long-run coverage (State::tails)
    double rate = 0.02;                     // by which their tails move at an observation
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

// [STATE] A row's normal score z is believed to be N(k shift, (k scale)^2) with k = (sigma/s)^(trust - 1), s being the
// geometric mean of the sigmas seen. The shift is b0 + b x + g: b by a ridge regression over all observations with
// weights exp(-age/forget), towards 0 by `shrink` (b0) and `ridge` (b) observations; g, of the row's group, the mean of
// what is left, towards 0 by `shrink`. The scale is the mean of what the shifts forecast before left, as sqrt(pi/2)
// times its absolute value, towards 1 by `shrink`. For the shift an observation counts as lying at most
// kFarthestForShift scales from its forecast, for the scale kFarthestForScale: single rows move neither far. The CRPS
// by which candidates are chosen is that of the normal z, times sigma. A state is a function of the observations in the
// order of their times: the same, byte for byte, whether they came at once or day by day.
class State {
public:
    static constexpr double kFarthestForShift = 1;
    static constexpr double kFarthestForScale = 2.5;

    // Throws InputError for an option out of range.
    explicit State(StateOptions options);

    const StateOptions& options() const { return options_; }
    double clock() const { return clock_; }  // of the last observation; -infinity before the first
    std::size_t rows() const { return rows_; }
    std::size_t steps() const { return steps_; }  // different times
    // Those in use.
    double forget() const { return options_.forget[best_ / options_.trust.size()]; }
    double trust() const { return options_.trust[best_ % options_.trust.size()]; }

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
    // Sums with the weights of one forgetting time each, as they were when the last observation was added: of every
    // candidate side by side, so that a row is added to all of them at once.
    struct Sums {
        std::vector<double> left;  // by forecasts, as the scale takes it
        std::vector<double> log_sigmas;
        std::vector<double> products;  // of (1, x) with itself, the lower triangle by rows: the first is the weight
        std::vector<double> scores;    // of (1, x) with the score
        std::vector<double> loss;      // CRPS of all forecasts so far
        // Of every group, one after the other, each as of its own last time: of (1, x), and of scores.
        std::vector<double> groups;
    };

    std::size_t width() const { return options_.correct.size() + 1; }
    // A candidate is a forgetting time with a trust: forget[0] with every trust, then forget[1].
    std::size_t candidates() const { return options_.forget.size() * options_.trust.size(); }
    double forget(std::size_t candidate) const { return options_.forget[candidate / options_.trust.size()]; }
    double trust(std::size_t candidate) const { return options_.trust[candidate % options_.trust.size()]; }
    void add_group(const std::string& label, double time);
    // By how much the weights of every candidate fall in this time.
    const std::vector<double>& fades(double gap);
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
