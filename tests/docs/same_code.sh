#!/usr/bin/env bash
# same_code.sh PAGE SOURCE [excerpt]: the first block of C++ in PAGE is SOURCE, line for line; or an excerpt of it, whose lines
# may be indented less.
set -euo pipefail
block() { sed -n '/^```cpp$/,/^```$/ { /^```/d; p }' "$1"; }
if [[ ${3:-} != excerpt ]]; then
  diff <(block "$1") "$2"
  exit
fi
[[ -n $(block "$1") ]]
block "$1" | while IFS= read -r line; do
  if ! grep -qxF -- "$line" <(sed 's/^ *//' "$2"); then
    echo "not in $2: $line" >&2
    exit 1
  fi
done
