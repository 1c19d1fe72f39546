#include "data/csv_stream.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/bytes.hpp"
#include "data/csv_rows.hpp"
#include "data/file_start.hpp"
#include "data/unpacked_file.hpp"

namespace accrue::data {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Rows from a pipe are handed over when no byte has come for kPause, or some have waited for kPatience.
constexpr milliseconds kPause{50};
constexpr milliseconds kPatience{1000};
constexpr std::size_t kReadStep = std::size_t{1} << 16;  // what a pipe holds
// A longer row is one whose quote is never closed; waiting for its end would fill the memory. That of a file on disk
// may be worth reading to its end, which tells the line where it begins.
constexpr std::size_t kLongestRow = std::size_t{64} << 20;
constexpr std::size_t kLongestRowOnDisk = std::size_t{1} << 30;

std::string_view view(const std::vector<char>& text) {
    return {text.data(), text.size()};
}

// Whether the text has so many lines that more of it would not change the layout: the header, and the rows that
// detect_dialect looks at, generously. A quote that is still open may hide the header's end.
bool shows_layout(std::string_view text) {
    constexpr std::size_t kEnoughLines = 64;
    return count_newlines(after_comments(text)) >= kEnoughLines && std::count(text.begin(), text.end(), '"') % 2 == 0;
}

}  // namespace

CsvStream::CsvStream(const std::string& file, const ReadOptions& options, const std::atomic<bool>* stopped)
    : file_(file), stopped_(stopped), input_(open_unpacked(file)) {
    while (ahead_.size() <= kLongestHeader && !shows_layout(view(ahead_)) && append(ahead_, kReadStep)) {
    }
    read_beginning(options);
}

void CsvStream::read_beginning(const ReadOptions& options) {
    const std::string_view text = view(ahead_);
    refuse_columnar(text, file_);
    layout_ = find_layout(text, file_, options);
    ahead_from_ = static_cast<std::size_t>(layout_.body.data() - text.data());
    const char* first_row = options.header ? layout_.header.data() : layout_.body.data();
    header_row_ = layout_.header;
    layout_.header = layout_.body = {};
    header_lines_ = count_newlines(text.substr(0, ahead_from_));
    if (text.starts_with(kByteOrderMark)) mark_ = kByteOrderMark;

    RowScanner rows(text.substr(static_cast<std::size_t>(first_row - text.data())), layout_.dialect, 0);
    rows.next();
    const char* end = rows.row().data() + rows.row().size();
    if (rows.has_newline()) line_end_ = std::string(end, rows.rest().data());
}

// Adds what one read gives to the text; false at the end of the file.
bool CsvStream::append(std::vector<char>& text, std::size_t size) {
    const std::size_t used = text.size();
    try {
        text.resize(used + size);
    } catch (const std::bad_alloc&) {
        core::require(used < kLongestRow,
                      "{} has a row longer than {} MiB, more than memory can hold; is a quote never closed?",
                      display_name(file_), used >> 20U);
        throw MachineError("not enough memory to read " + display_name(file_));
    }
    const std::size_t got = input_->read(text.data() + used, size);
    text.resize(used + got);
    return got > 0;
}

// Brings the block to `size` bytes, or fewer at the end of the file or of patience.
void CsvStream::fill(std::vector<char>& block, std::size_t size) {
    const auto start = steady_clock::now();
    while (block.size() < size && !at_end_) {
        if (!input_->is_regular()) {
            bool ready = false;
            while (!stopped() && !(ready = input_->wait(kPause)) && whole_rows(view(block), layout_.dialect) == 0) {
            }
            const bool waited = steady_clock::now() - start > kPatience;
            if (stopped() || !ready || (waited && whole_rows(view(block), layout_.dialect) > 0)) return;
        }
        const std::size_t step = size - block.size();
        at_end_ = !append(block, input_->is_regular() ? step : std::min(step, kReadStep));
    }
}

bool CsvStream::next(std::vector<char>& block, std::size_t size) {
    block.clear();
    for (;; size *= 2) {
        const std::size_t taken = std::min(size - block.size(), ahead_.size() - ahead_from_);
        const auto from = ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_from_);
        block.insert(block.end(), from, from + static_cast<std::ptrdiff_t>(taken));
        ahead_from_ += taken;
        fill(block, size);
        if (stopped()) return false;

        const bool nothing_ahead = ahead_from_ == ahead_.size();
        if (nothing_ahead && at_end_) return !block.empty();
        const std::size_t rows = whole_rows(view(block), layout_.dialect);
        if (rows == 0) {
            const std::size_t longest = input_->is_regular() ? kLongestRowOnDisk : kLongestRow;
            core::require(block.size() < longest, "{} has a row longer than {} MiB; is a quote never closed?",
                          display_name(file_), longest >> 20U);
            continue;
        }
        const std::size_t rest = block.size() - rows;
        if (nothing_ahead) {
            ahead_.assign(block.end() - static_cast<std::ptrdiff_t>(rest), block.end());
            ahead_from_ = 0;
        } else {
            ahead_from_ -= rest;  // all of the block came from there
        }
        block.resize(rows);
        return true;
    }
}

}  // namespace accrue::data
