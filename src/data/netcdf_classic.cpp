#include "data/netcdf_classic.hpp"

#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "accrue/messages.hpp"
#include "core/error.hpp"

namespace accrue::data {

namespace {

// Damaged headers make large numbers; those stay large.
constexpr std::uint64_t kTooMany = std::numeric_limits<std::uint64_t>::max();

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? kTooMany : result;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    std::uint64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? kTooMany : result;
}

std::uint64_t padded(std::uint64_t bytes) {
    return sum(bytes, 3) / 4 * 4;
}

enum class Tag : std::uint64_t { dimension = 0x0A, variable = 0x0B, attribute = 0x0C };

// Takes the pieces of the header one after the other, in the order and with the names of the NetCDF Classic Format
// Specification: magic numrecs dim_list gatt_list var_list.
class Header {
public:
    explicit Header(const std::string& path)
        : path_(path), left_(std::filesystem::file_size(path)), size_(left_), file_(path, std::ios::binary) {
        version_ = number(4) & 0xFFU;
    }
    std::uint64_t size() const { return size_; }
    bool is_wide() const { return version_ == 5; }

    std::uint64_t count() { return number(is_wide() ? 8 : 4); }
    std::uint64_t offset() { return number(version_ == 1 ? 4 : 8); }
    // The number of elements of a list; an empty one may do without its tag. `least` is the size of an element.
    std::uint64_t list(Tag tag, std::uint64_t least) {
        const std::uint64_t found = number(4);
        const std::uint64_t elements = count();
        require(found == static_cast<std::uint64_t>(tag) || (found == 0 && elements == 0), "a list has the wrong mark");
        require(product(elements, least) <= left_, "a list is longer than the file");
        return elements;
    }
    void skip_name() {
        const std::uint64_t length = count();
        require(length > 0 && length <= NC_MAX_NAME, "a name is too long");
        skip(length);
    }
    std::uint64_t type_bytes() {
        constexpr std::array<std::uint64_t, 12> kBytes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
        const std::uint64_t type = number(4);
        require(type >= NC_BYTE && type <= (is_wide() ? NC_UINT64 : NC_DOUBLE), "a type is unknown");
        return kBytes[type];
    }
    void skip_attributes() {
        for (std::uint64_t left = list(Tag::attribute, 12); left > 0; --left) {
            skip_name();
            const std::uint64_t bytes = type_bytes();
            skip(product(bytes, count()));
        }
    }
    void require(bool rule, const char* trouble) const {
        core::require(rule, "{} is damaged: in its header, {}", display_name(path_), trouble);
    }

private:
    std::uint64_t number(std::uint64_t bytes) {
        take(bytes);
        std::uint64_t value = 0;
        for (std::uint64_t i = 0; i < bytes; ++i) value = value << 8U | static_cast<std::uint64_t>(file_.get() & 0xFF);
        return value;
    }
    void skip(std::uint64_t bytes) {
        take(padded(bytes));
        file_.ignore(static_cast<std::streamsize>(padded(bytes)));
    }
    void take(std::uint64_t bytes) {
        core::require(bytes <= left_, "{} is cut short or damaged: it ends inside its header", display_name(path_));
        left_ -= bytes;
    }

    const std::string& path_;
    std::uint64_t left_;
    std::uint64_t size_;
    std::ifstream file_;
    std::uint64_t version_ = 0;
};

struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 1;  // of one record, for those that have records
    bool has_records = false;
};

Extent read_variable(Header& header, const std::vector<std::uint64_t>& sizes) {
    Extent extent;
    header.skip_name();
    const std::uint64_t dimensions = header.count();
    header.require(dimensions <= NC_MAX_VAR_DIMS, "a variable has too many dimensions");
    for (std::uint64_t d = 0; d < dimensions; ++d) {
        const std::uint64_t id = header.count();
        header.require(id < sizes.size(), "a dimension is unknown");
        const bool is_record = sizes[id] == 0;
        header.require(!is_record || d == 0, "the record dimension is not the first of a variable");
        if (is_record)
            extent.has_records = true;
        else
            extent.bytes = product(extent.bytes, sizes[id]);
    }
    header.skip_attributes();
    extent.bytes = product(extent.bytes, header.type_bytes());
    header.count();  // the size of the variable, which is capped for large ones
    extent.begin = header.offset();
    return extent;
}

// How long the file must be to hold all values.
std::uint64_t needed_size(const std::vector<Extent>& extents, std::uint64_t records) {
    // Values of a record are padded, unless they are all that a record holds.
    const auto with_records =
        std::count_if(extents.begin(), extents.end(), [](const Extent& extent) { return extent.has_records; });
    std::uint64_t record_bytes = 0;
    for (const Extent& extent : extents)
        if (extent.has_records)
            record_bytes = sum(record_bytes, with_records == 1 ? extent.bytes : padded(extent.bytes));
    std::uint64_t end = 0;
    for (const Extent& extent : extents) {
        const std::uint64_t before = extent.has_records && records > 0 ? product(records - 1, record_bytes) : 0;
        if (!extent.has_records || records > 0) end = std::max(end, sum(sum(extent.begin, before), extent.bytes));
    }
    return end;
}

}  // namespace

void check_classic(const std::string& path) {
    Header header(path);
    const std::uint64_t records = header.count();
    const bool is_stream = records == (header.is_wide() ? kTooMany : 0xFFFFFFFFU);
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t left = header.list(Tag::dimension, 12); left > 0; --left) {
        header.skip_name();
        sizes.push_back(header.count());  // 0 for the record dimension
    }
    header.require(std::count(sizes.begin(), sizes.end(), 0U) <= 1, "there are two record dimensions");
    header.skip_attributes();
    std::vector<Extent> extents;
    for (std::uint64_t left = header.list(Tag::variable, 24); left > 0; --left)
        extents.push_back(read_variable(header, sizes));

    // A file that was written to a stream may leave the number open. The library takes the mark for a number, and would
    // read and copy four thousand million records.
    const auto has_records = [](const Extent& extent) { return extent.has_records; };
    core::require(!is_stream || std::none_of(extents.begin(), extents.end(), has_records),
                  "{} does not say how many records it has (it was written to a stream), and the NetCDF library cannot "
                  "count them: write it again as a file",
                  display_name(path));
    const std::uint64_t needed = needed_size(extents, is_stream ? 0 : records);
    core::require(header.size() >= needed, "{} is cut short: it has {} bytes, its header promises {}",
                  display_name(path), header.size(), needed);
}

}  // namespace accrue::data
