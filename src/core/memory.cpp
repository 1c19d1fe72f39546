#include "core/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace accrue::core {

namespace {

using Bytes = std::size_t;
constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max();

// The number behind a name at the start of a line ("anon 1234", "MemAvailable:  1234 kB").
std::optional<Bytes> named_number(const std::string& file, const std::string& name) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string first;
        Bytes number = 0;
        if (words >> first >> number && first == name) return number;
    }
    return std::nullopt;
}

// The only word of a file, where it is a number; "max" is none.
std::optional<Bytes> number_in(const std::string& file) {
    std::ifstream words(file);
    Bytes number = 0;
    if (words >> number) return number;
    return std::nullopt;
}

Bytes left(Bytes limit, Bytes used) {
    return limit > used ? limit - used : 0;
}

// What the group and those around it leave. Inside a container the path may be the host's, of which only the top is to
// be seen: folders that are not there say nothing.
Bytes left_by_groups(const std::filesystem::path& top, const std::string& path,
                     std::initializer_list<const char*> limits, const char* used_name) {
    Bytes least = kNoLimit;
    for (std::filesystem::path group = std::filesystem::path(path).relative_path();; group = group.parent_path()) {
        const std::filesystem::path folder = top / group;
        for (const char* name : limits)
            if (const auto limit = number_in(folder / name))
                least = std::min(least, left(*limit, named_number(folder / "memory.stat", used_name).value_or(0)));
        if (group.empty()) return least;
    }
}

Bytes left_by_all_groups(const std::string& root) {
    const std::string top = root + "/sys/fs/cgroup";
    Bytes least = kNoLimit;
    std::ifstream lines(root + "/proc/self/cgroup");
    for (std::string line; std::getline(lines, line);) {
        // number:controllers:path, with no controllers for version 2.
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
        const std::string path = line.substr(second + 1);
        if (controllers == ",,")
            least = std::min(least, left_by_groups(top, path, {"memory.max", "memory.high"}, "anon"));
        else if (controllers.find(",memory,") != std::string::npos)
            least = std::min(least, left_by_groups(top + "/memory", path, {"memory.limit_in_bytes"}, "total_rss"));
    }
    return least;
}

Bytes left_by_limits(const std::string& root) {
    const auto page = static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
    std::ifstream words(root + "/proc/self/statm");
    Bytes size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
    words >> size >> resident >> shared >> text >> library >> data;
    const auto limited = [&](auto resource, Bytes pages) {
        rlimit limit{};
        if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
        return left(limit.rlim_cur, pages * page);
    };
    return std::min(limited(RLIMIT_AS, size), limited(RLIMIT_DATA, data));
}

}  // namespace

std::size_t available_memory(const std::string& root) {
    const auto kilobytes = named_number(root + "/proc/meminfo", "MemAvailable:");
    const Bytes machine = kilobytes ? *kilobytes * 1024 : kNoLimit;
    return std::min({machine, left_by_all_groups(root), left_by_limits(root)});
}

}  // namespace accrue::core
