#!/usr/bin/env python3
"""Writes the tables of this folder, or with --check compares them with what lies here. README.md says what they are."""

import pathlib
import sys
import time

sys.dont_write_bytecode = True

import families
import kolmogorov
import reliability
import scores

TABLES = {
    "scores.csv": scores.table,
    "reliability.json": reliability.table,
    "families.csv": families.table,
    "family_moments.csv": families.moments_table,
    "kolmogorov.csv": kolmogorov.table,
    "kolmogorov_median.csv": kolmogorov.median_table,
}


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit("usage: make_tables.py [--check]")
    folder = pathlib.Path(__file__).resolve().parent
    differs = False
    for name, make in TABLES.items():
        start = time.monotonic()
        text = make().encode("ascii")
        path = folder / name
        note = "written"
        if arguments:
            same = path.exists() and path.read_bytes() == text
            differs = differs or not same
            note = "same" if same else "DIFFERS"
        else:
            path.write_bytes(text)
        print(f"{name}: {len(text)} bytes, {time.monotonic() - start:.0f} s, {note}")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
