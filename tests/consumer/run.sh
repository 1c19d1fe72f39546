#!/usr/bin/env bash
# run.sh BUILD SCRATCH: installs BUILD into SCRATCH, moves the result, and builds and runs a separate project against it.
set -euo pipefail
build=$(realpath "$1")
scratch=$(realpath -m "$2")
cmake=${CMAKE:-cmake}
here=$(cd "$(dirname "$0")" && pwd)

"$cmake" -E rm -rf "$scratch"
"$cmake" --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix"  # an install must not remember where it was made

"$cmake" -S "$here/project" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_BUILD_TYPE=Release
"$cmake" --build "$scratch/build"
"$scratch/build/consumer"

printed=$("$scratch/prefix/bin/accrue" --version)
echo "installed command: $printed"
version=$(sed -n 's/.*kVersion = "\(.*\)".*/\1/p' "$scratch/prefix/include/accrue/version.hpp")
[[ $printed == *"$version"* ]]
