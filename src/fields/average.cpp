#include "fields/average.hpp"

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"

namespace accrue::fields {

void average(std::span<const Fitted> members, std::span<const Bounds> bounds, const Columns& x, std::size_t begin,
             std::size_t end, double* out, std::size_t stride) {
    constexpr std::size_t kRows = 1024;
    const std::size_t outputs = bounds.size();
    const std::size_t own_stride = std::min(kRows, end - begin);
    std::vector<double> own(outputs * own_stride);
    double total = 0;
    for (const Fitted& member : members) total += member.weight;
    for (std::size_t at = begin; at < end; at += kRows) {
        const std::size_t rows = std::min(kRows, end - at);
        const auto sums = [&](std::size_t p) { return out + p * stride + (at - begin); };
        for (std::size_t p = 0; p < outputs; ++p) std::fill_n(sums(p), rows, 0.0);
        for (const Fitted& member : members) {
            member.field->values(member.parameters, x, at, at + rows, own.data(), own_stride);
            for (std::size_t p = 0; p < outputs; ++p)
                for (std::size_t i = 0; i < rows; ++i)
                    sums(p)[i] += member.weight * std::clamp(own[p * own_stride + i], bounds[p].low, bounds[p].high);
        }
        for (std::size_t p = 0; p < outputs; ++p)
            for (std::size_t i = 0; i < rows; ++i) sums(p)[i] /= total;
    }
}

std::vector<double> average_of_all(std::span<const Fitted> members, const Columns& x, std::size_t rows) {
    constexpr std::size_t kChunk = 2048;
    constexpr Bounds kNone;
    std::vector<double> out(rows);
    core::for_blocks(rows, kChunk, [&](std::size_t, std::size_t begin, std::size_t end) {
        average(members, std::span(&kNone, 1), x, begin, end, out.data() + begin, 0);
    });
    return out;
}

}  // namespace accrue::fields
