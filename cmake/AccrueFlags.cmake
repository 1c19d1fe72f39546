# Flags for every target of the project. No fast-math: infinities, NaNs and the order of
# sums mean what they say. errno and floating-point traps are not used, and saying so lets the
# compiler vectorise.
add_library(accrue_flags INTERFACE)
target_compile_options(accrue_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion
  -fno-math-errno -fno-trapping-math -fopenmp-simd)
# Releases are hardened: the addresses of other libraries' functions are settled at the start and then read-only, overrun buffers
# on the stack and in known calls end the program (tests/borders/hardened.sh). On x86-64 the code is also ready for processors that check
# jumps and returns (CET), but nothing checks them: Debian's start files and Ceres are not, so that the linker marks neither library nor
# command, and a mark that were forced on them would not be true.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND ACCRUE_HARDEN)
  target_compile_options(accrue_flags INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(accrue_flags INTERFACE -Wl,-z,relro,-z,now)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(accrue_flags INTERFACE -fcf-protection=full)
  endif()
endif()
# Clang says when it could not vectorise a loop, which at -O1 or under a sanitizer is no news.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(accrue_flags INTERFACE -Wno-pass-failed)
endif()
if(ACCRUE_WERROR)
  target_compile_options(accrue_flags INTERFACE -Werror)
endif()
if(ACCRUE_SANITIZE)
  target_compile_options(accrue_flags INTERFACE
    -fsanitize=${ACCRUE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(accrue_flags INTERFACE -fsanitize=${ACCRUE_SANITIZE})
  if(ACCRUE_SANITIZE MATCHES "thread")
    target_compile_definitions(accrue_flags INTERFACE ACCRUE_SANITIZE_THREAD)
  endif()
endif()
