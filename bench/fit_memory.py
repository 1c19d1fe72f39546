#!/usr/bin/python3
"""Largest resident memory and wall time of `accrue fit` on many rows (default: 10^6 rows of 5D)."""

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--starts", type=int, default=0, help="random starts a fold; 0 is the recipe's own number")
    parser.add_argument("--out", help="JSON file for the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder) / "data.csv", Path(folder) / "model.json"
        subprocess.run([options.accrue, "generate", "5D", "--rows", str(options.rows), "--seed", "1", "-o", data], check=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        begin = time.perf_counter()
        subprocess.run([options.accrue, "fit", data, "--inputs", "x1,x2,x3,x4,x5", "--prediction", "f", "--observation", "y",
                        "--starts", str(options.starts), "--quiet", "--json", "-o", model], check=True, capture_output=True)
        seconds = time.perf_counter() - begin
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"fit of {options.rows} rows, 5 inputs: {seconds:.0f} s, {megabytes:.0f} MB resident at most "
              f"(making the rows took {before / 1024:.0f} MB)")
        if options.out:
            Path(options.out).write_text(json.dumps({"seconds": seconds, "megabytes": megabytes}))


if __name__ == "__main__":
    main()
