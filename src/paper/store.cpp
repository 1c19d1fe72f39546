#include "paper/store.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "accrue/files.hpp"
#include "accrue/fit.hpp"
#include "accrue/threads.hpp"
#include "accrue/version.hpp"
#include "core/error.hpp"

namespace accrue::paper {

namespace fs = std::filesystem;

namespace {

// Other for every build: a hash of the program and of the library that it runs with.
std::string own_build() {
    std::ostringstream bytes;
    const auto add = [&](const char* path) { bytes << std::ifstream(path, std::ios::binary).rdbuf(); };
    add("/proc/self/exe");
    Dl_info library{};
    if (dladdr(reinterpret_cast<const void*>(&with_threads), &library) != 0) add(library.dli_fname);
    return fmt::format("{:016x}", std::hash<std::string>{}(bytes.str()));
}

}  // namespace

Store::Store(std::string folder, std::uint64_t seed, ReproduceWatcher watcher)
    : folder_(std::move(folder)),
      origin_{{"accrue", kVersion}, {"build", own_build()}, {"seed", seed}},
      seed_(seed),
      watcher_(std::move(watcher)) {}

Json Store::run(const std::string& item, const std::string& name, double seconds,
                const std::function<Json()>& compute) {
    const fs::path path = fs::path(folder_) / "runs" / item / (name + ".json");
    Json result;
    std::ifstream file(path);
    const Json kept = file ? Json::parse(file, nullptr, false) : Json();
    if (kept.is_object() && kept.value("origin", Json()) == origin_ && kept.contains("result")) {
        result = kept.at("result");
        expected_.seconds -= seconds;
    } else {
        result = compute();
        std::error_code failed;
        fs::create_directories(path.parent_path(), failed);
        core::require(!failed, "cannot make the folder {}: {}", path.parent_path().string(), failed.message());
        AtomicFile out(path.string());
        out.write(Json{{"origin", origin_}, {"result", result}}.dump());
        out.commit();
        done_.seconds += seconds;
    }
    ++done_.count;
    const double share = expected_.seconds > 0 ? std::min(done_.seconds / expected_.seconds, 1.0) : 1;
    if (watcher_ && !watcher_({item, done_.count, expected_.count, share})) throw Interrupted();
    return result;
}

}  // namespace accrue::paper
