#!/usr/bin/python3
"""`make bench-peers`: accrue beside what a user would pick instead. One run, every peer alone on the machine.

Kernels: PyTorch, properscoring, scoringrules, onnxruntime. Fits: PyTorch with its L-BFGS, NGBoost, scikit-learn, MAPIE, judged by
`accrue evaluate` on the same test rows. Peers are timed from memory, without their imports; `accrue fit` is timed as a process, with the
reading of the file and the writing of the model. A peer that took longer than the budget gets no more rows.

The peers (bench/peers/requirements.txt) get an environment of their own in the build folder; PyTorch is Debian's.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import results
from results import TimedOut, duration, process, short, threads_of

PEERS = Path(__file__).resolve().parent / "peers"
DEBIAN_PYTHON = "/usr/bin/python3"  # the one that Debian's PyTorch belongs to
HARD_LIMIT = 10  # budgets after which a fit is ended
FITS = {
    "PyTorch L-BFGS": "fit_torch.py",
    "NGBoost": "fit_ngboost.py",
    "scikit-learn, log of size": "fit_boosting.py",
    "MAPIE": "fit_mapie.py",
}


def environment(build):
    """The peers' Python, made where it is missing; our own package again when the library is newer."""
    folder = build / "peers"
    python, stamp = folder / "venv/bin/python", folder / "installed.txt"
    library = (build / "lib/libaccrue.so").resolve()
    wanted = (PEERS / "requirements.txt").read_text()
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    if not stamp.exists() or stamp.read_text() != wanted or stamp.stat().st_mtime < library.stat().st_mtime:
        folder.mkdir(exist_ok=True)
        if not python.exists():
            subprocess.run(["python3", "-m", "venv", folder / "venv"], check=True)
        print("peers: installing", file=sys.stderr)
        subprocess.run([*pip, "-r", PEERS / "requirements.txt"], check=True)
        subprocess.run(
            ["cmake", "--install", build, "--prefix", folder / "prefix"], check=True, stdout=subprocess.DEVNULL
        )
        subprocess.run(
            [
                *pip,
                "--no-build-isolation",
                "--no-deps",
                "--force-reinstall",
                f"--config-settings=cmake.define.ACCRUE_PREFIX={folder / 'prefix'}",
                results.ROOT,
            ],
            check=True,
            env={**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"},
        )
        stamp.write_text(wanted)
    return python


def versions(python):
    names = [line.split("==")[0] for line in (PEERS / "requirements.txt").read_text().splitlines() if "==" in line]
    code = f"import importlib.metadata as m; print(', '.join(n + ' ' + m.version(n) for n in {names!r}))"
    blas = next((file.resolve() for file in Path("/usr/lib").glob("*/libblas.so.3")), Path("unknown/libblas.so.3"))
    torch = process([DEBIAN_PYTHON, "-c", "import torch; print(torch.__version__)"]).output.strip()
    return process([python, "-c", code]).output.strip() + f"; PyTorch {torch} of Debian, BLAS {blas.parent.name}"


def kernels(options, python, folder, figures):
    """Rows of the first table: what, rows, threads, who, seconds, memory per row."""
    rows = []
    # Below a million rows, to try things out, the suites' smaller sizes.
    sizes = [n for n in (10**6, 10**7) if n <= options.kernel_rows] or [10**4]
    step_rows = 10**6 if options.kernel_rows >= 10**6 else 1000
    threads = options.threads
    pattern = "|".join(
        [
            f"^accuracy_reliability_reference/rows:({'|'.join(map(str, sizes))})/",
            f"^(score_in_fit|accuracy_reliability)/rows:({'|'.join(map(str, sizes))})/threads:{threads}/",
            f"^network_step/rows:{step_rows}/inputs:5/threads:{threads}/",
        ]
    )
    ours = results.suite(options.build, pattern, repetitions=options.rounds)
    torch = lambda what, n: json.loads(process([DEBIAN_PYTHON, PEERS / "kernels_torch.py", what, n, threads]).output)

    def add(what, n, used, *runs):
        rows.extend(
            {
                "what": what,
                "rows": n,
                "threads": t,
                "who": who,
                "seconds": run["seconds"],
                "memory_per_row": run.get("memory_per_row"),
                "ratio": run["seconds"] / runs[0][1]["seconds"],
            }
            for t, (who, run) in zip(used, runs)
        )

    for n in sizes:
        in_fit = ours[f"score_in_fit/rows:{n}/threads:{threads}"]
        by_autograd, by_hand = torch("score", n), torch("score-by-hand", n)
        add(
            "ar value and gradient",
            n,
            [threads, threads, threads, threads, 1],
            ("accrue, in the fit", in_fit),
            ("accrue, exact ranks", ours[f"accuracy_reliability/rows:{n}/threads:{threads}"]),
            ("PyTorch, autograd", by_autograd),
            ("PyTorch, gradient by hand", by_hand),
            ("scalar reference", ours[f"accuracy_reliability_reference/rows:{n}"]),
        )
        figures.add(
            f"accuracy-reliability value and gradient, {n} rows, {threads_of(threads)}: times PyTorch (the faster of its two)",
            min(by_hand["seconds"], by_autograd["seconds"]) / in_fit["seconds"],
            at_least=10,
            note=f"{by_autograd['seconds'] / in_fit['seconds']:.1f} for autograd",
        )
        figures.add("the same: times the scalar reference", rows[-1]["ratio"], at_least=15)
    step, theirs = ours[f"network_step/rows:{step_rows}/inputs:5/threads:{threads}"], torch("step", step_rows)
    add("network cost and gradient", step_rows, [threads, threads], ("accrue", step), ("PyTorch", theirs))
    figures.add(
        f"one cost-and-gradient step of the network, {step_rows} rows, {threads_of(threads)}: times PyTorch",
        theirs["seconds"] / step["seconds"],
        at_least=2.5,
    )
    figures.add(
        "the same: memory beyond the data, per row",
        step["memory_per_row"],
        at_most=120,
        unit=" bytes",
        note=f"PyTorch {theirs['memory_per_row']:.0f}",
    )

    score_rows = min(10**6, options.kernel_rows)
    scores = json.loads(process([python, PEERS / "scores.py", score_rows]).output)
    add(
        "CRPS of every row, Python",
        score_rows,
        [1, 1, 1],
        *((who, {"seconds": s}) for who, s in scores["seconds"].items()),
    )
    figures.add(
        f"CRPS of {score_rows} rows in Python, 1 thread: times properscoring and scoringrules",
        min(row["ratio"] for row in rows[-2:]),
        at_least=5,
    )
    figures.add("the same: a call on one row", scores["call"] * 1e6, at_most=2, unit=" us")

    archive, model = folder / "archive.csv", folder / "onnx.json"
    process([options.accrue, "generate", "5D", "--rows", 1000, "-o", archive])
    process(
        [
            options.accrue,
            "fit",
            archive,
            "--inputs",
            "x1,x2,x3,x4,x5",
            "--prediction",
            "f",
            "--observation",
            "y",
            "--quiet",
            "-o",
            model,
        ]
    )
    predict_rows = min(10**5, options.kernel_rows)
    onnx = json.loads(process([python, PEERS / "predict_onnx.py", model, predict_rows]).output)
    add(
        f"predict, {onnx['networks']} networks",
        predict_rows,
        [1, 1, 1],
        ("accrue, Python", {"seconds": onnx["accrue"]}),
        *((f"onnxruntime {kind}, batches of {onnx[kind]['batch']}", onnx[kind]) for kind in ("double", "float")),
    )
    figures.add(
        f"predict, {predict_rows} rows, 1 thread: times onnxruntime (double, as ours)",
        onnx["double"]["seconds"] / onnx["accrue"],
        at_least=2,
        note=f"{onnx['float']['seconds'] / onnx['accrue']:.2f} times its float",
    )
    return rows


def judge(accrue, file):
    """CRPS and calibration error of the sigmas in a file, by the same judge for all."""
    verified = json.loads(
        process(
            [accrue, "evaluate", file, "--prediction", "f", "--observation", "y", "--sigma", "sigma", "--json"]
        ).output
    )
    return {
        "crps": verified["crps"],
        "calibration_error": verified["calibration_error_percent"],
        "calibration_floor": verified["calibration_floor_percent"],
    }


def our_fit(options, folder, data, rows):
    model, judged = folder / "model.json", folder / "judged.csv"
    inputs = ",".join(f"x{k + 1}" for k in range(data["inputs"]))
    fitted = process(
        [
            options.accrue,
            "fit",
            folder / f"train_{rows}.csv",
            "--inputs",
            inputs,
            "--prediction",
            "f",
            "--observation",
            "y",
            "--threads",
            options.threads,
            "--quiet",
            "--json",
            "-o",
            model,
        ]
    )
    predicted = process(
        [options.accrue, "predict", model, folder / "test.csv", "--threads", options.threads, "-o", judged]
    )
    return {
        "seconds": fitted.seconds,
        "megabytes": fitted.megabytes,
        "predict_seconds": predicted.seconds,
        **judge(options.accrue, judged),
    }


def their_fit(options, python, script, folder, rows):
    interpreter = DEBIAN_PYTHON if script == "fit_torch.py" else python
    threads = {name: str(options.threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = process(
        [interpreter, "-W", "ignore", PEERS / script, folder, rows, options.threads],
        limit=HARD_LIMIT * options.budget,
        env={**os.environ, **threads},
    )
    seconds = json.loads(done.output)
    return {
        "seconds": seconds["fit"],
        "megabytes": done.megabytes,
        "predict_seconds": seconds["predict"],
        **judge(options.accrue, folder / "judged.csv"),
    }


def fits(options, python, folder):
    """Rows of the second table, as they come: data, rows, who and the outcome."""
    prepared = json.loads(
        process(
            [python, PEERS / "prepare.py", options.accrue, options.data, folder, ",".join(map(str, options.sizes))],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        ).output
    )
    rows = []
    for name, data in prepared.items():
        over = {}  # peers that are over the budget, and from where
        for size in data["sizes"]:
            ours = our_fit(options, folder / name, data, size)
            rows.append({"data": name, "rows": size, "who": "accrue", "ratio": 1, **ours})
            for who, script in FITS.items():
                if who not in options.fits:
                    continue
                run = {"data": name, "rows": size, "who": who}
                if who in over:
                    run["stopped"] = f"over budget at {over[who]} rows"
                else:
                    try:
                        run.update(their_fit(options, python, script, folder / name, size))
                        run["ratio"] = run["seconds"] / ours["seconds"]
                    except TimedOut:
                        run["stopped"] = f"ended after {HARD_LIMIT * options.budget:g} s"
                    except subprocess.CalledProcessError as error:
                        run["stopped"] = f"failed with {error.returncode}"
                    if run.get("seconds", options.budget + 1) > options.budget and not run.get(
                        "stopped", ""
                    ).startswith("failed"):
                        over[who] = size
                rows.append(run)
                print(
                    f"{name}, {size} rows, {who}: {run.get('stopped') or duration(run['seconds'])}",
                    file=sys.stderr,
                    flush=True,
                )
    return prepared, rows


def fit_figures(figures, prepared, rows):
    find = lambda name, size, who: next((r for r in rows if (r["data"], r["rows"], r["who"]) == (name, size, who)), {})
    for name, data in prepared.items():
        size = max((n for n in data["sizes"] if n <= 10**5))
        ours, theirs = find(name, size, "accrue"), find(name, size, "NGBoost")
        if "ratio" in theirs:
            figures.add(f"fit, {size} rows of {name}: times faster than NGBoost", theirs["ratio"], at_least=15)
            figures.add("the same: our out-of-sample CRPS over NGBoost's", ours["crps"] / theirs["crps"], at_most=1)
        else:
            figures.miss(f"fit, {size} rows of {name}: times faster than NGBoost", theirs.get("stopped", "not run"))
    for size, asked in ((100, 20), (10**4, 2.5)):
        theirs = find("5D", size, "PyTorch L-BFGS")
        if "ratio" in theirs:
            figures.add(f"fit, {size} rows of 5D: times faster than PyTorch", theirs["ratio"], at_least=asked)


def show_kernels(rows):
    print(
        results.table(
            ["what", "rows", "threads", "who", "time", "ratio", "memory, bytes per row"],
            [
                [
                    r["what"],
                    short(r["rows"]),
                    r["threads"],
                    r["who"],
                    duration(r["seconds"]),
                    f"{r['ratio']:.2f}",
                    f"{r['memory_per_row']:.0f}" if r["memory_per_row"] else "",
                ]
                for r in rows
            ],
        )
    )


def show_fits(rows):
    cells = []
    for r in rows:
        cells.append(
            [r["data"], short(r["rows"]), r["who"]]
            + (
                [r["stopped"], "", "", "", "", ""]
                if "stopped" in r
                else [
                    duration(r["seconds"]),
                    f"{r['ratio']:.2f}",
                    f"{r['megabytes']:.0f}",
                    f"{r['crps']:.4f}",
                    f"{r['calibration_error']:.2f}%",
                    f"{r['calibration_floor']:.2f}%",
                ]
            )
        )
    print(
        results.table(["data", "rows", "who", "fit", "ratio", "peak MB", "CRPS", "calibration error", "floor"], cells)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=results.ROOT / "build", help="build folder (default: build)")
    parser.add_argument(
        "--data",
        type=Path,
        default=results.ROOT / "../shared/data/uci",
        help="folder of the UCI sets; without it 5D alone",
    )
    parser.add_argument(
        "--sizes", default="100,1000,10000,100000,1000000", help="rows of the fits (default: 10^2 to 10^6)"
    )
    parser.add_argument("--fits", default=",".join(FITS), help="peers whose fits are run (default: all)")
    parser.add_argument("--kernel-rows", type=int, default=10**7, help="most rows of the kernels (default: 10^7)")
    parser.add_argument(
        "--budget", type=float, default=60, help="seconds of a fit after which a peer gets no more rows (default: 60)"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=len(os.sched_getaffinity(0)),
        choices=sorted({1, len(os.sched_getaffinity(0))}),
        help="of everybody (default: all cores)",
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="repetitions of our kernels; the median counts (default: 5)"
    )
    parser.add_argument("--out", type=Path, help="the JSON file (default: peers.json in the build folder)")
    options = parser.parse_args()
    options.build, options.data = options.build.resolve(), options.data.resolve()
    options.accrue = options.build / "bin/accrue"
    options.sizes = sorted(int(n) for n in options.sizes.split(","))
    out = options.out or options.build / "peers.json"

    python = environment(options.build)
    result = results.header()
    result["peers"] = versions(python)
    figures = results.Figures()
    print(results.describe(result))
    print(f"peers: {result['peers']}\n", flush=True)
    with tempfile.TemporaryDirectory(dir=options.build) as folder:  # gigabytes
        result["kernels"] = kernels(options, python, Path(folder), figures)
        show_kernels(result["kernels"])
        print(
            f"\nratio: time over that of the first line of its kind\n\nbudget: {options.budget:g} s a fit; a peer that took longer gets no more rows, and is "
            f"ended after {HARD_LIMIT * options.budget:g} s. {threads_of(options.threads)}.\n",
            flush=True,
        )
        result["data"], result["fits"] = fits(options, python, Path(folder))
    show_fits(result["fits"])
    fit_figures(figures, result["data"], result["fits"])
    result["budget"] = options.budget
    name = lambda *words: "/".join(str(word) for word in words)
    result["measured"] = {
        name(r["what"], r["rows"], r["who"]): {"seconds": r["seconds"]} for r in result["kernels"]
    } | {name("fit", r["data"], r["rows"], r["who"]): {"seconds": r.get("seconds")} for r in result["fits"]}
    results.finish(result, figures, out)


if __name__ == "__main__":
    main()
