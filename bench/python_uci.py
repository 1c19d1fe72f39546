#!/usr/bin/env python3
"""Error bars around gradient boosting on eight UCI sets: 20 random splits, 70% to learn from and 30% to judge.

Two questions of each set. Is CalibratedRegressor around HistGradientBoostingRegressor calibrated on new rows? And is our sigma around
NGBoost's mean as good as NGBoost's own, both with defaults? There the mean is the same, so that its merit does not count.

    bench/python_uci.py FOLDER [--splits 20] [--sets yacht,energy] [--out results.jsonl] [--without-ngboost]

Prints a table in Markdown. --out keeps every split, and an interrupted run goes on from there. The whole takes hours, nearly all of them NGBoost's.
"""

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

import accrue

SETS = {
    "bostonHousing": "Boston Housing",
    "concrete": "Concrete",
    "energy": "Energy",
    "kin8nm": "Kin8nm",
    "power-plant": "Power plant",
    "protein-tertiary-structure": "Protein",
    "wine-quality-red": "Wine",
    "yacht": "Yacht",
}
INPUTS = {"bostonHousing": 13, "concrete": 8, "energy": 8, "kin8nm": 8, "power-plant": 4, "protein-tertiary-structure": 9,
          "wine-quality-red": 11, "yacht": 6}  # fmt: skip
SKEWED = ("protein-tertiary-structure", "wine-quality-red")


def judged(forecast, y):
    """Figures of the verification of any forecast, recalibrated or not."""
    from accrue import _core

    verification = _core.verify(y - forecast.mean, forecast.sigma, forecast._shape, None, None, [0.9], "")
    scores = json.loads(_core.scores_json([verification]))
    keys = ("crps", "calibration_error_percent", "calibration_floor_percent", "sign_bound_percent", "sd_z")
    return {key: scores[key] for key in keys}


def run_split(name, data, split, with_ngboost):
    rng = np.random.default_rng(1000 + split)
    order = rng.permutation(len(data))
    cut = round(0.7 * len(data))
    train, test = data[order[:cut]], data[order[cut:]]
    columns = INPUTS[name]
    X, y, X_new, y_new = train[:, :columns], train[:, columns], test[:, :columns], test[:, columns]
    recalibrate = "isotonic" if name in SKEWED else "none"
    boosted = HistGradientBoostingRegressor(random_state=split)
    regressor = accrue.CalibratedRegressor(boosted, recalibrate=recalibrate, seed=split + 1).fit(X, y)
    result = {"set": name, "split": split, **judged(regressor.predict_distribution(X_new), y_new)}
    if with_ngboost:
        from ngboost import NGBRegressor

        ours = accrue.CalibratedRegressor(NGBRegressor(verbose=False, random_state=split), seed=split + 1).fit(X, y)
        mean, sigma = ours.predict(X_new, return_std=True)
        own = ours.estimator_.pred_dist(X_new)
        result["crps_ours"] = accrue.scores.mean_crps(y_new - mean, sigma)
        result["crps_ngboost"] = accrue.scores.mean_crps(y_new - own.loc, own.scale)
    return result


def table(results, with_ngboost):
    head = ["set", "splits", "calibration error", "floor", "allowed", "sd of z", "calibrated"]
    if with_ngboost:
        head += ["CRPS, our sigma", "CRPS, NGBoost's", "no worse"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    calibrated = better = 0
    for name, title in SETS.items():
        rows = [row for row in results if row["set"] == name]
        if not rows:
            continue
        figures = [key for key in rows[0] if key not in ("set", "split")]
        middle = {key: statistics.median(row[key] for row in rows) for key in figures}
        error, floor = middle["calibration_error_percent"], middle["calibration_floor_percent"]
        if name in SKEWED:
            allowed = max(2 * floor, 2.0)
        else:
            allowed = max(1.6 * floor, middle["sign_bound_percent"] + floor)
        good = error <= allowed and 0.9 <= middle["sd_z"] <= 1.2
        calibrated += good
        cells = [
            title,
            str(len(rows)),
            f"{error:.2f}%",
            f"{floor:.2f}%",
            f"{allowed:.2f}%",
            f"{middle['sd_z']:.3f}",
            "yes" if good else "no",
        ]
        if with_ngboost:
            fine = middle["crps_ours"] <= middle["crps_ngboost"]
            better += fine
            cells += [f"{middle['crps_ours']:.4g}", f"{middle['crps_ngboost']:.4g}", "yes" if fine else "no"]
        print("| " + " | ".join(cells) + " |")
    return calibrated, better


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the sets, as the uncertainty literature exchanges them")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--without-ngboost", action="store_true")
    arguments = parser.parse_args()
    with_ngboost = not arguments.without_ngboost
    results = []
    if arguments.out and arguments.out.exists():
        results = [json.loads(line) for line in arguments.out.read_text().splitlines()]
        results = [row for row in results if ("crps_ours" in row) >= with_ngboost]
    known = {(row["set"], row["split"]) for row in results}
    # Splits first, so that an early look has all sets.
    for split in range(arguments.splits):
        for name in arguments.sets.split(","):
            if (name, split) in known:
                continue
            lines = (arguments.folder / f"{name}.txt").read_text().splitlines()
            data = np.array([line.split() for line in lines if line.strip()], float)
            results.append(run_split(name, data, split, with_ngboost))
            print(f"{name} {split}", file=sys.stderr)
            if arguments.out:
                with arguments.out.open("a") as file:
                    file.write(json.dumps(results[-1]) + "\n")
    calibrated, better = table(results, with_ngboost)
    sets = len({row["set"] for row in results})
    print(
        f"\ncalibrated: {calibrated} of {sets}"
        + (f"; our sigma no worse: {better} of {sets}, 6 of 8 are asked for" if with_ngboost else "")
    )
    sys.exit(0 if calibrated == sets and (not with_ngboost or better >= 0.75 * sets) else 1)


if __name__ == "__main__":
    main()
