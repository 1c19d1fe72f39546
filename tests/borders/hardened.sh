#!/usr/bin/env bash
# hardened.sh FILE...: a release's libraries and commands are linked and compiled as cmake/AccrueFlags.cmake says.
set -euo pipefail
failed=0
for file in "$@"; do
  need() {  # what, pattern, options of readelf
    # Whole before it is searched: grep would end readelf early, which is a failure here.
    local output
    output=$(readelf --wide "${@:3}" "$file")
    if ! grep --extended-regexp --quiet "$2" <<<"$output"; then
      echo "$file: $1" >&2
      failed=1
    fi
  }
  need "addresses of functions are not settled at the start" 'BIND_NOW|FLAGS_1.*NOW' --dynamic
  need "they are not read-only afterwards" 'GNU_RELRO' --program-headers
  need "no stack protector" '__stack_chk_fail' --dyn-syms
  need "no checked call (_FORTIFY_SOURCE)" '__[a-z]+_chk@' --dyn-syms
done
exit $failed
