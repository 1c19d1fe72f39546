#include "data/csv_driver.hpp"

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "data/bytes.hpp"

namespace accrue::data {

CsvDriver::CsvDriver(const std::vector<std::string>& files, const ReadOptions& options)
    : files_(files), options_(options), stream_(open(files.front())), header_lines_(files.size(), 0) {
    header_lines_[0] = stream_->header_lines();
}

std::unique_ptr<CsvStream> CsvDriver::open(const std::string& file) const {
    return std::make_unique<CsvStream>(file, options_, &stopped_);
}

void CsvDriver::run(const CsvParser& parser, std::size_t block_bytes) {
    parse_with_ = &parser;
    block_bytes_ = block_bytes;
    const auto threads = static_cast<std::size_t>(core::thread_count());
    const std::size_t most = threads + threads / 2 + 2;
    std::vector<CsvBlock> blocks(most);
    std::size_t rows = 0;  // before a block; known when the blocks before it are parsed
    const auto number = [&](std::size_t place) {
        CsvBlock& block = blocks[place];
        block.first_row = rows;
        rows += block.rows.seen;
    };
    const auto finish_at = [&](std::size_t place) {
        try {
            finish(blocks[place]);
        } catch (...) {
            stopped_ = true;  // or the reader would wait for a pipe in which nothing comes any more
            throw;
        }
    };
    core::pass_through(most, [&](std::size_t place) { return read(blocks[place]); },
                       {{.in_order = false, .work = [&](std::size_t place) { parse(blocks[place]); }},
                        {.in_order = true, .work = number},
                        {.in_order = false, .work = [&](std::size_t place) { work_on(blocks[place]); }},
                        {.in_order = true, .work = finish_at}});
    go_on_to(files_.size());
}

// False when all files are read.
bool CsvDriver::read(CsvBlock& block) {
    block.rows.finding = {};
    block.error = nullptr;
    block.text.clear();
    try {
        return read_next(block);
    } catch (...) {
        // An earlier block may hold an earlier bad place.
        block.file = file_;
        block.error = std::current_exception();
        file_ = files_.size();
        return true;
    }
}

bool CsvDriver::read_next(CsvBlock& block) {
    while (file_ < files_.size() && !stopped_) {
        if (stream_ == nullptr) {
            stream_ = open(files_[file_]);
            check_further(*stream_);
            header_lines_[file_] = stream_->header_lines();
        }
        block.file = file_;
        if (stream_->next(block.text, block_bytes_)) return true;
        stream_.reset();
        ++file_;
    }
    return false;
}

void CsvDriver::parse(CsvBlock& block) const {
    if (block.error != nullptr) return;
    try {
        parse_with_->parse({block.text.data(), block.text.size()}, block.rows);
    } catch (...) {
        block.error = std::current_exception();
    }
}

void CsvDriver::work_on(CsvBlock& block) const {
    if (block.error != nullptr || block.rows.finding.trouble != Trouble::none || block.rows.kept == 0) return;
    try {
        work(block);
    } catch (...) {
        block.error = std::current_exception();
    }
}

void CsvDriver::finish(CsvBlock& block) {
    go_on_to(block.file);
    if (block.error != nullptr) std::rethrow_exception(block.error);
    check(block);
    block.rows_before = progress_.rows;
    block.lines_before = header_lines_[block.file] + progress_.newlines;
    if (const Finding& finding = block.rows.finding; finding.trouble != Trouble::none) {
        const auto before = static_cast<std::size_t>(finding.row - block.text.data());
        const std::size_t lines = block.lines_before + count_newlines({block.text.data(), before});
        refuse_row(files_[block.file], block.rows_before + finding.row_in_piece, lines + 1, finding,
                   parse_with_->layout(), options_.header);
    }
    progress_.rows += block.rows.seen;
    progress_.newlines += block.rows.newlines;
    use(block);
}

// The blocks of all files before this one are through.
void CsvDriver::go_on_to(std::size_t file) {
    for (; progress_.file < file; progress_ = {progress_.file + 1, 0, 0})
        core::require(progress_.rows > 0, "{} has a header but no rows", display_name(files_[progress_.file]));
}

}  // namespace accrue::data
