#!/usr/bin/python3
"""accrue predict from CSV to CSV beside the same by hand: pandas reads, NumPy evaluates the networks, pandas writes.

The same model (default fit of 5D, 10,000 rows), the same 10^6 new rows, the same added columns; NumPy uses the system's BLAS
with as many threads as it likes. Alternating runs, the median of each; the sigmas of both must agree.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd


def by_hand(model, source, target):
    table = pd.read_csv(source)
    inputs = model["inputs"]
    x = np.stack([(table[i["name"]].to_numpy() - i["centre"]) / i["scale"] for i in inputs])
    d = len(inputs)
    total = np.zeros(x.shape[1])
    for member in model["sigma"]["members"]:
        p = np.array(member["parameters"])
        cut = np.cumsum([50 * d, 50, 500, 10, 10])
        w1, b1, w2, b2, w3, b3 = np.split(p, cut)
        h = np.maximum(w1.reshape(50, d) @ x + b1[:, None], 0)
        h = np.clip(w2.reshape(10, 50) @ h + b2[:, None], -1, 1)
        total += np.clip(w3 @ h + b3, -14, 8)
    sigma = model["error_scale"] * np.exp(total / len(model["sigma"]["members"]))
    outside = np.zeros(len(table), dtype=int)
    for i in inputs:
        outside |= ((table[i["name"]] < i["lowest"]) | (table[i["name"]] > i["highest"])).to_numpy()
    table["mean"] = table[model["prediction"]["name"]]
    table["sigma"] = sigma
    table["lower_0.9"] = table["mean"] - 1.6448536269514722 * sigma
    table["upper_0.9"] = table["mean"] + 1.6448536269514722 * sigma
    table["off_support"] = outside
    table.to_csv(target, index=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", help="JSON file for the ratio")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = lambda *args: subprocess.run([options.accrue, *map(str, args)], check=True, capture_output=True)
        run("generate", "5D", "--rows", 10_000, "--seed", 1, "-o", folder / "archive.csv")
        run("generate", "5D", "--rows", options.rows, "--seed", 2, "-o", folder / "new.csv")
        run("fit", folder / "archive.csv", "--inputs", "x1,x2,x3,x4,x5", "--prediction", "f", "--observation", "y",
            "--quiet", "-o", folder / "model.json")
        model = json.loads((folder / "model.json").read_text())
        ours, theirs = [], []
        for _ in range(options.repeats):
            begin = time.perf_counter()
            run("predict", folder / "model.json", folder / "new.csv", "--interval", "0.9", "-o", folder / "ours.csv")
            ours.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            by_hand(model, folder / "new.csv", folder / "theirs.csv")
            theirs.append(time.perf_counter() - begin)
        a, b = pd.read_csv(folder / "ours.csv", usecols=["sigma"]), pd.read_csv(folder / "theirs.csv", usecols=["sigma"])
        difference = float(np.max(np.abs(a["sigma"] / b["sigma"] - 1)))
        mine, hand = sorted(ours)[len(ours) // 2], sorted(theirs)[len(theirs) // 2]
        print(f"{options.rows} rows, {len(model['sigma']['members'])} networks: accrue predict {mine:.2f} s, "
              f"pandas and NumPy {hand:.2f} s, ratio {hand / mine:.1f}; largest relative difference of sigma {difference:.1e}")
        assert difference < 1e-10
        if options.out:
            Path(options.out).write_text(json.dumps({"ratio": hand / mine}))


if __name__ == "__main__":
    main()
