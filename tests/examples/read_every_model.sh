#!/usr/bin/env bash
# read_every_model.sh ACCRUE PYTHON READ_MODEL SCRATCH: examples/read_model.py agrees with every kind of model file to
# 1e-12, and notices one that was edited.
set -euo pipefail
accrue=$1 python=$2 read_model=$3 scratch=$4
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

"$accrue" generate G --rows 60 -o G.csv
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
# Quantiles are those of accrue predict, wherever there are some: of all families but Student's t.
cat > quantiles.py <<'EOF'
import csv, importlib.util, json, sys

spec = importlib.util.spec_from_file_location("read_model", sys.argv[1])
read_model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(read_model)
model = json.load(open("model.json"))
for row in csv.DictReader(open("quantiles.csv")):
    location, scale, further = read_model.forecast(model, [float(row["x"])], float(row["f"]))
    for p in (0.001, 0.05, 0.3, 0.5, 0.8, 0.999):
        own = read_model.quantile(model, location, scale, further, p)
        if own is None:
            assert model["family"] == "student-t", model["family"]
            continue
        # Logarithms and inverses of both sides are good to 1e-14 or so.
        assert abs(own - float(row[f"q{p:g}"])) <= 1e-11 * (abs(location) + scale), (p, own, row)
EOF
families=$("$accrue" fit --help | sed -n "s/.*--family {\(.*\)}.*/\1/p")
for family in ${families//,/ }; do
  "$accrue" fit G.csv --inputs x --prediction f --observation y --family $family --bias network --starts 1 --quiet -o model.json >/dev/null
  "$python" "$read_model" model.json
  "$accrue" predict model.json G.csv --quantiles 0.001,0.05,0.3,0.5,0.8,0.999 -o quantiles.csv
  "$python" quantiles.py "$read_model"
done
"$accrue" fit errors.csv --error e --bias linear --quiet -o model.json >/dev/null
"$python" "$read_model" model.json

sed 's/"seed":1,/"seed":2,/' model.json > edited.json
if "$python" "$read_model" edited.json; then
  echo "an edited file was not noticed" >&2
  exit 1
fi
