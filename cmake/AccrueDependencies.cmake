# Everything here comes from Debian packages by name; scripts/bootstrap installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED)
find_package(TBB REQUIRED)
find_package(hwy REQUIRED)
find_package(FastFloat REQUIRED)
