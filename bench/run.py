#!/usr/bin/python3
"""`make bench`: the suites of bench_accrue, and whole processes; a table of the parts beside their scalar references and the
machine's ceilings; the figures that are asked for. Results go to one JSON file, for bench/compare.

Nothing else should run on the machine meanwhile. --full adds the fits of 10^6 and 10^7 rows, which take minutes.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import results
from results import duration, process, short, threads_of

BENCH = Path(__file__).resolve().parent
INPUTS = {"G": "x", "5D": "x1,x2,x3,x4,x5"}


SAME_REFERENCE = {"score_in_fit": "accuracy_reliability"}


def reference_of(name, measured):
    """The scalar version of a part with the same rows and inputs."""
    part, *arguments = name.split("/")
    return measured.get(
        "/".join(
            [SAME_REFERENCE.get(part, part) + "_reference", *(a for a in arguments if not a.startswith("threads:"))]
        )
    )


def show_parts(measured):
    ceilings = {}
    for run in measured.values():
        if run["part"] in ("memory_bandwidth", "multiply_add_rate"):
            ceilings[run["part"], run["arguments"]["threads"]] = run.get("bytes_per_second") or run["flops_per_second"]
    for (part, threads), rate in sorted(ceilings.items()):
        print(
            f"ceiling: {part.replace('_', ' ')}, {threads_of(threads)}: "
            f"{short(rate)}{'B/s' if part == 'memory_bandwidth' else 'flop/s'}"
        )
    rows = []
    for name, run in measured.items():
        if run["part"].endswith("_reference") or run["part"] in ("memory_bandwidth", "multiply_add_rate"):
            continue
        arguments = run["arguments"]
        threads = arguments.get("threads", 1)
        reference = reference_of(name, measured)

        def share(cost, part):
            if not run.get(cost) or (part, threads) not in ceilings:
                return ""
            return f"{100 * run[cost] * run['rows_per_second'] / ceilings[part, threads]:.1f}%"

        rows.append(
            [
                run["part"],
                short(arguments["rows"]),
                arguments.get("inputs", ""),
                threads,
                duration(run["seconds"]),
                short(run["rows_per_second"]),
                f"{reference['seconds'] / run['seconds']:.1f}" if reference else "",
                short(run["bytes_per_row"]) if run.get("bytes_per_row") else "",
                short(run["flops_per_row"]) if run.get("flops_per_row") else "",
                share("bytes_per_row", "memory_bandwidth"),
                share("flops_per_row", "multiply_add_rate"),
            ]
        )
    print()
    print(
        results.table(
            [
                "part",
                "rows",
                "inputs",
                "threads",
                "time",
                "rows/s",
                "times scalar",
                "bytes/row",
                "flops/row",
                "of bandwidth",
                "of multiply-adds",
            ],
            rows,
        )
    )


def fit_process(accrue, name, rows, rounds, folder):
    """The median of `accrue fit` as a user waits for it, with the reading of the file and the writing of the model."""
    data = folder / "data.csv"
    subprocess.run([accrue, "generate", name, "--rows", str(rows), "-o", data], check=True)
    command = [
        accrue,
        "fit",
        data,
        "--inputs",
        INPUTS[name],
        "--prediction",
        "f",
        "--observation",
        "y",
        "--quiet",
        "--json",
        "-o",
        folder / "model.json",
    ]
    runs = [process(command) for _ in range(rounds)]
    return {
        "part": "accrue fit",
        "arguments": {"rows": rows},
        "seconds": statistics.median(r.seconds for r in runs),
        "megabytes": max(r.megabytes for r in runs),
    }


def other_script(name, *arguments):
    """Runs a script of this folder, which prints for itself; what it wrote for others."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        subprocess.run([BENCH / name, *arguments, "--out", out], check=True)
        return json.loads(out.read_text())


def suite_figures(figures, measured):
    most = max(run["arguments"].get("threads", 1) for run in measured.values())
    time = lambda name: measured[name]["seconds"]
    ar = lambda rows, threads: time(f"accuracy_reliability/rows:{rows}/threads:{threads}")
    for rows, words in ((10**6, "10^6"), (10**7, "10^7")):
        in_fit = lambda threads: time(f"score_in_fit/rows:{rows}/threads:{threads}")
        reference = time(f"accuracy_reliability_reference/rows:{rows}")
        figures.add(
            f"accuracy-reliability in the fit's inner loop, {words} rows, {threads_of(most)}: times the scalar reference",
            reference / in_fit(most),
            at_least=15,
            note=f"{reference / in_fit(1):.1f} with one thread",
        )
    figures.add(
        "accuracy-reliability with exact ranks: 10^6 rows, 1 thread, times the scalar reference",
        time(f"accuracy_reliability_reference/rows:{10**6}") / ar(10**6, 1),
        at_least=6,
    )
    if most > 1:
        figures.add(f"the same: 10^6 rows, {most} threads, times faster than 1", ar(10**6, 1) / ar(10**6, most), at_least=1.6)
    for threads in sorted({1, most}):
        figures.add(
            f"the same: 10^7 rows, times the time of 10^6, {threads_of(threads)}",
            ar(10**7, threads) / ar(10**6, threads),
            at_most=14,
        )
    figures.add(
        "one cost-and-gradient step of the network, 10^6 rows: memory beyond the data, per row",
        measured[f"network_step/rows:{10**6}/inputs:5/threads:{most}"]["memory_per_row"],
        at_most=120,
        unit=" bytes",
    )
    figures.add(
        "one 50-10 network with 5 inputs, forward, 1 thread: million rows per second",
        measured[f"network_forward/rows:{2**16}/inputs:5"]["rows_per_second"] / 1e6,
        at_least=10,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=results.ROOT / "build", help="build folder (default: build)")
    parser.add_argument("--full", action="store_true", help="also fits of 10^6 and 10^7 rows")
    parser.add_argument("--repetitions", type=int, default=5, help="of every benchmark; the median counts (default: 5)")
    parser.add_argument("--seconds", type=float, default=0.1, help="least time of a repetition (default: 0.1)")
    parser.add_argument("--out", type=Path, help="the JSON file (default: bench.json in the build folder)")
    options = parser.parse_args()
    accrue = options.build / "bin/accrue"
    out = options.out or options.build / "bench.json"

    result = results.header()
    print(results.describe(result), flush=True)
    measured = results.suite(options.build, repetitions=options.repetitions, seconds=options.seconds)
    show_parts(measured)
    print(flush=True)

    figures = results.Figures()
    suite_figures(figures, measured)
    evaluate = other_script("evaluate_vs_pandas.py", "--accrue", accrue)
    figures.add(
        "accrue evaluate, 10^6 rows, end to end: times faster than pandas.read_csv alone", evaluate["ratio"], at_least=3
    )
    figures.add(
        "the same with --conditional along 5 inputs: processor seconds, times those without",
        evaluate["conditional_ratio"],
        at_most=2.5,
    )
    predict = other_script("predict_vs_pandas.py", "--accrue", accrue, "--rows", "200000")
    figures.add(
        "accrue predict, 200,000 rows, CSV to CSV: times faster than pandas and NumPy", predict["ratio"], at_least=10
    )

    fits = [("G", 100, 21)] + ([("5D", 10**6, 1), ("5D", 10**7, 1)] if options.full else [])
    with tempfile.TemporaryDirectory(dir=options.build) as folder:  # 10^7 rows are more than a gigabyte
        for name, rows, rounds in fits:
            run = measured[f"accrue_fit/rows:{rows}"] = fit_process(accrue, name, rows, rounds, Path(folder))
            print(
                f"accrue fit, {rows} rows of {name}: {duration(run['seconds'])}, {run['megabytes']:.0f} MB resident at most",
                flush=True,
            )
    seconds = lambda rows: measured[f"accrue_fit/rows:{rows}"]["seconds"]
    figures.add("default fit of 100 rows, whole process", 1e3 * seconds(100), at_most=40, unit=" ms")
    if options.full:
        figures.add("default fit of 10^6 rows, 5 inputs, whole process", seconds(10**6), at_most=60, unit=" s")
        figures.add("the same: memory", measured[f"accrue_fit/rows:{10**6}"]["megabytes"], at_most=600, unit=" MB")
        figures.add("default fit of 10^7 rows, 5 inputs, whole process", seconds(10**7), at_most=480, unit=" s")
        figures.add("the same: time per row, times that of 10^6 rows", seconds(10**7) / seconds(10**6) / 10, at_most=1.3)
    else:
        figures.miss("default fits of 10^6 and 10^7 rows", "make bench FULL=1")

    result.update(measured=measured, evaluate_vs_pandas=evaluate, predict_vs_pandas=predict)
    results.finish(result, figures, out)


if __name__ == "__main__":
    main()
