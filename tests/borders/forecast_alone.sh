#!/usr/bin/env bash
# forecast_alone.sh ALONE WHOLE LIBRARY MODEL...: a program built with accrue_forecast prints what the same program prints
# with the whole library, and that library brings no optimiser, threads or NetCDF along.
set -euo pipefail
alone=$1 whole=$2 library=$3
shift 3
needed=$(readelf --dynamic --wide "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "$needed"
if [[ $needed =~ tbb|ceres|glog|netcdf|lapack|blas ]]; then
  echo "$library needs one of them" >&2
  exit 1
fi
first=$("$alone" "$@")
second=$("$whole" "$@")
if [[ $first != "$second" ]]; then
  diff <(echo "$first") <(echo "$second") | head
  exit 1
fi
lines=$(wc -l <<<"$first")
echo "$lines forecasts are the same"
((lines == 5000 * $#))
