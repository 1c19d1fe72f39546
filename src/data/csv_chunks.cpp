#include "data/csv_chunks.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "data/cells.hpp"

namespace accrue::data {

namespace {

struct Block {
    ByteSurvey survey;
    std::size_t first_newline = std::string_view::npos;  // in the whole text
};

std::vector<Block> survey_blocks(std::string_view body, std::size_t size) {
    std::vector<Block> blocks(core::block_count(body.size(), size));
    core::for_blocks(body.size(), size, [&](std::size_t b, std::size_t begin, std::size_t end) {
        const std::string_view text = body.substr(begin, end - begin);
        blocks[b].survey = survey_bytes(text);
        if (const std::size_t at = text.find('\n'); at != std::string_view::npos) blocks[b].first_newline = begin + at;
    });
    return blocks;
}

// Without quotes every newline ends a row: each block's first one is a cut, and the survey of blocks gives that of
// chunks without looking at the text again.
std::vector<Chunk> cut_at_newlines(std::string_view body, const std::vector<Block>& blocks) {
    std::vector<Chunk> chunks;
    std::size_t begin = 0;
    ByteSurvey survey;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const Block& block = blocks[b];
        survey.nuls |= block.survey.nuls;
        const std::size_t cut = block.first_newline + 1;
        if (b == 0 || block.first_newline == std::string_view::npos || cut == body.size()) {
            survey.newlines += block.survey.newlines;
            continue;
        }
        ++survey.newlines;
        chunks.push_back({body.substr(begin, cut - begin), survey});
        begin = cut;
        survey = block.survey;
        --survey.newlines;
    }
    chunks.push_back({body.substr(begin), survey});
    return chunks;
}

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

// Whether a newline ends a row depends on all the quotes before it, so this goes from the front, from quote to quote.
std::vector<Chunk> cut_outside_quotes(std::string_view body, Dialect dialect, std::size_t size) {
    std::vector<Chunk> chunks;
    std::size_t begin = 0;
    std::size_t at = 0;  // outside quotes
    while (at < body.size()) {
        const std::size_t quote = std::min(body.find('"', at), body.size());
        while (begin + size < quote) {
            const std::size_t from = std::max(begin + size, at);
            const std::size_t newline = body.substr(0, quote).find('\n', from);
            if (newline == std::string_view::npos || newline + 1 == body.size()) break;
            chunks.push_back({body.substr(begin, newline + 1 - begin), {}});
            begin = newline + 1;
        }
        if (quote == body.size()) break;
        at = opens_field(body, quote, dialect) ? skip_quoted(body, quote) : quote + 1;
    }
    chunks.push_back({body.substr(begin), {}});
    core::for_blocks(chunks.size(), 1,
                     [&](std::size_t c, std::size_t, std::size_t) { chunks[c].survey = survey_bytes(chunks[c].text); });
    return chunks;
}

}  // namespace

std::vector<Chunk> cut_chunks(std::string_view body, Dialect dialect, std::size_t size, bool goes_on) {
    if (body.empty()) return {};
    std::vector<Block> blocks = survey_blocks(body, size);
    const bool quotes = std::any_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.survey.quotes; });
    if (goes_on) {
        // Behind the last newline there is none to count, so that the survey still holds.
        body = body.substr(0, quotes ? whole_rows(body, dialect) : body.rfind('\n') + 1);
        if (body.empty()) return {};
        blocks.resize(core::block_count(body.size(), size));
    }
    return quotes ? cut_outside_quotes(body, dialect, size) : cut_at_newlines(body, blocks);
}

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
