#include "paper/store.hpp"

#include <filesystem>
#include <fstream>

#include "accrue/fit.hpp"
#include "accrue/version.hpp"
#include "core/error.hpp"
#include "data/files.hpp"

namespace accrue::paper {

namespace fs = std::filesystem;

Store::Store(std::string folder, std::uint64_t seed, ReproduceWatcher watcher)
    : folder_(std::move(folder)), seed_(seed), watcher_(std::move(watcher)) {}

Json Store::run(const std::string& item, const std::string& name, const std::function<Json()>& compute) {
    const fs::path path = fs::path(folder_) / "runs" / item / (name + ".json");
    Json result;
    std::ifstream file(path);
    const Json kept = file ? Json::parse(file, nullptr, false) : Json();
    if (kept.is_object() && kept.value("accrue", "") == kVersion && kept.value("seed", Json()) == Json(seed_)) {
        result = kept.at("result");
    } else {
        result = compute();
        std::error_code failed;
        fs::create_directories(path.parent_path(), failed);
        core::require(!failed, "cannot make the folder {}: {}", path.parent_path().string(), failed.message());
        data::AtomicFile out(path.string());
        out.write(Json{{"accrue", kVersion}, {"seed", seed_}, {"result", result}}.dump());
        out.commit();
    }
    ++done_;
    if (watcher_ && !watcher_(item, done_, expected_)) throw Interrupted();
    return result;
}

}  // namespace accrue::paper
