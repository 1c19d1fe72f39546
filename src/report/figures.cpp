// The charts of a report as files, drawn by the same program as the page's.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "accrue/error.hpp"
#include "accrue/report.hpp"
#include "core/error.hpp"
#include "data/files.hpp"
#include "data/messages.hpp"
#include "report/assets.hpp"
#include "report/program.hpp"

namespace accrue {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPixelsPerInch = "192";  // twice the screen's, for print

// A folder of its own that goes away with its content.
class ScratchFolder {
public:
    ScratchFolder() {
        std::error_code failed;
        const fs::path parent = fs::temp_directory_path(failed);
        if (failed) throw MachineError(fmt::format("there is no folder for temporary files: {}", failed.message()));
        path_ = (parent / "accrue-XXXXXX").string();
        if (mkdtemp(path_.data()) == nullptr)
            throw MachineError(fmt::format("no temporary folder {}: {}", path_, core::system_message(errno)));
    }
    ~ScratchFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    std::string operator/(const std::string& name) const { return (fs::path(path_) / name).string(); }

private:
    std::string path_;
};

report::Program program(const char* name, std::vector<std::string> arguments, const ScratchFolder& scratch) {
    arguments.insert(arguments.begin(), name);
    report::Program program;
    program.command = std::move(arguments);
    program.output = scratch / "output";
    program.errors = scratch / "errors";
    return program;
}

report::Program drawer(std::vector<std::string> arguments, const ScratchFolder& scratch) {
    report::Program node = program("node", std::move(arguments), scratch);
    node.purpose = "draws the figures";
    node.hint = "install Node.js (Debian's package nodejs)";
    return node;
}

report::Program converter(std::vector<std::string> arguments, const ScratchFolder& scratch) {
    report::Program convert = program("rsvg-convert", std::move(arguments), scratch);
    convert.purpose = "makes PNG pictures";
    convert.hint = "install Debian's package librsvg2-bin";
    return convert;
}

void write(const std::string& path, std::string_view text) {
    data::AtomicFile file(path);
    file.write(text);
    file.commit();
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void require_figure_programs() {
    const ScratchFolder scratch;
    for (const report::Program& program : {drawer({"--version"}, scratch), converter({"--version"}, scratch)})
        report::run(program);
}

std::vector<std::string> write_figures(const nlohmann::ordered_json& data, const std::string& folder) {
    require_report_page();
    std::error_code failed;
    fs::create_directories(folder, failed);
    core::require(fs::is_directory(folder), "{} is not a folder that figures could be written to{}{}",
                  data::display_name(folder), failed ? ": " : "", failed ? failed.message() : "");
    const ScratchFolder scratch;
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
    for (const std::string& name : pictures) {
        written.push_back((fs::path(folder) / name).string());
        write(written.back(), read((fs::path(drawn) / name).string()));
    }
    std::sort(written.begin(), written.end());
    return written;
}

}  // namespace accrue
