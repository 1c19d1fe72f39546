#include "lab_report.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace accrue::app {

namespace {

constexpr std::size_t kMostGroups = 12;
constexpr const char* kMarks = "ox+*#%&@";

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-"; }
std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.2f}%", 100 * share) : "-"; }
std::string signed_percent(double share) { return std::isfinite(share) ? fmt::format("{:+.2f}%", 100 * share) : "-"; }
std::string probability(double p) { return p < 1e-4 ? (p < 1e-15 ? "< 1e-15" : fmt::format("{:.0e}", p)) : fmt::format("{:.3g}", p); }

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
        {"Mean of z = e/sigma (0: no bias)", [](const auto& v) { return fmt::format("{:+.3f}", v.mean_z); }},
        {"Sd of z (1: right spread)", [](const auto& v) { return fmt::format("{:.3f}", v.sd_z); }},
        {"Root mean square sigma", [](const auto& v) { return number(v.sharpness); }},
        {"Root mean square error", [](const auto& v) { return number(v.rmse); }},
    };
    for (std::size_t i = 0; i < first.coverage.size(); ++i)
        all.push_back({fmt::format("{} interval holds (mean width)", fmt::format("{:g}%", 100 * first.coverage[i].level)),
                       [i](const auto& v) {
                           return fmt::format("{} ({})", percent(v.coverage[i].observed), number(v.coverage[i].mean_width));
                       }});
    return all;
}

std::string table(std::span<const Verification> forecasts) {
    const std::vector<Line> all = lines(forecasts[0]);
    constexpr std::size_t kLabel = 36;
    std::vector<std::vector<std::string>> cells(all.size() + 1);
    std::vector<std::size_t> widths;
    for (const Verification& v : forecasts) {
        cells[0].push_back(v.name);
        for (std::size_t i = 0; i < all.size(); ++i) cells[i + 1].push_back(all[i].figure(v));
        std::size_t widest = 0;
        for (const auto& row : cells) widest = std::max(widest, row.back().size());
        widths.push_back(widest + 2);
    }
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        text += fmt::format("{:<{}}", i == 0 ? "" : all[i - 1].label, kLabel);
        for (std::size_t j = 0; j < forecasts.size(); ++j) text += fmt::format("{:>{}}", cells[i][j], widths[j]);
        text += '\n';
    }
    return text;
}

// Observed frequency against forecast probability. The band is where a calibrated forecast would lie.
std::string diagram(std::span<const Verification> forecasts) {
    constexpr int kColumns = 51;
    constexpr int kRows = 21;
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
            canvas[static_cast<std::size_t>(row_of(at(forecasts[f].diagram.observed, x)))][static_cast<std::size_t>(x)] = mark;
        legend += fmt::format("{}{} {}", f == 0 ? "" : ", ", mark, forecasts[f].name);
    }
    std::string text = "Reliability diagram: share of observations below the forecast's quantile (up) against its\n"
                       "probability (right). Calibrated is on the diagonal, within the dots 90% of the time.\n\n";
    for (int y = 0; y < kRows; ++y)
        text += fmt::format("{:>5} |{}\n", y % 5 == 0 ? fmt::format("{:.0f}%", 100.0 * (kRows - 1 - y) / (kRows - 1)) : "",
                            canvas[static_cast<std::size_t>(y)]);
    text += fmt::format("      +{}\n       {:<23}{:^5}{:>23}\n       {}\n", std::string(kColumns, '-'), "0%", "50%", "100%", legend);
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
    std::string text = fmt::format("Groups of {}, the worst calibrated first:\n  {:<20} {:>9} {:>10} {:>8} {:>8} {:>8} {:>8}\n",
                                   forecast.name, "group", "rows", "CRPS", "cal.err", "floor", "mean z", "sd z");
    for (std::size_t i = 0; i < std::min(order.size(), kMostGroups); ++i) {
        const Verification& g = forecast.groups[order[i]];
        text += fmt::format("  {:<20} {:>9} {:>10} {:>8} {:>8} {:>+8.3f} {:>8.3f}\n", g.name, g.rows, number(g.crps),
                            percent(g.calibration_error), percent(g.calibration_floor), g.mean_z, g.sd_z);
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

std::string lab_report(std::span<const Verification> forecasts, int width) {
    std::string text = table(forecasts);
    text += '\n';
    for (const Verification& v : forecasts) {
        const Verdict words = verdict(v);
        text += fmt::format("{}: {}\n", v.name, words.summary);
        for (const std::string& remark : words.remarks) text += fmt::format("  {}\n", remark);
    }
    if (forecasts.size() > 1) {
        const auto best = std::min_element(forecasts.begin(), forecasts.end(),
                                           [](const auto& a, const auto& b) { return a.crps < b.crps; });
        text += fmt::format("Lowest CRPS: {}.\n", best->name);
    }
    for (const Verification& v : forecasts)
        if (!v.groups.empty()) text += '\n' + group_table(v);
    constexpr int kDiagramWidth = 60;
    if (width >= kDiagramWidth) text += '\n' + diagram(forecasts);
    return text;
}

}  // namespace accrue::app
