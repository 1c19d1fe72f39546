// A delimited text of any length, a stretch of whole rows in memory at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/table.hpp"
#include "data/csv_chunks.hpp"
#include "data/csv_layout.hpp"
#include "data/csv_stream.hpp"
#include "data/input_file.hpp"

namespace accrue::data {

// A regular file is mapped into memory, window after window; what cannot be mapped (a pipe, a device, "-" for standard
// input) is read. The file must not shrink meanwhile: the system ends programs that touch what is gone.
// Throws InputError when the file is missing, a directory or unreadable, when its beginning is no table, or for a row
// that memory has no room for; MachineError when the machine is out of memory or file handles.
class CsvWindows {
public:
    CsvWindows(const std::string& file, const ReadOptions& options);
    ~CsvWindows();
    CsvWindows(const CsvWindows&) = delete;
    CsvWindows& operator=(const CsvWindows&) = delete;

    const CsvLayout& layout() const { return layout_; }         // without a body: that comes in windows
    std::size_t header_lines() const { return header_lines_; }  // newlines before the first row

    // The next rows, about options.slab_bytes of them, cut into chunks; none at the end of the file. They are valid
    // until the next call.
    std::vector<Chunk> next();

private:
    std::string_view map(std::size_t from, std::size_t bytes);
    void unmap();
    std::vector<Chunk> next_mapped();

    std::string file_;
    std::size_t window_;
    CsvLayout layout_;
    std::size_t header_lines_ = 0;

    std::unique_ptr<InputFile> input_;  // while it is mapped; else the stream has it
    void* mapped_ = nullptr;            // the window ...
    std::size_t mapped_bytes_ = 0;
    std::size_t at_ = 0;  // ... and where in the file the rows after it begin

    std::atomic<bool> stopped_ = false;
    std::unique_ptr<CsvStream> stream_;  // where the file cannot be mapped
    std::vector<char> block_;
};

}  // namespace accrue::data
