// The whole text of a file.
#pragma once

#include <string>
#include <string_view>

namespace accrue::data {

// A regular file is mapped into memory; a pipe, a device or "-" (standard input) is read to its end. The file must not
// shrink while it is mapped: the system ends programs that touch what is gone.
// Throws InputError when the file is missing, a directory or unreadable, MachineError when the machine is out of memory
// or file handles.
class FileText {
public:
    explicit FileText(const std::string& path);
    ~FileText();
    FileText(const FileText&) = delete;
    FileText& operator=(const FileText&) = delete;

    std::string_view view() const { return mapped_.empty() ? std::string_view(read_) : mapped_; }

private:
    std::string_view mapped_;  // empty when the text was read
    std::string read_;
};

}  // namespace accrue::data
