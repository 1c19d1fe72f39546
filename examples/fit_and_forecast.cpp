// From arrays to forecasts: learns sigma(x) from an archive, saves the model, loads it, and asks it about a new
// prediction.
#include <accrue/error.hpp>
#include <accrue/fit.hpp>
#include <accrue/generate.hpp>
#include <accrue/model.hpp>

#include <cstdio>
#include <span>
#include <vector>

int main(int argc, char** argv) {
    const char* path = argc > 1 ? argv[1] : "model.json";
    try {
        // Your arrays go here. These are 1,000 rows of the data set G: input x, prediction f, true sigma, observation
        // y.
        const accrue::GeneratedData data = accrue::generate("G", 1000, 1);
        const std::vector<double>& x = data.columns[0];
        const std::vector<double>& mu = data.columns[1];
        const std::vector<double>& y = data.columns[3];
        std::vector<double> errors(y.size());
        for (std::size_t i = 0; i < y.size(); ++i) errors[i] = y[i] - mu[i];

        accrue::Archive archive;
        archive.input_names = {"x"};
        archive.inputs = {x};
        archive.errors = errors;
        archive.prediction = mu;
        archive.roles.prediction = "mu";
        const accrue::FitResult result = accrue::fit(archive);
        std::printf("%s\n", result.verdict.summary.c_str());
        result.model.save(path);

        // Later, in another program: one new row, x = 0.9, where the model predicts -1.2.
        const accrue::Model model = accrue::Model::load(path);
        const std::vector<double> new_x = {0.9};
        const std::vector<double> new_mu = {-1.2};
        const std::vector<std::span<const double>> inputs = {new_x};
        const accrue::Forecast forecast = model.forecast(inputs, new_mu);
        const accrue::Distribution row = forecast.row(0);
        const accrue::Distribution::Interval likely = row.interval(0.9);
        std::printf("mean %.2f, sigma %.2f%s\n", row.mean, row.sigma, forecast.off_support[0] ? " (off support)" : "");
        std::printf("90%% interval %.2f to %.2f\n", likely.low, likely.high);
        std::printf("95%% quantile %.2f, probability of more than 0: %.3f\n", row.quantile(0.95), 1 - row.cdf(0));
        for (const double draw : row.sample(3, 7)) std::printf("a possible outcome: %.2f\n", draw);
        return 0;
    } catch (const accrue::InputError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
