// A fitted model: from inputs and a prediction to a forecast. Kept in a file that checks itself.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "accrue/family.hpp"
#include "accrue/inputs.hpp"

namespace accrue {

class State;

// The forecast of one row. Mean and sigma are the distribution's own mean and standard deviation, whatever its family.
struct Distribution {
    double mean;
    double sigma;
    SharedFamily family = normal_family();
    std::vector<double> parameters = {};  // of families that have some: as Families has them for a row

    // y = location + scale*u (family.hpp). Of a recalibrated Gaussian: mean and sigma before recalibration.
    double location() const;
    double scale() const;

    double pdf(double y) const;
    double cdf(double y) const;
    double quantile(double probability) const;  // throws InputError unless 0 < probability < 1
    double crps(double y) const;
    struct Interval {
        double low;
        double high;
    };
    Interval interval(double level) const;  // central; throws InputError unless 0 < level < 1
    double exceeding(double y) const;       // the probability of more than y
    // `count` draws; the same seed gives the same numbers.
    std::vector<double> sample(std::size_t count, std::uint64_t seed) const;

private:
    Standardised standardised() const;
};

// Forecasts of many rows. A row with a missing (NaN) input has NaN for its figures.
struct Forecast {
    // Mean and standard deviation of the forecasts. A Gaussian's mean is the prediction + bias correction, or the
    // model's own; a recalibrated one differs from that. Empty when there was neither.
    std::vector<double> mean;
    std::vector<double> sigma;
    std::vector<std::uint8_t> off_support;  // 1 where an input lies outside the range of the archive
    SharedFamily family = normal_family();
    std::vector<double> parameters = {};  // of families that have some, row after row (Families)

    Families families() const { return {{family}, {}, parameters}; }
    Distribution row(std::size_t i) const;  // throws InputError when there was no prediction
};

class Model {
public:
    // Reads a model file. Throws InputError when it cannot be read, is no model file, is of a later format, was edited
    // (checksum) or does not reproduce its own test vectors to 1e-12.
    static Model load(const std::string& path);
    static Model parse(const std::string& text, const std::string& name = "model");

    // Writes the file whole or not at all.
    void save(const std::string& path) const;
    std::string text() const;

    // Names, in the order that forecast() expects. Where groups have recalibrations of their own, their column is the
    // last: a category that may be missing, and whose values without a map of their own have that of all rows.
    std::vector<std::string> inputs() const;
    std::vector<Input> input_columns() const;  // and what each is made of
    // What forecast() takes for a value of a category: the place among those that the model knows, or -1.
    double category_code(std::size_t input, const std::string& label) const;
    bool takes_missing(std::size_t input) const;  // a NaN of this input stands for its mean
    std::string prediction() const;               // name of the prediction's column; empty when there was none
    bool has_mean() const;                        // of its own: then forecast() takes no prediction
    bool corrects_bias() const;                   // then forecast() needs the prediction of every row
    bool learns_location() const;                 // the mean is not the prediction
    const SharedFamily& family() const;           // of its forecasts
    nlohmann::ordered_json json() const;          // the whole content (docs/model-file.md)

    // One span of values for every input, all of the same length: numbers, times in seconds since 1970, codes of
    // categories. The prediction may be empty, and must be where the model has a mean of its own.
    // `first` is the number of the first row, by which observations on a bound get their PITs (accrue/bounded.hpp).
    Forecast forecast(std::span<const std::span<const double>> inputs, std::span<const double> prediction = {},
                      std::size_t first = 0) const;

    // The same model, but forecasts of rows off support are wider, the more the farther from the archive: by a standard
    // deviation of C*g(d) on top, where C is the climatological spread (of the observations where the model learned the
    // mean, else of the errors), d the distance from the archive in standard deviations of the inputs, and g from 0 to
    // above 1 (docs/off-support.md). It is not saved in a file.
    Model widened() const;
    // Why a row lies off support, "x is 7, but the archive has 0 to 5": of the input that is farthest from the archive.
    std::string why_off_support(std::span<const std::span<const double>> inputs, std::size_t row) const;

    // What it has learned since its fit (accrue/state.hpp); null where that is nothing. forecast() knows nothing of it.
    const State* state() const;
    Model with_state(State state) const;
    // The values by which a state corrects, of these inputs of a row: in units of their spread in the archive.
    double standardised(std::size_t input, double value) const;

    // The same before recalibration and bounds, with location and scale in place of mean and sigma; its parameters are
    // the further ones alone.
    Forecast before_recalibration(std::span<const std::span<const double>> inputs,
                                  std::span<const double> prediction = {}) const;

    struct Content;
    explicit Model(std::shared_ptr<const Content> content);
    const Content& content() const { return *content_; }

private:
    std::shared_ptr<const Content> content_;
};

}  // namespace accrue
