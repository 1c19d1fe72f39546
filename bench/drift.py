#!/usr/bin/env python3
"""drift.py [--accrue COMMAND] [--runs 100]: how soon a change is noticed, how often one that is none, and how well a model recovers.

Every run is an archive of Lorenz forecasts of its own (seeds 1 to RUNS), 400 start times of 40 rows each; half-way the model
that forecasts is replaced by a worse one. A normal distribution whose sigma depends on the lead time is fitted to the first
150 start times.
- monitor looks at all rows since: does it alarm within 30 start times of the change (at 200), and not before it?
- monitor on the same archive without a change, 250 start times: does it alarm falsely?
- replay: calibration error of the model that learns before the change (start times 150 to 200), and from 50 start times after it
  on (250 to 400), beside that of the static model.
Takes some seconds of one core per run."""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

STARTS, FITTED, CHANGE = 400, 150, 200
SOON, RECOVERED = 30, 50
ROWS_OF_START = 40


def run(*words):
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if ended.returncode not in (0, 3):  # 3: monitor's alarm
        raise RuntimeError(f"{' '.join(map(str, words))}: {ended.stderr}")
    return ended.stdout


def part(lines, begin, end, path):
    rows = lines[1 + begin * ROWS_OF_START : 1 + end * ROWS_OF_START]
    path.write_text("\n".join([lines[0], *rows]) + "\n")
    return path


def one(accrue, seed):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        archives = {}
        for kind, options in {"changing": ["--change-at", CHANGE / STARTS], "quiet": []}.items():
            path = folder / f"{kind}.csv"
            run(accrue, "generate", "lorenz", "--rows", STARTS * ROWS_OF_START, "--seed", seed, *options, "-o", path)
            archives[kind] = path.read_text().splitlines()
        early = part(archives["changing"], 0, FITTED, folder / "early.csv")
        model = folder / "model.json"
        run(accrue, "fit", early, "--inputs", "lead_time", "--prediction", "prediction", "--observation", "observation",
            "--time", "start_time", "--family", "normal", "--bias", "none", "--starts", 1, "--threads", 1, "--quiet",
            "-o", model)  # fmt: skip

        def monitored(kind):
            late = part(archives[kind], FITTED, STARTS, folder / f"late_{kind}.csv")
            found = json.loads(run(accrue, "monitor", model, late, "--threads", 1, "--json"))
            return float(found["alarm_time"]) if found["alarm"] else None

        def calibration(rows, *options):
            figures = json.loads(run(accrue, "replay", rows, "--model", model, "--threads", 1, "--json", *options))
            return [figures[kind]["calibration_error_percent"] for kind in ("adapting", "static")]

        first = float(archives["changing"][1 + CHANGE * ROWS_OF_START].split(",")[0])
        before = part(archives["changing"], FITTED, CHANGE, folder / "before.csv")
        late = folder / "late_changing.csv"
        found = {
            "change": first,
            "alarm": monitored("changing"),
            "false_alarm": monitored("quiet"),
            "before": calibration(before)[0],
            "after": calibration(late, "--from", first + RECOVERED),
        }
        print(seed, json.dumps(found), file=sys.stderr, flush=True)  # some minutes are long
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = list(pool.map(lambda seed: one(arguments.accrue, seed), range(1, arguments.runs + 1)))
    waits = [own["alarm"] - own["change"] for own in runs if own["alarm"] is not None]
    soon = sum(0 <= wait < SOON for wait in waits)
    early = sum(wait < 0 for wait in waits)
    false = sum(own["false_alarm"] is not None for own in runs)
    print(f"alarm within {SOON} start times of the change: {soon} of {len(runs)} (before it: {early})")
    if waits:
        print(f"start times to the alarm: median {statistics.median(waits):g}, longest {max(waits):g}")
    print(f"false alarms without a change: {false} of {len(runs)}")
    figures = {"learns, before the change": [own["before"] for own in runs],
               f"learns, from {RECOVERED} start times after it": [own["after"][0] for own in runs],
               f"static, from {RECOVERED} start times after it": [own["after"][1] for own in runs]}  # fmt: skip
    for name, values in figures.items():
        print(f"calibration error, {name}: mean {statistics.fmean(values):.2f}%, largest {max(values):.2f}%")
    regained = sum(own["after"][0] <= own["before"] + 1 for own in runs)
    print(f"calibration regained (at most a percentage point above that before): {regained} of {len(runs)}")


if __name__ == "__main__":
    main()
