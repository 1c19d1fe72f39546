// The model file: JSON with a checksum and test vectors. docs/model-file.md describes it.
#include <fmt/format.h>

#include <sys/stat.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "accrue/bounded.hpp"
#include "accrue/files.hpp"
#include "accrue/group_maps.hpp"
#include "accrue/messages.hpp"
#include "accrue/model.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "data/input_file.hpp"
#include "fields/kinds.hpp"
#include "forecast/content.hpp"
#include "forecast/json_tree.hpp"
#include "forecast/model_schema.hpp"

namespace accrue {

namespace {

using encodings::Encoding;
using Json = nlohmann::ordered_json;

// 2: recalibrations have normal scores for knots. 3: inputs that are not numbers, or may be missing. 4: a location that
// is learned, families with further parameters, bounds, members with weights. 5: a state. 6: a conformal recalibration.
// 7: recalibrations of groups. Models without are still of the version before.
constexpr int kFormatVersion = 8;
constexpr int kVersionOfGroupMaps = 7;
constexpr int kVersionOfConformal = 6;
constexpr int kVersionOfState = 5;
constexpr std::size_t kLargestFile = std::size_t{256} << 20U;
constexpr int kTestVectors = 12;
constexpr double kTestTolerance = 1e-12;

Json scaling_json(const Scaling& scaling) {
    return {{"centre", scaling.centre}, {"scale", scaling.scale}};
}

Scaling scaling_of(const Json& json) {
    return {json.at("centre").get<double>(), json.at("scale").get<double>()};
}

// What forecast() takes: a model with a mean of its own takes none.
std::span<const double> prediction_of(const Model& model, std::span<const double> prediction) {
    return model.has_mean() ? std::span<const double>{} : prediction;
}

// Points inside and around the range of the archive, made up: no row of it.
Json test_vectors(const Model& model) {
    const Model::Content& c = model.content();
    core::Random random(20'240'601);
    std::vector<std::vector<double>> inputs(c.inputs.size());
    std::vector<double> prediction;
    for (int row = 0; row < kTestVectors; ++row) {
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const Encoding& input = c.inputs[k];
            // In halves, for a range may be wider than the largest number.
            const double half = input.low / 2 + (input.high / 2 - input.low / 2) * random.uniform(-0.1, 1.1);
            constexpr double kMax = std::numeric_limits<double>::max() / 2;
            const double value = 2 * std::clamp(half, -kMax, kMax);
            inputs[k].push_back(input.is_category() ? std::floor(value) : value);
        }
        prediction.push_back(c.prediction_scaling.centre + c.prediction_scaling.scale * random.normal());
    }
    std::vector<std::span<const double>> columns(inputs.begin(), inputs.end());
    const Forecast forecast = model.before_recalibration(columns, prediction_of(model, prediction));
    Json list = Json::array();
    for (std::size_t row = 0; row < kTestVectors; ++row) {
        Json x = Json::array();
        for (const auto& column : inputs) x.push_back(column[row]);
        Json vector = {{"inputs", x},
                       {"prediction", prediction[row]},
                       {"mean", forecast.mean[row]},
                       {"sigma", forecast.sigma[row]}};
        const std::size_t further = c.outputs().further();
        const auto own = std::span(forecast.parameters).subspan(row * further, further);
        if (further > 0) vector["further"] = std::vector<double>(own.begin(), own.end());
        list.push_back(std::move(vector));
    }
    return list;
}

void check_test_vectors(const Model& model, const Json& list) {
    const auto agree = [](double a, double b, double scale) { return std::fabs(a - b) <= kTestTolerance * scale; };
    for (const Json& vector : list) {
        const auto x = vector.at("inputs").get<std::vector<double>>();
        const auto prediction = vector.at("prediction").get<double>();
        std::vector<std::span<const double>> columns;
        for (const double& value : x) columns.emplace_back(&value, 1);
        const Forecast own = model.before_recalibration(columns, prediction_of(model, std::span(&prediction, 1)));
        const auto sigma = vector.at("sigma").get<double>();
        const auto mean = vector.at("mean").get<double>();
        core::require(agree(own.sigma[0], sigma, sigma) &&
                          agree(own.mean[0], mean, std::fabs(mean) + std::fabs(prediction) + sigma),
                      "it does not reproduce its own test vectors: sigma {} in place of {}", own.sigma[0], sigma);
        const auto further = vector.value("further", std::vector<double>{});
        core::require(further.size() == own.parameters.size(),
                      "its test vectors have {} further parameters in place of {}", further.size(),
                      own.parameters.size());
        for (std::size_t k = 0; k < further.size(); ++k)
            core::require(agree(own.parameters[k], further[k], 1 + std::fabs(further[k])),
                          "it does not reproduce its own test vectors: a further parameter is {} in place of {}",
                          own.parameters[k], further[k]);
    }
}

const Recalibrated* recalibration_of(const Model::Content& content) {
    return common_map(*content.family);
}

bool has_scores(const Model::Content& content) {
    const Recalibrated* map = recalibration_of(content);
    return map != nullptr && map->knots() == Recalibrated::Knots::scores;
}

std::shared_ptr<const Recalibrated> recalibrated(const SharedFamily& family, const Json& map) {
    const std::string knots = map.value("knots", "probabilities");  // version 0.1 did not say
    core::require(knots == "scores" || knots == "probabilities",
                  "its recalibration has knots '{}', but they must be scores or probabilities", knots);
    return std::make_shared<Recalibrated>(
        knots == "scores" ? Recalibrated::Knots::scores : Recalibrated::Knots::probabilities,
        map.at("predicted").get<std::vector<double>>(), map.at("actual").get<std::vector<double>>(), family,
        map.contains("kind") ? Recalibrated::Kind::conformal : Recalibrated::Kind::isotonic);
}

Json map_json(const Recalibrated& own) {
    Json map = Json::object();
    if (own.kind() == Recalibrated::Kind::conformal) map["kind"] = "conformal";
    if (own.knots() == Recalibrated::Knots::scores) map["knots"] = "scores";
    map["predicted"] = own.predicted();
    map["actual"] = own.actual();
    return map;
}

// The maps of groups are of the kind, and have the knots, of the common one.
void set_group_maps(Model::Content& content, std::shared_ptr<const Recalibrated> common, const Json& json) {
    const SharedFamily inner = common->inner();
    std::vector<std::string> labels;
    std::vector<std::shared_ptr<const Recalibrated>> maps;
    for (const Json& own : json.at("maps")) {
        labels.push_back(own.at("label").get<std::string>());
        maps.push_back(std::make_shared<Recalibrated>(common->knots(), own.at("predicted").get<std::vector<double>>(),
                                                      own.at("actual").get<std::vector<double>>(), inner,
                                                      common->kind()));
    }
    content.set_maps(json.at("column").get<std::string>(), std::move(labels),
                     std::make_shared<GroupMaps>(std::move(common), std::move(maps)));
}

Json group_maps_json(const Model::Content& content, const GroupMaps& groups) {
    Json maps = Json::array();
    for (std::size_t k = 0; k < groups.maps().size(); ++k)
        maps.push_back({{"label", content.map_labels[k]},
                        {"predicted", groups.maps()[k]->predicted()},
                        {"actual", groups.maps()[k]->actual()}});
    return {{"column", content.map_column}, {"maps", std::move(maps)}};
}

// The bounds, which are inside a recalibration.
const Bounded* bounds_of(const Model::Content& content) {
    const Recalibrated* map = recalibration_of(content);
    return dynamic_cast<const Bounded*>(map != nullptr ? map->inner().get() : content.family.get());
}

int format_version(const Model::Content& c) {
    const Recalibrated* map = recalibration_of(c);
    if (c.state && (c.state->options().shrink.size() > 1 || c.state->options().shape)) return kFormatVersion;
    if (c.has_group_maps()) return kVersionOfGroupMaps;
    if (map != nullptr && map->kind() == Recalibrated::Kind::conformal) return kVersionOfConformal;
    if (c.state) return kVersionOfState;
    if (c.learns_location || c.outputs().further() > 0 || c.family->limits().any()) return 4;
    if (std::any_of(c.members.begin(), c.members.end(), [](const auto& member) { return member.weight != 1; }))
        return 4;
    const bool numbers = std::all_of(c.inputs.begin(), c.inputs.end(), [](const Encoding& encoding) {
        return encoding.input.kind == InputKind::number && !encoding.imputed;
    });
    return !numbers ? 3 : has_scores(c) ? 2 : 1;
}

Json input_json(const Encoding& encoding) {
    Json json = {{"name", encoding.name}};
    const bool number = encoding.input.kind == InputKind::number;
    if (!number) {
        json["column"] = encoding.input.column;
        json["kind"] = input_kind_names()[static_cast<std::size_t>(encoding.input.kind)];
    }
    if (encoding.input.kind == InputKind::cyclic) json["period"] = encoding.input.period;
    json.update(scaling_json(encoding.scaling));
    json["lowest"] = encoding.low;
    json["highest"] = encoding.high;
    for (const Encoding::Gap& gap : encoding.gaps) json["gaps"].push_back({gap.low, gap.high});
    if (encoding.is_category()) json["labels"] = encoding.labels();
    if (encoding.imputed) json["missing"] = encoding.has_indicator ? "mean and indicator" : "mean";
    return json;
}

Encoding input_of(const Json& json) {
    Encoding encoding;
    encoding.name = json.at("name").get<std::string>();
    encoding.input.column = json.value("column", encoding.name);
    const std::vector<std::string> kinds = input_kind_names();
    const auto kind = std::find(kinds.begin(), kinds.end(), json.value("kind", kinds.front()));
    encoding.input.kind = static_cast<InputKind>(kind - kinds.begin());
    if (json.contains("missing")) {
        encoding.imputed = true;
        encoding.has_indicator = json.at("missing") != "mean";
    }
    if (encoding.is_category()) {
        core::require(!encoding.has_indicator, "its input '{}' is a category, which has no indicator",
                      printable(encoding.name));
        encoding.set_labels(json.at("labels").get<std::vector<std::string>>());
        return encoding;
    }
    if (encoding.input.kind == InputKind::cyclic) encoding.input.period = json.at("period").get<double>();
    encoding.scaling = scaling_of(json);
    encoding.low = json.at("lowest").get<double>();
    encoding.high = json.at("highest").get<double>();
    if (json.contains("gaps"))
        for (const Json& gap : json.at("gaps")) encoding.gaps.push_back({gap.at(0), gap.at(1)});
    core::require(encoding.low <= encoding.high, "the range of its input '{}' ends before it begins",
                  printable(encoding.name));
    return encoding;
}

Json content_json(const Model& model) {
    const Model::Content& c = model.content();
    Json json;
    json["format"] = "accrue model";
    json["format_version"] = format_version(c);
    json["accrue_version"] = c.accrue_version;
    json["columns"] = c.columns;
    json["configuration"] = c.configuration;
    Json inputs = Json::array();
    for (const Encoding& encoding : c.inputs) inputs.push_back(input_json(encoding));
    json["inputs"] = std::move(inputs);
    json["prediction"] = c.prediction_name.empty() ? Json(nullptr) : scaling_json(c.prediction_scaling);
    if (!c.prediction_name.empty()) json["prediction"]["name"] = c.prediction_name;
    json["error_scale"] = c.error_scale;
    json["bias"] = {{"kind", c.bias.field ? c.bias.field->name() : "none"}, {"coefficients", c.bias.parameters}};
    json["mean"] = nullptr;
    if (!c.mean.empty())
        json["mean"] = {{"target", scaling_json(c.target_scaling)}, {"regression", fields::mean_json(c.mean)}};
    Json members = Json::array();
    for (const fields::Fitted& member : c.members) {
        members.push_back({{"form", member.field->name()}, {"parameters", member.parameters}});
        if (member.weight != 1) members.back()["weight"] = member.weight;
    }
    // Files of the normal family are as they were before there were others.
    if (c.family->name() != normal_family()->name()) json["family"] = c.family->name();
    if (c.learns_location) json["location"] = "learned";
    if (const Bounded* bounded = bounds_of(c)) {
        json["bounds"] = {{"kind", bounded->kind() == Bounded::Kind::censored ? "censored" : "truncated"}};
        if (bounded->limits().has_lower()) json["bounds"]["lower"] = bounded->limits().lower;
        if (bounded->limits().has_upper()) json["bounds"]["upper"] = bounded->limits().upper;
    }
    json["sigma"] = {{"combination", "mean of log sigma"}, {"members", std::move(members)}};
    json["recalibration"] = nullptr;
    if (const Recalibrated* own = recalibration_of(c)) json["recalibration"] = map_json(*own);
    if (const auto* groups = dynamic_cast<const GroupMaps*>(c.family.get()))
        json["recalibration"]["groups"] = group_maps_json(c, *groups);
    if (c.state) json["state"] = c.state->json();
    json["fit"] = c.fit;
    json["verification"] = c.verification;
    json["test_vectors"] = test_vectors(model);
    return json;
}

// What only people read, which may be most of a file.
bool is_account(std::string_view entry) {
    return entry == "fit" || entry == "verification";
}

std::shared_ptr<Model::Content> content_of(const Json& json) {
    auto c = std::make_shared<Model::Content>();
    for (const Json& input : json.at("inputs")) c->inputs.push_back(input_of(input));
    if (const Json& prediction = json.at("prediction"); !prediction.is_null()) {
        c->prediction_name = prediction.at("name").get<std::string>();
        // It would be written as a model without one.
        core::require(!c->prediction_name.empty(), "its prediction has no name");
        c->prediction_scaling = scaling_of(prediction);
    }
    c->error_scale = json.at("error_scale").get<double>();
    c->bias = {fields::correction_field(json.at("bias").at("kind").get<std::string>(), c->regressor_ranges()),
               json.at("bias").at("coefficients").get<std::vector<double>>()};
    const std::size_t coefficients = c->bias.field ? c->bias.field->parameters() : 0;
    core::require(c->bias.parameters.size() == coefficients, "its bias correction has {} coefficients in place of {}",
                  c->bias.parameters.size(), coefficients);
    if (const Json& mean = json.at("mean"); !mean.is_null()) {
        c->target_scaling = scaling_of(mean.at("target"));
        c->mean = fields::mean_from_json(mean.at("regression"), encodings::column_count(c->inputs));
    }
    if (json.contains("family")) c->family = family(json.at("family").get<std::string>());
    c->learns_location = json.contains("location");
    const std::vector<fields::Range> ranges = encodings::column_ranges(c->inputs);
    const std::size_t outputs = c->outputs().count();
    for (const Json& member : json.at("sigma").at("members")) {
        auto parameters = member.at("parameters").get<std::vector<double>>();
        auto field = fields::make_field(member.at("form").get<std::string>(), ranges, outputs, parameters.size());
        c->members.push_back({std::move(field), std::move(parameters), member.value("weight", 1.0)});
    }
    if (json.contains("bounds")) {
        const Json& bounds = json.at("bounds");
        const bool censored = bounds.at("kind") == "censored";
        Limits limits;
        if (bounds.contains("lower")) limits.lower = bounds.at("lower").get<double>();
        if (bounds.contains("upper")) limits.upper = bounds.at("upper").get<double>();
        c->family =
            std::make_shared<Bounded>(censored ? Bounded::Kind::censored : Bounded::Kind::truncated, limits, c->family);
    }
    if (const Json& map = json.at("recalibration"); !map.is_null()) {
        auto common = recalibrated(c->family, map);
        if (map.contains("groups"))
            set_group_maps(*c, std::move(common), map.at("groups"));
        else
            c->family = std::move(common);
    }
    c->accrue_version = json.at("accrue_version").get<std::string>();
    c->columns = json.at("columns");
    if (json.contains("state")) c->state = State::from_json(json.at("state"));
    c->configuration = json.at("configuration");
    return c;
}

// `version` as it stands in the file.
void check_version(const std::string& version) {
    core::require(!version.empty(), "its format version is missing or not a number");
    const bool is_whole = version.find_first_not_of("0123456789", version[0] == '-' ? 1 : 0) == std::string::npos;
    core::require(is_whole, "its format version is not a number");
    constexpr std::size_t kMaxDigits = 9;
    core::require(version[0] == '-' || (version.size() <= kMaxDigits && std::stoi(version) <= kFormatVersion),
                  "it has format version {}, this accrue reads up to {}; use a newer accrue", version, kFormatVersion);
    core::require(version[0] != '-' && std::stoi(version) >= 1, "it has format version {}, which never was", version);
}

// From the cheapest check to the dearest. Nothing is built before all of the text has passed the first three, and of
// what only people read nothing before the model forecasts what it should.
Model checked(const std::string& text) {
    core::require(text.size() <= kLargestFile, "it is larger than any model ({} MB)", text.size() >> 20U);
    const model_file::Outline outline = model_file::outline(text);
    core::require(outline.format == "\"accrue model\"", "it is not an accrue model");
    check_version(outline.format_version);
    core::require(!outline.checksum.empty(), "its entry 'checksum' is missing");
    core::require(outline.checksum == '"' + outline.true_checksum + '"',
                  "its checksum does not match: the file was edited or damaged");
    model_file::check_schema(text);
    const auto content = [&] {
        const auto tree = model_file::tree(text, [](std::string_view entry) { return !is_account(entry); });
        auto made = content_of(tree.json);
        check_test_vectors(Model(made), tree.json.at("test_vectors"));
        return made;
    }();
    auto account = model_file::tree(text, is_account);
    content->fit = std::move(account.json.at("fit"));
    content->verification = std::move(account.json.at("verification"));
    return Model(content);
}

}  // namespace

Json Model::json() const {
    Json json = content_json(*this);
    // Over the text of everything before it, without blanks.
    json["checksum"] = model_file::outline(json.dump()).true_checksum;
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
    const std::string content = text();
    // A file that nobody could load again is not worth having.
    core::require(content.size() <= kLargestFile, "the model would have {} MB, but a model file has at most {} MB",
                  content.size() >> 20U, kLargestFile >> 20U);
    write_file(path, content);
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
    if (const int failed = stat(path.c_str(), &status) != 0 ? errno : 0)
        throw InputError(fmt::format("cannot read {}: {}", path, core::system_message(failed)), failed);
    if (S_ISDIR(status.st_mode)) throw InputError(fmt::format("cannot read {}: it is a directory", path), EISDIR);
    core::require(static_cast<std::size_t>(status.st_size) <= kLargestFile,
                  "{} cannot be used as a model: it is larger than any model ({} MB)", path, status.st_size >> 20U);
    data::InputFile file(path);
    // Devices and pipes do not say how much they hold.
    std::string text;
    constexpr std::size_t kPiece = std::size_t{1} << 20U;
    text.reserve(kPiece + (file.is_regular() ? file.size() : kLargestFile + kPiece));
    for (std::size_t got = 1; got > 0 && text.size() <= kLargestFile;) {
        const std::size_t before = text.size();
        text.resize(before + kPiece);
        got = file.read(&text[before], kPiece);
        text.resize(before + got);
    }
    core::require(text.size() <= kLargestFile, "{} cannot be used as a model: it is larger than any model", path);
    return parse(text, path);
}

}  // namespace accrue
