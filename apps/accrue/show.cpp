#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/model.hpp"
#include "commands.hpp"

namespace accrue::app {

namespace {

using Json = nlohmann::ordered_json;

std::string plain(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string number(const Json& value) {
    return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : "-";
}

std::string description(const std::string& path, const Json& model) {
    std::string text = fmt::format("{}: accrue model, format {}, written by accrue {}\n\n", path,
                                   model["format_version"].dump(), plain(model["accrue_version"]));
    text += "Columns\n";
    for (const auto& [role, name] : model["columns"].items()) {
        if (role == "inputs") continue;
        text += fmt::format("  {:<14}{}\n", role, plain(name));
    }
    text += fmt::format("\nInputs\n  {:<24}{:>12}{:>12}{:>12}{:>12}\n", "name", "lowest", "highest", "mean", "sd");
    for (const Json& input : model["inputs"])
        text += fmt::format("  {:<24}{:>12}{:>12}{:>12}{:>12}\n", plain(input["name"]), number(input["lowest"]),
                            number(input["highest"]), number(input["centre"]), number(input["scale"]));
    text += "\nConfiguration\n";
    for (const auto& [key, value] : model["configuration"].items())
        text += fmt::format("  {:<18}{}\n", key, plain(value));
    text += fmt::format("\nSigma: {} members, {}; bias correction: {}; recalibration: {}\n",
                        model["sigma"]["members"].size(), plain(model["sigma"]["combination"]),
                        plain(model["bias"]["kind"]), model["recalibration"].is_null() ? "none" : "isotonic");
    if (!model["mean"].is_null())
        text += fmt::format("Mean: learned from the archive, {}\n", plain(model["mean"]["regression"]["kind"]));
    text += "\nStarts\n   fold  start  iterations     cost    skill  outcome\n";
    for (const Json& start : model["fit"]["starts"])
        text += fmt::format("  {:>5}{:>7}{:>12}{:>9}{:>8.2f}%  {}{}\n", start["fold"].get<int>() + 1,
                            start["start"].get<int>() + 1, start["iterations"].dump(), number(start["validation_cost"]),
                            100 * start["skill"].get<double>(), plain(start["reason"]),
                            start["kept"].get<bool>() ? "" : "; dropped: " + plain(start["dropped_because"]));
    const Json& v = model["verification"];
    text += fmt::format("\nVerification, {}, {} rows\n", plain(v["kind"]), v["rows"].dump());
    text +=
        fmt::format("  CRPS {}, skill over a constant sigma {}%\n", number(v["crps"]),
                    v["crps_skill"].is_number() ? fmt::format("{:+.2f}", 100 * v["crps_skill"].get<double>()) : "-");
    text += fmt::format("  calibration error {}%, floor {}%; mean of z {}, sd of z {}\n",
                        number(v["calibration_error_percent"]), number(v["calibration_floor_percent"]),
                        number(v["mean_z"]), number(v["sd_z"]));
    text += fmt::format("  {}\n", plain(v["verdict"]["summary"]));
    for (const Json& remark : v["verdict"]["remarks"]) text += fmt::format("  {}\n", plain(remark));
    return text;
}

}  // namespace

void add_show(CLI::App& app) {
    struct Options {
        std::string model;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("show", "Say what is in a model file");
    command->add_option("MODEL", options->model, "Model file")->type_name("")->required();
    command->add_flag("--json", options->json, "Print the content as JSON (docs/model-file.md)");
    command->footer(
        "Columns and their roles, the range of each input, the configuration, what became of every start,\n"
        "and the figures of the fit's own verification. Like every command that reads a model, it refuses a\n"
        "file that was edited or damaged.\n"
        "\n"
        "Examples:\n"
        "  accrue show model.json\n"
        "  accrue show model.json --json | jq .verification.crps");
    command->callback([options] {
        const Model model = Model::load(options->model);
        print(options->json ? model.json().dump(2) + "\n" : description(options->model, model.json()));
    });
}

}  // namespace accrue::app
