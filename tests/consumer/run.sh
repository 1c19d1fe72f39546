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

# The licences of what is inside travel along.
for carried in ceres eigen boost fast-float nlohmann cli11 hwy fmt tbb google-glog; do
  grep -q "^======== lib$carried\|^======== $carried" "$scratch/prefix/share/doc/accrue/THIRD_PARTY.txt"
done
[[ -e $scratch/prefix/share/doc/accrue/LICENSE ]]
# So do what shells and man look for.
for file in man/man1/accrue.1 man/man1/accrue-fit.1 bash-completion/completions/accrue zsh/site-functions/_accrue \
            fish/vendor_completions.d/accrue.fish; do
  [[ -s $scratch/prefix/share/$file ]]
done

printed=$("$scratch/prefix/bin/accrue" --version)
echo "installed command: $printed"
version=$(sed -n 's/.*kVersion = "\(.*\)".*/\1/p' "$scratch/prefix/include/accrue/version.hpp")
[[ $printed == *"$version"* ]]
