#!/usr/bin/python3
"""accrue evaluate, end to end, against pandas.read_csv alone, on one file and the same two cores, and against itself with --conditional.

accrue is timed as a user waits for it: start of the process, reading, every score, JSON on standard output; with --conditional
along all five inputs, whose columns it must read for that. pandas is timed as kindly as possible: its import is not counted and
it only reads. All take turns, and the best of the rounds counts, so that other work on the machine does as little harm as it
can. The ratio of --conditional to none is also that of processor seconds, of which other work takes none.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas

ROOT = Path(__file__).resolve().parent.parent


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accrue", default=ROOT / "build/bin/accrue", help="the program (default: build/bin/accrue)")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", help="also write the figures to this JSON file")
    options = parser.parse_args()

    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "5D.csv")
        subprocess.run([options.accrue, "generate", "5D", "--rows", str(options.rows), "-o", file], check=True)
        command = [options.accrue, "evaluate", file, "--prediction", "f", "--observation", "y", "--sigma", "true_sigma",
                   "--json"]

        def evaluate(*more):
            printed = subprocess.run([*command, *more], check=True, stdout=subprocess.PIPE).stdout
            if json.loads(printed)["rows"] != options.rows:
                sys.exit("accrue did not read every row")

        def read():
            if len(pandas.read_csv(file)) != options.rows:
                sys.exit("pandas did not read every row")

        size = os.path.getsize(file) / 1e6
        evaluate()  # the file is in memory for both
        times = {"accrue": [], "conditional": [], "pandas": []}
        processor = {"accrue": [], "conditional": []}
        for _ in range(options.rounds):
            times["pandas"].append(seconds(read))
            for name, more in {"accrue": [], "conditional": ["--conditional", "--inputs", "x1,x2,x3,x4,x5"]}.items():
                before = processor_seconds()
                times[name].append(seconds(lambda: evaluate(*more)))
                processor[name].append(processor_seconds() - before)

    used = {name: min(values) for name, values in processor.items()}
    conditional = used["conditional"] / used["accrue"]
    best = {name: min(values) for name, values in times.items()}
    ratio = best["pandas"] / best["accrue"]
    print(f"{options.rows} rows, {size:.0f} MB, {len(cores)} cores, best of {options.rounds} rounds")
    print(f"  pandas {pandas.__version__} read_csv alone    {best['pandas']:.3f} s")
    print(f"  accrue evaluate, end to end     {best['accrue']:.3f} s")
    print(f"  ratio                           {ratio:.1f}")
    print(f"  the same with --conditional     {best['conditional']:.3f} s, {best['conditional'] / best['accrue']:.2f} times as long")
    print(f"  processor seconds               {used['accrue']:.2f}, with --conditional {used['conditional']:.2f}, {conditional:.2f} times as many")
    if options.out:
        Path(options.out).write_text(json.dumps({"rows": options.rows, "seconds": best, "ratio": ratio, "processor_seconds": used, "conditional_ratio": conditional}))


if __name__ == "__main__":
    main()
