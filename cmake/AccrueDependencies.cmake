# Everything here comes from Debian packages by name; scripts/bootstrap installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED)
find_package(TBB REQUIRED)
find_package(hwy REQUIRED)
# Debian's xsimd target asks for a library that the headers do not need: take the headers.
find_path(XSIMD_INCLUDE xsimd/xsimd.hpp REQUIRED)
find_package(FastFloat REQUIRED)
