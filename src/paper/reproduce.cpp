#include "paper/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "accrue/error.hpp"
#include "accrue/files.hpp"
#include "accrue/report.hpp"
#include "accrue/version.hpp"
#include "core/error.hpp"
#include "paper/items.hpp"
#include "report/program.hpp"

namespace accrue {

namespace {

namespace fs = std::filesystem;
using paper::Json;

const std::vector<paper::Item>& items() {
    static const std::vector<paper::Item> all = {
        {"figure1", paper::figure1_runs, paper::figure1},    {"figure2", paper::figure2_runs, paper::figure2},
        {"figure3", paper::figure3_runs, paper::figure3},    {"figure4", paper::figures456_runs, paper::figure4},
        {"figure5", paper::figures456_runs, paper::figure5}, {"figure6", paper::figures456_runs, paper::figure6},
        {"figure7", paper::figure7_runs, paper::figure7},    {"table1", paper::table1_runs, paper::table1},
    };
    return all;
}

const paper::Item& item_named(const std::string& name) {
    const auto found =
        std::find_if(items().begin(), items().end(), [&](const auto& item) { return item.name == name; });
    core::require(found != items().end(), "'{}' cannot be reproduced; known are {}", name,
                  fmt::join(reproducible_items(), ", "));
    return *found;
}

}  // namespace

std::vector<std::string> reproducible_items() {
    std::vector<std::string> names;
    for (const paper::Item& item : items()) names.emplace_back(item.name);
    return names;
}

std::vector<std::string> reproduce(const ReproduceOptions& options, const ReproduceWatcher& watcher,
                                   std::string& missing) {
    const paper::Request request{options.runs, options.data, options.sets};
    paper::Store store(options.folder, options.seed, watcher);
    for (const std::string& name : options.items) store.expect(item_named(name).runs(request));
    std::error_code failed;
    fs::create_directories(options.folder, failed);
    core::require(fs::is_directory(options.folder), "{} is not a folder that can be written to{}{}", options.folder,
                  failed ? ": " : "", failed ? failed.message() : "");

    std::vector<std::string> written;
    const auto write = [&](const std::string& name, const std::string& text) {
        const std::string path = (fs::path(options.folder) / name).string();
        AtomicFile file(path);
        file.write(text);
        file.commit();
        written.push_back(path);
    };
    Json page = {{"accrue", kVersion},
                 {"title", "The paper, reproduced"},
                 {"subtitle",
                  "Estimation of Accurate and Calibrated Uncertainties in Deterministic models: what it says, "
                  "and what these runs give."},
                 {"command", options.command},
                 {"sections", Json::array()}};
    for (const std::string& name : options.items) {
        const paper::Section section = item_named(name).make(store, request);
        write(name + ".json", section.numbers.dump(1) + "\n");
        write(name + ".csv", section.table.csv());
        page["sections"].push_back({{"id", section.id},
                                    {"title", section.title},
                                    {"statements", section.statements},
                                    {"charts", section.charts},
                                    {"tables", section.tables}});
    }
    // Numbers are what counts: where nothing can be drawn they are there all the same.
    try {
        write("index.html", report_page(page));
        for (std::string& picture : write_figures(page, options.folder)) written.push_back(std::move(picture));
    } catch (const report::MissingProgram& error) {
        missing = error.what();
    }
    return written;
}

}  // namespace accrue
