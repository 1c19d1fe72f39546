#include "paper/store.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "accrue/fit.hpp"
#include "accrue/version.hpp"
#include "core/error.hpp"
#include "data/files.hpp"

namespace accrue::paper {

namespace fs = std::filesystem;

namespace {

// What the linker wrote into the program or library that this code is in, other for every build; empty where it wrote
// nothing.
std::string own_build() {
    struct Search {
        ElfW(Addr) own;
        std::string id;
    } search{reinterpret_cast<ElfW(Addr)>(&own_build), {}};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* data) {
            Search& wanted = *static_cast<Search*>(data);
            const std::span headers(object->dlpi_phdr, object->dlpi_phnum);
            const auto address = [&](const ElfW(Phdr) & part) { return object->dlpi_addr + part.p_vaddr; };
            if (std::none_of(headers.begin(), headers.end(), [&](const ElfW(Phdr) & part) {
                    return part.p_type == PT_LOAD && wanted.own >= address(part) &&
                           wanted.own < address(part) + part.p_memsz;
                }))
                return 0;
            for (const ElfW(Phdr) & part : headers) {
                if (part.p_type != PT_NOTE) continue;
                const auto* at = reinterpret_cast<const unsigned char*>(address(part));
                const unsigned char* end = at + part.p_memsz;
                const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
                while (at + sizeof(ElfW(Nhdr)) <= end) {
                    ElfW(Nhdr) note{};
                    std::memcpy(&note, at, sizeof note);
                    const unsigned char* text = at + sizeof note + padded(note.n_namesz);
                    if (note.n_type == NT_GNU_BUILD_ID && text + note.n_descsz <= end)
                        wanted.id = fmt::format("{:02x}", fmt::join(text, text + note.n_descsz, ""));
                    at = text + padded(note.n_descsz);
                }
            }
            return 1;
        },
        &search);
    return search.id;
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
        data::AtomicFile out(path.string());
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
