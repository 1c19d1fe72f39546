#include "accrue/late.hpp"
