// NetCDF files for tests: made by ncgen from CDL or by the C library, shown by ncdump.
#pragma once

#include <gtest/gtest.h>
#include <netcdf.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "accrue/error.hpp"
#include "temporary_folder.hpp"

namespace accrue::test {

// The output of a command, which must succeed.
inline std::string output_of(const std::string& command) {
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    std::string text;
    std::array<char, 4096> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        text.append(buffer.data(), count);
    if (::pclose(pipe) != 0) throw std::runtime_error("failed: " + command + "\n" + text);
    return text;
}

inline void check(int status) {
    if (status != NC_NOERR) throw std::runtime_error(nc_strerror(status));
}

// A Python with xarray and netCDF4; empty when there is none.
inline std::string python_with_xarray() {
    for (const std::string python : {"/usr/bin/python3", "python3"})
        if (std::system((python + " -c 'import xarray, netCDF4' 2>/dev/null").c_str()) == 0) return python;
    return {};
}

class NetcdfTest : public testing::Test {
protected:
    // kind: classic, 64-bit-offset, cdf5, nc4 or "netCDF-4 classic model", as ncgen has them.
    std::string from_cdl(const std::string& name, const std::string& body, const std::string& kind = "classic") {
        const std::string cdl = folder_.file("source.cdl", "netcdf source {\n" + body + "\n}\n");
        output_of("ncgen -k '" + kind + "' -o " + folder_.path(name) + " " + cdl + " 2>&1");
        std::filesystem::remove(cdl);
        return folder_.path(name);
    }
    std::string dump(const std::string& name, const std::string& options = "") {
        return output_of("ncdump " + options + " " + folder_.path(name) + " 2>&1");
    }
    // Runs Python in the folder and gives what it prints.
    std::string python(const std::string& script) {
        folder_.file("script.py", script);
        const std::string text =
            output_of("cd " + folder_.folder() + " && " + python_with_xarray() + " script.py 2>&1");
        std::filesystem::remove(folder_.path("script.py"));
        return text;
    }
    // The message of an InputError, the folder cut off.
    template <typename Action>
    std::string message(Action&& action) {
        try {
            action();
        } catch (const InputError& error) {
            std::string text = error.what();
            EXPECT_EQ(text.find('\n'), std::string::npos) << "a message is one line";
            EXPECT_LT(text.size(), 600U) << "a message is short";
            for (std::size_t at; (at = text.find(folder_.folder() + "/")) != std::string::npos;)
                text.erase(at, folder_.folder().size() + 1);
            return text;
        }
        return "no error";
    }

    TemporaryFolder folder_;
};

}  // namespace accrue::test
