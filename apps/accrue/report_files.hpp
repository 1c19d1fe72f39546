// The two places that a command writes a report to: a page, and a folder of figures.
#pragma once

#include <optional>
#include <string>

#include "accrue/files.hpp"
#include "accrue/report.hpp"
#include "rows.hpp"

namespace accrue::app {

class ReportFiles {
public:
    // Either may be empty. Made before the work: a bad place, or a missing page, is known at once.
    ReportFiles(const std::string& page, const std::string& figures_folder, const std::vector<std::string>& inputs);

    bool wanted() const { return page_.has_value() || !figures_folder_.empty(); }
    // Writes what is wanted, and says where: lines for standard output.
    std::string write(const nlohmann::ordered_json& data);

private:
    std::string path_;
    std::optional<AtomicFile> page_;
    std::string figures_folder_;
};

// The part of a report's text that follows from the rows.
ReportText report_text(const RowSource& source, const ReadRows& rows, const std::string& title);

}  // namespace accrue::app
