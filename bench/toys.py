#!/usr/bin/env python3
"""How well sigma(x) is recovered on the paper's toy data, and how often a choice that is left to the fit pays where there is nothing to gain.

    bench/toys.py [--accrue build/bin/accrue] [--seeds 100] [--seeds-5d 5] [--form auto]

The prediction is exact. Error: root mean square distance of the forecast's sigma to the true one on a grid of 101 points (5D: 10,000 random points), averaged over the seeds. Normal: how many of
the fits took the normal distribution around the given prediction.
"""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import tempfile
import time

TRUTH = {
    "G": (1.0, lambda x: x / 2 + 0.5),
    "Y": (1.0, lambda x: math.exp(math.sin(2 * math.pi * x)) / 3),
    "W": (math.pi, lambda x: 0.01 + 0.25 * (1 - math.sin(2.5 * x)) ** 2),
}
ROWS_5D = 10_000
POINTS = 101


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def grid(name, accrue, path):
    """Rows to forecast, with the true sigma."""
    if name not in TRUTH:
        run(accrue, "generate", name, "--rows", ROWS_5D, "--seed", 1_000_000, "-o", path)
        return [float(row["true_sigma"]) for row in csv.DictReader(path.open())]
    width, sigma = TRUTH[name]
    points = [width * k / (POINTS - 1) for k in range(POINTS)]
    path.write_text("x,f\n" + "".join(f"{x!r},0\n" for x in points))
    return [sigma(x) for x in points]


def error(name, accrue, seed, options, folder):
    """Distance of the fitted to the true sigma, and whether the normal around the prediction was taken."""
    rows, model, out = folder / "rows.csv", folder / "model.json", folder / "out.csv"
    run(accrue, "generate", name, "--rows", 100 if name in TRUTH else ROWS_5D, "--seed", seed, "-o", rows)
    inputs = "x" if name in TRUTH else "x1,x2,x3,x4,x5"
    run(accrue, "fit", rows, "--inputs", inputs, "--prediction", "f", "--observation", "y", "--seed", seed, *options, "-o", model, "--quiet")
    run(accrue, "predict", model, folder / f"grid-{name}.csv", "-o", out)
    sigmas = [float(row["sigma"]) for row in csv.DictReader(out.open())]
    configuration = json.loads(model.read_text())["configuration"]
    return sigmas, (configuration["family"], configuration["bias"]) == ("normal", "none")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--seeds-5d", type=int, default=5)
    parser.add_argument("--form", default="auto")
    arguments = parser.parse_args()
    print("| set | seeds | error | normal around the prediction | seconds per seed |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name in (*TRUTH, "5D"):
            seeds = arguments.seeds if name in TRUTH else arguments.seeds_5d
            if seeds == 0:
                continue
            truth = grid(name, arguments.accrue, folder / f"grid-{name}.csv")
            began, total, normal = time.monotonic(), 0.0, 0
            for seed in range(1, seeds + 1):
                sigmas, is_normal = error(name, arguments.accrue, seed, ["--form", arguments.form], folder)
                total += math.sqrt(sum((s - t) ** 2 for s, t in zip(sigmas, truth, strict=True)) / len(truth))
                normal += is_normal
            print(f"| {name} | {seeds} | {total / seeds:.4f} | {normal} | {(time.monotonic() - began) / seeds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
