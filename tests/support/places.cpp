#include "support/places.hpp"

namespace accrue::support {

std::string in_source(const std::string& path) {
    return ACCRUE_SOURCE_DIR "/" + path;
}

std::string binary() {
    return ACCRUE_BINARY;
}

}  // namespace accrue::support
