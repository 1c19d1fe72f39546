// The page: the bundle of src/report/web with the data put in.
#include <nlohmann/json.hpp>

#include "accrue/error.hpp"
#include "accrue/report.hpp"
#include "report/assets.hpp"
#include "report/program.hpp"

namespace accrue {

namespace {

constexpr std::string_view kTitleMark = "ACCRUE_REPORT_TITLE";
constexpr std::string_view kDataMark = "ACCRUE_REPORT_DATA";

std::string escape_html(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '&')
            escaped += "&amp;";
        else if (c == '<')
            escaped += "&lt;";
        else
            escaped += c;
    }
    return escaped;
}

// Inside a script element nothing may look like the end of it, or like a comment.
std::string escape_script(const std::string& json) {
    std::string escaped;
    escaped.reserve(json.size());
    for (const char c : json) {
        if (c == '<')
            escaped += "\\u003c";
        else
            escaped += c;
    }
    return escaped;
}

}  // namespace

void require_report_page() {
    if (report::page_template().empty())
        throw report::MissingProgram(
            "this accrue was built without npm, so it cannot draw: install nodejs and npm (scripts/bootstrap does), "
            "then "
            "build it again");
}

std::string report_page(const nlohmann::ordered_json& data) {
    require_report_page();
    std::string_view rest = report::page_template();
    std::string page;
    const auto fill = [&](std::string_view mark, const std::string& text) {
        const std::size_t at = rest.find(mark);
        if (at == std::string_view::npos) throw MachineError("the report page has no place for its data");
        page.append(rest.substr(0, at)).append(text);
        rest.remove_prefix(at + mark.size());
    };
    // Names may hold any bytes: odd ones become U+FFFD.
    using Json = nlohmann::ordered_json;
    const auto dump = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
    fill(kTitleMark, escape_html(Json::parse(dump(data.at("title"))).get<std::string>()));
    fill(kDataMark, escape_script(dump(data)));
    return page.append(rest);
}

}  // namespace accrue
