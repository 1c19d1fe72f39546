#!/usr/bin/env python3
"""Forecast archives, fitted on their early part and judged on their later part: sigma around the given prediction, the default
without and with its choice of a map, recalibrated, and what the default took, given by name.

    bench/archives.py DATA [--accrue build/bin/accrue]

Seconds are of the processor, so that other work matters little; "by name" says what the choices of the default cost. DATA has solar/*.csv (hourly irradiance: the observation ghi, the prediction ssrd) and rain/innsbruck.csv (three days of rain, 11 members). Lorenz is made by the command. Prints a table of
docs/distributions.md.
"""

import argparse
import csv
import json
import pathlib
import resource
import subprocess
import tempfile

PUBLISHED = {"bon": (52.5, 50.8), "dra": (28.9, 28.3), "tbl": (57.5, 55.6)}  # DRN, BQN
WAYS = {"given": ["--family", "normal", "--bias", "none"], "no map": ["--recalibrate", "none"], "default": [], "recalibrated": ["--recalibrate", "isotonic"]}


def split(rows, is_early, folder):
    """The files of the early and the later rows."""
    names = []
    for name, wanted in (("early.csv", True), ("late.csv", False)):
        with open(folder / name, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(row for row in rows if is_early(row) == wanted)
        names.append(str(folder / name))
    return names


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(accrue, early, late, roles, inputs, options):
    """Figures of the later rows, seconds of the fit, and what was taken: family, bias and map."""
    model = str(pathlib.Path(early).parent / "model.json")
    began = seconds_of_children()
    subprocess.run([accrue, "fit", early, *roles, *inputs, *options, "-o", model, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    seconds = seconds_of_children() - began
    scores = subprocess.run([accrue, "evaluate", late, *roles, "--model", model, "--json"], check=True, capture_output=True)
    configuration = json.loads(pathlib.Path(model).read_text())["configuration"]
    taken = [configuration[name] for name in ("family", "bias", "recalibrate")]
    return json.loads(scores.stdout), seconds, taken


def archives(data, accrue, folder):
    """(name, rows, whether a row is early, options of every command, options of fits) of every archive."""
    found = []
    for path in sorted((data / "solar").glob("*.csv")):
        rows = list(csv.DictReader(path.open()))
        found.append((path.stem, rows, lambda row: row["time"] < "2020", ["--prediction", "ssrd", "--observation", "ghi"],
                      ["--inputs", "ssrd,rest2,zen,sp,t2m,d2m,kappa,rh", "--time", "time"]))
    lorenz = folder / "lorenz.csv"
    subprocess.run([accrue, "generate", "lorenz", "--rows", "20000", "--seed", "1", "-o", str(lorenz)], check=True)
    found.append(("lorenz", list(csv.DictReader(lorenz.open())), lambda row: float(row["start_time"]) < 400,
                     ["--prediction", "prediction", "--observation", "observation", "--group", "start_time"],
                     ["--inputs", "lead_time,start_left2,start_left1,start,start_right1,start_right2"]))
    rain = data / "rain" / "innsbruck.csv"
    if rain.exists():
        found.append(("rain", list(csv.DictReader(rain.open())), lambda row: row["date"] < "2010",
                      ["--prediction", "mean(rainfc*)", "--observation", "rain"],
                      ["--inputs", "mean(rainfc*),spread(rainfc*),date:season", "--lower", "0"]))
        found.append(("rain, one member", found[-1][1], found[-1][2], ["--prediction", "rainfc.1", "--observation", "rain"],
                      ["--inputs", "rainfc.1,date:season", "--lower", "0"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--accrue", default="build/bin/accrue")
    arguments = parser.parse_args()
    print("| archive | way | CRPS | calibration error | floor | 90% interval coverage | seconds | taken |")
    print("|---|---|---|---|---|---|---|---|")
    means = {way: [] for way in (*WAYS, "by name")}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, rows, is_early, roles, inputs in archives(arguments.data, arguments.accrue, folder):
            early, late = split(rows, is_early, folder)
            by_name = []
            for way in (*WAYS, "by name"):
                scores, seconds, taken = run(arguments.accrue, early, late, roles, inputs, WAYS.get(way, by_name))
                if way == "default":
                    by_name = [word for option, value in zip(("--family", "--bias", "--recalibrate"), taken) for word in (option, value)]
                coverage = next(one["observed"] for one in scores["coverage"] if one["level"] == 0.9)
                print(f"| {name} | {way} | {scores['crps']:.4g} | {scores['calibration_error_percent']:.1f}% | {scores['calibration_floor_percent']:.1f}% | "
                      f"{100 * coverage:.1f}% | {seconds:.1f} | {', '.join(taken)} |", flush=True)
                if name in PUBLISHED:
                    means[way].append(scores["crps"])
    for way, values in means.items():
        if values:
            print(f"| mean of {len(values)} stations | {way} | {sum(values) / len(values):.4g} | | | | | |")
    for k, method in enumerate(("DRN", "BQN")):
        print(f"| mean of {len(PUBLISHED)} stations | {method}, published | {sum(one[k] for one in PUBLISHED.values()) / len(PUBLISHED):.4g} | | | | | |")


if __name__ == "__main__":
    main()
