#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/adapt.hpp"
#include "accrue/messages.hpp"
#include "accrue/model.hpp"
#include "commands.hpp"

namespace accrue::app {

namespace {

using Json = nlohmann::ordered_json;

// A model file may come from anyone: nothing of it reaches the terminal as a control sequence.
std::string shown(std::string_view text) {
    return printable(text, std::string::npos);
}

std::string plain(const Json& value) {
    return shown(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string percent(const Json& value, const char* sign) {
    return value.is_number() ? fmt::format(fmt::runtime(sign), 100 * value.get<double>()) : "-";
}

// JSON escapes the control characters below blank by itself; DEL and U+0080 to U+009F stand only in texts.
std::string shown_json(const Json& model) {
    std::string safe;
    const std::string text = model.dump(2);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : ' ');
        if (byte == 0x7F) {
            safe += "\\u007f";
        } else if (byte == 0xC2 && next < 0xA0) {
            safe += fmt::format("\\u{:04x}", next);
            ++i;
        } else {
            safe += text[i];
        }
    }
    return safe + "\n";
}

std::string number(const Json& value) {
    return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : "-";
}

std::string description(const std::string& path, const Json& model) {
    std::string text = fmt::format("{}: accrue model, format {}, written by accrue {}\n\n", shown(path),
                                   model["format_version"].dump(), plain(model["accrue_version"]));
    text += "Columns\n";
    for (const auto& [role, name] : model["columns"].items()) {
        if (role == "inputs") continue;
        text += fmt::format("  {:<13} {}\n", shown(role), plain(name));
    }
    text += fmt::format("\nInputs\n  {:<24}{:>12}{:>12}{:>12}{:>12}\n", "name", "lowest", "highest", "mean", "sd");
    for (const Json& input : model["inputs"])
        text += fmt::format("  {:<24}{:>12}{:>12}{:>12}{:>12}\n", plain(input["name"]), number(input["lowest"]),
                            number(input["highest"]), number(input["centre"]), number(input["scale"]));
    text += "\nConfiguration\n";
    for (const auto& [key, value] : model["configuration"].items())
        text += fmt::format("  {:<18}{}\n", shown(key), plain(value));
    text += fmt::format("\nSigma: {} members, {}; bias correction: {}; recalibration: {}\n",
                        model["sigma"]["members"].size(), plain(model["sigma"]["combination"]),
                        plain(model["bias"]["kind"]),
                        model["recalibration"].is_null() ? "none" : model["recalibration"].value("kind", "isotonic"));
    if (!model["recalibration"].is_null() && model["recalibration"].contains("groups")) {
        const Json& groups = model["recalibration"]["groups"];
        const std::size_t count = groups["maps"].size();
        text += fmt::format("Recalibration: {} of {} {} a map of {} own, other rows have a common one\n",
                            counted(count, "value"), plain(groups["column"]), count == 1 ? "has" : "have",
                            count == 1 ? "its" : "their");
    }
    if (!model["mean"].is_null())
        text += fmt::format("Mean: learned from the archive, {}\n", plain(model["mean"]["regression"]["kind"]));
    if (model.contains("state")) {
        const Json& state = model["state"];
        const bool dates = state["dates"].get<bool>();
        text += fmt::format(
            "State: has seen {} rows at {} times{}; times by {}{}\n", state["rows"].dump(), state["steps"].dump(),
            state["clock"].is_null() ? std::string()
                                     : fmt::format(" up to {}", time_text(state["clock"].get<double>(), dates)),
            plain(state["time"]),
            state.contains("group") ? fmt::format(", groups by {}", plain(state["group"])) : std::string());
    }
    if (model["fit"].contains("importance")) {
        text += fmt::format(
            "\nWhat drives the forecast: mean change where an input is permuted among rows\n"
            "  {:<24}{:>20}{:>12}{:>12}\n",
            "input", "location (sigmas)", "log scale", "shape");
        for (const Json& own : model["fit"]["importance"])
            if (own.is_object())
                text += fmt::format("  {:<24}{:>20}{:>12}{:>12}\n", plain(own.value("input", Json())),
                                    number(own.value("location", Json())), number(own.value("scale", Json())),
                                    number(own.value("shape", Json())));
    }
    text += "\nStarts\n   fold  start  iterations     cost    skill  outcome\n";
    for (const Json& start : model["fit"]["starts"])
        text += fmt::format("  {:>5}{:>7}{:>12}{:>9}{:>8}%  {}{}{}\n", start["fold"].get<int>() + 1,
                            start["start"].get<int>() + 1, start["iterations"].dump(), number(start["validation_cost"]),
                            percent(start["skill"], "{:.2f}"),
                            start.contains("form") ? plain(start["form"]) + ": " : "", plain(start["reason"]),
                            start["kept"].get<bool>() ? "" : "; dropped: " + plain(start.value("dropped_because", "")));
    const Json& v = model["verification"];
    text += fmt::format("\nVerification, {}, {} rows\n", plain(v["kind"]), v["rows"].dump());
    text += fmt::format("  CRPS {}, skill over a constant sigma {}%\n", number(v["crps"]),
                        percent(v["crps_skill"], "{:+.2f}"));
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
    command->add_option("MODEL", options->model, "Model file")->type_name("FILE")->required();
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
        print(options->json ? shown_json(model.json()) : description(options->model, model.json()));
    });
}

}  // namespace accrue::app
