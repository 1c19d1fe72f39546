# Flags for every target of the project. No fast-math: infinities, NaNs and the order of
# sums mean what they say. errno and floating-point traps are not used, and saying so lets the
# compiler vectorise.
add_library(accrue_flags INTERFACE)
target_compile_options(accrue_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion
  -fno-math-errno -fno-trapping-math -fopenmp-simd)
if(ACCRUE_WERROR)
  target_compile_options(accrue_flags INTERFACE -Werror)
endif()
if(ACCRUE_SANITIZE)
  target_compile_options(accrue_flags INTERFACE
    -fsanitize=${ACCRUE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(accrue_flags INTERFACE -fsanitize=${ACCRUE_SANITIZE})
endif()
