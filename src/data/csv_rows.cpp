#include "data/csv_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "data/bytes.hpp"
#include "data/cells.hpp"

namespace accrue::data {

RowScanner::RowScanner(std::string_view text, Dialect dialect, std::size_t kept, bool quotes)
    : end_(text.data() + text.size()),
      cursor_(text.data()),
      dialect_(dialect),
      kept_(kept),
      quotes_(quotes),
      row_begin_(text.data()),
      row_end_(text.data()),
      ends_(kept + 1, text.data()) {
    if (!text.empty()) load(cursor_);
}

bool RowScanner::next() {
    while (cursor_ != end_) {
        scan_row();
        const bool blank_line = fields_ <= 1 && trim(row()).empty();
        if (!blank_line) return true;
    }
    return false;
}

void RowScanner::load(const char* at) {
    base_ = at;
    const char* block = at;
    char padded[kByteBlock];
    if (const auto left = static_cast<std::size_t>(end_ - at); left < kByteBlock) {
        std::memset(padded, 0, kByteBlock);
        std::memcpy(padded, at, left);
        block = padded;
    }
    newline_bits_ = match_block(block, '\n');
    quote_bits_ = quotes_ ? match_block(block, '"') : 0;
    if (dialect_.delimiter == Dialect::kBlanks) {
        // Only the first blank after something else ends a field.
        const std::uint64_t blanks = match_block(block, ' ') | match_block(block, '\t');
        const std::uint64_t gaps = blanks | newline_bits_;
        delimiter_bits_ = blanks & ~((gaps << 1U) | static_cast<std::uint64_t>(after_blank_));
        after_blank_ = (gaps >> 63U) != 0;
    } else {
        delimiter_bits_ = match_block(block, dialect_.delimiter);
    }
}

void RowScanner::scan_row() {
    row_begin_ = cursor_;
    marks_ = 0;
    fault_ = Fault::none;
    for (;;) {
        const std::uint64_t newline = newline_bits_ & (~newline_bits_ + 1);
        const std::uint64_t before = newline - 1;  // all bits when no line ends in this block
        if ((quote_bits_ & before) != 0) {
            scan_quoted_row();
            return;
        }
        for (std::uint64_t bits = delimiter_bits_ & before; bits != 0; bits &= bits - 1)
            mark(base_ + std::countr_zero(bits));
        if (newline != 0) {
            newline_bits_ &= ~newline;
            delimiter_bits_ &= ~(before | newline);
            finish_row(base_ + std::countr_zero(newline), true);
            return;
        }
        if (static_cast<std::size_t>(end_ - base_) <= kByteBlock) {
            finish_row(end_, false);
            return;
        }
        load(base_ + kByteBlock);
    }
}

// The rest of a row from the block in which its first quote stands: one structural character after the other.
void RowScanner::scan_quoted_row() {
    const char* field = marks_ == 0 ? row_begin_ : ends_[std::min(marks_, kept_ + 1) - 1] + 1;
    const char* closed = nullptr;  // after the closing quote of this field
    bool inside = false;
    const auto check_tail = [&](const char* end, bool line_end) {
        if (closed == nullptr) return;
        if (line_end && end != closed && end[-1] == '\r') --end;
        if (!trim({closed, static_cast<std::size_t>(end - closed)}).empty()) fault_ = Fault::text_after_quote;
    };
    for (;;) {
        std::uint64_t bits = delimiter_bits_ | newline_bits_ | quote_bits_;
        while (bits != 0) {
            const std::uint64_t bit = bits & (~bits + 1);
            const char* at = base_ + std::countr_zero(bits);
            bits ^= bit;
            const bool quote = (quote_bits_ & bit) != 0;
            if (inside) {
                if (!quote) continue;
                inside = false;
                closed = at + 1;
            } else if (quote) {
                const bool opens = closed == nullptr && trim({field, static_cast<std::size_t>(at - field)}).empty();
                const bool doubled = closed == at;
                inside = opens || doubled;
            } else {
                const bool newline = (newline_bits_ & bit) != 0;
                check_tail(at, newline);
                if (newline) {
                    newline_bits_ &= bits;
                    delimiter_bits_ &= bits;
                    quote_bits_ &= bits;
                    finish_row(at, true);
                    return;
                }
                mark(at);
                field = at + 1;
                closed = nullptr;
            }
        }
        if (static_cast<std::size_t>(end_ - base_) <= kByteBlock) {
            if (inside)
                fault_ = Fault::unclosed_quote;
            else
                check_tail(end_, true);
            finish_row(end_, false);
            return;
        }
        load(base_ + kByteBlock);
    }
}

void RowScanner::finish_row(const char* end, bool newline) {
    has_newline_ = newline;
    cursor_ = newline ? end + 1 : end;
    row_end_ = end;
    if (row_end_ != row_begin_ && row_end_[-1] == '\r') --row_end_;
    fields_ = marks_ + 1;
    if (dialect_.delimiter == Dialect::kBlanks) {
        const std::size_t last = std::min(marks_, kept_ + 1);
        const char* tail = last == 0 ? row_begin_ : ends_[last - 1] + 1;
        if (tail >= row_end_ || trim({tail, static_cast<std::size_t>(row_end_ - tail)}).empty()) fields_ = marks_;
    }
    mark(row_end_);
}

namespace {

// Whether the quote at `at`, which stands outside quotes, begins a field; the same rule as RowScanner's.
bool opens_field(std::string_view body, std::size_t at, Dialect dialect) {
    if (dialect.delimiter == Dialect::kBlanks) return at == 0 || body[at - 1] == '\n' || is_blank(body[at - 1]);
    while (at > 0 && dialect.is_padding(body[at - 1])) --at;
    return at == 0 || body[at - 1] == '\n' || body[at - 1] == dialect.delimiter;
}

// The place after the quoted field that opens at `at`, or the end of the text.
std::size_t skip_quoted(std::string_view body, std::size_t at) {
    ++at;
    for (;;) {
        at = body.find('"', at);
        if (at == std::string_view::npos) return body.size();
        ++at;
        if (at == body.size() || body[at] != '"') return at;
        ++at;
    }
}

}  // namespace

// Whether a newline ends a row depends on all the quotes before it, so this goes from the front, from quote to quote.
std::size_t whole_rows(std::string_view text, Dialect dialect) {
    std::size_t end = 0;
    std::size_t at = 0;  // outside quotes
    while (at < text.size()) {
        const std::size_t quote = std::min(text.find('"', at), text.size());
        const std::size_t newline = text.substr(at, quote - at).rfind('\n');
        if (newline != std::string_view::npos) end = at + newline + 1;
        if (quote == text.size()) break;
        at = opens_field(text, quote, dialect) ? skip_quoted(text, quote) : quote + 1;
    }
    return end;
}

}  // namespace accrue::data
