#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "commands.hpp"

namespace accrue::app {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenLiveLines = std::chrono::milliseconds(100);
constexpr auto kBetweenPlainLines = std::chrono::seconds(1);  // short fits print none

}  // namespace

Progress::Progress(bool quiet)
    : quiet_(quiet), live_(isatty(STDERR_FILENO) != 0), begin_(Clock::now()), last_(begin_) {}

Progress::~Progress() {
    if (shown_ && live_) say("\r\033[K");
}

std::string Progress::left(const FitProgress& p) const {
    if (p.finished == 0) return "";
    const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double rest = spent * static_cast<double>(p.tasks - p.finished) / static_cast<double>(p.finished);
    return rest < 90 ? fmt::format(", about {:.0f} s left", rest) : fmt::format(", about {:.0f} min left", rest / 60);
}

bool Progress::operator()(const FitProgress& p) {
    if (quiet_) return true;
    const auto now = Clock::now();
    const bool due =
        live_ ? now - last_ >= kBetweenLiveLines : now - last_ >= kBetweenPlainLines && p.finished > finished_;
    if (!due) return true;
    last_ = now;
    finished_ = p.finished;
    shown_ = true;
    const std::string text = fmt::format("fold {}, start {}, iteration {}, cost {:.6g}; {} of {} done{}", p.fold + 1,
                                         p.start + 1, p.iteration, p.cost, p.finished, p.tasks, left(p));
    say(live_ ? fmt::format("\r\033[K{}", text) : fmt::format("accrue fit: {}\n", text));
    return true;
}

}  // namespace accrue::app
