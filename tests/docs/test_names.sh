#!/usr/bin/env bash
# test_names.sh ROOT: names of tests in C++ are sentences in CamelCase (CONTRIBUTING.md), in every folder.
set -euo pipefail
cd "$1"
if grep -rnE --include='*.cpp' --include='*.hpp' '^(TYPED_)?TEST(_F|_P)?\( *\w+, *([a-z]|\w*_)' tests; then
  echo "write such names as in EqualWeightsGiveTheUnweightedScore" >&2
  exit 1
fi
