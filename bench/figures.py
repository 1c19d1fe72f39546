#!/usr/bin/python3
"""The project's speed figures beside what they have to reach, from the files that scripts/bench leaves."""

import argparse
import json
from pathlib import Path


def medians(file):
    """Seconds of every benchmark: the median of its repetitions."""
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    times = {}
    for run in json.loads(Path(file).read_text())["benchmarks"]:
        if run.get("aggregate_name") == "median":
            times[run["run_name"].removesuffix("/real_time")] = run["real_time"] * units[run["time_unit"]]
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scores", help="JSON of bench_scores, with repetitions")
    parser.add_argument("evaluate", help="JSON of evaluate_vs_pandas.py")
    options = parser.parse_args()

    times = medians(options.scores)
    fast = {(rows, threads): times[f"accuracy_reliability/rows:{rows}/threads:{threads}"]
            for rows in (10**6, 10**7) for threads in (1, 2)}
    reference = times[f"accuracy_reliability_reference/{10**6}"]
    # What is measured, the figure, whether more is better, what it has to reach.
    figures = [
        ("accuracy-reliability with gradient, 10^6 rows, 1 thread: times faster than the scalar reference",
         reference / fast[10**6, 1], True, 6),
        ("the same: 2 threads, times faster than 1", fast[10**6, 1] / fast[10**6, 2], True, 1.6),
        ("the same: 10^7 rows, times the time of 10^6, 1 thread", fast[10**7, 1] / fast[10**6, 1], False, 14),
        ("the same: 10^7 rows, times the time of 10^6, 2 threads", fast[10**7, 2] / fast[10**6, 2], False, 14),
        ("accrue evaluate, 10^6 rows, end to end: times faster than pandas.read_csv alone",
         json.loads(Path(options.evaluate).read_text())["ratio"], True, 3),
    ]
    width = max(len(figure[0]) for figure in figures)
    print(f"{'':{width}}  figure  has to be")
    for what, figure, more, bound in figures:
        met = figure >= bound if more else figure <= bound
        rule = f"at {'least' if more else 'most'} {bound}"
        print(f"{what:{width}}  {figure:6.2f}  {rule:<12}{'' if met else '  MISSED'}")
    print(f"(accuracy-reliability: {fast[10**6, 1] * 1e3:.1f} ns a row with one thread, {fast[10**6, 2] * 1e3:.1f} with two)")


if __name__ == "__main__":
    main()
