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

#include "accrue/messages.hpp"
#include "commands.hpp"

namespace accrue::app {

namespace {

constexpr std::size_t kMaxValues = 12;
constexpr int kMinWidth = 40;
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
    std::string shown = printable(name, std::string::npos);
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

std::vector<Line> lines(std::span<const Verification> forecasts) {
    const Verification& first = forecasts[0];
    std::vector<Line> all = {
        {"CRPS (accuracy; lower is better)", [](const auto& v) { return number(v.crps); }},
        {"  skill over a constant sigma", [](const auto& v) { return signed_percent(v.crps_skill); }},
        {"Calibration error", [](const auto& v) { return percent(v.calibration_error); }},
        {"  floor: if calibrated", [](const auto& v) { return percent(v.calibration_floor); }},
        {"  p-value", [](const auto& v) { return probability(v.calibration_p_value); }},
        {"  sign bound", [](const auto& v) { return percent(v.sign_bound); }},
        {"Reliability score", [](const auto& v) { return number(v.rs); }},
        {"  floor: if calibrated", [](const auto& v) { return number(v.rs_floor); }},
        {"Accuracy-reliability cost", [](const auto& v) { return number(v.ar); }},
        {"NLPD", [](const auto& v) { return number(v.nlpd); }},
        {"Mean of z (0: no bias)", [](const auto& v) { return bias(v.mean_z); }},
        {"Sd of z (1: right spread)", [](const auto& v) { return in_sigmas(v.sd_z); }},
        {"Root mean square sigma", [](const auto& v) { return number(v.sharpness); }},
        {"Root mean square error", [](const auto& v) { return number(v.rmse); }},
    };
    for (std::size_t i = 0; i < first.coverage.size(); ++i)
        all.push_back(
            {fmt::format("{} interval coverage (mean width)", fmt::format("{:g}%", 100 * first.coverage[i].level)),
             [i](const auto& v) -> std::string {
                 if (std::isnan(v.coverage[i].observed)) return std::string(kNone);
                 return fmt::format("{} ({})", percent(v.coverage[i].observed), number(v.coverage[i].mean_width));
             }});
    // Of forecasts that come from a model.
    if (std::any_of(forecasts.begin(), forecasts.end(), [](const auto& v) { return !std::isnan(v.off_support); }))
        all.push_back({"Rows off the model's support", [](const auto& v) { return percent(v.off_support); }});
    if (std::any_of(forecasts.begin(), forecasts.end(), [](const auto& v) { return !v.outside.empty(); })) {
        const auto outside = [](const Verification& v, const auto& figure) {
            return v.outside.empty() ? std::string(kNone) : figure(v.outside.front());
        };
        all.push_back({"  CRPS there", [outside](const auto& v) {
                           return outside(v, [](const auto& own) { return number(own.crps); });
                       }});
        all.push_back({"  sd of z there", [outside](const auto& v) {
                           return outside(v, [](const auto& own) { return in_sigmas(own.sd_z); });
                       }});
        for (std::size_t i = 0; i < first.coverage.size(); ++i)
            all.push_back({fmt::format("  {:g}% interval coverage there", 100 * first.coverage[i].level),
                           [outside, i](const auto& v) {
                               return outside(v, [i](const auto& own) { return percent(own.coverage[i].observed); });
                           }});
    }
    if (std::any_of(forecasts.begin(), forecasts.end(), [](const auto& v) { return v.dependence != Dependence::none; }))
        all.push_back(
            {"Rows, if they were independent", [](const auto& v) { return fmt::format("{:.0f}", v.effective_rows); }});
    return all;
}

// A column a forecast; as many tables one below the other as the width makes necessary.
std::string table(std::span<const Verification> forecasts, std::size_t width) {
    constexpr std::size_t kLabel = 34;
    constexpr std::size_t kLongestName = 20;  // two forecasts fit side by side in 80 columns
    constexpr std::size_t kGap = 2;
    const std::vector<Line> all = lines(forecasts);
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

std::string value_table(const Verification& forecast, const Verification::Breakdown& by) {
    std::vector<std::size_t> order(by.values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // The worst first: the largest multiple of its own floor.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto excess = [&](std::size_t i) {
            return by.values[i].calibration_error / by.values[i].calibration_floor;
        };
        return excess(a) > excess(b);
    });
    constexpr std::size_t kLongestLabel = 20;  // a line fits in 80 columns
    const std::size_t shown = std::min(order.size(), kMaxValues);
    const std::string column = shortened(by.column, kLongestLabel);
    std::size_t widest = length(column);
    for (std::size_t i = 0; i < shown; ++i)
        widest = std::max(widest, length(shortened(by.values[order[i]].name, kLongestLabel)));
    std::string text = fmt::format("{} by {}, the worst calibrated first:\n  {} {:>9} {:>10} {:>8} {:>8} {:>8} {:>8}\n",
                                   printable(forecast.name, std::string::npos), printable(by.column, std::string::npos),
                                   left(column, widest), "rows", "CRPS", "cal.err", "floor", "mean z", "sd z");
    for (std::size_t i = 0; i < shown; ++i) {
        const Verification& g = by.values[order[i]];
        text +=
            fmt::format("  {} {:>9} {:>10} {:>8} {:>8} {:>8} {:>8}\n", left(shortened(g.name, kLongestLabel), widest),
                        g.rows, number(g.crps), percent(g.calibration_error), percent(g.calibration_floor),
                        bias(g.mean_z), in_sigmas(g.sd_z));
    }
    if (order.size() > kMaxValues)
        text += fmt::format("  and {} more; --json lists them all\n", order.size() - kMaxValues);
    return text;
}

// "1.234 = 0.1 miscalibration - 0.9 discrimination + 2.0 uncertainty"
std::string parts_text(const ScoreParts& parts) {
    return fmt::format("{} = {} miscalibration - {} discrimination + {} uncertainty", number(parts.score),
                       number(parts.miscalibration), number(parts.discrimination), number(parts.uncertainty));
}

std::string ensemble_text(const EnsembleFigures& e) {
    std::string shares;
    for (const double share : e.rank_share) shares += fmt::format(" {:.1f}", 100 * share);
    return fmt::format(
        "{}; fair CRPS {}. Ranks of the observations, in % of the rows (calibrated: {:.1f} each, 90% of them within "
        "{:.1f} "
        "to {:.1f}):{}",
        counted(e.members, "member"), number(e.fair_crps), 100 / static_cast<double>(e.rank_share.size()), 100 * e.low,
        100 * e.high, shares);
}

std::string quantile_table(const std::vector<QuantileFigures>& quantiles) {
    std::string text =
        fmt::format("  {:>8} {:>14} {:>13} {:>19}\n", "level", "quantile score", "y below", "if calibrated");
    for (const QuantileFigures& q : quantiles) {
        const bool tied = q.at_or_below > q.below;
        const std::string below =
            tied ? fmt::format("{:.1f}-{:.1f}%", 100 * q.below, 100 * q.at_or_below) : percent(q.below);
        text += fmt::format("  {:>8g} {:>14} {:>13} {:>19}{}\n", q.level, number(q.score), below,
                            fmt::format("{:.1f}% to {:.1f}%", 100 * q.low, 100 * q.high), q.is_off() ? "  off" : "");
    }
    return text;
}

std::string exceedance_text(const ExceedanceFigures& e) {
    std::size_t outside = 0;
    for (std::size_t k = 0; k < e.happened.size(); ++k)
        if (e.happened[k] < e.band.low[k] || e.happened[k] > e.band.high[k]) ++outside;
    return fmt::format(
        "above {:g}: observed {}, forecast {}; CRPS above it {}; Brier score {}; reliability: {} of {} outside their "
        "90% "
        "bands",
        e.threshold, percent(e.observed), percent(e.forecast), number(e.weighted_crps), parts_text(e.brier), outside,
        counted(e.happened.size(), "point"));
}

// What is known of a forecast beside the table.
// Of every column the place that is furthest from all rows.
std::string conditional_table(const ConditionalCalibration& conditional) {
    if (conditional.columns.empty()) return "No place has rows enough to be looked at by itself.\n";
    std::string text = fmt::format("{:<30}{:>10}{:>8}{:>7}{:>8}{:>8}{:>8}\n", "Furthest off, of each column", "rows",
                                   "mean z", "sd z", "90%", "error", "t");
    for (const ConditionalColumn& column : conditional.columns) {
        const auto worst = std::max_element(
            column.places.begin(), column.places.end(),
            [&](const auto& a, const auto& b) { return std::fabs(a.furthest_t()) < std::fabs(b.furthest_t()); });
        text +=
            fmt::format("{:<30}{:>10}{:>8.2f}{:>7.2f}{:>8}{:>8}{:>8.1f}\n",
                        printable(fmt::format("  {} {}", column.name, worst->label), 29), worst->rows, worst->mean_z,
                        worst->sd_z, percent(worst->coverage), percent(worst->calibration_error), worst->furthest_t());
    }
    return text + fmt::format("  (a |t| above {:.1f} is more than chance)\n", conditional.critical);
}

std::string details_text(const ReportForecast& forecast, std::size_t prose) {
    const ForecastDetails& details = forecast.details;
    const std::string name = printable(forecast.verification.name, std::string::npos);
    std::string text;
    const auto add = [&](const std::string& words) {
        text += wrap(fmt::format("{}: {}", name, words), prose, 2) + '\n';
    };
    if (forecast.conditional) text += conditional_table(*forecast.conditional);
    if (details.ensemble) add(ensemble_text(*details.ensemble));
    if (details.crps_parts)
        add(fmt::format("CRPS {}; floor of the miscalibration, if calibrated: {}", parts_text(*details.crps_parts),
                        number(details.miscalibration_floor)));
    for (const ExceedanceFigures& e : details.exceed) add(exceedance_text(e));
    if (!details.quantiles.empty()) text += fmt::format("{}, quantiles:\n{}", name, quantile_table(details.quantiles));
    for (const Coverage& c : details.quantile_intervals)
        text += fmt::format("  {:g}% interval coverage {} (mean width {})\n", 100 * c.level, percent(c.observed),
                            number(c.mean_width));
    return text;
}

// Below the table of figures: the diagram of forecasts that have one, and figures of the values of columns.
std::string pictures(std::span<const Verification> forecasts, int width) {
    std::string text;
    for (const Verification& v : forecasts)
        for (const Verification::Breakdown& by : v.by) text += '\n' + value_table(v, by);
    if (width >= kDiagramWidth && !forecasts.empty()) text += '\n' + diagram(forecasts);
    return text;
}

std::size_t prose_width(int width) {
    return static_cast<std::size_t>(std::clamp(width, kMinWidth, kWidestProse));
}

std::string verdict_text(const std::string& name, const Verdict& verdict, std::size_t prose) {
    std::string text =
        wrap(fmt::format("{}: {}", printable(name, std::string::npos), verdict.summary), prose, 2) + '\n';
    for (const Message& remark : verdict.remarks) text += "  " + wrap(remark.text(), prose - 2, 2) + '\n';
    return text;
}

}  // namespace

int terminal_width() {
    winsize size{};
    if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

std::string lab_report(std::span<const ReportForecast> forecasts, int width, const std::string& comparison) {
    const std::size_t prose = prose_width(width);
    std::vector<Verification> figures;  // of those that have more than scores
    std::string words, details;
    for (const ReportForecast& forecast : forecasts) {
        Verdict own = verdict(forecast);
        if (forecast.is_verified())
            figures.push_back(forecast.verification);
        else
            own.summary = fmt::format("CRPS{} {}. {}", forecast.details.approximate_crps ? " over its levels" : "",
                                      number(forecast.verification.crps), own.summary);
        words += verdict_text(forecast.verification.name, own, prose);
        details += details_text(forecast, prose);
    }
    std::string text;
    if (!figures.empty()) text += table(figures, static_cast<std::size_t>(std::max(width, kMinWidth))) + '\n';
    text += words;
    if (!comparison.empty()) text += wrap(printable(comparison, std::string::npos), prose, 2) + '\n';
    if (!details.empty()) text += '\n' + details;
    return text + pictures(figures, width);
}

std::string lab_report(const Verification& verification, const Verdict& verdict, int width) {
    const std::span figures(&verification, 1);
    return table(figures, static_cast<std::size_t>(std::max(width, kMinWidth))) + '\n' +
           verdict_text(verification.name, verdict, prose_width(width)) + pictures(figures, width);
}

}  // namespace accrue::app
