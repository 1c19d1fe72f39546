#include "data/bytes.hpp"

#include <algorithm>

namespace accrue::data {

namespace {

// One lane per byte of a block, each 8 bits wide, so that the compiler makes whole vectors of the inner loops; a lane
// overflows after 255 blocks and is emptied before.
constexpr std::size_t kLanes = kByteBlock;
constexpr std::size_t kBlocksPerRound = 255;

}  // namespace

ByteSurvey survey_bytes(std::string_view text) {
    ByteSurvey survey;
    const char* at = text.data();
    std::size_t blocks = text.size() / kLanes;
    while (blocks > 0) {
        const std::size_t round = std::min(blocks, kBlocksPerRound);
        std::uint8_t newlines[kLanes] = {};
        std::uint8_t quotes[kLanes] = {};
        std::uint8_t nuls[kLanes] = {};
        for (std::size_t b = 0; b < round; ++b, at += kLanes) {
            for (std::size_t i = 0; i < kLanes; ++i) {
                newlines[i] = static_cast<std::uint8_t>(newlines[i] + (at[i] == '\n'));
                quotes[i] = static_cast<std::uint8_t>(quotes[i] | (at[i] == '"'));
                nuls[i] = static_cast<std::uint8_t>(nuls[i] | (at[i] == '\0'));
            }
        }
        for (std::size_t i = 0; i < kLanes; ++i) {
            survey.newlines += newlines[i];
            survey.quotes |= quotes[i] != 0;
            survey.nuls |= nuls[i] != 0;
        }
        blocks -= round;
    }
    for (const char* end = text.data() + text.size(); at != end; ++at) {
        survey.newlines += *at == '\n';
        survey.quotes |= *at == '"';
        survey.nuls |= *at == '\0';
    }
    return survey;
}

std::size_t count_newlines(std::string_view text) {
    return survey_bytes(text).newlines;
}

}  // namespace accrue::data
