#!/usr/bin/env python3
"""replay.py [--accrue COMMAND] [--rows 1000000] [--family F ...]: what `accrue replay` costs beside `accrue predict` of the same rows.

A network is fitted to 4,000 rows with skewed errors, of each family with and without a recalibration. Then come ROWS more, one at
each time: predict writes mean, sigma and a 90% interval of each; replay writes as much of the model that learns, with figures of
both. Prints CPU seconds and wall time of each, and the ratio of the CPU times: the target is 3 at most.

Then what an update with 1,000 rows of 500 groups takes as a process, by default and with `--shrink auto --shape`, and the size of
the model file: the target is 50 ms."""

import argparse
import math
import pathlib
import random
import resource
import statistics
import subprocess
import tempfile
import time

FITTED = 4000


def archive(path, rows, first, seed, groups=1):
    draws = random.Random(seed)
    with path.open("w") as file:
        file.write("t,x,mu,y,group\n")
        for i in range(rows):
            x, mu, z = draws.random(), draws.gauss(0, 1), draws.gauss(0, 1)
            y = mu + math.exp(x) * (z + 0.2 * (z * z - 1))
            file.write(f"{(first + i // groups) / 24:.6f},{x:.6f},{mu:.6f},{y:.6f},g{i % groups}\n")
    return path


def updates(accrue, folder, fitted):
    before, rows = (archive(folder / f"{name}.csv", 1000, first, 3, 500) for name, first in (("before", FITTED), ("rows", FITTED + 2)))
    model, state, out = (folder / f"{name}.json" for name in ("model", "state", "out"))
    cost(accrue, "fit", fitted, "--inputs", "x", "--prediction", "mu", "--observation", "y", "--time", "t",
         "--form", "network", "--family", "normal", "--recalibrate", "none", "--starts", 1, "--quiet", "-o", model)  # fmt: skip
    print("\nupdate with 1,000 rows of 500 groups, medians of 21   CPU    wall   model file")
    for options in ([], ["--shrink", "auto"], ["--shape"], ["--shrink", "auto", "--shape"]):
        cost(accrue, "update", model, before, "--group", "group", *options, "-o", state)
        runs = [cost(accrue, "update", state, rows, "-o", out) for _ in range(21)]
        cpu, wall = (statistics.median(run[k] for run in runs) for k in (0, 1))
        print(f"{' '.join(options):48} {cpu * 1000:5.0f} ms {wall * 1000:4.0f} ms {state.stat().st_size / 1000:7.0f} kB", flush=True)


def cost(*words):
    def used():
        of = resource.getrusage(resource.RUSAGE_CHILDREN)
        return of.ru_utime + of.ru_stime

    before, begin = used(), time.monotonic()
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
    return used() - before, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--family", nargs="*", default=["normal", "logistic", "sinh-arcsinh"])
    parser.add_argument("--recalibrate", nargs="+", default=["none", "isotonic"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fitted = archive(folder / "fitted.csv", FITTED, 0, 1)
        rows = archive(folder / "rows.csv", options.rows, FITTED, 2)
        print("family        recalibrate  predict CPU   wall   replay CPU   wall   CPU ratio")
        for family in options.family:
            for recalibrate in options.recalibrate:
                model = folder / "model.json"
                cost(options.accrue, "fit", fitted, "--inputs", "x", "--prediction", "mu", "--observation", "y", "--time", "t",
                     "--form", "network", "--family", family, "--recalibrate", recalibrate, "--starts", 1, "--quiet", "-o", model)  # fmt: skip
                forecast = cost(options.accrue, "predict", model, rows, "--interval", "0.9", "-o", folder / "out.csv")
                replayed = cost(options.accrue, "replay", rows, "--model", model, "-o", folder / "out.csv")
                print(f"{family:13} {recalibrate:11} {forecast[0]:11.2f}s {forecast[1]:5.2f}s {replayed[0]:11.2f}s {replayed[1]:5.2f}s"
                      f" {replayed[0] / forecast[0]:11.2f}", flush=True)  # fmt: skip
        updates(options.accrue, folder, fitted)


if __name__ == "__main__":
    main()
