// forecast_alone MODEL...: prints every figure of the forecasts of some rows, to the last bit. Built with either
// library.
#include <cmath>
#include <cstdio>
#include <exception>
#include <span>
#include <vector>

#include "accrue/model.hpp"

int main(int count, char** arguments) try {
    for (int a = 1; a < count; ++a) {
        const accrue::Model model = accrue::Model::load(arguments[a]);
        constexpr std::size_t kRows = 5000;
        std::vector<std::vector<double>> inputs(model.inputs().size(), std::vector<double>(kRows));
        for (std::size_t k = 0; k < inputs.size(); ++k)
            for (std::size_t i = 0; i < kRows; ++i)
                inputs[k][i] = std::fmod(0.37 * static_cast<double>((k + 2) * i), 1.5);
        const std::vector<std::span<const double>> spans(inputs.begin(), inputs.end());
        const std::vector<double> prediction(model.has_mean() ? 0 : kRows, 0.25);
        const accrue::Forecast forecast = model.forecast(spans, prediction);
        for (std::size_t i = 0; i < kRows; ++i) {
            const accrue::Distribution row = forecast.row(i);
            std::printf("%a %a %a %a %a\n", row.mean, row.sigma, row.quantile(0.05), row.cdf(0.3), row.crps(-0.2));
        }
    }
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
