// Files that are compressed, unpacked while they are read.
#pragma once

#include <memory>
#include <string>

#include "data/input_file.hpp"

namespace accrue::data {

// Whether the name is that of a compressed file: it ends in .gz or .zst.
bool is_compressed(const std::string& path);

// The file as it is, or the text in it where its name says that it is compressed. That is a stream: memory does not
// grow with it, whatever it unpacks to. Reading throws InputError where it is damaged or ends too early.
std::unique_ptr<InputFile> open_unpacked(const std::string& path);

}  // namespace accrue::data
