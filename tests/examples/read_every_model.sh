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
families=$("$accrue" fit --help | sed -n "s/.*--family {\(.*\)}.*/\1/p")
for family in ${families//,/ }; do
  "$accrue" fit G.csv --inputs x --prediction f --observation y --family $family --bias network --starts 1 --quiet -o model.json >/dev/null
  "$python" "$read_model" model.json
done
"$accrue" fit errors.csv --error e --bias linear --quiet -o model.json >/dev/null
"$python" "$read_model" model.json

sed 's/"seed":1,/"seed":2,/' model.json > edited.json
if "$python" "$read_model" edited.json; then
  echo "an edited file was not noticed" >&2
  exit 1
fi
