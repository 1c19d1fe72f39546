// The entry without libFuzzer: runs every file in the folders that are named, in the order of their names, and each
// again in as many versions as asked for, changed at random but always in the same way.
//
//   replay_NAME [--mutations N] [--seed N] FOLDER|FILE...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/target.hpp"

// Of targets whose inputs have a structure.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                                     std::size_t most, unsigned seed);

// What that falls back to; bytes change below.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* /*data*/, std::size_t size, std::size_t /*most*/) {
    return size;
}

namespace {

using Input = std::vector<std::uint8_t>;

Input read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return Input(std::istreambuf_iterator<char>(file), {});
}

// One of the small changes that find most: a bit, a byte, a piece less, a piece twice, a piece of another input.
void mutate(Input& input, const std::vector<Input>& others, std::mt19937_64& random) {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const auto at = [&](std::size_t i) { return input.begin() + static_cast<std::ptrdiff_t>(i); };
    if (LLVMFuzzerCustomMutator != nullptr && below(8) != 0) {
        const std::size_t size = input.size();
        input.resize(size + 4096);
        input.resize(
            LLVMFuzzerCustomMutator(input.data(), size, input.size(), static_cast<unsigned>(random() & 0xFFFFFFFF)));
        return;
    }
    if (input.empty()) input.push_back(0);
    const std::size_t place = below(input.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(input.size() - place, 8));
    switch (below(7)) {
        case 0:
            input[place] ^= static_cast<std::uint8_t>(1U << below(8));
            break;
        case 1:
            input[place] = static_cast<std::uint8_t>(random());
            break;
        case 2:
            input.erase(at(place), at(place + length));
            break;
        case 3: {
            const Input piece(at(place), at(place + length));
            input.insert(at(below(input.size())), piece.begin(), piece.end());
            break;
        }
        case 4: {
            const Input& other = others[below(others.size())];
            if (other.empty()) break;
            const std::size_t from = below(other.size());
            const std::size_t to = std::min(other.size(), from + 1 + below(16));
            input.insert(at(place), other.begin() + static_cast<std::ptrdiff_t>(from),
                         other.begin() + static_cast<std::ptrdiff_t>(to));
            break;
        }
        case 5: {
            constexpr char kTelling[] = "\0\xFF\x80\x7F\n\r\",; \t.-+eE019";
            input[place] = static_cast<std::uint8_t>(kTelling[below(sizeof kTelling - 1)]);
            break;
        }
        default:
            input[place] = static_cast<std::uint8_t>(input[place] + (below(2) == 0 ? 1 : -1));
            break;
    }
}

}  // namespace

int main(int argc, char** argv) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    std::size_t mutations = 0;
    std::size_t seed = 1;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--mutations" && i + 1 < argc) mutations = std::strtoull(argv[++i], nullptr, 10);
        if (argument == "--seed" && i + 1 < argc) seed = std::strtoull(argv[++i], nullptr, 10);
        if (fs::is_regular_file(argument)) files.emplace_back(argument);
        if (!fs::is_directory(argument)) continue;
        for (const auto& entry : fs::directory_iterator(argument)) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<Input> inputs;
    for (const fs::path& path : files) inputs.push_back(read(path));

    // The input at work is in a file, for when the program ends there.
    const char* last = std::getenv("ACCRUE_FUZZ_LAST");
    std::size_t executions = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::fprintf(stderr, "%s\n", files[i].c_str());
        std::mt19937_64 random(seed * 1'000'003 + i);
        for (std::size_t version = 0; version <= mutations; ++version) {
            Input input = inputs[i];
            for (std::size_t left = version == 0 ? 0 : 1 + random() % 4; left > 0; --left)
                mutate(input, inputs, random);
            if (last != nullptr)
                std::ofstream(last, std::ios::binary)
                    .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
            accrue::fuzz::run(input);
            ++executions;
        }
    }
    std::printf("%zu inputs\n", executions);
    return executions == 0 ? 1 : 0;  // a test that runs nothing would pass for ever
}
