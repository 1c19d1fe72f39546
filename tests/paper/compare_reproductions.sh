#!/usr/bin/env bash
# compare_reproductions.sh ROOT SCRATCH: scripts/compare-reproductions shows every number of two folders and marks those that differ.
set -euo pipefail
compare=$1/scripts/compare-reproductions
rm -rf "$2"
mkdir -p "$2/old" "$2/new"
cd "$2"
echo '{"set": "G", "close": 1.23456, "far": [2.0, 3.0], "gone": 4.0}' >old/figure2.json
echo '{"set": "G", "close": 1.23457, "far": [2.0, 3.1], "come": 5.0}' >new/figure2.json

"$compare" old old >same
grep -qE '^figure2 +4 +4 +0.0e\+00 +0$' same

if "$compare" old new >table 2>failure; then
  echo "numbers differ, but it did not fail" >&2
  exit 1
fi
diff - <(sed -n 's/  */ /gp' table | head -n 6) <<'TABLE'
number old new difference
figure2 close 1.235 1.235 8.1e-06
figure2 far[0] 2 2
figure2 far[1] 3 3.1 3.2e-02 <--
figure2 gone 4 none <--
figure2 come none 5 <--
TABLE
grep -q '^3 numbers differ' failure
