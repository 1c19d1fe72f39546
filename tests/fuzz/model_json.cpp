#include "fuzz/model_json.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "accrue/model.hpp"
#include "accrue/report.hpp"
#include "accrue/verify.hpp"
#include "fuzz/target.hpp"

namespace accrue::fuzz {

bool set_checksum(Json& json) {
    json.erase("checksum");
    std::uint64_t sum = 0xcbf29ce484222325ULL;
    try {
        for (const char c : json.dump()) {
            sum ^= static_cast<unsigned char>(c);
            sum *= 0x100000001b3ULL;
        }
    } catch (const Json::type_error&) {
        return false;
    }
    json["checksum"] = fmt::format("{:016x}", sum);
    return true;
}

void check_report(const Model& model, const Forecast& shapes) {
    const std::vector<double> errors = {0.5, -1, 0.25, 2, -0.125, 1};
    const std::vector<double> sigmas = {1, 1, 0.5, 1.5, 0.25, 1};
    ReportForecast forecast;
    VerifyOptions options;
    options.replicates = 2;
    forecast.verification = verify(errors, sigmas, {}, {}, options);
    forecast.errors = errors;
    forecast.sigmas = sigmas;
    forecast.model = &model;
    // The further parameters of a row whose figures are numbers; of no family that has none.
    const auto finite = [](double value) { return std::isfinite(value); };
    const std::size_t width = shapes.parameters.size() / shapes.sigma.size();
    std::vector<double> parameters;
    for (std::size_t i = 0; i < shapes.sigma.size() && parameters.empty(); ++i) {
        const auto own = std::span(shapes.parameters).subspan(i * width, width);
        if (!std::isfinite(shapes.sigma[i]) || !std::all_of(own.begin(), own.end(), finite)) continue;
        for (std::size_t row = 0; row < errors.size(); ++row)
            parameters.insert(parameters.end(), own.begin(), own.end());
    }
    if (width > 0 && parameters.empty()) return;
    forecast.parameters = parameters;
    ReportText text;
    text.title = "fuzz";
    const Json data = report_data(text, {}, std::span(&forecast, 1));
    expect(data.is_object() && !data.empty(), "a report without data");
}

}  // namespace accrue::fuzz
