// The charts of a report as files, drawn by the same program as the page's.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/error.hpp"
#include "accrue/messages.hpp"
#include "accrue/report.hpp"
#include "core/error.hpp"
#include "data/files.hpp"
#include "report/assets.hpp"
#include "report/program.hpp"

namespace accrue {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPixelsPerInch = "192";  // twice the screen's, for print

report::Program program(const char* name, std::vector<std::string> arguments, const data::TemporaryFolder& scratch) {
    arguments.insert(arguments.begin(), name);
    report::Program program;
    program.command = std::move(arguments);
    program.output = scratch / "output";
    program.errors = scratch / "errors";
    return program;
}

report::Program drawer(std::vector<std::string> arguments, const data::TemporaryFolder& scratch) {
    report::Program node = program("node", std::move(arguments), scratch);
    node.purpose = "draws the figures";
    node.hint = "install Node.js (Debian's package nodejs)";
    return node;
}

report::Program converter(std::vector<std::string> arguments, const data::TemporaryFolder& scratch) {
    report::Program convert = program("rsvg-convert", std::move(arguments), scratch);
    convert.purpose = "makes PNG pictures";
    convert.hint = "install Debian's package librsvg2-bin";
    return convert;
}

void write(const std::string& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

// Whether a chart may have this name (src/report/web/src/charts). Some are numbered: input-3, by-2-coverage.
bool is_chart(const std::string& name) {
    std::string plain;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t after = std::min(name.find_first_not_of("0123456789", at + 1), name.size());
        const bool numbered = name[at] == '-' && after > at + 1;
        if (!numbered) plain += name[at];
        at = numbered ? after : at + 1;
    }
    constexpr std::array<std::string_view, 19> kCharts = {"reliability",
                                                          "reliability-deviation",
                                                          "pit",
                                                          "predictions",
                                                          "time",
                                                          "spread-skill",
                                                          "input",
                                                          "fit",
                                                          "by-calibration",
                                                          "by-coverage",
                                                          "everywhere",
                                                          "everywhere-coverage",
                                                          "through-time-crps",
                                                          "through-time-calibration",
                                                          "through-time-coverage",
                                                          "evidence",
                                                          "density",
                                                          "balance",
                                                          "importance"};
    return std::find(kCharts.begin(), kCharts.end(), plain) != kCharts.end() && name != "input";
}

// Pictures of an earlier report that a new one does not have: both files of a chart.
std::vector<std::string> left_over(const std::string& folder, const std::vector<std::string>& drawn) {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const fs::path& svg = entry.path();
        const fs::path png = fs::path(svg).replace_extension("png");
        if (svg.extension() != ".svg" || !is_chart(svg.stem().string())) continue;
        if (std::find(drawn.begin(), drawn.end(), svg.filename().string()) != drawn.end()) continue;
        if (!fs::is_regular_file(svg) || !fs::is_regular_file(png)) continue;
        all.push_back(svg.string());
        all.push_back(png.string());
    }
    return all;
}

// A folder that is made here, with those above it, and goes away again unless it is kept.
class MadeFolder {
public:
    explicit MadeFolder(const fs::path& folder) {
        std::error_code failed;
        for (fs::path place = folder; !place.empty() && !fs::exists(place, failed); place = place.parent_path())
            made_.push_back(place);
        fs::create_directories(folder, failed);
        if (!fs::is_directory(folder)) {
            remove();
            core::refuse("{} is not a folder that figures could be written to{}{}", display_name(folder.string()),
                         failed ? ": " : "", failed ? failed.message() : "");
        }
    }
    ~MadeFolder() { remove(); }
    MadeFolder(const MadeFolder&) = delete;
    MadeFolder& operator=(const MadeFolder&) = delete;
    void keep() { made_.clear(); }

private:
    void remove() noexcept {
        for (const fs::path& place : made_) ::rmdir(place.c_str());
    }

    std::vector<fs::path> made_;  // the innermost first
};

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void require_figure_programs() {
    const data::TemporaryFolder scratch;
    for (const report::Program& program : {drawer({"--version"}, scratch), converter({"--version"}, scratch)})
        report::run(program);
}

std::vector<std::string> write_figures(const nlohmann::ordered_json& data, const std::string& folder) {
    require_report_page();
    MadeFolder made(folder);
    const data::TemporaryFolder scratch;
    const std::string drawn = scratch / "drawn";
    fs::create_directory(drawn);
    write(scratch / "figures.cjs", report::figures_program());
    write(scratch / "data.json", data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    report::Program draw = drawer({scratch / "figures.cjs", drawn}, scratch);
    draw.input = scratch / "data.json";
    report::run(draw);
    std::vector<std::string> pictures;
    for (const auto& entry : fs::directory_iterator(drawn)) pictures.push_back(entry.path().filename().string());
    std::sort(pictures.begin(), pictures.end());
    const std::vector<std::string> vector_pictures = pictures;
    for (const std::string& name : vector_pictures) {
        const std::string bitmap = fs::path(name).replace_extension("png").string();
        report::run(converter({"--dpi-x", kPixelsPerInch, "--dpi-y", kPixelsPerInch, "--zoom", "2", "--output",
                               (fs::path(drawn) / bitmap).string(), (fs::path(drawn) / name).string()},
                              scratch));
        pictures.push_back(bitmap);
    }
    std::vector<std::string> written;
    std::vector<std::unique_ptr<AtomicFile>> files;
    for (const std::string& name : pictures) {
        written.push_back((fs::path(folder) / name).string());
        files.push_back(std::make_unique<AtomicFile>(written.back()));
        files.back()->write(read((fs::path(drawn) / name).string()));
    }
    const bool is_report = !data.contains("sections");  // the paper's figures are another set
    commit_together(files, is_report ? left_over(folder, pictures) : std::vector<std::string>());
    made.keep();
    std::sort(written.begin(), written.end());
    return written;
}

}  // namespace accrue
