#include "data/csv_windows.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "data/messages.hpp"

namespace accrue::data {

CsvWindows::CsvWindows(const std::string& file, const ReadOptions& options)
    : file_(file), window_(std::max<std::size_t>(options.slab_bytes, 1)), input_(std::make_unique<InputFile>(file)) {
    // Standard input may stand in the middle of its file. Files of /proc are regular, not empty, and say size 0. Some
    // file systems cannot map; reading works everywhere.
    const bool mappable = file != "-" && input_->is_regular() && input_->size() > 0;
    const std::string_view head = mappable ? map(0, kLongestHeader + 1) : std::string_view();
    if (head.empty()) {
        stream_ = std::make_unique<CsvStream>(file, std::move(input_), options, stopped_);
        layout_ = stream_->layout();
        header_lines_ = stream_->header_lines();
        return;
    }
    layout_ = find_layout(head, file, options);
    at_ = static_cast<std::size_t>(layout_.body.data() - head.data());
    header_lines_ = count_newlines(head.substr(0, at_));
    layout_.body = {};
}

CsvWindows::~CsvWindows() {
    unmap();
}

// The text from `from` on, at most so many bytes; empty when it cannot be mapped.
std::string_view CsvWindows::map(std::size_t from, std::size_t bytes) {
    unmap();
    static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t begin = from / page * page;
    const std::size_t end = from + std::min(bytes, input_->size() - from);
    void* place = ::mmap(nullptr, end - begin, PROT_READ, MAP_PRIVATE, input_->descriptor(), static_cast<off_t>(begin));
    if (place == MAP_FAILED) return {};
    mapped_ = place;
    mapped_bytes_ = end - begin;
    return {static_cast<const char*>(place) + (from - begin), end - from};
}

void CsvWindows::unmap() {
    if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
    mapped_ = nullptr;
}

std::vector<Chunk> CsvWindows::next() {
    if (stream_ == nullptr) return next_mapped();
    if (!stream_->next(block_, window_)) return {};
    return cut_chunks({block_.data(), block_.size()}, layout_.dialect);
}

std::vector<Chunk> CsvWindows::next_mapped() {
    for (std::size_t bytes = window_; at_ < input_->size(); bytes *= 2) {
        const std::string_view text = map(at_, bytes);
        if (text.empty() && bytes > window_)
            core::refuse("{} has a row longer than {} MiB, more than memory can hold; is a quote never closed?",
                         display_name(file_), bytes / 2 >> 20U);
        if (text.empty()) throw MachineError("not enough memory to read " + display_name(file_));
        const bool goes_on = at_ + text.size() < input_->size();
        std::vector<Chunk> chunks = cut_chunks(text, layout_.dialect, kChunkBytes, goes_on);
        if (chunks.empty()) continue;  // the row goes on
        const std::string_view last = chunks.back().text;
        at_ += static_cast<std::size_t>(last.data() + last.size() - text.data());
        return chunks;
    }
    return {};
}

}  // namespace accrue::data
