// The model file: JSON with a checksum and test vectors. docs/model-file.md describes it.
#include <fmt/format.h>

#include <sys/stat.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "accrue/model.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "data/files.hpp"
#include "forecast/content.hpp"

namespace accrue {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;
constexpr std::size_t kLargestFile = std::size_t{256} << 20U;
constexpr int kDeepest = 16;
constexpr int kTestVectors = 12;
constexpr double kTestTolerance = 1e-12;

// FNV-1a, 64 bits: every step is a bijection, so a change of one byte always changes the sum.
std::string checksum(std::string_view text) {
    std::uint64_t sum = 0xcbf29ce484222325ULL;
    for (const char c : text) {
        sum ^= static_cast<unsigned char>(c);
        sum *= 0x100000001b3ULL;
    }
    return fmt::format("{:016x}", sum);
}

Json scaling_json(const Scaling& scaling) {
    return {{"centre", scaling.centre}, {"scale", scaling.scale}};
}

Scaling scaling_of(const Json& json) {
    const Scaling scaling{json.at("centre").get<double>(), json.at("scale").get<double>()};
    core::require(std::isfinite(scaling.centre) && scaling.scale > 0, "a scale is not positive");
    return scaling;
}

// What forecast() takes: a model with a mean of its own takes none.
std::span<const double> prediction_of(const Model& model, std::span<const double> prediction) {
    return model.has_mean() ? std::span<const double>{} : prediction;
}

// Points inside and around the range of the archive, made up: no row of it.
Json test_vectors(const Model& model) {
    const Model::Content& c = model.content();
    core::Random random(20'240'601);
    std::vector<std::vector<double>> inputs(c.input_names.size());
    std::vector<double> prediction;
    for (int row = 0; row < kTestVectors; ++row) {
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const sigma::Range range = c.input_ranges[k];
            // In halves, for a range may be wider than the largest number.
            const double half = range.low / 2 + (range.high / 2 - range.low / 2) * random.uniform(-0.1, 1.1);
            constexpr double kMost = std::numeric_limits<double>::max() / 2;
            inputs[k].push_back(2 * std::clamp(half, -kMost, kMost));
        }
        prediction.push_back(c.prediction_scaling.centre + c.prediction_scaling.scale * random.normal());
    }
    std::vector<std::span<const double>> columns(inputs.begin(), inputs.end());
    const Forecast forecast = model.forecast(columns, prediction_of(model, prediction));
    Json list = Json::array();
    for (std::size_t row = 0; row < kTestVectors; ++row) {
        Json x = Json::array();
        for (const auto& column : inputs) x.push_back(column[row]);
        list.push_back({{"inputs", x},
                        {"prediction", prediction[row]},
                        {"mean", forecast.mean[row]},
                        {"sigma", forecast.sigma[row]}});
    }
    return list;
}

void check_test_vectors(const Model& model, const Json& list) {
    core::require(list.size() == kTestVectors, "it has {} test vectors in place of {}", list.size(), kTestVectors);
    const auto agree = [](double a, double b, double scale) { return std::fabs(a - b) <= kTestTolerance * scale; };
    for (const Json& vector : list) {
        const auto x = vector.at("inputs").get<std::vector<double>>();
        const auto prediction = vector.at("prediction").get<double>();
        std::vector<std::span<const double>> columns;
        for (const double& value : x) columns.emplace_back(&value, 1);
        const Forecast own = model.forecast(columns, prediction_of(model, std::span(&prediction, 1)));
        const auto sigma = vector.at("sigma").get<double>();
        const auto mean = vector.at("mean").get<double>();
        core::require(agree(own.sigma[0], sigma, sigma) &&
                          agree(own.mean[0], mean, std::fabs(mean) + std::fabs(prediction) + sigma),
                      "it does not reproduce its own test vectors: sigma {} in place of {}", own.sigma[0], sigma);
    }
}

Json content_json(const Model& model) {
    const Model::Content& c = model.content();
    Json json;
    json["format"] = "accrue model";
    json["format_version"] = kFormatVersion;
    json["accrue_version"] = c.accrue_version;
    json["columns"] = c.columns;
    json["configuration"] = c.configuration;
    Json inputs = Json::array();
    for (std::size_t k = 0; k < c.input_names.size(); ++k) {
        Json input = {{"name", c.input_names[k]}};
        input.update(scaling_json(c.input_scaling[k]));
        input["lowest"] = c.input_ranges[k].low;
        input["highest"] = c.input_ranges[k].high;
        inputs.push_back(std::move(input));
    }
    json["inputs"] = std::move(inputs);
    json["prediction"] = c.prediction_name.empty() ? Json(nullptr) : scaling_json(c.prediction_scaling);
    if (!c.prediction_name.empty()) json["prediction"]["name"] = c.prediction_name;
    json["error_scale"] = c.error_scale;
    json["bias"] = {{"kind", mean::to_string(c.bias.kind)}, {"coefficients", c.bias.coefficients}};
    json["mean"] = nullptr;
    if (c.regression) json["mean"] = {{"target", scaling_json(c.target_scaling)}, {"regression", c.regression->json()}};
    Json members = Json::array();
    for (const sigma::Member& member : c.members)
        members.push_back({{"form", member.form->name()}, {"parameters", member.parameters}});
    json["sigma"] = {{"combination", "mean of log sigma"}, {"members", std::move(members)}};
    json["recalibration"] = nullptr;
    if (c.shape) json["recalibration"] = {{"predicted", c.shape->predicted()}, {"actual", c.shape->actual()}};
    json["fit"] = c.fit;
    json["verification"] = c.verification;
    json["test_vectors"] = test_vectors(model);
    return json;
}

Json parse_json(const std::string& text) {
    // Depth is limited while reading, so that a file of brackets is refused and not built in memory.
    const Json::parser_callback_t limit = [](int depth, Json::parse_event_t, Json&) {
        core::require(depth <= kDeepest, "it is nested too deeply");
        return true;
    };
    try {
        return Json::parse(text, limit);
    } catch (const Json::parse_error& error) {
        core::refuse("it is not JSON, or cut short (at byte {})", error.byte);
    }
}

std::shared_ptr<const Model::Content> content_of(const Json& json) {
    auto c = std::make_shared<Model::Content>();
    for (const Json& input : json.at("inputs")) {
        c->input_names.push_back(input.at("name").get<std::string>());
        c->input_scaling.push_back(scaling_of(input));
        c->input_ranges.push_back({input.at("lowest").get<double>(), input.at("highest").get<double>()});
    }
    if (const Json& prediction = json.at("prediction"); !prediction.is_null()) {
        c->prediction_name = prediction.at("name").get<std::string>();
        c->prediction_scaling = scaling_of(prediction);
    }
    c->error_scale = json.at("error_scale").get<double>();
    c->bias = {mean::bias_kind(json.at("bias").at("kind").get<std::string>()),
               json.at("bias").at("coefficients").get<std::vector<double>>()};
    const std::size_t regressors = c->input_names.size() + (c->prediction_name.empty() ? 0 : 1);
    const std::size_t coefficients = c->bias.kind == mean::BiasKind::none       ? 0
                                     : c->bias.kind == mean::BiasKind::constant ? 1
                                                                                : 1 + regressors;
    core::require(c->bias.coefficients.size() == coefficients, "its bias correction has {} coefficients in place of {}",
                  c->bias.coefficients.size(), coefficients);
    core::require(c->error_scale > 0, "its error scale is not positive");
    if (const Json& mean = json.at("mean"); !mean.is_null()) {
        c->target_scaling = scaling_of(mean.at("target"));
        c->regression = mean::regression_from_json(mean.at("regression"), c->input_names.size());
        core::require(c->bias.kind == mean::BiasKind::none, "it has a mean and a bias correction");
    }
    const std::vector<sigma::Range> ranges = standardised_ranges(*c);
    for (const Json& member : json.at("sigma").at("members")) {
        auto parameters = member.at("parameters").get<std::vector<double>>();
        core::require(!parameters.empty(), "a member has no parameters");
        auto form = sigma::make_form(member.at("form").get<std::string>(), ranges, parameters.size() - 1);
        core::require(form->parameters() == parameters.size(), "a {} has {} parameters in place of {}", form->name(),
                      parameters.size(), form->parameters());
        c->members.push_back({std::move(form), std::move(parameters)});
    }
    core::require(!c->members.empty(), "it has no sigma model");
    if (const Json& map = json.at("recalibration"); !map.is_null())
        c->shape = std::make_shared<Shape>(map.at("predicted").get<std::vector<double>>(),
                                           map.at("actual").get<std::vector<double>>());
    c->accrue_version = json.at("accrue_version").get<std::string>();
    c->columns = json.at("columns");
    c->configuration = json.at("configuration");
    c->fit = json.at("fit");
    c->verification = json.at("verification");
    return c;
}

Model checked(const std::string& text) {
    Json json = parse_json(text);
    core::require(json.is_object() && json.value("format", "") == "accrue model", "it is not an accrue model");
    const Json& version = json.at("format_version");
    core::require(version.is_number_integer(), "its format version is not a number");
    const bool enormous = version.is_number_unsigned() && version.get<std::uint64_t>() > kFormatVersion;
    core::require(!enormous && version <= kFormatVersion,
                  "it has format version {}, this accrue reads up to {}; use a newer accrue", version.dump(),
                  kFormatVersion);
    core::require(version >= 1, "it has format version {}, which never was", version.dump());
    const std::string sum = json.at("checksum").get<std::string>();
    json.erase("checksum");
    core::require(sum == checksum(json.dump()), "its checksum does not match: the file was edited or damaged");
    Model model(content_of(json));
    check_test_vectors(model, json.at("test_vectors"));
    return model;
}

}  // namespace

Json Model::json() const {
    Json json = content_json(*this);
    // Over the text of everything before it, without blanks.
    json["checksum"] = checksum(json.dump());
    return json;
}

std::string Model::text() const {
    // A line for each top-level entry: readable, and small.
    std::string text = "{\n";
    const Json all = json();
    std::size_t left = all.size();
    for (const auto& [key, value] : all.items())
        text += fmt::format("{}: {}{}\n", Json(key).dump(), value.dump(), --left == 0 ? "" : ",");
    return text + "}\n";
}

void Model::save(const std::string& path) const {
    data::AtomicFile file(path);
    file.write(text());
    file.commit();
}

Model Model::parse(const std::string& text, const std::string& name) {
    try {
        return checked(text);
    } catch (const InputError& error) {
        core::refuse("{} cannot be used as a model: {}", name, error.what());
    } catch (const Json::exception&) {
        core::refuse("{} cannot be used as a model: an entry is missing or of the wrong type", name);
    }
}

Model Model::load(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) core::refuse("cannot read {}: {}", path, core::system_message(errno));
    core::require(!S_ISDIR(status.st_mode), "cannot read {}: it is a directory", path);
    core::require(static_cast<std::size_t>(status.st_size) <= kLargestFile,
                  "{} cannot be used as a model: it is larger than any model ({} MB)", path, status.st_size >> 20U);
    std::ifstream file(path, std::ios::binary);
    if (!file) core::refuse("cannot read {}: {}", path, core::system_message(errno));
    // Devices and pipes do not say how much they hold.
    std::string text;
    constexpr std::size_t kPiece = std::size_t{1} << 20U;
    text.reserve(kPiece + (S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : kLargestFile + kPiece));
    while (file && text.size() <= kLargestFile) {
        const std::size_t before = text.size();
        text.resize(before + kPiece);
        file.read(&text[before], kPiece);
        text.resize(before + static_cast<std::size_t>(file.gcount()));
    }
    core::require(text.size() <= kLargestFile, "{} cannot be used as a model: it is larger than any model", path);
    return parse(text, path);
}

}  // namespace accrue
