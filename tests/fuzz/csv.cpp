// Delimited text: a file, a pipe, slabs and chunks of any size give the same table or the same refusal; rows and
// fields are those of a plain scanner; a transformed file keeps every cell; in gzip and zstd it is the same text.
#include <sys/resource.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "data/cells.hpp"
#include "data/csv_layout.hpp"
#include "data/csv_rows.hpp"
#include "data/csv_transform.hpp"
#include "fuzz/target.hpp"

// Of the address sanitizer, where it is there.
extern "C" __attribute__((weak)) void __asan_init();

namespace accrue::fuzz {

namespace {

using data::Dialect;
using data::RowScanner;

struct Row {
    std::vector<std::string> fields;
    RowScanner::Fault fault = RowScanner::Fault::none;
};

// One character after the other.
std::vector<Row> plain_rows(std::string_view text, Dialect dialect) {
    const bool blanks = dialect.delimiter == Dialect::kBlanks;
    std::vector<Row> rows;
    for (std::size_t at = 0; at < text.size();) {
        Row row;
        std::string field;
        bool opened = false;  // by a quote ...
        bool inside = false;  // ... which is not yet closed
        bool tail = false;    // something stands behind the closing one
        const auto end_field = [&](bool line_end) {
            if (line_end && field.ends_with('\r')) field.pop_back();
            if (opened && !inside) {
                const std::string_view rest = data::trim(std::string_view(field).substr(field.rfind('"') + 1));
                tail = tail || !rest.empty();
            }
            if (tail) row.fault = RowScanner::Fault::text_after_quote;
            // Runs of blanks are one gap, and blanks at the ends of a line are none.
            if (!blanks || !data::trim(field).empty()) row.fields.push_back(field);
            field.clear();
            opened = false;
        };
        bool newline = false;
        std::size_t closed = 0;  // length of the field with its closing quote
        while (at < text.size() && !newline) {
            const char c = text[at++];
            if (inside) {
                field += c;
                if (c == '"') {
                    inside = false;
                    closed = field.size();
                }
            } else if (c == '"') {
                if (opened && closed == field.size())
                    inside = true;  // doubled
                else if (!opened && std::all_of(field.begin(), field.end(), data::is_blank))
                    opened = inside = true;
                else if (opened)
                    tail = true;
                field += c;
            } else if (c == '\n') {
                newline = true;
            } else if (blanks ? data::is_blank(c) : c == dialect.delimiter) {
                end_field(false);
            } else {
                field += c;
            }
        }
        end_field(true);
        if (inside) row.fault = RowScanner::Fault::unclosed_quote;  // of two faults in a row this one is told
        const bool blank_line = row.fields.empty() || (row.fields.size() == 1 && data::trim(row.fields[0]).empty());
        if (!blank_line) rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<Row> scanned_rows(std::string_view text, Dialect dialect, std::vector<Row> rows = {}) {
    constexpr std::size_t kKept = 64;
    RowScanner scanner(text, dialect, kKept);
    while (scanner.next()) {
        Row row;
        for (std::size_t i = 0; i < std::min(scanner.fields(), kKept); ++i) row.fields.emplace_back(scanner.field(i));
        row.fields.resize(scanner.fields());
        row.fault = scanner.fault();
        rows.push_back(std::move(row));
    }
    return rows;
}

void expect_same_rows(const std::vector<Row>& a, const std::vector<Row>& b, const char* what) {
    expect(a.size() == b.size(), "{}: {} rows and {}", what, a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        expect(a[i].fault == b[i].fault, "{}: row {} has another fault", what, i);
        expect(a[i].fields.size() == b[i].fields.size(), "{}: row {} has {} fields and {}", what, i, a[i].fields.size(),
               b[i].fields.size());
        if (a[i].fault == RowScanner::Fault::none)
            for (std::size_t f = 0; f < std::min<std::size_t>(a[i].fields.size(), 64); ++f)
                expect(data::trim(a[i].fields[f]) == data::trim(b[i].fields[f]), "{}: field {} of row {}: '{}', '{}'",
                       what, f, i, a[i].fields[f], b[i].fields[f]);
    }
}

void check_rows(std::string_view text, Dialect dialect, std::size_t chunk) {
    const std::vector<Row> whole = scanned_rows(text, dialect);
    expect_same_rows(plain_rows(text, dialect), whole, "plain scanner");

    std::vector<Row> pieces;
    for (std::size_t at = 0, length = chunk; at < text.size(); length += chunk) {
        const std::string_view piece = text.substr(at, length);
        // The last row of a text may lack its line end.
        const bool at_end = at + piece.size() == text.size();
        const std::size_t rows = at_end ? piece.size() : data::whole_rows(piece, dialect);
        expect(rows <= piece.size(), "more rows than text");
        if (rows == 0) continue;
        pieces = scanned_rows(piece.substr(0, rows), dialect, std::move(pieces));
        at += rows;
        length = 0;
    }
    expect_same_rows(pieces, whole, "pieces");
}

// A table as one text, or the message of its refusal.
struct Answer {
    std::string text;
    bool refused = false;
    bool operator==(const Answer&) const = default;
};

// Everything but the figures, which may be many; those as bits.
class Rendering {
public:
    explicit Rendering(const std::vector<ColumnRequest>& columns) : columns_(columns), cells_(columns.size()) {}
    void add(const Table& table) {
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const ColumnRequest& column = columns_[c];
            if (column.kind == Kind::text) {
                const TextColumn& text = table.text(column.name);
                expect(text.codes.size() == table.rows(), "a text column has {} rows of {}", text.codes.size(),
                       table.rows());
                for (const std::uint32_t code : text.codes)
                    cells_[c] += fmt::format("{}:{};", code, text.labels.at(code));
            } else {
                const auto values = table.numbers(column.name);
                expect(values.size() == table.rows(), "a column has {} rows of {}", values.size(), table.rows());
                for (const double value : values)
                    cells_[c] += fmt::format("{:a};", std::isnan(value) ? 0 / 0.0 : value);
                dated_ = dated_ || table.has_dates(column.name);
            }
        }
        rows_ += table.rows();
    }
    std::string text(std::size_t dropped) const {
        std::string all = fmt::format("{} rows, {} dropped, {}\n", rows_, dropped, dated_);
        for (const std::string& cells : cells_) all += cells + "\n";
        return all;
    }

private:
    const std::vector<ColumnRequest>& columns_;
    std::vector<std::string> cells_;
    std::size_t rows_ = 0;
    bool dated_ = false;
};

template <typename Action>
Answer answer(Action&& action) {
    try {
        return {action(), false};
    } catch (const InputError& error) {
        const std::string message = error.what();
        expect(message.find('\n') == std::string::npos, "a message has several lines: {}", message);
        return {message, true};
    }
}

// Cells are kept to the letter, and the added column holds what was computed.
void check_transform(std::string_view text, const std::string& column, bool header, InputPath::Kind kind) {
    std::optional<InputPath> input(std::in_place, text, kind);
    const OutputPath output;
    data::TransformPlan plan;
    plan.inputs = {{column}};
    plan.header = header;
    plan.added.push_back({"twice \"it\"", "twice"});
    const Answer done = answer([&] {
        data::transform_csv({input->path()}, output.path(), plan, [](auto values, auto results, std::size_t) {
            for (std::size_t i = 0; i < results[0].size(); ++i) results[0][i] = 2 * values[0][i];
        });
        return std::string();
    });
    if (done.refused) return;
    input.reset();
    ReadOptions options;
    options.header = header;
    options.missing = Missing::keep;
    const std::string written = output.content();
    const InputPath again(written, InputPath::Kind::regular);
    const std::vector<std::string> names = column_names(again.path(), options);
    const std::string added = names.back();
    expect(!header || added == "twice \"it\"", "the added column is called '{}'", added);
    const Table table = read_table({again.path()}, {{column}, {added}}, options);
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const double value = table.numbers(column)[i];
        const double twice = 2 * value;
        // Infinity cannot be written into a table of finite numbers.
        expect(!std::isfinite(twice) || table.numbers(added)[i] == twice, "row {}: twice {} is {}", i, value,
               table.numbers(added)[i]);
    }
}

Answer names_of(const std::string& path, const ReadOptions& options, std::vector<std::string>& names) {
    return answer([&] {
        names = column_names(path, options);
        return fmt::format("{}", fmt::join(names, "|"));
    });
}

std::vector<ColumnRequest> requests(const std::vector<std::string>& names, std::uint8_t kinds) {
    std::vector<ColumnRequest> columns;
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 4); ++i)
        columns.push_back(
            {names[i], static_cast<Kind>((kinds >> (2 * i)) % 3), i == 3 ? Rule::not_negative : Rule::any});
    return columns;
}

Answer table_of(const std::string& path, const std::vector<ColumnRequest>& columns, ReadOptions options,
                std::size_t slab_bytes, bool slabs) {
    return answer([&] {
        options.slab_bytes = slab_bytes;
        Rendering rendering(columns);
        if (slabs)
            return rendering.text(
                read_slabs({path}, columns, options, [&](const Table& table) { rendering.add(table); }));
        const Table table = read_table({path}, columns, options);
        rendering.add(table);
        return rendering.text(table.dropped());
    });
}

enum class Packing { gzip, zstd };

std::string packed(std::string_view text, Packing packing) {
    std::string result;
    if (packing == Packing::zstd) {
        result.resize(::ZSTD_compressBound(text.size()));
        result.resize(::ZSTD_compress(result.data(), result.size(), text.data(), text.size(), 3));
        return result;
    }
    z_stream stream{};
    constexpr int kGzip = 15 + 16;
    if (::deflateInit2(&stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) fail("no memory");
    result.resize(::deflateBound(&stream, text.size()) + 32);
    std::string source(text);
    stream.next_in = reinterpret_cast<Bytef*>(source.data());
    stream.avail_in = static_cast<uInt>(source.size());
    stream.next_out = reinterpret_cast<Bytef*>(result.data());
    stream.avail_out = static_cast<uInt>(result.size());
    expect(::deflate(&stream, Z_FINISH) == Z_STREAM_END, "a text is not packed");
    result.resize(stream.total_out);
    ::deflateEnd(&stream);
    return result;
}

// What is in a file that is in memory as a whole.
struct Unpacked {
    enum class Outcome { text, damaged, too_long } outcome = Outcome::damaged;
    std::string text = {};
};
constexpr std::size_t kLongestText = std::size_t{1} << 20U;

Unpacked unpacked_zstd(std::string_view packed) {
    Unpacked result;
    result.text.resize(kLongestText + 1);
    ZSTD_DStream* stream = ::ZSTD_createDStream();
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    ZSTD_outBuffer out{result.text.data(), result.text.size(), 0};
    std::size_t status = 1;
    for (std::size_t before = 1; in.pos + out.pos != before && ::ZSTD_isError(status) == 0;) {
        before = in.pos + out.pos;
        // What has ended would begin anew with nothing.
        if (status != 0 || in.pos < in.size) status = ::ZSTD_decompressStream(stream, &out, &in);
    }
    ::ZSTD_freeDStream(stream);
    if (out.pos == out.size)
        result.outcome = Unpacked::Outcome::too_long;
    else if (status == 0 && in.pos == in.size)
        result.outcome = Unpacked::Outcome::text;
    result.text.resize(out.pos);
    return result;
}

Unpacked unpacked_gzip(std::string_view packed) {
    Unpacked result;
    std::string left(packed);
    std::size_t at = 0;
    bool good = !left.empty();
    while (good && at < left.size() && result.text.size() <= kLongestText) {
        z_stream stream{};
        constexpr int kGzip = 15 + 16;
        if (::inflateInit2(&stream, kGzip) != Z_OK) fail("no memory");
        std::string part(kLongestText + 1, '\0');
        stream.next_in = reinterpret_cast<Bytef*>(left.data() + at);
        stream.avail_in = static_cast<uInt>(left.size() - at);
        stream.next_out = reinterpret_cast<Bytef*>(part.data());
        stream.avail_out = static_cast<uInt>(part.size());
        good = ::inflate(&stream, Z_FINISH) == Z_STREAM_END || stream.avail_out == 0;
        at += stream.total_in;
        part.resize(stream.total_out);
        result.text += part;
        ::inflateEnd(&stream);
    }
    if (result.text.size() > kLongestText)
        result.outcome = Unpacked::Outcome::too_long;
    else if (good)
        result.outcome = Unpacked::Outcome::text;
    return result;
}

// A file of its own; its name in messages is the same whatever its ending.
class NamedFile {
public:
    NamedFile(std::string_view content, const char* ending) : path_(scratch_folder() + "/rows" + ending) {
        std::ofstream(path_, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    }
    ~NamedFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    NamedFile(const NamedFile&) = delete;
    NamedFile& operator=(const NamedFile&) = delete;
    const std::string& path() const { return path_; }
    Answer renamed(Answer answer) const {
        for (std::size_t at; (at = answer.text.find(path_)) != std::string::npos;)
            answer.text.replace(at, path_.size(), "FILE");
        return answer;
    }

private:
    std::string path_;
};

long peak_kilobytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

// However much it unpacks to, memory does not grow with it.
void check_long_packed(const NamedFile& file, const ReadOptions& options, std::size_t slab) {
    const long before = peak_kilobytes();
    std::vector<std::string> names;
    if (names_of(file.path(), options, names).refused || names.empty()) return;
    (void)answer([&] {
        ReadOptions own = options;
        own.slab_bytes = slab;
        read_slabs({file.path()}, {{names[0]}}, own, [](const Table&) {});
        return std::string();
    });
    // A header of 4 MiB in 40 times its bytes, or a row of 64 MiB, twice. Sanitizers keep what was freed.
    constexpr long kMost = 256L << 10U;
    if (__asan_init == nullptr)
        expect(peak_kilobytes() - before <= kMost, "a packed file takes {} kB", peak_kilobytes() - before);
}

// The same as its text from a plain file, or refused.
void check_packed(std::string_view content, Packing packing, const ReadOptions& options, std::uint8_t kinds,
                  std::size_t slab) {
    const NamedFile file(content, packing == Packing::gzip ? ".gz" : ".zst");
    const Unpacked plain = packing == Packing::gzip ? unpacked_gzip(content) : unpacked_zstd(content);
    if (plain.outcome == Unpacked::Outcome::too_long) return check_long_packed(file, options, slab);
    std::vector<std::string> names;
    const Answer own_names = file.renamed(names_of(file.path(), options, names));
    if (plain.outcome == Unpacked::Outcome::damaged) {
        if (!own_names.refused)
            expect(table_of(file.path(), requests(names, kinds), options, slab, true).refused,
                   "a damaged file has a table");
        return;
    }
    if (plain.text.starts_with("CDF") || plain.text.starts_with("\x89HDF")) return;  // NetCDF is not unpacked
    const NamedFile text(plain.text, "");
    const Answer plain_names = text.renamed(names_of(text.path(), options, names));
    expect(own_names == plain_names, "packed the names are '{}', else '{}'", own_names.text, plain_names.text);
    if (plain_names.refused) return;
    const std::vector<ColumnRequest> columns = requests(names, kinds);
    const Answer whole = text.renamed(table_of(text.path(), columns, options, std::size_t{64} << 20U, false));
    for (const bool slabs : {false, true}) {
        const Answer own = file.renamed(table_of(file.path(), columns, options, slab, slabs));
        expect(own == whole, "packed: '{}', else: '{}'", own.text, whole.text);
    }
}

// Packed in one or several parts, perhaps twice, perhaps damaged at a place of the fuzzer's choice.
void check_packed_text(std::string_view text, const ReadOptions& options, std::uint8_t kinds, std::size_t slab) {
    const Packing packing = kinds % 2 == 0 ? Packing::gzip : Packing::zstd;
    const std::size_t parts = 1 + kinds / 2 % 2;
    std::string content;
    for (std::size_t part = 0; part < parts; ++part)
        content += packed(
            text.substr(part * text.size() / parts, (part + 1) * text.size() / parts - part * text.size() / parts),
            packing);
    if (kinds / 4 % 4 == 3) content = packed(content, kinds / 16 % 2 == 0 ? packing : Packing::gzip);
    const std::size_t place = slab * 251 % content.size();
    switch (kinds / 32 % 4) {
        case 1:
            content.resize(place);
            break;
        case 2:
            content[place] = static_cast<char>(content[place] ^ static_cast<char>(1U << (slab % 8)));
            break;
        case 3:
            content += text.substr(0, 8);
            break;
        default:
            break;
    }
    check_packed(content, packing, options, kinds, slab);
}

}  // namespace

// Four bytes of choices, then the text, or what is packed already.
void run(std::span<const std::uint8_t> input) {
    Bytes bytes(input.first(std::min(input.size(), InputPath::kLongest)));
    const std::uint8_t choice = bytes.byte();
    const std::uint8_t kinds = bytes.byte();
    const std::size_t slab = std::size_t{1} + bytes.byte() * 3U;
    const std::size_t chunk = std::size_t{1} + bytes.byte();
    const std::string_view text = bytes.rest();
    if (text.starts_with("CDF") || text.starts_with("\x89HDF")) return;  // NetCDF, which no pipe can bring

    ReadOptions options;
    options.header = choice % 2 == 0;
    options.missing = static_cast<Missing>(choice / 2 % 3);
    const Dialect dialects[] = {{','}, {';'}, {'\t'}, {Dialect::kBlanks}, {Dialect::kNone}};
    check_rows(text, dialects[choice / 8 % 5], chunk);

    constexpr std::string_view kGzip = "\x1F\x8B";
    constexpr std::string_view kZstd = "\x28\xB5\x2F\xFD";
    constexpr std::size_t kLongestPacked = 4096;  // zstd makes 128 kB of four bytes
    if (text.size() <= kLongestPacked && (text.starts_with(kGzip) || text.starts_with(kZstd)))
        check_packed(text, text.starts_with(kGzip) ? Packing::gzip : Packing::zstd, options, kinds, slab);
    else if (chunk % 4 == 3)
        check_packed_text(text, options, kinds, slab);

    std::vector<std::string> names;
    const auto named = [&](InputPath::Kind kind) {
        const InputPath file(text, kind);
        return names_of(file.path(), options, names);
    };
    const Answer piped_names = named(InputPath::Kind::pipe);
    const Answer mapped_names = named(InputPath::Kind::regular);
    expect(mapped_names == piped_names, "names differ: '{}', '{}'", mapped_names.text, piped_names.text);
    if (mapped_names.refused) return;

    const std::vector<ColumnRequest> columns = requests(names, kinds);
    const auto read = [&](InputPath::Kind kind, std::size_t slab_bytes, bool slabs) {
        const InputPath file(text, kind);
        return table_of(file.path(), columns, options, slab_bytes, slabs);
    };
    const Answer whole = read(InputPath::Kind::regular, std::size_t{64} << 20U, false);
    for (const auto kind : {InputPath::Kind::regular, InputPath::Kind::pipe})
        for (const std::size_t size : {slab, std::size_t{64} << 20U}) {
            const Answer other = read(kind, size, size == slab);
            expect(other == whole, "{} in slabs of {}: '{}', whole: '{}'",
                   kind == InputPath::Kind::pipe ? "a pipe" : "a file", size, other.text, whole.text);
        }
    // A name or cell of a single column may hold commas, and a second column makes them delimiters.
    const bool ambiguous = names.size() == 1 && text.find(',') != std::string_view::npos;
    if (choice >= 128 && !ambiguous)
        check_transform(text, names[kinds % names.size()], options.header,
                        choice >= 192 ? InputPath::Kind::pipe : InputPath::Kind::regular);
}

}  // namespace accrue::fuzz
