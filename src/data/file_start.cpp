#include "data/file_start.hpp"

#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "accrue/messages.hpp"
#include "core/error.hpp"

namespace accrue::data {

using namespace std::string_view_literals;

std::string start_of(const std::string& path) {
    struct stat state {};
    if (path == "-" || ::stat(path.c_str(), &state) != 0 || !S_ISREG(state.st_mode)) return {};
    std::string bytes(8, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
}

bool is_read_once(const std::string& path) {
    std::error_code ignored;
    return path == "-" || std::filesystem::is_other(std::filesystem::status(path, ignored));
}

void refuse_columnar(std::string_view start, const std::string& path) {
    using Mark = std::pair<std::string_view, const char*>;
    // With the byte behind the mark, since a text table may begin with a column that is called PAR1.
    constexpr std::array kMarks = {Mark{"PAR1\x15", "a Parquet file"}, Mark{"ARROW1\0"sv, "an Arrow file"},
                                   Mark{"FEA1\0"sv, "a Feather file"}};
    for (const auto& [mark, name] : kMarks)
        core::require(
            !start.starts_with(mark),
            "{} is {}, which the command does not read; write it as CSV first (DuckDB: COPY 'x.parquet' TO "
            "'x.csv'; pandas: read_parquet and to_csv), or call accrue.fit in Python, which takes such tables",
            display_name(path), name);
}

}  // namespace accrue::data
