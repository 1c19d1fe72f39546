// A fitted model: from inputs and a prediction to a forecast, Gaussian unless it was recalibrated. Kept in a file that
// checks itself.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "accrue/shape.hpp"

namespace accrue {

// The forecast of one row: normal, or of a recalibrated shape that is stretched by sigma about the mean.
struct Distribution {
    double mean;
    double sigma;
    std::shared_ptr<const Shape> shape = nullptr;

    double pdf(double y) const;
    double cdf(double y) const;
    double quantile(double probability) const;  // throws InputError unless 0 < probability < 1
    double crps(double y) const;
    struct Interval {
        double low;
        double high;
    };
    Interval interval(double level) const;  // central; throws InputError unless 0 < level < 1
    // `count` draws; the same seed gives the same numbers.
    std::vector<double> sample(std::size_t count, std::uint64_t seed) const;
};

// Forecasts of many rows. A row with a missing (NaN) input has NaN for its figures.
struct Forecast {
    // Prediction + bias correction, or the model's own mean; empty when there was neither.
    std::vector<double> mean;
    std::vector<double> sigma;
    std::vector<std::uint8_t> off_support;  // 1 where an input lies outside the range of the archive
    std::shared_ptr<const Shape> shape;     // null: Gaussian

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

    const std::vector<std::string>& inputs() const;  // names, in the order that forecast() expects
    std::string prediction() const;                  // name of the prediction's column; empty when there was none
    bool has_mean() const;                           // of its own: then forecast() takes no prediction
    bool corrects_bias() const;                      // then forecast() needs the prediction of every row
    std::shared_ptr<const Shape> shape() const;      // of its forecasts; null: Gaussian
    nlohmann::ordered_json json() const;             // the whole content (docs/model-file.md)

    // One span of values for every input, all of the same length; prediction may be empty, and must be where the model
    // has a mean of its own.
    Forecast forecast(std::span<const std::span<const double>> inputs, std::span<const double> prediction = {}) const;

    struct Content;
    explicit Model(std::shared_ptr<const Content> content);
    const Content& content() const { return *content_; }

private:
    std::shared_ptr<const Content> content_;
};

}  // namespace accrue
