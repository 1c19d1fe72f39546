#include "early/a.hpp"
