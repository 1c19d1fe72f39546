#include "lab_report.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "data/messages.hpp"

namespace accrue::app {

namespace {

constexpr std::size_t kMostGroups = 12;
constexpr int kLeastWidth = 40;
constexpr int kWidestProse = 100;
constexpr int kDiagramWidth = 74;
constexpr const char* kMarks = "ox+*#%&@";
constexpr const char* kNone = "-";

std::string number(double value) {
    return std::isfinite(value) ? fmt::format("{:.4g}", value) : kNone;
}
std::string percent(double share) {
    return std::isfinite(share) ? fmt::format("{:.2f}%", 100 * share) : kNone;
}
std::string signed_percent(double share) {
    if (!std::isfinite(share)) return kNone;
    // A forecast can be worse than a constant by any factor.
    return std::fabs(share) < 100 ? fmt::format("{:+.2f}%", 100 * share) : fmt::format("{:+.3g}%", 100 * share);
}
std::string in_sigmas(double value) {
    if (!std::isfinite(value)) return kNone;
    return std::fabs(value) < 1e4 ? fmt::format("{:.3f}", value) : fmt::format("{:.3g}", value);
}
std::string bias(double value) {
    return (value >= 0 ? "+" : "") + in_sigmas(value);
}
std::string probability(double p) {
    if (p >= 1e-4) return fmt::format("{:.3g}", p);
    return p < 1e-15 ? "< 1e-15" : fmt::format("{:.0e}", p);
}

bool continues_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Characters of UTF-8; those that are two columns wide count as one.
std::size_t length(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

// A name in at most `longest` characters: what is too much is left out of its middle, since names that are
// compared often differ only at one end.
std::string shortened(const std::string& name, std::size_t longest) {
    const std::string shown = data::printable(name, std::string::npos);
    const std::size_t all = length(shown);
    if (all <= longest) return shown;
    const std::size_t front = (longest - 2) / 2;
    const std::size_t back = longest - 3 - front;
    std::string result;
    std::size_t place = 0;  // of the next character
    for (const char byte : shown) {
        if (!continues_character(byte)) {
            if (place == front) result += "...";
            ++place;
        }
        if (place <= front || place > all - back) result += byte;
    }
    return result;
}

std::string padding(std::string_view text, std::size_t width) {
    return std::string(width - std::min(width, length(text)), ' ');
}
std::string left(const std::string& text, std::size_t width) {
    return text + padding(text, width);
}
std::string right(const std::string& text, std::size_t width) {
    return padding(text, width) + text;
}

struct Line {
    std::string label;
    std::function<std::string(const Verification&)> figure;
};

std::vector<Line> lines(const Verification& first) {
    std::vector<Line> all = {
        {"CRPS (accuracy; lower is better)", [](const auto& v) { return number(v.crps); }},
        {"  skill over a constant sigma", [](const auto& v) { return signed_percent(v.crps_skill); }},
        {"Calibration error", [](const auto& v) { return percent(v.calibration_error); }},
        {"  floor: if calibrated", [](const auto& v) { return percent(v.calibration_floor); }},
        {"  p-value, independent rows", [](const auto& v) { return probability(v.calibration_p_value); }},
        {"  sign bound", [](const auto& v) { return percent(v.sign_bound); }},
        {"Reliability score", [](const auto& v) { return number(v.rs); }},
        {"  floor: if calibrated", [](const auto& v) { return number(v.rs_floor); }},
        {"Accuracy-reliability cost", [](const auto& v) { return number(v.ar); }},
        {"NLPD", [](const auto& v) { return number(v.nlpd); }},
        {"Mean of z = e/sigma (0: no bias)", [](const auto& v) { return bias(v.mean_z); }},
        {"Sd of z (1: right spread)", [](const auto& v) { return in_sigmas(v.sd_z); }},
        {"Root mean square sigma", [](const auto& v) { return number(v.sharpness); }},
        {"Root mean square error", [](const auto& v) { return number(v.rmse); }},
    };
    for (std::size_t i = 0; i < first.coverage.size(); ++i)
        all.push_back(
            {fmt::format("{} interval holds (mean width)", fmt::format("{:g}%", 100 * first.coverage[i].level)),
             [i](const auto& v) {
                 return fmt::format("{} ({})", percent(v.coverage[i].observed), number(v.coverage[i].mean_width));
             }});
    return all;
}

// A column a forecast; as many tables one below the other as the width makes necessary.
std::string table(std::span<const Verification> forecasts, std::size_t width) {
    constexpr std::size_t kLabel = 34;
    constexpr std::size_t kLongestName = 20;  // two forecasts fit side by side in 80 columns
    constexpr std::size_t kGap = 2;
    const std::vector<Line> all = lines(forecasts[0]);
    std::string text;
    for (std::size_t next = 0; next < forecasts.size();) {
        std::vector<std::string> rows(all.size() + 1, std::string(kLabel, ' '));
        for (std::size_t i = 0; i < all.size(); ++i) rows[i + 1] = left(all[i].label, kLabel);
        std::size_t used = kLabel;
        for (bool first = true; next < forecasts.size(); ++next, first = false) {
            std::vector<std::string> cells = {shortened(forecasts[next].name, kLongestName)};
            for (const Line& line : all) cells.push_back(line.figure(forecasts[next]));
            std::size_t widest = 0;
            for (const std::string& cell : cells) widest = std::max(widest, length(cell) + kGap);
            if (!first && used + widest > width) break;
            for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += right(cells[i], widest);
            used += widest;
        }
        if (!text.empty()) text += '\n';
        for (const std::string& row : rows) text += row + '\n';
    }
    return text;
}

// Observed frequency against forecast probability. The band is where a calibrated forecast would lie.
std::string diagram(std::span<const Verification> forecasts) {
    constexpr int kColumns = 51;
    constexpr int kRows = 21;
    constexpr std::size_t kLegendName = 40;
    std::vector<std::string> canvas(kRows, std::string(kColumns, ' '));
    const auto row_of = [](double p) {
        return kRows - 1 - static_cast<int>(std::lround(std::clamp(p, 0.0, 1.0) * (kRows - 1)));
    };
    const ReliabilityDiagram& first = forecasts[0].diagram;
    const auto at = [&](const std::vector<double>& curve, int column) {
        return curve[static_cast<std::size_t>(column) * (curve.size() - 1) / (kColumns - 1)];
    };
    for (int x = 0; x < kColumns; ++x) {
        for (int y = row_of(at(first.simultaneous.high, x)); y <= row_of(at(first.simultaneous.low, x)); ++y)
            canvas[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = '.';
        canvas[static_cast<std::size_t>(row_of(at(first.probability, x)))][static_cast<std::size_t>(x)] = ':';
    }
    std::string legend;
    for (std::size_t f = 0; f < forecasts.size(); ++f) {
        const char mark = kMarks[f % 8];
        for (int x = 0; x < kColumns; ++x)
            canvas[static_cast<std::size_t>(row_of(at(forecasts[f].diagram.observed, x)))]
                  [static_cast<std::size_t>(x)] = mark;
        const std::string entry = fmt::format("{} {}", mark, shortened(forecasts[f].name, kLegendName));
        const std::size_t line = length(legend.substr(legend.rfind('\n') + 1));
        if (f > 0) legend += line + 2 + length(entry) > kColumns ? ",\n       " : ", ";
        legend += entry;
    }
    std::string text =
        "Reliability diagram: share of observations below the forecast's quantile\n"
        "(up) against its probability (right). A calibrated forecast follows the\n"
        "diagonal and stays within the dots 90% of the time.\n\n";
    for (int y = 0; y < kRows; ++y)
        text +=
            fmt::format("{:>5} |{}\n", y % 5 == 0 ? fmt::format("{:.0f}%", 100.0 * (kRows - 1 - y) / (kRows - 1)) : "",
                        canvas[static_cast<std::size_t>(y)]);
    text += fmt::format("      +{}\n       {:<23}{:^5}{:>23}\n       {}\n", std::string(kColumns, '-'), "0%", "50%",
                        "100%", legend);
    return text;
}

std::string group_table(const Verification& forecast) {
    std::vector<std::size_t> order(forecast.groups.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // The worst first: the largest multiple of its own floor.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto excess = [&](std::size_t i) {
            return forecast.groups[i].calibration_error / forecast.groups[i].calibration_floor;
        };
        return excess(a) > excess(b);
    });
    constexpr std::size_t kLongestLabel = 20;  // a line fits in 80 columns
    const std::size_t shown = std::min(order.size(), kMostGroups);
    std::size_t widest = std::string_view("group").size();
    for (std::size_t i = 0; i < shown; ++i)
        widest = std::max(widest, length(shortened(forecast.groups[order[i]].name, kLongestLabel)));
    std::string text =
        fmt::format("Groups of {}, the worst calibrated first:\n  {} {:>9} {:>10} {:>8} {:>8} {:>8} {:>8}\n",
                    data::printable(forecast.name, std::string::npos), left("group", widest), "rows", "CRPS", "cal.err",
                    "floor", "mean z", "sd z");
    for (std::size_t i = 0; i < shown; ++i) {
        const Verification& g = forecast.groups[order[i]];
        text +=
            fmt::format("  {} {:>9} {:>10} {:>8} {:>8} {:>8} {:>8}\n", left(shortened(g.name, kLongestLabel), widest),
                        g.rows, number(g.crps), percent(g.calibration_error), percent(g.calibration_floor),
                        bias(g.mean_z), in_sigmas(g.sd_z));
    }
    if (order.size() > kMostGroups)
        text += fmt::format("  and {} more; --json lists them all\n", order.size() - kMostGroups);
    return text;
}

}  // namespace

int terminal_width() {
    winsize size{};
    if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

std::string lab_report(std::span<const Verification> forecasts, int width, const Verdict* words_of_first) {
    const auto columns = static_cast<std::size_t>(std::max(width, kLeastWidth));
    const std::size_t prose = std::min<std::size_t>(columns, kWidestProse);
    std::string text = table(forecasts, columns);
    text += '\n';
    for (const Verification& v : forecasts) {
        const Verdict words = words_of_first != nullptr && &v == &forecasts[0] ? *words_of_first : verdict(v);
        const std::string name = data::printable(v.name, std::string::npos);
        text += wrap(fmt::format("{}: {}", name, words.summary), prose, 2) + '\n';
        for (const std::string& remark : words.remarks) text += "  " + wrap(remark, prose - 2, 2) + '\n';
    }
    if (forecasts.size() > 1) {
        const auto best = std::min_element(forecasts.begin(), forecasts.end(),
                                           [](const auto& a, const auto& b) { return a.crps < b.crps; });
        text += fmt::format("Lowest CRPS: {}.\n", data::printable(best->name, std::string::npos));
    }
    for (const Verification& v : forecasts)
        if (!v.groups.empty()) text += '\n' + group_table(v);
    if (width >= kDiagramWidth) text += '\n' + diagram(forecasts);
    return text;
}

}  // namespace accrue::app
