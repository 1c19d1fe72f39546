#!/usr/bin/env python3
"""What hardening costs: instructions of three commands with and without it, counted by callgrind, as a table in Markdown.

    bench/hardening.py [--folder FOLDER]

Builds the library and the command twice, at the baseline level, which takes some minutes. One thread.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ["--prediction", "f", "--observation", "y"]
COMMANDS = {
    "fit, 2,000 rows": ["fit", "small.csv", *DATA, "--threads", "1", "--starts", "1", "-o", "model.json", "--quiet"],
    "evaluate, 200,000 rows": ["evaluate", "large.csv", *DATA, "--sigma", "true_sigma", "--threads", "1", "--json"],
    "predict, 200,000 rows": ["predict", "model.json", "large.csv", "--threads", "1", "-o", "out.csv"],
}


def build(folder, hardened):
    """The command of a build."""
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DACCRUE_VARIANTS=OFF", "-DACCRUE_TESTS=OFF", f"-DACCRUE_HARDEN={hardened}"]
    subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "accrue_app"], check=True, stdout=subprocess.DEVNULL)
    return folder / "bin/accrue"


def instructions(command, arguments, folder):
    """Counted by callgrind."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", command, *arguments]
    run = subprocess.run(valgrind, cwd=folder, check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "build/hardening", help="of the two builds")
    folder = parser.parse_args().folder.resolve()
    programs = {hardened: build(folder / hardened.lower(), hardened) for hardened in ("OFF", "ON")}
    print("| command | instructions without | with | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as data:
        for name, rows in (("small.csv", 2000), ("large.csv", 200_000)):
            subprocess.run([programs["ON"], "generate", "5D", "--rows", str(rows), "-o", f"{data}/{name}"], check=True)
        for name, arguments in COMMANDS.items():
            off, on = (instructions(programs[hardened], arguments, data) for hardened in ("OFF", "ON"))
            print(f"| {name} | {off:,} | {on:,} | {on / off:.4f} |", flush=True)


if __name__ == "__main__":
    main()
