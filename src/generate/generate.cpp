#include "accrue/generate.hpp"

#include <fmt/format.h>

#include <array>
#include <new>
#include <optional>
#include <stdexcept>

#include "core/error.hpp"
#include "generate/generators.hpp"

namespace accrue {

namespace {

struct Generator {
    const char* name;
    GeneratedData (*make)(std::size_t rows, std::uint64_t seed);
    GeneratedData (*make_changing)(std::size_t rows, std::uint64_t seed, double change_at) = nullptr;
};

constexpr std::array kGenerators = {
    Generator{"G", generators::g},
    Generator{"Y", generators::y},
    Generator{"W", generators::w},
    Generator{"5D", generators::five_d},
    Generator{"lorenz", generators::lorenz, generators::changing_lorenz},
};

}  // namespace

std::vector<std::string> generator_names() {
    std::vector<std::string> names;
    for (const Generator& generator : kGenerators) names.emplace_back(generator.name);
    return names;
}

GeneratedData generate(const std::string& name, std::size_t rows, std::uint64_t seed, std::optional<double> change_at) {
    for (const Generator& generator : kGenerators) {
        if (name != generator.name) continue;
        core::require(rows > 0, "generate {}: 0 rows asked for, but it must be at least 1", name);
        if (change_at) {
            core::require(generator.make_changing != nullptr, "generate {}: nothing in it can change, so {} has no use",
                          name, core::option("change-at"));
            core::require(*change_at >= 0 && *change_at <= 1, "{}: {} is not between 0 and 1",
                          core::option("change-at"), *change_at);
        }
        try {
            return change_at ? generator.make_changing(rows, seed, *change_at) : generator.make(rows, seed);
        } catch (const std::bad_alloc&) {
            throw MachineError(fmt::format("generate {}: no memory for {} rows", name, rows));
        } catch (const std::length_error&) {  // more than a vector can ever hold
            throw MachineError(fmt::format("generate {}: no memory for {} rows", name, rows));
        }
    }
    std::string known;
    for (const Generator& generator : kGenerators) {
        if (!known.empty()) known += ", ";
        known += generator.name;
    }
    core::refuse("there is no data set '{}'; the names are {}", name, known);
}

}  // namespace accrue
