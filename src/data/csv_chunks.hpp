// A delimited text cut into pieces of whole rows, to be parsed side by side.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "data/bytes.hpp"
#include "data/csv_rows.hpp"

namespace accrue::data {

// The pieces that texts are cut into, but for the last row of each. Fixed, so that the cuts do not depend on the
// number of threads; small enough to stay in a core's cache between counting and parsing neighbours.
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

struct Chunk {
    std::string_view text;
    ByteSurvey survey;

    // No text has more rows than lines; blank lines and newlines inside quotes make it fewer.
    std::size_t most_rows() const { return survey.newlines + (!text.empty() && text.back() != '\n'); }
};

// Cuts at newlines outside quotes, about every `size` bytes. Where the text goes on behind `body`, a row that has no
// line end in it is left out.
std::vector<Chunk> cut_chunks(std::string_view body, Dialect dialect, std::size_t size = kChunkBytes,
                              bool goes_on = false);

// How many bytes of the text, which begins with a row, are rows with their line ends; the rest is the beginning of one.
std::size_t whole_rows(std::string_view text, Dialect dialect);

}  // namespace accrue::data
