// How many threads accrue may use.
#pragma once

#include <functional>

namespace accrue {

// Runs `work` with at most `threads` threads (0: as many as the machine has). Everything that accrue does
// inside `work` shares those threads; outside of any call it uses all of them. Results do not depend on it.
void with_threads(int threads, const std::function<void()>& work);

}  // namespace accrue
