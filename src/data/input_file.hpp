// A file or standard input, open for reading.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace accrue::data {

// Throws InputError when the file is missing, a directory or unreadable, MachineError when the machine is out of memory
// or file handles.
class InputFile {
public:
    // "-" is standard input, which is not closed afterwards.
    explicit InputFile(const std::string& path);
    virtual ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    int descriptor() const { return descriptor_; }
    // Whether its bytes can be read at any place.
    virtual bool is_regular() const { return regular_; }
    // Of a regular file; files of /proc say 0 and are not empty.
    std::size_t size() const { return size_; }
    // Whether both are the same file on disk.
    bool is_same_file(int other_descriptor) const;

    // Reads at most `most` bytes, fewer where no more have arrived yet; 0 at the end, which for a regular file is where
    // it was when it was opened. Throws InputError when it has become shorter since.
    virtual std::size_t read(char* place, std::size_t most);
    // Reads exactly the `bytes` at `from` of a regular file; may be called by several threads at once. Throws
    // InputError when the file ends before them: it has become shorter since it was opened.
    void read_at(char* place, std::size_t bytes, std::size_t from) const;
    // Waits until read() would return at once; false when that takes longer.
    bool wait(std::chrono::milliseconds longest) const;

protected:
    const std::string& path() const { return path_; }

private:
    [[noreturn]] void refuse_shorter() const;

    std::string path_;
    int descriptor_ = -1;
    bool regular_ = false;
    std::size_t size_ = 0;
    std::size_t position_ = 0;  // of read(), in a regular file
};

}  // namespace accrue::data
