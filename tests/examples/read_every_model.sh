#!/usr/bin/env bash
# read_every_model.sh ACCRUE PYTHON READ_MODEL SCRATCH: examples/read_model.py agrees with every kind of model file to
# 1e-12, and notices one that was edited.
set -euo pipefail
accrue=$1 python=$2 read_model=$3 scratch=$4
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

"$accrue" generate G --rows 60 -o G.csv
"$accrue" generate G --rows 110 -o groups.csv
"$accrue" generate 5D --rows 60 -o 5D.csv
awk -F, -v OFS=, 'NR == 1 { print "x", "e"; next } { print $1, $4 - $2 }' G.csv > errors.csv
forms=$("$accrue" fit --help | sed -n "s/.*--form {\(.*\)}.*/\1/p")
[[ $forms == *,* ]]
for form in ${forms//,/ }; do
  for bias in none constant linear; do
    "$accrue" fit G.csv --inputs x --prediction f --observation y --form $form --bias $bias --quiet -o model.json >/dev/null
    "$python" "$read_model" model.json
  done
done
"$accrue" fit 5D.csv --prediction f --observation y --bias linear --quiet -o model.json >/dev/null
"$python" "$read_model" model.json
for mean in gp network; do
  "$accrue" fit 5D.csv --inputs x1,x2,x3,x4,x5 --observation y --mean $mean --quiet -o model.json >/dev/null
  "$python" "$read_model" model.json
done
# From a constant, a linear correction and the network's location learn where it lies.
"$accrue" fit 5D.csv --inputs x1,x2,x3,x4,x5 --observation y --mean constant --bias network --starts 1 --quiet -o model.json >/dev/null
"$python" "$read_model" model.json
# Quantiles are those of accrue predict: of every family, with every kind of bound, with and without a map.
cat > quantiles.py <<'EOF'
import csv, importlib.util, json, sys

spec = importlib.util.spec_from_file_location("read_model", sys.argv[1])
read_model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(read_model)
model = json.load(open(sys.argv[2]))
compared = 0
for row in csv.DictReader(open(sys.argv[3])):
    location, scale, further = read_model.forecast(model, [float(row["x"])], float(row["f" if "f" in row else "mu"]))
    for level in (name for name in row if name.startswith("q")):
        own = read_model.quantile(model, location, scale, further, float(level[1:]), row.get("g"))
        # Logarithms and inverses of both sides are good to 1e-14 or so.
        assert abs(own - float(row[level])) <= 1e-11 * (abs(location) + scale), (level, own, row)
        compared += 1
assert compared > 0
EOF
awk -F, -v OFS=, 'NR > 1 { if ($4 < -1) $4 = -1; if ($4 > 2) $4 = 2; } { print }' G.csv > bounded.csv
awk -F, -v OFS=, 'NR == 1 { print $0, "g"; next } { print $0, NR % 2 ? "odd" : "even" }' groups.csv > grouped.csv
compare_quantiles() {  # MODEL FILE
  "$python" "$read_model" "$1"
  "$accrue" predict "$1" "$2" --quantiles 0.001,0.05,0.3,0.5,0.8,0.999 -o quantiles.csv
  "$python" quantiles.py "$read_model" "$1" quantiles.csv
}
fit_and_compare() {  # FILE OPTIONS...
  local file=$1
  shift
  "$accrue" fit "$file" --inputs x --prediction f --observation y --starts 1 "$@" --quiet -o model.json >/dev/null
  compare_quantiles model.json "$file"
}
# The same model, truncated: a truncated fit of every family would take long.
cat > truncated.py <<'EOF'
import importlib.util, sys

spec = importlib.util.spec_from_file_location("read_model", sys.argv[1])
read_model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(read_model)
text = open("model.json").read()
own = text.replace('"kind":"censored"', '"kind":"truncated"')
assert own != text
before = own.splitlines()[-2].split('"')[3]
open("truncated.json", "w").write(own.replace(before, read_model.checksum(own)))
EOF
families=$("$accrue" fit --help | sed -n "s/.*--family {\(.*\)}.*/\1/p")
[[ $families == auto,* ]]
families=${families#auto,}
for family in ${families//,/ }; do
  fit_and_compare bounded.csv --family $family --bias network
  for bounds in "none --lower -1" "isotonic --lower -1 --upper 2"; do
    fit_and_compare bounded.csv --family $family --bias none --form constant --recalibrate $bounds
    "$python" truncated.py "$read_model"
    compare_quantiles truncated.json bounded.csv
  done
done
fit_and_compare grouped.csv --family normal --bias none --form constant --recalibrate conformal --recalibrate-group g
old=$(dirname "$read_model")/../tests/forecast/version-0.1/recalibrated
"$python" quantiles.py "$read_model" "$old.json" "$old.csv"
"$accrue" fit errors.csv --error e --bias linear --quiet -o model.json >/dev/null
"$python" "$read_model" model.json

sed 's/"seed":1,/"seed":2,/' model.json > edited.json
if "$python" "$read_model" edited.json; then
  echo "an edited file was not noticed" >&2
  exit 1
fi
