// Single rows with their whole distribution, of which a reader picks one.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/rounded_json.hpp"
#include "report/parts.hpp"

namespace accrue::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCells = 60;
constexpr double kTail = 0.001;  // left out at each end
constexpr int kDigits = 4;

}  // namespace

std::vector<std::size_t> picked_rows(const ReportForecast& forecast, std::size_t most) {
    const std::size_t n = forecast.errors.size();
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return forecast.sigmas[a] < forecast.sigmas[b]; });
    std::vector<std::size_t> picked;
    const std::size_t count = std::min(n, most);
    for (std::size_t k = 0; k < count; ++k) picked.push_back(order[count < 2 ? 0 : k * (n - 1) / (count - 1)]);
    return picked;
}

Json densities_json(const ReportForecast& forecast, const Families& families, std::span<const double> times,
                    std::span<const std::size_t> picked) {
    const RowFamilies own(families, forecast.errors.size());
    Json list = Json::array();
    for (const std::size_t i : picked) {
        const double sigma = forecast.sigmas[i];
        const double mean = forecast.means.empty() ? 0 : forecast.means[i];
        const double z = forecast.errors[i] / sigma;
        Json row = {{"row", i + 1}};
        if (!times.empty()) row["time"] = times[i];
        row["mean"] = number(mean);
        row["sigma"] = number(sigma);
        row["observation"] = number(mean + forecast.errors[i]);
        own.with(i, [&](const Standardised& family) {
            // As far as the observation, and a little further.
            const double low = std::min(family.quantile(kTail), z - 0.1);
            const double high = std::max(family.quantile(1 - kTail), z + 0.1);
            const double width = (high - low) / static_cast<double>(kCells);
            row["below"] = core::rounded_json(family.cdf(z), kDigits);
            row["from"] = number(mean + sigma * low);
            row["to"] = number(mean + sigma * high);
            row["median"] = number(mean + sigma * family.quantile(0.5));
            row["density"] = Json::array();
            // Mean densities between cdfs: what is on a bound counts, and a recalibrated forecast has no other.
            double before = family.cdf(low);
            for (std::size_t k = 1; k <= kCells; ++k) {
                const double after = family.cdf(low + static_cast<double>(k) * width);
                row["density"].push_back(core::rounded_json(std::max(after - before, 0.0) / (width * sigma), kDigits));
                before = after;
            }
            return 0;
        });
        list.push_back(std::move(row));
    }
    return list;
}

}  // namespace accrue::report
