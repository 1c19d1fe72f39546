#!/usr/bin/env python3
"""How well sigma(x) is recovered on the paper's toy data, and how often a choice that is left to the fit pays where there is nothing to gain.

    bench/toys.py [--accrue build/bin/accrue] [--seeds 100] [--seeds-5d 5] [--first-seed 1] [--form auto] [--options '--score nlpd'] [--jobs 1]

The prediction is exact. Error: root mean square distance of the forecast's sigma to the true one on a grid of 101 points (5D: 10,000 random points), averaged over the seeds. Normal: how many of
the fits took the normal distribution around the given prediction, and a recalibration.
"""

import argparse
import csv
import json
import math
import multiprocessing
import pathlib
import shlex
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


def error(task):
    """Distance of the fitted to the true sigma, whether the normal around the prediction was taken, and whether a recalibration was."""
    name, accrue, seed, options, folder, truth = task
    with tempfile.TemporaryDirectory() as scratch:
        rows, model, out = (pathlib.Path(scratch) / name for name in ("rows.csv", "model.json", "out.csv"))
        run(accrue, "generate", name, "--rows", 100 if name in TRUTH else ROWS_5D, "--seed", seed, "-o", rows)
        inputs = "x" if name in TRUTH else "x1,x2,x3,x4,x5"
        run(accrue, "fit", rows, "--inputs", inputs, "--prediction", "f", "--observation", "y", "--seed", seed, *options, "-o", model, "--quiet")
        run(accrue, "predict", model, folder / f"grid-{name}.csv", "-o", out)
        sigmas = [float(row["sigma"]) for row in csv.DictReader(out.open())]
        configuration = json.loads(model.read_text())["configuration"]
    distance = math.sqrt(sum((s - t) ** 2 for s, t in zip(sigmas, truth, strict=True)) / len(truth))
    return distance, (configuration["family"], configuration["bias"]) == ("normal", "none"), configuration["recalibrate"] != "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--seeds-5d", type=int, default=5)
    parser.add_argument("--form", default="auto")
    parser.add_argument("--options", default="", help="more options of accrue fit, in one word")
    parser.add_argument("--jobs", type=int, default=1, help="fits at once, each on one thread where there are several")
    parser.add_argument("--first-seed", type=int, default=1)
    arguments = parser.parse_args()
    options = ["--form", arguments.form, *shlex.split(arguments.options), *(["--threads", "1"] if arguments.jobs > 1 else [])]
    print("| set | seeds | error | normal around the prediction | recalibrated | seconds per seed |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch, multiprocessing.Pool(arguments.jobs) as pool:
        folder = pathlib.Path(scratch)
        for name in (*TRUTH, "5D"):
            seeds = arguments.seeds if name in TRUTH else arguments.seeds_5d
            if seeds == 0:
                continue
            truth = grid(name, arguments.accrue, folder / f"grid-{name}.csv")
            began = time.monotonic()
            numbers = range(arguments.first_seed, arguments.first_seed + seeds)
            found = pool.map(error, [(name, arguments.accrue, seed, options, folder, truth) for seed in numbers], chunksize=1)
            distance, normal, mapped = (sum(values) for values in zip(*found))
            print(f"| {name} | {seeds} | {distance / seeds:.4f} | {normal} | {mapped} | {(time.monotonic() - began) / seeds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
