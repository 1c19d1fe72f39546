// Rows of delimited text on their way from files to whoever needs them: into a table, or with columns added into a
// file.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/table.hpp"
#include "core/buffer.hpp"
#include "data/csv_parser.hpp"
#include "data/csv_stream.hpp"

namespace accrue::data {

// Text, numbers and result of a block this long stay in a core's cache, and it has thousands of rows.
constexpr std::size_t kCsvBlockBytes = std::size_t{1} << 18;

// A piece of a file. The memory is used again and again.
struct CsvBlock {
    std::size_t file = 0;          // among the files
    std::size_t first_row = 0;     // of all files together
    std::size_t rows_before = 0;   // in the file
    std::size_t lines_before = 0;  // there
    std::vector<char> text;
    ParsedRows rows;
    // For columns that are added: values of labels, results, and all of it as text.
    std::vector<core::Buffer<double>> label_values;
    std::vector<core::Buffer<double>> results;
    std::vector<char> output;
    std::size_t written = 0;  // bytes of output
    std::exception_ptr error;
};

// Text is read in one place, parsed in many, its rows are numbered in one place, in the order in which it was read; it
// is worked on in many, and used in one place again, in that order; what stops a block travels with it, so that the
// first bad place of the files is the one that is reported. Memory does not grow with the files, and no result depends
// on the number of threads.
class CsvDriver {
public:
    // Opens the first file. All files are read by the parser of that one.
    CsvDriver(const std::vector<std::string>& files, const ReadOptions& options);
    virtual ~CsvDriver() = default;
    CsvDriver(const CsvDriver&) = delete;
    CsvDriver& operator=(const CsvDriver&) = delete;

protected:
    std::unique_ptr<CsvStream> open(const std::string& file) const;
    const CsvStream& first() const { return *stream_; }  // until run()
    // Blocks of about so many bytes. Throws InputError for the first bad place of the files, and what the functions
    // below throw.
    void run(const CsvParser& parser, std::size_t block_bytes);

    virtual void check_further(const CsvStream&) const {}  // a file after the first, before its first row
    virtual void work(CsvBlock&) const {}                  // side by side, on blocks without a finding
    virtual void check(CsvBlock&) {}                       // in order, on all blocks: may be given a finding
    virtual void use(CsvBlock& block) = 0;                 // in order, on blocks without one

    const std::vector<std::string>& files() const { return files_; }
    const ReadOptions& options() const { return options_; }

private:
    // Of a file: rows, dropped ones included, and newlines, without the header's.
    struct Progress {
        std::size_t file = 0;
        std::size_t rows = 0;
        std::size_t newlines = 0;
    };

    bool read(CsvBlock& block);
    bool read_next(CsvBlock& block);
    void parse(CsvBlock& block) const;
    void work_on(CsvBlock& block) const;
    void finish(CsvBlock& block);
    void go_on_to(std::size_t file);

    std::atomic<bool> stopped_ = false;
    const std::vector<std::string>& files_;
    const ReadOptions& options_;
    std::unique_ptr<CsvStream> stream_;  // of file_
    std::size_t file_ = 0;
    std::vector<std::size_t> header_lines_;  // of each file
    const CsvParser* parse_with_ = nullptr;
    std::size_t block_bytes_ = 0;
    Progress progress_;
};

}  // namespace accrue::data
