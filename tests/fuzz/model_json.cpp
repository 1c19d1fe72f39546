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

void check_report(const Model& model, const Forecast& rows) {
    const std::vector<double> errors = {0.5, -1, 0.25, 2, -0.125, 1};
    const std::vector<double> sigmas = {1, 1, 0.5, 1.5, 0.25, 1};
    ReportForecast forecast;
    // Of families whose rows have parameters, those of the first row that can be judged.
    const std::size_t width = parameters_per_row(*model.family());
    std::vector<double> parameters;
    for (std::size_t i = 0; i < rows.sigma.size() && parameters.empty(); ++i) {
        const auto own = std::span(rows.parameters).subspan(i * width, width);
        if (!std::all_of(own.begin(), own.end(), [](double value) { return std::isfinite(value); })) continue;
        for (std::size_t copies = 0; copies < errors.size(); ++copies)
            parameters.insert(parameters.end(), own.begin(), own.end());
    }
    if (parameters.size() != width * errors.size()) return;
    forecast.parameters = parameters;
    VerifyOptions options;
    options.replicates = 2;
    forecast.verification = verify(errors, sigmas, Families{{model.family()}, {}, parameters}, {}, {}, options);
    forecast.errors = errors;
    forecast.sigmas = sigmas;
    forecast.model = &model;
    ReportText text;
    text.title = "fuzz";
    const Json data = report_data(text, {}, std::span(&forecast, 1));
    expect(data.is_object() && !data.empty(), "a report without data");
}

}  // namespace accrue::fuzz
