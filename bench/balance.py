#!/usr/bin/env python3
"""What the balance between accuracy and reliability gives on rows that come later, on every archive: CRPS and calibration error of each balance.

    bench/balance.py DATA [--accrue build/bin/accrue] [--only bon,wine]

The archives are those of bench/archives.py, and sets of DATA/uci (70% of the rows, at random, to fit on; the location is learned). Every fit is of a
sinh-arcsinh normal distribution with a learned location, without a map, one start in each of five folds. CRPS are relative to that of balance 0.5. Prints a table of
docs/distributions.md.
"""

import argparse
import csv
import json
import math
import pathlib
import random
import subprocess
import tempfile

import archives

BALANCES = (0.1, 0.2, 0.35, 0.5, 0.8, 1)
USUAL = 0.5
UCI = {"concrete": ("concrete", 8), "kin8nm": ("kin8nm", 8), "power": ("power-plant", 4), "wine": ("wine-quality-red", 11)}
FIT = ["--family", "sinh-arcsinh", "--bias", "network", "--recalibrate", "none", "--starts", "1", "--quiet"]


def uci_sets(data):
    for name, (file, inputs) in UCI.items():
        columns = [*(f"x{k}" for k in range(inputs)), "y"]
        rows = [dict(zip(columns, line.split())) for line in (data / "uci" / f"{file}.txt").read_text().splitlines() if line.strip()]
        random.Random(1).shuffle(rows)
        for k, row in enumerate(rows):
            row["is_early"] = str(int(k < 0.7 * len(rows)))
        yield name, rows, lambda row: row["is_early"] == "1", ["--observation", "y"], ["--inputs", ",".join(columns[:-1]), "--mean", "constant"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    only = [name for name in arguments.only.split(",") if name]
    print("| archive | " + " | ".join(f"{balance:g}" for balance in BALANCES) + " |")
    print("|---" * (len(BALANCES) + 1) + "|")
    logs = {balance: [] for balance in BALANCES}
    errors = {balance: [] for balance in BALANCES}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, rows, is_early, roles, inputs in [*archives.archives(arguments.data, arguments.accrue, folder), *uci_sets(arguments.data)]:
            if only and name not in only:
                continue
            early, late = archives.split(rows, is_early, folder)
            models = []
            for balance in BALANCES:
                models.append(str(folder / f"balance-{balance:g}.json"))
                subprocess.run([arguments.accrue, "fit", early, *roles, *inputs, *FIT, "--balance", f"{balance:g}", "-o", models[-1]],
                               check=True, stdout=subprocess.DEVNULL)
            options = [word for model in models for word in ("--model", model)]
            found = json.loads(subprocess.run([arguments.accrue, "evaluate", late, *roles, *options, "--json"], check=True, capture_output=True).stdout)
            scores = dict(zip(BALANCES, found["forecasts"]))
            cells = []
            for balance, own in scores.items():
                ratio = own["crps"] / scores[USUAL]["crps"]
                logs[balance].append(math.log(ratio))
                errors[balance].append(own["calibration_error_percent"])
                crps = f"{own['crps']:.4g}" if balance == USUAL else f"{100 * (ratio - 1):+.1f}%"
                cells.append(f"{crps}, {errors[balance][-1]:.1f}%")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    cells = [f"{100 * (math.exp(sum(logs[b]) / len(logs[b])) - 1):+.2f}%, {sum(errors[b]) / len(errors[b]):.1f}%" for b in BALANCES]
    print("| mean of all | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
