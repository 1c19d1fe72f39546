// Model files with a right checksum but otherwise of any content: refused, or loaded; then they forecast what a plain
// reading of docs/model-file.md gives, write themselves again, and can be shown and reported.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/model.hpp"
#include "accrue/report.hpp"
#include "fuzz/command.hpp"
#include "fuzz/model_json.hpp"
#include "fuzz/target.hpp"

namespace accrue::fuzz {

namespace {

// Forecasts straight from the file, one row at a time; Real is the precision. Throws what Json throws where the file is
// no model.
template <typename Real>
class PlainModel {
public:
    explicit PlainModel(const Json& json) : json_(json) {}

    struct Row {
        Real mean;
        Real sigma;
    };

    Row forecast(const std::vector<double>& inputs, double prediction) const {
        std::vector<Real> x;
        for (std::size_t k = 0; k < inputs.size(); ++k) x.push_back(scaled(inputs[k], json_.at("inputs").at(k)));
        Real sum = 0;
        const Json& members = json_.at("sigma").at("members");
        Real total = 0;
        for (const Json& member : members) {
            const Real weight = static_cast<Real>(member.value("weight", 1.0));
            sum += weight * std::clamp<Real>(log_sigma(member, x), -14, 8);
            total += weight;
        }
        const Real sigma = number(json_.at("error_scale")) * std::exp(sum / total);
        Real location = static_cast<Real>(prediction);
        if (const Json& mean = json_.at("mean"); !mean.is_null())
            location = number(mean.at("target").at("centre")) +
                       number(mean.at("target").at("scale")) * regression(mean.at("regression"), x);
        std::vector<Real> regressors = {1};
        regressors.insert(regressors.end(), x.begin(), x.end());
        if (const Json& own = json_.at("prediction"); !own.is_null()) regressors.push_back(scaled(prediction, own));
        Real correction = 0;
        const Json& coefficients = json_.at("bias").at("coefficients");
        for (std::size_t k = 0; k < std::min(coefficients.size(), regressors.size()); ++k)
            correction += number(coefficients.at(k)) * regressors[k];
        return {location + correction, sigma};
    }

private:
    static Real number(const Json& value) { return static_cast<Real>(value.get<double>()); }
    static Real scaled(double value, const Json& scaling) {
        return (static_cast<Real>(value) - number(scaling.at("centre"))) / number(scaling.at("scale"));
    }

    Real log_sigma(const Json& member, const std::vector<Real>& x) const {
        const auto form = member.at("form").get<std::string>();
        const auto p = member.at("parameters").get<std::vector<double>>();
        if (form == "constant") return static_cast<Real>(p.at(0));
        if (form == "polynomial") return polynomial(p, x.at(0));
        if (form == "clusters") return cluster(p, x);
        if (form != "network") throw InputError("another form");
        std::size_t next = 0;
        std::vector<Real> layer = x;
        for (const std::size_t units : {50U, 10U, 1U}) {
            std::vector<Real> sums(units);
            for (Real& sum : sums)
                for (const Real value : layer) sum += static_cast<Real>(p.at(next++)) * value;
            for (Real& sum : sums) sum += static_cast<Real>(p.at(next++));
            if (units == 50)
                for (Real& sum : sums) sum = std::max<Real>(sum, 0);
            if (units == 10)
                for (Real& sum : sums) sum = std::clamp<Real>(sum, -1, 1);
            layer = sums;
        }
        return layer.at(0);
    }

    Real polynomial(const std::vector<double>& p, Real x) const {
        const Json& input = json_.at("inputs").at(0);
        const Real low = scaled(input.at("lowest").get<double>(), input);
        const Real high = scaled(input.at("highest").get<double>(), input);
        const Real u = high > low ? std::clamp<Real>((x - (low + high) / 2) / ((high - low) / 2), -1, 1) : 0;
        Real value = 0;
        for (std::size_t order = 0; order < p.size(); ++order)
            value += static_cast<Real>(p[order]) * std::cos(static_cast<Real>(order) * std::acos(u));
        return std::log(std::max<Real>(value, std::exp(Real{-14})));
    }

    static Real cluster(const std::vector<double>& p, const std::vector<Real>& x) {
        const std::size_t count = p.size() / (x.size() + 1);
        std::size_t nearest = 0;
        Real least = -1;
        for (std::size_t c = 0; c < count; ++c) {
            Real distance = 0;
            for (std::size_t k = 0; k < x.size(); ++k) {
                const Real apart = x[k] - static_cast<Real>(p.at(c * x.size() + k));
                distance += apart * apart;
            }
            if (c > 0 && !(distance < least)) continue;
            least = distance;
            nearest = c;
        }
        return static_cast<Real>(p.at(count * x.size() + nearest));
    }

    static Real regression(const Json& r, const std::vector<Real>& x) {
        const auto kind = r.at("kind").get<std::string>();
        if (kind == "ensemble") {
            Real sum = 0;
            for (const Json& member : r.at("members")) sum += regression(member, x);
            return sum / static_cast<Real>(r.at("members").size());
        }
        if (kind == "gp") {
            const auto lengths = r.at("log_lengths").get<std::vector<double>>();
            const auto alpha = r.at("alpha").get<std::vector<double>>();
            const auto points = r.at("points").get<std::vector<std::vector<double>>>();
            Real sum = 0;
            for (std::size_t i = 0; i < alpha.size(); ++i) {
                // Then what is left out where exp() ends, at 1e-304, would count.
                if (std::fabs(alpha[i]) > 1e250) throw InputError("an enormous weight");
                Real distance = 0;
                for (std::size_t k = 0; k < x.size(); ++k) {
                    const Real length = std::exp(static_cast<Real>(lengths.at(lengths.size() == 1 ? 0 : k)));
                    const Real apart = (x[k] - static_cast<Real>(points.at(k).at(i))) / length;
                    distance += apart * apart;
                }
                sum += static_cast<Real>(alpha[i]) * std::exp(-distance / 2);
            }
            return sum * std::exp(2 * number(r.at("log_signal")));
        }
        if (kind != "network") throw InputError("another regression");
        const auto p = r.at("parameters").get<std::vector<double>>();
        const std::size_t width = x.size() + 1;
        Real sum = static_cast<Real>(p.at(50 * width + 50));
        for (std::size_t unit = 0; unit < 50; ++unit) {
            Real inner = static_cast<Real>(p.at(unit * width + x.size()));
            for (std::size_t k = 0; k < x.size(); ++k) inner += static_cast<Real>(p.at(unit * width + k)) * x[k];
            sum += static_cast<Real>(p.at(50 * width + unit)) * std::tanh(inner);
        }
        return sum;
    }

    const Json& json_;
};

// Replaces the results in the test vectors by those of the plain reading. False where that reading is not sure of its
// digits, or there is nothing to read: then the file may be refused or not.
bool renew_test_vectors(Json& json) {
    // Of families, bounds and kinds of inputs there is no plain reading here.
    if (json.contains("family") || json.contains("bounds")) return false;
    if (json.contains("inputs") && json["inputs"].is_array())
        for (const Json& input : json["inputs"])
            if (input.is_object() && input.contains("kind")) return false;
    bool sure = true;
    try {
        Json vectors = json.at("test_vectors");
        for (Json& vector : vectors) {
            const auto inputs = vector.at("inputs").get<std::vector<double>>();
            const auto prediction = vector.at("prediction").get<double>();
            if (inputs.size() != json.at("inputs").size()) return false;
            const auto row = PlainModel<double>(json).forecast(inputs, prediction);
            const auto fine = PlainModel<long double>(json).forecast(inputs, prediction);
            const long double scale =
                std::fabs(fine.mean) + std::fabs(static_cast<long double>(prediction)) + fine.sigma;
            // A hundredth of what loading allows; none where an infinity or a NaN comes out.
            sure = sure && std::fabs(row.sigma - fine.sigma) <= 1e-14L * fine.sigma &&
                   std::fabs(row.mean - fine.mean) <= 1e-14L * scale && std::isfinite(row.sigma) && row.sigma > 0 &&
                   std::isfinite(row.mean);
            vector["mean"] = row.mean;
            vector["sigma"] = row.sigma;
        }
        json["test_vectors"] = std::move(vectors);
    } catch (const Json::exception&) {
        return false;
    } catch (const InputError&) {
        return false;
    } catch (const std::out_of_range&) {
        return false;
    }
    return sure;
}

std::optional<Model> load(const std::string& text, std::string& message) {
    try {
        return Model::parse(text, "model.json");
    } catch (const InputError& error) {
        message = error.what();
        expect(message.starts_with("model.json cannot be used as a model: "), "another message: {}", message);
        for (const char c : message) expect((c >= 0x20 && c != 0x7F) || c < 0, "a raw control character in a message");
        return std::nullopt;
    }
}

void check_distribution(const Distribution& row) {
    if (!std::isfinite(row.mean) || !std::isfinite(row.sigma) || !(row.sigma > 0)) return;
    double before = -std::numeric_limits<double>::infinity();
    for (const double p : {0.001, 0.1, 0.5, 0.9, 0.999}) {
        const double y = row.quantile(p);
        expect(y >= before, "quantiles do not rise: {} after {}", y, before);
        before = y;
        const double back = row.cdf(y);
        expect(back >= 0 && back <= 1, "a probability is {}", back);
        // Where sigma is lost in the mean's last digits, so is the probability.
        if (row.family->has_density() && std::fabs(row.mean) < 1e6 * row.sigma && row.sigma < 1e300 &&
            row.sigma > 1e-300)
            expect(std::fabs(back - p) <= 1e-9, "the probability of the {} quantile is {}", p, back);
        const double score = row.crps(y);
        expect(!(score < -1e-9 * row.sigma), "a crps is {}", score);
        expect(!(row.pdf(y) < 0), "a density is negative");
    }
}

void check_loaded(const Model& model, const std::string& text) {
    const Json json = model.json();
    std::vector<std::vector<double>> columns;
    for (const Json& input : json.at("inputs")) {
        const double low = input.value("lowest", 0.0);  // labels have none
        const double high = input.value("highest", 1.0);
        columns.push_back({low, high, low / 2 + high / 2, 0, 1e300, std::numeric_limits<double>::quiet_NaN()});
    }
    // Numbers of groups' maps, and what is none.
    if (model.inputs().size() > columns.size())
        columns.push_back({0, 1, 999, -1, 1e300, std::numeric_limits<double>::quiet_NaN()});
    const std::vector<std::span<const double>> inputs(columns.begin(), columns.end());
    const std::vector<double> prediction = {0, 1, -2.5, 1e10, 3, 4};
    const auto given = model.has_mean() ? std::span<const double>{} : std::span<const double>(prediction);
    const Forecast forecast = model.forecast(inputs, given);
    for (std::size_t i = 0; i < forecast.mean.size(); ++i) check_distribution(forecast.row(i));

    // Test vectors are made anew and may overflow; then there is no number to write.
    const std::string again = model.text();
    if (again.find("null}", again.find("\"test_vectors\"")) == std::string::npos &&
        again.find("null,", again.find("\"test_vectors\"")) == std::string::npos) {
        std::string message;
        const auto reloaded = load(again, message);
        expect(reloaded.has_value(), "what it writes is refused: {}", message);
        expect(reloaded->text() == again, "it writes something else the second time");
    }

    const InputPath file(text, InputPath::Kind::regular);
    for (const char c : shown_model(file.path(), false))
        expect(c == '\n' || (c >= 0x20 && c != 0x7F) || c < 0, "show prints a raw control character");
    expect(!Json::parse(shown_model(file.path(), true), nullptr, false).is_discarded(), "show --json prints no JSON");
    check_report(model, forecast);
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
    const std::string text(Bytes(input).rest());
    Json json = Json::parse(text, nullptr, false);
    std::string message;
    if (json.is_discarded() || !json.is_object() || !set_checksum(json)) {
        expect(!load(text, message), "what is no JSON object was loaded");
        return;
    }
    const std::string summed = json.dump();
    const auto first = load(summed, message);
    if (first) check_loaded(*first, summed);
    const bool sure = renew_test_vectors(json);
    if (!set_checksum(json)) return;
    const std::string renewed = json.dump();
    const auto model = load(renewed, message);
    if (model && !first) check_loaded(*model, renewed);
    expect(model || !sure || message.find("test vectors:") == std::string::npos, "a plain reading differs: {}",
           message);
}

}  // namespace accrue::fuzz
