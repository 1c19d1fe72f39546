#include "sigma/ensemble.hpp"

#include <algorithm>
#include <array>

namespace accrue::sigma {

void log_sigma(std::span<const Member> members, const Columns& x, std::size_t begin, std::size_t end, double* out) {
    constexpr std::size_t kRows = 1024;
    std::array<double, kRows> own;
    for (std::size_t at = begin; at < end; at += kRows) {
        const std::size_t rows = std::min(kRows, end - at);
        double* sums = out + (at - begin);
        std::fill_n(sums, rows, 0.0);
        for (const Member& member : members) {
            member.form->log_sigma(member.parameters, x, at, at + rows, own.data());
            for (std::size_t i = 0; i < rows; ++i) sums[i] += std::clamp(own[i], kLowestLogSigma, kHighestLogSigma);
        }
        for (std::size_t i = 0; i < rows; ++i) sums[i] /= static_cast<double>(members.size());
    }
}

}  // namespace accrue::sigma
