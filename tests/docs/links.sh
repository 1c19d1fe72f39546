#!/usr/bin/env bash
# links.sh ROOT: every link of the documentation to a file of the repository leads somewhere.
set -euo pipefail
cd "$1"
bad=0
for page in *.md docs/*.md docs/decisions/*.md src/*.md bench/*.md; do
  [[ -e $page ]] || continue
  while IFS= read -r target; do
    if [[ ! -e $(dirname "$page")/$target ]]; then
      echo "$page: there is no $target" >&2
      bad=1
    fi
  done < <(grep -o '](\([^)#]*\)' "$page" | sed 's/^](//' | grep -v '^[a-z]*:' || true)
done
exit $bad
