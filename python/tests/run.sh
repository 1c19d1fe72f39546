#!/usr/bin/env bash
# Tests the Python package as a user gets it: an sdist, a wheel from it around the library of this build, a fresh virtual
# environment, pytest. Needs the network, for packages by their names.
#
#   run.sh SOURCE BUILD SCRATCH [pytest arguments]
#
# PYTHON names another interpreter, CONSTRAINTS another list of versions than that of CI (/dev/null: the newest of all).
set -euo pipefail
source=$1 build=$2 scratch=$3
shift 3
python=${PYTHON:-python3}
constraints=$(realpath "${CONSTRAINTS:-$source/python/tests/constraints.txt}")
pip=(-m pip --quiet --disable-pip-version-check)

mkdir -p "$scratch"
cd "$scratch"
rm -rf prefix sdist dist venv
"${CMAKE:-cmake}" --install "$build" --prefix "$scratch/prefix" >/dev/null

# The tools stay where they are between runs, so that a compiler cache finds what it knows.
[[ -x tools/bin/python ]] || "$python" -m venv tools
tools/bin/python "${pip[@]}" install -c "$constraints" "scikit-build-core>=0.10" "nanobind>=2.4"
(cd "$source" && "$scratch/tools/bin/python" -c "
import sys
from scikit_build_core.build import build_sdist
build_sdist(sys.argv[1])" "$scratch/sdist") >/dev/null
tar -xf sdist/accrue-*.tar.gz -C sdist
PATH="$scratch/tools/bin:$PATH" tools/bin/python "${pip[@]}" wheel --no-deps --no-build-isolation -w dist sdist/accrue-*/ \
  --config-settings=cmake.define.ACCRUE_PREFIX="$scratch/prefix" --config-settings=cmake.define.ACCRUE_WERROR="${WERROR:-OFF}"

"$python" -m venv venv
wheel=$(echo "$scratch"/dist/accrue-*.whl)
venv/bin/python "${pip[@]}" install -c "$constraints" "accrue[test] @ file://$wheel"
# One thread for other libraries: theirs and ours would wait for each other on a small machine.
OMP_NUM_THREADS=1 ACCRUE_SOURCE=$source venv/bin/python -m pytest -q -p no:cacheprovider "$source/python/tests" "$@"
