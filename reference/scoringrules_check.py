#!/usr/bin/env python3
"""The crps of families.csv beside that of scoringrules (PyPI), which has three of the families.

    python3 -m venv venv && venv/bin/pip install scoringrules==0.10.0 && venv/bin/python reference/scoringrules_check.py
"""

import csv
import math
import pathlib

import scoringrules


def theirs(family, u, a):
    if family == "logistic":
        return scoringrules.crps_logistic(u, 0.0, 1.0)
    if family == "student-t":
        return scoringrules.crps_t(u, math.exp(a), 0.0, 1.0)
    return scoringrules.crps_2pnormal(u, math.exp(-a / 2), math.exp(a / 2), 0.0)


def main():
    worst = {}
    with open(pathlib.Path(__file__).resolve().parent / "families.csv", encoding="ascii") as file:
        for row in csv.DictReader(file):
            u = float.fromhex(row["u"])
            # Theirs loses its digits, or all of it, where ours still has them.
            if row["family"] == "sinh-arcsinh" or abs(u) > 100:
                continue
            a = float.fromhex(row["a"]) if row["a"] else 0.0
            difference = abs(float(theirs(row["family"], u, a)) - float(row["crps"]))
            worst[row["family"]] = max(worst.get(row["family"], 0.0), difference)
    for family, difference in worst.items():
        print(f"{family}: differs by at most {difference:.1e}")
    assert all(difference < 1e-11 for difference in worst.values())


if __name__ == "__main__":
    main()
