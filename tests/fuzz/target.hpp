// What all fuzz targets share: the function that each defines, and tools to take an input apart and to judge results.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace accrue::fuzz {

// One execution, defined by each target. A violated expectation ends the program, and so does any exception that
// escapes: targets catch what the interface documents (InputError) and nothing else.
void run(std::span<const std::uint8_t> input);

[[noreturn]] void fail(const std::string& message);

template <typename... Args>
void expect(bool holds, fmt::format_string<Args...> message, Args&&... args) {
    if (!holds) fail(fmt::format(message, std::forward<Args>(args)...));
}

// Equal to the last bit, except that every NaN equals every other.
inline bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

// An input taken from its front; beyond its end there are zeros.
class Bytes {
public:
    explicit Bytes(std::span<const std::uint8_t> input) : left_(input) {}

    bool empty() const { return left_.empty(); }
    std::size_t size() const { return left_.size(); }
    std::uint8_t byte() {
        if (left_.empty()) return 0;
        const std::uint8_t first = left_.front();
        left_ = left_.subspan(1);
        return first;
    }
    bool flag() { return byte() % 2 == 1; }
    std::size_t below(std::size_t n) { return byte() % n; }
    double number() {
        std::uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits = bits << 8U | byte();
        return std::bit_cast<double>(bits);
    }
    std::string_view rest() const { return {reinterpret_cast<const char*>(left_.data()), left_.size()}; }

private:
    std::span<const std::uint8_t> left_;
};

// A text under a name that never changes, so that messages about it can be compared: as a regular file in memory, or
// as a pipe, which is read once. One at a time.
class InputPath {
public:
    enum class Kind { regular, pipe };
    // A pipe holds kLongest bytes at least.
    static constexpr std::size_t kLongest = 65536;
    InputPath(std::string_view text, Kind kind);
    ~InputPath();
    InputPath(const InputPath&) = delete;
    InputPath& operator=(const InputPath&) = delete;
    const std::string& path() const;
};

// A regular file in memory that is written to directly, by its path.
class OutputPath {
public:
    OutputPath();
    ~OutputPath();
    OutputPath(const OutputPath&) = delete;
    OutputPath& operator=(const OutputPath&) = delete;
    const std::string& path() const;
    std::string content() const;
};

// A folder in memory for this process, gone at its end.
const std::string& scratch_folder();
// Removes what is in it, and says how many files that were.
std::size_t clear_scratch_folder();

}  // namespace accrue::fuzz
