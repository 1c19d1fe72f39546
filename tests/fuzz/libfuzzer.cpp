// The entry that libFuzzer calls.
#include <cstdint>

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    accrue::fuzz::run({data, size});
    return 0;
}
