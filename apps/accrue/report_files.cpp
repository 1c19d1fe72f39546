#include "report_files.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands.hpp"

namespace accrue::app {

ReportFiles::ReportFiles(const std::string& page, const std::string& figures_folder,
                         const std::vector<std::string>& inputs)
    : path_(page), figures_folder_(figures_folder) {
    if (page.empty() && figures_folder.empty()) return;
    require_report_page();
    if (!figures_folder.empty()) require_figure_programs();
    if (page.empty()) return;
    require_other_file(page, inputs, "report");
    page_.emplace(page);
}

std::string ReportFiles::write(const nlohmann::ordered_json& data) {
    std::string said;
    if (page_) {
        page_->write(report_page(data));
        page_->commit();
        said += fmt::format("Report written to {}. Open it in a browser.\n", path_);
    }
    if (!figures_folder_.empty()) {
        const std::size_t pictures = write_figures(data, figures_folder_).size();
        said += fmt::format("{} figures written to {}\n", pictures, figures_folder_);
    }
    return said;
}

ReportText report_text(const RowSource& source, const ReadRows& rows, const std::string& title) {
    ReportText text;
    text.title = title;
    text.subtitle = rows.title;
    text.command = command_line();
    text.files = source.files;
    text.dropped = rows.dropped;
    return text;
}

}  // namespace accrue::app
