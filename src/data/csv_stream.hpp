// A delimited text in blocks of whole rows, for files that are longer than the memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/table.hpp"
#include "data/csv_layout.hpp"
#include "data/input_file.hpp"

namespace accrue::data {

class CsvStream {
public:
    // Reads the beginning: the layout is known from then on. `stopped` ends a wait for the next bytes of a pipe. Throws
    // InputError when the file is missing, a directory or unreadable, or when its beginning is no table; MachineError
    // when the machine is out of memory or file handles.
    CsvStream(const std::string& file, const ReadOptions& options, const std::atomic<bool>* stopped = nullptr);

    const std::string& file() const { return file_; }
    const CsvLayout& layout() const { return layout_; }  // without a body: that comes in blocks
    // The text before the first row, to the letter, in parts; all but the mark are empty without a header.
    std::string_view byte_order_mark() const { return mark_; }
    std::string_view header_row() const { return header_row_; }
    std::size_t header_lines() const { return header_lines_; }  // newlines before the first row
    std::string_view line_end() const { return line_end_; }     // of the first line
    bool is_same_file(int descriptor) const { return input_->is_same_file(descriptor); }
    bool is_regular() const { return input_->is_regular(); }

    // The next rows, about `size` bytes of them; false when there are none. Where the bytes come slowly, the rows that
    // are there are handed over. The last row of the file may lack its line end, or the end of a quoted field. Throws
    // InputError when the file has become shorter since it was opened, or a row is longer than any.
    bool next(std::vector<char>& block, std::size_t size);

private:
    void read_beginning(const ReadOptions& options);
    bool append(std::vector<char>& text, std::size_t size);
    void fill(std::vector<char>& block, std::size_t size);
    bool stopped() const { return stopped_ != nullptr && *stopped_; }

    std::string file_;
    const std::atomic<bool>* stopped_;
    std::unique_ptr<InputFile> input_;
    CsvLayout layout_;
    std::string mark_;
    std::string header_row_;
    std::size_t header_lines_ = 0;
    std::string line_end_ = "\n";
    std::vector<char> ahead_;     // read, but not yet handed over ...
    std::size_t ahead_from_ = 0;  // ... from here on
    bool at_end_ = false;
};

}  // namespace accrue::data
