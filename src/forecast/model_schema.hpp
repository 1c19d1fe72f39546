// A model file before it is believed: its outline and its entries against the documented format, in one pass each over
// the text. Time is linear in the text, memory does not depend on it, and nothing is built.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace accrue::model_file {

inline constexpr int kMaxDepth = 16;
// Of a text of so many bytes: the parameters of a large model have ten digits, but shorter numbers would take many
// times their text, up to 48 bytes each while they are read.
constexpr std::size_t max_values(std::size_t bytes) {
    return 1'000'000 + bytes / 12;
}
// Of entries that the format leaves open ("additionalProperties": true).
inline constexpr std::size_t kMaxUnknownValues = 100'000;

// docs/model-file.schema.json, which is compiled in.
std::string_view schema_text();

struct Outline {
    std::string format;          // JSON texts of these three entries; empty when they are absent
    std::string format_version;  //
    std::string checksum;        //
    std::string true_checksum;   // FNV-1a, 64 bits, of the text without blanks and without its checksum
};
// Throws InputError when the text is not JSON, is nested too deeply or has too many values.
Outline outline(std::string_view text);

// Throws InputError that names the first entry which breaks the schema, with the rule. The text has an outline.
void check_schema(std::string_view text);

}  // namespace accrue::model_file
