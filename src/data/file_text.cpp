#include "data/file_text.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "data/input_file.hpp"

namespace accrue::data {

namespace {

std::string read_all(InputFile& file) {
    constexpr std::size_t kStep = std::size_t{1} << 20;
    std::string text;
    std::size_t used = 0;
    for (;;) {
        if (text.size() - used < kStep) text.resize(std::max(2 * text.size(), kStep));
        const std::size_t got = file.read(text.data() + used, text.size() - used);
        if (got == 0) break;
        used += got;
    }
    text.resize(used);
    return text;
}

}  // namespace

FileText::FileText(const std::string& path) {
    InputFile file(path);
    // Standard input may stand in the middle of its file. Files of /proc are regular, not empty, and say size 0.
    if (path != "-" && file.is_regular() && file.size() > 0) {
        void* place = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
        if (place != MAP_FAILED) {
            mapped_ = {static_cast<const char*>(place), file.size()};
            return;
        }
        // Some file systems cannot map; reading works everywhere.
    }
    read_ = read_all(file);
}

FileText::~FileText() {
    if (!mapped_.empty()) ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
}

}  // namespace accrue::data
