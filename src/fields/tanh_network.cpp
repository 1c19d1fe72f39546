#include "fields/tanh_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "fields/tanh_rows.hpp"
#include "optimise/minimise.hpp"

namespace accrue::fields {

namespace {

void require_weight(const Targets& targets, std::span<const std::size_t> rows, std::string_view what) {
    const bool any = std::any_of(rows.begin(), rows.end(), [&](std::size_t row) { return targets.weight(row) > 0; });
    core::require(any, "a mean network has no {} row with a weight above zero", what);
}

}  // namespace

std::size_t TanhNetwork::parameters() const {
    return network_parameters(inputs_);
}

// Glorot's variances, so that neither values nor slopes grow from layer to layer; biases N(0, 1), so that the units
// bend all over the inputs' range from the start.
std::vector<double> TanhNetwork::start(core::Random& random, std::span<const double> levels) const {
    std::vector<double> parameters(network_parameters(inputs_), 0.0);
    const auto units = static_cast<double>(kUnits);
    const double first = std::sqrt(2 / (static_cast<double>(inputs_) + units));
    const double second = std::sqrt(2 / (units + 1));
    double* at = parameters.data();
    for (std::size_t u = 0; u < kUnits; ++u) {
        for (std::size_t k = 0; k < inputs_; ++k) *at++ = first * random.normal();
        *at++ = random.normal();
    }
    for (std::size_t u = 0; u < kUnits; ++u) *at++ = second * random.normal();
    *at = levels[0];
    return parameters;
}

void TanhNetwork::values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                         double* out, std::size_t) const {
    network_output(parameters, x, begin, end, out);
}

void TanhNetwork::add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                               const double* slopes, std::size_t, double* gradient) const {
    add_network_gradient(parameters, x, begin, end, slopes, gradient);
}

Fitted train_network(const Targets& targets, std::span<const std::size_t> training,
                     std::span<const std::size_t> validation, core::Random& random, const TanhNetworkOptions& options,
                     const Report& report) {
    require_weight(targets, training, "training");
    require_weight(targets, validation, "validation");
    SquaredError error(targets, training);
    SquaredError held_out_error(targets, validation);
    const auto network = std::make_shared<TanhNetwork>(targets.x.inputs);
    constexpr double kMean = 0;  // of the standardised target
    std::vector<double> start = network->start(random, std::span(&kMean, 1));
    std::vector<double> best = start;
    double best_error = std::numeric_limits<double>::infinity();
    int since_best = 0;
    const auto watch = [&](int iteration, std::span<const double> parameters, double) {
        double own = 0;
        if (held_out_error(parameters, own, {}) && own < best_error) {
            best_error = own;
            best.assign(parameters.begin(), parameters.end());
            since_best = 0;
        } else {
            ++since_best;
        }
        const bool go_on = !report || report(iteration, own);
        return go_on && since_best < options.patience ? optimise::Watch::go_on : optimise::Watch::stop;
    };
    optimise::Options settings;
    settings.max_iterations = options.max_iterations;
    settings.function_tolerance = 1e-12;  // it is the validation rows that say when to stop
    optimise::minimise([&](std::span<const double> parameters, double& value,
                           std::span<double> gradient) { return error(parameters, value, gradient); },
                       std::move(start), watch, settings);
    return {network, std::move(best)};
}

Fitted TanhNetworkKind::from_json(const nlohmann::ordered_json& json, std::size_t inputs) const {
    auto parameters = json.at("parameters").get<std::vector<double>>();
    core::require(parameters.size() == network_parameters(inputs), "a mean network has {} parameters in place of {}",
                  parameters.size(), network_parameters(inputs));
    core::require(std::all_of(parameters.begin(), parameters.end(), [](double p) { return std::isfinite(p); }),
                  "a parameter of a mean network is not finite");
    return {std::make_shared<TanhNetwork>(inputs), std::move(parameters)};
}

}  // namespace accrue::fields
