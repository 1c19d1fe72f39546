#!/usr/bin/env python3
"""How often the default fit takes a recalibration: of normal errors it should not, of skewed ones and heavy tails it should.

    bench/recalibration_choice.py [--archives 100] [--rows 1000] [--jobs 2] [--accrue build/bin/accrue]

The paper's sets have normal errors, whose sigma depends on the inputs. So do "together" and "together, named" (--group): there blocks of 50
neighbours share half of the variance of their errors, so that the archive is calibrated, while few blocks tell it. Prints a table.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import pathlib
import random
import subprocess
import tempfile

PAPERS = {"G": "x", "Y": "x", "W": "x", "5D": "x1,x2,x3,x4,x5"}
BLOCK = 50


def errors(kind, rows, seed):
    """Rows of x, a block and an error, whose sigma is exp(x)."""
    own = random.Random(seed)
    shared = 0
    for row in range(rows):
        if row % BLOCK == 0:
            shared = own.gauss(0, 1)
        x = own.uniform(-0.5, 0.5)
        if kind == "exponential":
            error = own.expovariate(1) - 1
        elif kind == "Student's t of 3":
            error = own.gauss(0, 1) / math.sqrt(own.gammavariate(1.5, 2) / 3)
        else:
            error = math.sqrt(0.5) * (shared + own.gauss(0, 1))
        yield {"x": x, "block": f"b{row // BLOCK}", "e": math.exp(x) * error}


def taken(arguments, folder, kind, seed):
    """The map that a fit takes."""
    archive = str(folder / f"{kind}-{seed}.csv")
    model = archive + ".json"
    if kind in PAPERS:
        subprocess.run([arguments.accrue, "generate", kind, "--rows", str(arguments.rows), "--seed", str(seed), "-o", archive], check=True)
        roles = ["--inputs", PAPERS[kind], "--prediction", "f", "--observation", "y"]
    else:
        with open(archive, "w", newline="") as file:
            writer = csv.DictWriter(file, ["x", "block", "e"])
            writer.writeheader()
            writer.writerows(errors(kind, arguments.rows, seed))
        roles = ["--inputs", "x", "--error", "e", *(["--group", "block"] if kind.endswith("named") else [])]
    fit = [arguments.accrue, "fit", archive, *roles, "--seed", str(seed), "--threads", "1", "--quiet", "-o", model]
    subprocess.run(fit, check=True, stdout=subprocess.DEVNULL)
    return json.loads(pathlib.Path(model).read_text())["configuration"]["recalibrate"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archives", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--accrue", default="build/bin/accrue")
    arguments = parser.parse_args()
    print(f"| errors, {arguments.rows:,} rows | archives | no map | isotonic | conformal |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for kind in (*PAPERS, "together", "together, named", "exponential", "Student's t of 3"):
            seeds = range(1, arguments.archives + 1)
            maps = list(pool.map(lambda seed: taken(arguments, pathlib.Path(scratch), kind, seed), seeds))
            print(f"| {kind} | {len(maps)} | {' | '.join(str(maps.count(name)) for name in ('none', 'isotonic', 'conformal'))} |", flush=True)


if __name__ == "__main__":
    main()
