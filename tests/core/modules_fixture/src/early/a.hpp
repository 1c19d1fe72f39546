#include "late/b.hpp"
