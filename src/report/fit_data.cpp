// The rows of a fit as its report draws them.
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>

#include "accrue/report.hpp"

namespace accrue {

nlohmann::ordered_json fit_report_data(ReportText text, const Archive& archive, const FitResult& result) {
    std::vector<std::size_t> held_out;
    for (std::size_t i = 0; i < result.sigmas.size(); ++i)
        if (!std::isnan(result.sigmas[i])) held_out.push_back(i);
    std::deque<std::vector<double>> own;
    const auto taken = [&](std::span<const double> values) -> std::span<const double> {
        std::vector<double>& some = own.emplace_back();
        if (!values.empty())
            for (const std::size_t i : held_out) some.push_back(values[i]);
        return some;
    };
    Archive drawn;
    drawn.weights = taken(archive.weights);
    const auto taken_codes = [&](std::span<const std::uint32_t> codes) {
        std::vector<std::uint32_t> some;
        if (!codes.empty())
            for (const std::size_t i : held_out) some.push_back(codes[i]);
        return some;
    };
    const std::vector<std::uint32_t> groups = taken_codes(archive.groups.codes);
    drawn.groups = {groups, archive.groups.labels};
    drawn.times = taken(archive.times);
    drawn.times_are_dates = archive.times_are_dates;
    drawn.input_names = archive.input_names;
    drawn.input_types = archive.input_types;
    for (const std::span<const double> values : archive.inputs) drawn.inputs.push_back(taken(values));
    drawn.sampled_from = archive.sampled_from;
    drawn.roles = archive.roles;

    ReportForecast forecast;
    forecast.verification = result.verification;
    forecast.conditional = result.conditional;
    forecast.model = &result.model;
    forecast.errors = taken(result.errors);
    forecast.sigmas = taken(result.sigmas);
    const std::vector<std::uint32_t> parts = taken_codes(result.parts);
    std::vector<double> parameters;
    for (const std::size_t i : held_out) {
        const std::span<const double> row = result.parameters_of(i);
        parameters.insert(parameters.end(), row.begin(), row.end());
    }
    forecast.parameters = parameters;
    forecast.row_families = {result.families, parts, parameters};
    // The mean is what the observation would be without the error that is left.
    if (!archive.observation.empty() || !archive.prediction.empty()) {
        std::vector<double>& means = own.emplace_back();
        for (const std::size_t i : held_out)
            means.push_back(archive.prediction.empty()
                                ? archive.observation[i] - result.errors[i]
                                : archive.prediction[i] + (archive.errors[i] - result.errors[i]));
        forecast.means = means;
    }
    text.kind = result.verification.name;
    text.verdict = result.verdict;
    nlohmann::ordered_json data = report_data(text, drawn, std::span(&forecast, 1));
    if (!result.choice.empty()) data["forecasts"][0]["fit"]["choice"] = result.choice;
    return data;
}

std::size_t fit_report_bytes_per_row(std::size_t inputs) {
    // A copy of what is drawn: inputs, errors, sigmas, means, weights and times.
    return (inputs + 5) * sizeof(double);
}

}  // namespace accrue
