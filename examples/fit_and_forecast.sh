#!/usr/bin/env bash
# The example of fit_and_forecast.cpp in the shell.
set -euo pipefail

# Your file goes here. These are 1,000 rows of the data set G: input x, prediction f, true sigma, observation y.
accrue generate G --rows 1000 --seed 1 -o archive.csv
accrue fit archive.csv --inputs x --prediction f --observation y -o model.json

# Later: one new row, x = 0.9, where the model predicts -1.2.
printf 'x,f\n0.9,-1.2\n' | accrue predict model.json - --interval 0.9 --quantiles 0.95 -o -
