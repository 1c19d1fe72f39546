#include "data/kept_rows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/random.hpp"

namespace accrue::data {

namespace {

// Apart from the streams of a fit with the same seed.
constexpr std::uint64_t kSampleStream = 1'000'037;
// Rows are cut back when there are so many more than wanted, as a share of them: seldom, and with little room to spare.
constexpr std::size_t kShareToSpare = 16;
constexpr std::size_t kMinToSpare = 1024;

// The number that exactly `count` of the numbers, which all differ, are less than. 16 bits at a time, since a copy to
// sort would take as much memory as a column.
std::uint64_t with_fewer_below(std::span<const std::uint64_t> numbers, std::size_t count) {
    constexpr unsigned kBits = 16;
    std::uint64_t high = 0;  // bits of the result that are known
    for (unsigned shift = 64; shift > 0;) {
        shift -= kBits;
        std::vector<std::size_t> counts(std::size_t{1} << kBits, 0);
        for (const std::uint64_t number : numbers)
            if (shift + kBits == 64 || number >> (shift + kBits) == high)
                ++counts[number >> shift & (counts.size() - 1)];
        std::size_t digit = 0;
        while (count >= counts[digit]) count -= counts[digit++];
        high = high << kBits | digit;
    }
    return high;
}

}  // namespace

KeptRows::KeptRows(std::size_t columns, std::size_t codes, std::size_t most, std::uint64_t seed)
    : most_(std::max<std::size_t>(most, 1)),
      seed_(core::scramble(core::scramble(seed) + kSampleStream)),
      columns_(columns),
      codes_(codes) {}

std::size_t KeptRows::sampling_bytes(std::size_t row_bytes) {
    return sizeof(std::uint64_t) + (row_bytes + sizeof(std::uint64_t)) / kShareToSpare + 1;
}

// No two rows have the same.
std::uint64_t KeptRows::ticket(std::size_t row) const {
    return core::scramble(seed_ + row);
}

void KeptRows::append(std::span<const std::span<const double>> columns,
                      std::span<const std::span<const std::uint32_t>> codes) {
    const std::size_t count = codes.empty() ? columns.front().size() : codes.front().size();
    if (!sampling_ && count <= most_ - rows_) {
        for (std::size_t k = 0; k < columns.size(); ++k) columns_[k].append(columns[k]);
        for (std::size_t k = 0; k < codes.size(); ++k) codes_[k].append(codes[k]);
        rows_ += count;
        seen_ += count;
        return;
    }
    if (!sampling_) {
        sampling_ = true;
        limit_ = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t* tickets = tickets_.extend(rows_);
        for (std::size_t i = 0; i < rows_; ++i) tickets[i] = ticket(i);
    }
    const std::size_t room = most_ + std::max(most_ / kShareToSpare, kMinToSpare);
    for (std::size_t begin = 0; begin < count;) {
        // As many rows as surely have room.
        const std::size_t end = begin + std::min(count - begin, room - rows_);
        chosen_.clear();
        for (std::size_t i = begin; i < end; ++i)
            if (ticket(seen_ + i) < limit_) chosen_.push_back(i);
        const auto take = [&](const auto& from, auto& to) {
            auto* place = to.extend(chosen_.size());
            for (const std::size_t i : chosen_) *place++ = from[i];
        };
        for (std::size_t k = 0; k < columns.size(); ++k) take(columns[k], columns_[k]);
        for (std::size_t k = 0; k < codes.size(); ++k) take(codes[k], codes_[k]);
        std::uint64_t* tickets = tickets_.extend(chosen_.size());
        for (const std::size_t i : chosen_) *tickets++ = ticket(seen_ + i);
        rows_ += chosen_.size();
        if (rows_ == room) cut();
        begin = end;
    }
    seen_ += count;
}

// Leaves the `most_` rows with the smallest tickets, in their order.
void KeptRows::cut() {
    if (rows_ <= most_) return;
    limit_ = with_fewer_below(tickets_.span(), most_);
    const auto compact = [&](auto& values) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < rows_; ++i)
            if (tickets_[i] < limit_) values[kept++] = values[i];
        values.cut(kept);
    };
    for (auto& column : columns_) compact(column);
    for (auto& column : codes_) compact(column);
    compact(tickets_);  // last: the others ask it
    rows_ = most_;
}

void KeptRows::finish() {
    if (sampling_) cut();
    tickets_ = {};
    chosen_ = {};
    for (auto& column : columns_) column.shrink();
    for (auto& column : codes_) column.shrink();
}

std::size_t KeptRows::number(std::size_t row) const {
    if (!sampling_) return row;
    // Looked for again, since it is seldom asked for and 8 bytes a row would be much.
    std::size_t seen = 0;
    for (;; ++seen) {
        if (ticket(seen) >= limit_) continue;
        if (row-- == 0) return seen;
    }
}

void KeptRows::renumber_codes(std::size_t k, std::vector<std::string>& labels) {
    core::Growing<std::uint32_t>& codes = codes_[k];
    constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> new_codes(labels.size(), kNone);
    std::vector<std::string> left;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        std::uint32_t& code = new_codes[codes[i]];
        if (code == kNone) {
            code = static_cast<std::uint32_t>(left.size());
            left.push_back(std::move(labels[codes[i]]));
        }
        codes[i] = code;
    }
    labels = std::move(left);
}

}  // namespace accrue::data
