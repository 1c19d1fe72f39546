#!/usr/bin/env bash
# named_files.sh ROOT: every file of the repository that a page or a comment names by its path is there, and so is every
# public header that one names as it is included.
set -euo pipefail
cd "$1"
folders='apps|bench|cmake|docs|examples|include|python|reference|scripts|src|tests'
kinds='cmake|cpp|csv|hpp|json|md|mjs|py|sh|toml|ts|txt'
bad=0
named=0
while IFS=: read -r file line path; do
  named=$((named + 1))
  if [[ $path == accrue/* ]]; then
    # The changelog tells of headers that are gone; one is made by the build; a fixture has its own.
    [[ $file == CHANGELOG.md || $path == accrue/version.hpp || -e $(dirname "$file")/${path#accrue/} ]] && continue
    path=include/$path
  fi
  # From the root, or from beside the file, where a fixture may have its own root.
  if [[ ! -e $path && ! -e $(dirname "$file")/$path ]] && ! compgen -G "$(dirname "$file")/*/$path" >/dev/null; then
    echo "$file:$line: there is no $path" >&2
    bad=1
  fi
done < <(grep -rnoHE --include='*.md' --include='*.[ch]pp' --include='*.py' --include='*.ts' --include='*.mjs' --include='*.sh' \
  --include=CMakeLists.txt --include='*.cmake' --exclude-dir='build*' --exclude-dir=node_modules \
  "(^|[^A-Za-z0-9_./*-])(($folders)/[A-Za-z0-9_./-]+\.($kinds)|accrue/[a-z_]+\.hpp)(\.in)?\b" -- *.md Makefile scripts ${folders//|/ } |
  sed -E "s#^([^:]*:[0-9]+:)[^A-Za-z]*#\1#" | sort -u)
# Not one would mean that the search is wrong.
((named > 50)) || { echo "only $named files are named anywhere" >&2; bad=1; }
exit $bad
