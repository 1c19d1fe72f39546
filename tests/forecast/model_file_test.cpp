// The model file refuses whatever is not exactly what a fit wrote.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "data/temporary_folder.hpp"
#include "forecast/model_schema.hpp"
#include "support/archives.hpp"
#include "support/places.hpp"

namespace accrue {
namespace {

using Json = nlohmann::ordered_json;
using support::refusal;

Model fitted(const std::string& form, const std::string& bias = "none", std::size_t rows = 60, std::size_t inputs = 1) {
    support::Rows data = support::some_rows(rows, 230, inputs);
    core::Random random(231);
    for (std::size_t i = 0; i < rows; ++i) data.prediction.push_back(random.normal());
    FitOptions options;
    options.form = form;
    options.bias = bias;
    options.recalibrate = "none";
    options.max_iterations = 20;
    return fit(data.archive(), options).model;
}

const std::string& network_text() {
    static const std::string text = fitted("network", "linear").text();
    return text;
}

std::string refused(const std::string& text) {
    return refusal([&] { Model::parse(text, "m.json"); });
}

// The text of an edited model with a checksum that is right: FNV-1a, 64 bits, over the compact text without it.
std::string sealed(Json json) {
    json.erase("checksum");
    std::uint64_t sum = 0xcbf29ce484222325ULL;
    for (const char c : json.dump()) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    json["checksum"] = fmt::format("{:016x}", sum);
    return json.dump();
}

TEST(ModelFile, ReadsWhatItWrote) {
    for (const std::string& form : form_names())
        for (const char* bias : {"none", "constant", "linear"}) {
            const std::string text = fitted(form, bias).text();
            EXPECT_EQ(Model::parse(text).text(), text) << form << ", " << bias;
        }
}

TEST(ModelFile, BlanksDoNotMatter) {
    const Json json = Json::parse(network_text());
    EXPECT_EQ(Model::parse(json.dump()).text(), network_text());
    EXPECT_EQ(Model::parse(json.dump(3)).text(), network_text());
    EXPECT_EQ(Model::parse(sealed(json)).text(), network_text()) << "the checksum is not what the documentation says";
}

TEST(ModelFile, RemembersTheVersionThatFittedIt) {
    Json json = Json::parse(network_text());
    json["accrue_version"] = "0.0.7";
    EXPECT_EQ(Model::parse(sealed(json)).json().at("accrue_version"), "0.0.7");
}

TEST(ModelFile, RefusesEveryEditOfANumber) {
    const std::string& text = network_text();
    core::Random random(232);
    int edits = 0;
    while (edits < 300) {
        const std::size_t at = random.below(text.size());
        if (text[at] < '0' || text[at] > '9') continue;
        ++edits;
        std::string edited = text;
        edited[at] = static_cast<char>('0' + (text[at] - '0' + 1 + static_cast<int>(random.below(9))) % 10);
        try {
            // The 17th digit of a number may not change its value; then nothing was edited.
            EXPECT_EQ(Model::parse(edited).text(), text) << "byte " << at << ": " << text.substr(at - 20, 40);
        } catch (const InputError&) {
        }
    }
}

TEST(ModelFile, RefusesOtherEditsToo) {
    const std::string& text = network_text();
    core::Random random(233);
    int accepted = 0;
    for (int i = 0; i < 300; ++i) {
        std::string edited = text;
        const std::size_t at = random.below(text.size());
        const char original = edited[at];
        edited[at] = static_cast<char>(random.below(256));
        if (edited[at] == original) continue;
        try {
            EXPECT_EQ(Model::parse(edited).text(), text) << "byte " << at;
            ++accepted;
        } catch (const InputError&) {
        }
    }
    EXPECT_LT(accepted, 5);
}

TEST(ModelFile, RefusesWhatWasCutShort) {
    const std::string& text = network_text();
    core::Random random(234);
    for (int i = 0; i < 50; ++i) {
        const std::size_t length = random.below(text.size() - 2);  // without the last brace
        EXPECT_NE(refused(text.substr(0, length)).find("m.json cannot be used as a model: "), std::string::npos)
            << length;
    }
    EXPECT_EQ(refused(""), "m.json cannot be used as a model: it is not JSON, or cut short (at byte 1)");
}

TEST(ModelFile, RefusesLaterFormats) {
    Json json = Json::parse(network_text());
    json["format_version"] = 9;
    EXPECT_EQ(
        refused(sealed(json)),
        "m.json cannot be used as a model: it has format version 9, this accrue reads up to 8; use a newer accrue");
    // A later format may look quite different: the version is read first.
    EXPECT_NE(refused(R"({"format": "accrue model", "format_version": 9})").find("use a newer accrue"),
              std::string::npos);
    for (const char* version : {"4294967297", "18446744073709551615", "99999999999999999999999"}) {
        const std::string words =
            refused(fmt::format(R"({{"format": "accrue model", "format_version": {}}})", version));
        EXPECT_TRUE(words.find("newer accrue") != std::string::npos || words.find("not a number") != std::string::npos)
            << words;
    }
    for (const char* version : {"0", "-1", "\"1\"", "null", "[1]", "1.0"}) {
        const std::string text = fmt::format(R"({{"format": "accrue model", "format_version": {}}})", version);
        EXPECT_NE(refused(text).find("format version"), std::string::npos) << refused(text);
    }
}

TEST(ModelFile, RefusesWhatIsNoModel) {
    for (const char* text :
         {"x,y\n1,2\n", "null", "[]", "{}", "3", "\"accrue model\"", R"({"format": 3})",
          R"({"format": "accrue model"})", "{\"format\": \"accrue model\"", "\xff\xfe", "{\"a\":1}{\"b\":2}"})
        EXPECT_NE(refused(text).find("m.json cannot be used as a model: "), std::string::npos) << text;
    EXPECT_NE(refused("{}").find("it is not an accrue model"), std::string::npos);
    EXPECT_NE(refused("x,y\n1,2\n").find("it is not JSON"), std::string::npos);
}

TEST(ModelFile, RefusesEndlessNestingInLittleMemory) {
    const auto resident_kib = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
    };
    for (const char* piece : {"[", "{\"a\":"}) {
        std::string text;
        for (int i = 0; i < 1000000; ++i) text += piece;
        const long before = resident_kib();
        EXPECT_NE(refused(text).find("nested too deeply"), std::string::npos);
        EXPECT_NE(refused("{\"format\": \"accrue model\", \"x\": " + text).find("nested too deeply"),
                  std::string::npos);
        EXPECT_LT(resident_kib() - before, 32 << 10) << "the file has 5 MB at most; a copy of it is fine";
    }
}

TEST(ModelFile, RefusesWrongCountsUnderARightChecksum) {
    const Json good = Json::parse(network_text());
    const auto edited = [&](const auto& edit) {
        Json json = good;
        edit(json);
        return refused(sealed(json));
    };
    EXPECT_EQ(edited([](Json&) {}), "no refusal");
    const std::string prefix = "m.json cannot be used as a model: ";
    EXPECT_EQ(edited([](Json& j) { j["sigma"]["members"][0]["parameters"].push_back(0.5); }),
              prefix + "a network has 622 parameters in place of 621");
    EXPECT_EQ(edited([](Json& j) { j["sigma"]["members"][0]["parameters"].erase(0); }),
              prefix + "a network has 620 parameters in place of 621");
    EXPECT_EQ(edited([](Json& j) { j["sigma"]["members"][0]["parameters"] = Json::array(); }),
              prefix + "its entry 'sigma.members[0].parameters' has 0 elements, but must have at least 1");
    EXPECT_EQ(edited([](Json& j) { j["sigma"]["members"] = Json::array(); }),
              prefix + "its entry 'sigma.members' has 0 elements, but must have at least 1");
    EXPECT_EQ(edited([](Json& j) { j["sigma"]["members"][0]["form"] = "spline"; }),
              prefix + "there is no form 'spline'; known are clusters, constant, network, polynomial");
    EXPECT_EQ(edited([](Json& j) { j["sigma"]["members"][0]["form"] = "polynomial"; }),
              prefix + "the order of a polynomial is at most 10; it is 620");
    // Coefficients beyond the regressors would be read from nowhere.
    EXPECT_EQ(edited([](Json& j) { j["bias"]["coefficients"].push_back(1.0); }),
              prefix + "its bias correction has 4 coefficients in place of 3");
    EXPECT_EQ(edited([](Json& j) { j["bias"]["kind"] = "none"; }),
              prefix + "its bias correction has 3 coefficients in place of 0");
    EXPECT_EQ(edited([](Json& j) { j["inputs"].push_back(j["inputs"][0]); }),
              prefix + "its bias correction has 3 coefficients in place of 4");
    EXPECT_EQ(edited([](Json& j) { j["test_vectors"].erase(0); }),
              prefix + "its entry 'test_vectors' has 11 elements, but must have at least 12");
    EXPECT_EQ(edited([](Json& j) { j["test_vectors"].push_back(j["test_vectors"][0]); }),
              prefix + "its entry 'test_vectors' has more than 12 elements");
    EXPECT_EQ(edited([](Json& j) { j["test_vectors"][0]["inputs"].push_back(1.0); }),
              prefix + "the model has 1 inputs, but 2 were given");
    EXPECT_EQ(edited([](Json& j) { j["inputs"][0]["scale"] = 0; }),
              prefix + "its entry 'inputs[0].scale' is 0, but must be above 0");
    EXPECT_EQ(edited([](Json& j) { j["error_scale"] = -1; }),
              prefix + "its entry 'error_scale' is -1, but must be above 0");
    EXPECT_EQ(edited([](Json& j) { j["inputs"][0]["highest"] = -1e9; }),
              prefix + "the range of its input 'x1' ends before it begins");
    // Such a model would be written as one without a prediction.
    EXPECT_EQ(edited([](Json& j) { j["prediction"]["name"] = ""; }), prefix + "its prediction has no name");
}

TEST(ModelFile, RefusesWhatItsSchemaForbidsUnderARightChecksum) {
    const Json good = Json::parse(network_text());
    const auto edited = [&](const auto& edit) {
        Json json = good;
        edit(json);
        const std::string words = refused(sealed(json));
        const std::string prefix = "m.json cannot be used as a model: ";
        return words.starts_with(prefix) ? words.substr(prefix.size()) : words;
    };
    EXPECT_EQ(edited([](Json& j) { j["fit"]["starts"] = Json::array({Json::object()}); }),
              "its entry 'fit.starts[0].fold' is missing");
    EXPECT_EQ(edited([](Json& j) { j["fit"] = nullptr; }), "its entry 'fit' is null, but must be an object");
    EXPECT_EQ(edited([](Json& j) { j["fit"]["starts"][1]["skill"] = "x"; }),
              "its entry 'fit.starts[1].skill' is a text, but must be a number or null");
    EXPECT_EQ(edited([](Json& j) { j["fit"]["starts"][1]["fold"] = 0.5; }),
              "its entry 'fit.starts[1].fold' is a number, but must be a whole number");
    EXPECT_EQ(edited([](Json& j) { j["fit"]["starts"][1]["fold"] = 3'000'000'000U; }),
              "its entry 'fit.starts[1].fold' is 3000000000, but must be at most 2147483646");
    EXPECT_EQ(edited([](Json& j) { j["verification"].erase("verdict"); }),
              "its entry 'verification.verdict' is missing");
    EXPECT_EQ(edited([](Json& j) { j["verification"]["verdict"]["remarks"] = Json::array({1}); }),
              "its entry 'verification.verdict.remarks[0]' is a whole number, but must be a text");
    EXPECT_EQ(edited([](Json& j) { j["columns"]["inputs"] = "x"; }),
              "its entry 'columns.inputs' is a text, but must be a list");
    EXPECT_EQ(edited([](Json& j) { j["columns"]["\x1b[2J"] = "x"; }), "its entry 'columns.\\x1b[2J' is unknown");
    EXPECT_EQ(edited([](Json& j) { j["configuration"]["rows"] = -1; }),
              "its entry 'configuration.rows' is -1, but must be at least 0");
    EXPECT_EQ(edited([](Json& j) { j["extra"] = 1; }), "its entry 'extra' is unknown");
    // What only people read may grow without a new format.
    EXPECT_EQ(edited([](Json& j) { j["verification"]["later"] = {{"a", Json::array({1, 2})}}; }), "no refusal");
    EXPECT_NE(edited([](Json& j) {
                  j["verification"]["later"] = Json(std::vector<int>(200'000, 1));
              }).find("more than 100000 values in entries that are unknown"),
              std::string::npos);
}

TEST(ModelFile, RefusesRepeatedEntriesHoweverTheyAreSpelled) {
    // A parser keeps one of the two, and which one is nobody's promise.
    for (const char* again : {R"("error_scale":1,)", R"("error_sc\u0061le":1,)"}) {
        std::string text = Json::parse(network_text()).dump();
        text.insert(1, again);
        const std::string without = text.substr(0, text.find(",\"checksum\"")) + "}";
        std::uint64_t sum = 0xcbf29ce484222325ULL;
        for (const char c : without) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
        text.replace(text.size() - 18, 16, fmt::format("{:016x}", sum));
        EXPECT_NE(refused(text).find("its entry 'error_scale' stands there twice"), std::string::npos) << refused(text);
    }
}

// Every place of the document, the first and the last element of each list.
void visit(const Json& json, const Json::json_pointer& at, const std::function<void(const Json::json_pointer&)>& call) {
    if (!at.empty()) call(at);
    if (json.is_object())
        for (const auto& [key, value] : json.items()) visit(value, at / key, call);
    if (json.is_array() && !json.empty()) {
        visit(json.front(), at / std::size_t{0}, call);
        if (json.size() > 1) visit(json.back(), at / (json.size() - 1), call);
    }
}

// A model with a map for one of two groups.
Model with_group_maps() {
    support::Rows data = support::some_rows(80, 237, 1);
    std::vector<std::uint32_t> codes;
    for (std::size_t i = 0; i < 80; ++i) codes.push_back(i % 4 == 0 ? 1 : 0);
    const std::vector<std::string> labels = {"large", "small"};
    Archive archive = data.archive();
    archive.recalibrate_groups = {codes, labels};
    archive.roles.recalibrate_group = "half";
    FitOptions options;
    options.form = "constant";
    options.recalibrate = "isotonic";
    options.family = "normal";
    return fit(archive, options).model;
}

TEST(ModelFile, HasNoGroupTwiceAndNoMapThatIsNone) {
    const Json good = Json::parse(with_group_maps().text());
    EXPECT_EQ(good.at("format_version"), 7);
    EXPECT_EQ(Model::parse(sealed(good)).text(), with_group_maps().text());
    Json json = good;
    const Json first = good["recalibration"]["groups"]["maps"][0];
    json["recalibration"]["groups"]["maps"].push_back(first);
    EXPECT_NE(refused(sealed(json)).find("two recalibrations are of the same group"), std::string::npos)
        << refused(sealed(json));
    json = good;
    json["recalibration"]["groups"]["maps"][0]["actual"].erase(0);
    EXPECT_NE(refused(sealed(json)).find("predicted values has"), std::string::npos) << refused(sealed(json));
    json = good;
    json["recalibration"]["groups"]["maps"] = Json::array();
    EXPECT_NE(refused(sealed(json)).find("must have at least 1"), std::string::npos) << refused(sealed(json));
    json = good;
    for (int k = 0; k < 1000; ++k) json["recalibration"]["groups"]["maps"].push_back(first);
    EXPECT_NE(refused(sealed(json)).find("has more than 1000 elements"), std::string::npos) << refused(sealed(json));
}

TEST(ModelFile, IsRefusedInOurWordsOrUsableWhateverIsEdited) {
    int refusals = 0;
    int loads = 0;
    for (const Json& good : {Json::parse(fitted("constant", "linear").text()), Json::parse(with_group_maps().text())})
        visit(good, Json::json_pointer(), [&](const Json::json_pointer& at) {
            for (const Json& other : {Json(nullptr), Json("text"), Json(true), Json(-3), Json(1e308), Json::array(),
                                      Json::object(), Json::array({Json::object()})}) {
                Json json = good;
                json[at] = other;
                try {
                    const Json loaded = Model::parse(sealed(json), "m.json").json();
                    ++loads;
                    // Whoever prints a model may rely on these.
                    for (const Json& start : loaded.at("fit").at("starts"))
                        EXPECT_TRUE(start.at("kept").is_boolean() && start.at("fold").is_number_integer() &&
                                    start.at("training_curve").is_array());
                    EXPECT_TRUE(loaded.at("verification").at("verdict").at("summary").is_string()) << at.to_string();
                } catch (const InputError& error) {
                    ++refusals;
                    EXPECT_EQ(std::string(error.what()).find("json.exception"), std::string::npos);
                    EXPECT_EQ(std::string(error.what()).find("missing or of the wrong type"), std::string::npos)
                        << at.to_string() << " as " << other.dump() << ": the schema did not see it";
                }
            }
        });
    EXPECT_GT(refusals, 1000);
    EXPECT_GT(loads, 100);
}

// Entries that the schema does not name.
void unknown_entries(const Json& value, const Json& rule, const Json& schema, const std::string& at,
                     std::string& found) {
    if (rule.contains("$ref"))
        return unknown_entries(value, schema.at(Json::json_pointer(rule["$ref"].get<std::string>().substr(1))), schema,
                               at, found);
    if (value.is_object())
        for (const auto& [key, entry] : value.items()) {
            if (!rule.contains("properties") || !rule["properties"].contains(key))
                found += at + "." + key + " ";
            else
                unknown_entries(entry, rule["properties"][key], schema, at + "." + key, found);
        }
    if (value.is_array() && !value.empty()) unknown_entries(value.front(), rule.at("items"), schema, at + "[]", found);
}

TEST(ModelFile, HoldsNothingThatItsSchemaDoesNotName) {
    const Json schema = Json::parse(model_file::schema_text());
    support::Rows rows = support::some_rows(80, 236, 1);
    std::vector<std::uint32_t> codes;
    for (std::size_t i = 0; i < 80; ++i) codes.push_back(static_cast<std::uint32_t>(i % 8));
    const std::vector<std::string> labels = {"a", "b", "c", "d", "e", "f", "g", "h"};
    // Of 80 rows 60 have a map of their own.
    std::vector<std::uint32_t> of_halves;
    for (std::size_t i = 0; i < 80; ++i) of_halves.push_back(i % 4 == 0 ? 1 : 0);
    const std::vector<std::string> halves = {"large", "small"};
    for (const std::string& form : form_names())
        for (const std::string& mean : fit_option("mean").choice_names())
            for (const std::string& recipe : fit_option("recipe").choice_names()) {
                Archive archive = rows.archive();
                FitOptions options;
                options.form = form;
                options.mean = mean;
                options.recipe = recipe;
                options.recalibrate = recipe == "paper" ? "isotonic" : "auto";
                options.max_iterations = 5;
                options.starts = 1;
                if (options.recipe == "default") archive.groups = {codes, labels};
                if (options.recipe == "default" && options.mean == "none") {
                    archive.recalibrate_groups = {of_halves, halves};
                    archive.roles.recalibrate_group = "half";
                    options.recalibrate = "isotonic";
                }
                if (options.mean != "none") {
                    archive.observation = archive.errors;
                    archive.errors = {};
                    archive.prediction = {};
                }
                const Json model = Json::parse(fit(archive, options).model.text());
                std::string found;
                unknown_entries(model, schema, schema, "", found);
                EXPECT_EQ(found, "") << form << " " << mean << " " << recipe;
                for (const std::string& key : schema.at("required").get<std::vector<std::string>>())
                    EXPECT_TRUE(model.contains(key)) << key;
            }
}

TEST(ModelFile, IsDocumentedEntryByEntry) {
    std::ifstream page(support::in_source("docs/model-file.md"));
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    const Json schema = Json::parse(model_file::schema_text());
    const Json& entries = schema.at("properties");
    for (const Json& list : {entries, entries.at("configuration").at("properties"),
                             entries.at("fit").at("properties").at("starts").at("items").at("properties")})
        for (const auto& [key, rule] : list.items())
            EXPECT_NE(text.find("`" + key + "`"), std::string::npos) << "docs/model-file.md does not name " << key;
}

TEST(ModelFile, ThatCouldNotBeLoadedIsNotFitted) {
    support::Rows data = support::some_rows(60, 230);
    Archive archive = data.archive();
    archive.input_names[0] = std::string(70'000, 'x');
    EXPECT_EQ(refusal([&] { fit(archive); }), "a column name has 70000 bytes, but may have at most 65536");
}

TEST(ModelFile, RefusesMissingAndMistypedEntries) {
    const Json good = Json::parse(network_text());
    for (const auto& [key, value] : good.items()) {
        Json json = good;
        json.erase(key);
        EXPECT_NE(refused(key == "checksum" ? json.dump() : sealed(json)), "no refusal") << "without " << key;
    }
    for (const char* key : {"inputs", "prediction", "error_scale", "bias", "sigma", "test_vectors", "format_version"})
        for (const Json& other : {Json(nullptr), Json("text"), Json(true), Json::array({1, 2}), Json::object()}) {
            if (std::string(key) == "prediction" && other.is_null()) continue;  // a model without a prediction's name
            Json json = good;
            json[key] = other;
            EXPECT_NE(refused(sealed(json)), "no refusal") << key << " as " << other.dump();
        }
    for (const Json& other : {Json(17), Json(nullptr), Json("0123456789abcdef")}) {
        Json json = good;
        json["checksum"] = other;
        EXPECT_NE(refused(json.dump()), "no refusal");
    }
}

TEST(ModelFile, RefusesTestVectorsThatItDoesNotReproduce) {
    const Json good = Json::parse(network_text());
    for (std::size_t row = 0; row < 12; ++row)
        for (const char* key : {"sigma", "mean"}) {
            Json json = good;
            json["test_vectors"][row][key] = good["test_vectors"][row][key].get<double>() * (1 + 1e-10) + 1e-10;
            EXPECT_NE(refused(sealed(json)).find("it does not reproduce its own test vectors"), std::string::npos);
            json["test_vectors"][row][key] = nullptr;
            EXPECT_NE(refused(sealed(json)), "no refusal");
        }
    Json json = good;
    auto& weight = json["sigma"]["members"][0]["parameters"].back();  // an output bias: every sigma feels it
    weight = weight.get<double>() + 1e-6;
    EXPECT_NE(refused(sealed(json)).find("it does not reproduce its own test vectors"), std::string::npos);
}

TEST(ModelFile, HoldsNoTrainingRows) {
    // Curves and figures do not grow with the rows: a constant's file is the same size but for the digits of its
    // figures. With 1,000 rows all bins of the conditional figures are there.
    const auto size = [](std::size_t rows) { return fitted("constant", "none", rows).text().size(); };
    EXPECT_NEAR(static_cast<double>(size(20000)), static_cast<double>(size(2000)), 2000);
    const support::Rows data = support::some_rows(60, 230);
    const std::string text = fitted("network").text();
    for (std::size_t i = 0; i < 60; ++i) {
        EXPECT_EQ(text.find(Json(data.errors[i]).dump()), std::string::npos) << "the error of row " << i;
        const double x = data.inputs[0][i];
        const bool is_end = x == *std::min_element(data.inputs[0].begin(), data.inputs[0].end()) ||
                            x == *std::max_element(data.inputs[0].begin(), data.inputs[0].end());
        if (!is_end) {
            EXPECT_EQ(text.find(Json(x).dump()), std::string::npos) << "the input of row " << i;
        }
    }
}

TEST(ModelFile, OfFiveInputsIsSmall) {
    const support::Rows data = support::some_rows(300, 235, 5);
    const std::string text = fit(data.archive()).model.text();
    RecordProperty("bytes", std::to_string(text.size()));
    EXPECT_LT(text.size(), 300'000U);
}

TEST(ModelFile, SavesAndLoads) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("model.json");
    const Model model = Model::parse(network_text());
    model.save(path);
    EXPECT_EQ(Model::load(path).text(), network_text());
    EXPECT_NE(refusal([&] { Model::load(path + ".none"); }).find("cannot read"), std::string::npos);
    EXPECT_NE(refusal([&] { Model::load(folder.path("")); }).find("it is a directory"), std::string::npos);
    EXPECT_THROW(model.save(folder.path("no/such/folder.json")), InputError);
    // A sparse gigabyte: refused by its size, before it is read.
    const std::string large = folder.path("large.json");
    std::ofstream(large) << "{";
    std::filesystem::resize_file(large, std::uintmax_t{1} << 30U);
    EXPECT_NE(refusal([&] { Model::load(large); }).find("larger than any model"), std::string::npos);
}

}  // namespace
}  // namespace accrue
