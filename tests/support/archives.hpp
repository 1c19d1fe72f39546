// Archives to fit, with the memory that they point to.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/fit.hpp"
#include "accrue/generate.hpp"
#include "accrue/options.hpp"
#include "core/random.hpp"

namespace accrue::support {

// Columns that an Archive can point to. Change them as a test needs; archive() then gives the view.
struct Rows {
    std::vector<std::vector<double>> inputs;
    std::vector<double> errors;
    std::vector<double> prediction;
    std::vector<double> weights;
    std::vector<double> times;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;

    Archive archive() const {
        Archive a;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            a.input_names.push_back(fmt::format("x{}", k + 1));
            a.inputs.emplace_back(inputs[k]);
        }
        a.errors = errors;
        a.prediction = prediction;
        a.weights = weights;
        a.times = times;
        a.groups = {codes, labels};
        const auto name = [](const auto& values, const char* text) { return std::string(values.empty() ? "" : text); };
        a.roles.prediction = name(prediction, "mu");
        a.roles.weight = name(weights, "w");
        a.roles.time = name(times, "t");
        a.roles.group = name(codes, "site");
        a.roles.error = name(errors, "e");
        return a;
    }
};

// Errors whose sigma is exp(x1) between 0.6 and 1.6; further inputs say nothing.
inline Rows some_rows(std::size_t rows, std::uint64_t seed, std::size_t inputs = 1) {
    core::Random random(seed);
    Rows r;
    r.inputs.resize(inputs);
    for (std::size_t i = 0; i < rows; ++i) {
        for (auto& column : r.inputs) column.push_back(random.uniform(-0.5, 0.5));
        r.errors.push_back(std::exp(r.inputs[0].back()) * random.normal());
    }
    return r;
}

// One of the paper's sets: inputs and y - f.
struct PaperRows {
    Rows rows;
    std::vector<double> true_sigma;
};
inline PaperRows paper_rows(const std::string& name, std::size_t rows, std::uint64_t seed) {
    const GeneratedData data = generate(name, rows, seed);
    PaperRows result;
    const std::size_t inputs = data.names.size() - 3;
    for (std::size_t k = 0; k < inputs; ++k) result.rows.inputs.push_back(data.columns[k]);
    result.true_sigma = data.columns[inputs + 1];
    for (std::size_t i = 0; i < rows; ++i)
        result.rows.errors.push_back(data.columns[inputs + 2][i] - data.columns[inputs][i]);
    return result;
}

// Gives codes 0..groups-1 to the rows, in blocks of neighbours or in turn.
inline void add_groups(Rows& rows, std::size_t groups, bool in_blocks) {
    const std::size_t n = rows.errors.size();
    for (std::size_t g = 0; g < groups; ++g) rows.labels.push_back(fmt::format("g{}", g));
    for (std::size_t i = 0; i < n; ++i)
        rows.codes.push_back(static_cast<std::uint32_t>(in_blocks ? i * groups / n : i % groups));
}

// All forms that take as many inputs. A polynomial is of one input, so that it cannot take part where there are more.
inline std::vector<std::string> forms_of(std::size_t inputs) {
    std::vector<std::string> names = form_names();
    if (inputs > 1) std::erase(names, "polynomial");
    return names;
}

// All means that a fit can learn by the inputs, and the choice between them.
inline std::vector<std::string> learned_means() {
    std::vector<std::string> names = fit_option("mean").choice_names();
    std::erase(names, "none");
    std::erase(names, "constant");
    return names;
}

// What the refusal says, or a word that no test expects.
template <typename Work>
std::string refusal(Work work) {
    try {
        work();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no refusal";
}

}  // namespace accrue::support
