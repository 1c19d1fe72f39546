#!/usr/bin/env python3
"""Start small, finish big: costs and times of default fits of 5D in stages, beside fits on all rows throughout (--no-stages).

The cost is the accuracy-reliability cost of held-out rows. A single pair of fits says little, since fits differ from seed to seed;
so several seeds are averaged, and the standard error of the mean ratio is printed too.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from results import ROOT, Figures, process, table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accrue", default=ROOT / "build/bin/accrue", help="the program (default: build/bin/accrue)")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()

    rows, costs, seconds = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "5D.csv"
        process([options.accrue, "generate", "5D", "--rows", options.rows, "-o", file])
        fit = [options.accrue, "fit", file, "--inputs", "x1,x2,x3,x4,x5", "--prediction", "f", "--observation", "y",
               "--quiet", "--json", "-o", Path(folder) / "model.json"]
        for seed in range(1, options.seeds + 1):
            runs = [process([*fit, "--seed", seed, *more]) for more in ([], ["--no-stages"])]
            staged, direct = (json.loads(run.output)["ar"] for run in runs)
            costs.append(staged / direct)
            seconds.append(runs[0].seconds / runs[1].seconds)
            rows.append([seed, f"{staged:.6f}", f"{direct:.6f}", f"{100 * (costs[-1] - 1):+.3f}%",
                         f"{runs[0].seconds:.1f} s", f"{runs[1].seconds:.1f} s"])
            print(f"seed {seed} of {options.seeds} done", flush=True)
    print(f"\n5D, {options.rows} rows\n")
    print(table(["seed", "cost, in stages", "cost, direct", "difference", "time, in stages", "time, direct"], rows))
    error = statistics.stdev(costs) / len(costs) ** 0.5 if len(costs) > 1 else float("nan")
    figures = Figures()
    figures.add("cost of fits in stages over that of direct ones, mean of the seeds", 100 * (statistics.mean(costs) - 1),
                at_most=0.01, unit="%", note=f"standard error {100 * error:.2g}%")
    figures.add("their time over that of direct ones", statistics.mean(seconds), at_most=1)
    print()
    figures.show()


if __name__ == "__main__":
    main()
