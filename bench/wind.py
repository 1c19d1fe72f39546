#!/usr/bin/python3
"""Wind forecasts as users have them, and what it is worth to say what the inputs are.

    bench/wind.py make FILE [--rows 40000]       writes a raw archive
    bench/wind.py compare [--rows 40000]         fits it three ways and prints a table
    bench/wind.py categories [--rows 1000000] [--levels 10000]    what a large category costs

The archive has 41 stations, 8 lead times, a wind direction, valid times over three years and a weather type as text; 1% of two
inputs are gaps, written as -9999. Bias and spread depend on all of them. `compare` fits the earlier two years and judges the third:
numbers alone; kinds of inputs, named in one command; and the same inputs encoded by hand (one column for every station and weather
type but one, sines and cosines, means in gaps with an indicator). With scikit-learn it adds boosted quantiles with native categories.

`categories` fits 5D of `accrue generate` with and without a column of so many stations, each of which has a spread of its own, and prints the
processor time of both, which other programs on the machine hardly change; the limit is 1.3 times. With --spread 0 there is nothing to learn from
the column, and what is left is the time that its values take.
"""
import argparse
import csv
import datetime
import json
import math
import pathlib
import random
import resource
import subprocess
import tempfile
import time

COMMAND = pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "accrue"
STATIONS, LEADS = 41, (6, 12, 18, 24, 36, 48, 60, 72)
WEATHER = ("clear", "cloudy", "frontal", "convective", "fog")
COLUMNS = ("valid_time", "station", "lead", "wdir", "weather", "pressure", "mu", "y")
GAP = -9999
SPLIT = "2021-01-01"


def rows(count, seed=1):
    draw = random.Random(seed)
    stations = [
        {"bias": draw.gauss(0, 0.5), "log_spread": draw.gauss(0, 0.25), "coast": draw.uniform(0, 2 * math.pi),
         "exposed": draw.uniform(0, 0.6)}
        for _ in range(STATIONS)
    ]
    start = datetime.datetime(2019, 1, 1)
    for i in range(count):
        hours = int(i / count * 3 * 365 * 24)
        valid = start + datetime.timedelta(hours=hours)
        s = draw.randrange(STATIONS)
        own = stations[s]
        lead = draw.choice(LEADS)
        season = 2 * math.pi * hours / (365.2425 * 24)
        day = 2 * math.pi * (hours % 24) / 24
        wdir = draw.uniform(0, 360)
        weather = draw.choices(WEATHER, (4, 4, 2, 1.2 + math.cos(season - math.pi), 1))[0]
        pressure = draw.gauss(1013, 9)
        mu = max(0.2, draw.weibullvariate(6, 2) * (1 + 0.2 * math.cos(season)))
        onshore = math.cos(math.radians(wdir) - own["coast"])
        log_spread = (-0.4 + own["log_spread"] + own["exposed"] * onshore + 0.3 * math.log(lead / 24) + 0.15 * math.cos(season)
                      + 0.35 * math.log(mu / 5) + {"convective": 0.6, "frontal": 0.3, "fog": -0.3}.get(weather, 0)
                      - 0.01 * (pressure - 1013))
        bias = own["bias"] + 0.3 * math.sin(day) + 0.25 * math.sin(season)
        y = mu + bias + math.exp(log_spread) * draw.gauss(0, 1)
        gaps = [draw.random() < 0.01 for _ in range(2)]
        yield (valid.isoformat(), f"station {s + 1}", lead, GAP if gaps[0] else round(wdir), weather,
               GAP if gaps[1] else round(pressure, 1), round(mu, 3), round(y, 3))


def write(path, header, body):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(header)
        out.writerows(body)


def by_hand(all_rows):
    """The inputs that a person would make in awk."""
    valid = [datetime.datetime.fromisoformat(r[0]) for r in all_rows]
    stations = sorted({r[1] for r in all_rows})[1:]
    weathers = sorted({r[4] for r in all_rows})[1:]
    pressures = [r[5] for r in all_rows if r[5] != GAP]
    mean = sum(pressures) / len(pressures)
    names = (["lead", "mu", "dir_sin", "dir_cos", "dir_gap", "season_sin", "season_cos", "hour_sin", "hour_cos", "pressure", "pressure_gap"]
             + [f"s{k}" for k in range(len(stations))] + [f"w{k}" for k in range(len(weathers))])
    table = []
    for r, at in zip(all_rows, valid):
        year = 2 * math.pi * (at - datetime.datetime(1970, 1, 1)).total_seconds() / (365.2425 * 86400)
        day = 2 * math.pi * (at.hour + at.minute / 60) / 24
        angle = math.radians(r[3])
        known = r[3] != GAP
        table.append([r[2], r[6], math.sin(angle) if known else 0, math.cos(angle) if known else 0, 0 if known else 1,
                      math.sin(year), math.cos(year), math.sin(day), math.cos(day), r[5] if r[5] != GAP else mean, int(r[5] == GAP)]
                     + [int(r[1] == s) for s in stations] + [int(r[4] == w) for w in weathers] + [r[7], r[0]])
    return names, names + ["y", "valid_time"], table


def run(command):
    begin = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout, time.perf_counter() - begin


def judged(folder, name, inputs, missing, prefix, command, extra):
    early, late, model = (folder / f"{prefix}-{part}" for part in ("early.csv", "late.csv", f"{name}.json"))
    roles = ["--prediction", "mu", "--observation", "y"]
    _, seconds = run([command, "fit", early, "--inputs", inputs, *roles, "--time", "valid_time", *missing, *extra, "-o", model, "--quiet"])
    gaps = missing[:2] + ["--missing", "drop"] if missing else []
    out, _ = run([command, "evaluate", late, *roles, *gaps, "--model", model, "--json"])
    figures = json.loads(out)
    return figures["crps"], figures["calibration_error_percent"], seconds


def boosted(all_rows, levels=39):
    try:
        import numpy
        from sklearn.ensemble import HistGradientBoostingRegressor
    except ImportError:
        return None
    valid = [datetime.datetime.fromisoformat(r[0]) for r in all_rows]
    codes = [{v: k for k, v in enumerate(sorted({r[c] for r in all_rows}))} for c in (1, 4)]
    x = numpy.array([[codes[0][r[1]], codes[1][r[4]], r[2], r[6], numpy.nan if r[3] == GAP else r[3], at.timetuple().tm_yday, at.hour,
                      numpy.nan if r[5] == GAP else r[5]] for r, at in zip(all_rows, valid)])
    errors = numpy.array([r[7] - r[6] for r in all_rows])
    early = numpy.array([r[0] < SPLIT for r in all_rows])
    begin = time.perf_counter()
    loss = 0.0
    for k in range(1, levels + 1):
        level = k / (levels + 1)
        model = HistGradientBoostingRegressor(loss="quantile", quantile=level, categorical_features=[0, 1], random_state=1)
        model.fit(x[early], errors[early])
        left = errors[~early] - model.predict(x[~early])
        loss += 2 * numpy.mean(numpy.maximum(level * left, (level - 1) * left)) / levels
    return loss, time.perf_counter() - begin


def categories(count, levels, spread, command, extra):
    """Processor seconds of a fit without and with a category of so many values, and their CRPS."""
    draw = random.Random(1)
    log_spread = [draw.gauss(0, spread) for _ in range(levels)]
    text, _ = run([command, "generate", "5D", "--rows", count, "-o", "-"])
    header, *body = text.splitlines()
    names = header.split(",")
    f, y = names.index("f"), names.index("y")
    with tempfile.TemporaryDirectory() as name:
        file, model = pathlib.Path(name) / "archive.csv", pathlib.Path(name) / "model.json"
        with open(file, "w") as out:
            out.write(header + ",station\n")
            for line in body:
                cells = line.split(",")
                station = draw.randrange(levels)
                mean = float(cells[f])
                cells[y] = repr(mean + math.exp(log_spread[station]) * (float(cells[y]) - mean))
                out.write(",".join(cells) + f",s{station}\n")
        inputs = ",".join(name for name in names if name.startswith("x"))
        fits = {}
        for label, more in (("without", ""), ("with", ",station:category")):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            out, seconds = run([command, "fit", file, "--inputs", inputs + more, "--prediction", "f", "--observation", "y",
                                *extra, "--json", "--quiet", "-o", model])
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            fits[label] = (used, seconds, json.loads(out)["crps"])
            print(f"{label:8} the category: {used:8.1f} s of processor time, {seconds:8.1f} s, CRPS {fits[label][2]:.4f}", flush=True)
    ratio = fits["with"][0] / fits["without"][0]
    print(f"{levels} categories, {count} rows: {ratio:.2f} times the processor time (limit 1.3)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("make", "compare", "categories"))
    parser.add_argument("file", nargs="?")
    parser.add_argument("--rows", type=int, help="default: 40000, of categories 1000000")
    parser.add_argument("--levels", type=int, default=10000, help="of the category (default: 10000)")
    parser.add_argument("--spread", type=float, default=0.5, help="sd of the logs of the categories' spreads (default: 0.5; 0: nothing to learn)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", default=COMMAND)
    parser.add_argument("--options", default="", help="more options of the fits, such as '--bias linear'")
    options = parser.parse_args()
    if options.action == "categories":
        categories(options.rows or 10**6, options.levels, options.spread, options.command, options.options.split())
        return
    options.rows = options.rows or 40000
    all_rows = list(rows(options.rows, options.seed))
    if options.action == "make":
        if options.file is None:
            parser.error("make needs a FILE")
        write(options.file, COLUMNS, all_rows)
        return
    extra = options.options.split()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part, taken in (("early", [r for r in all_rows if r[0] < SPLIT]), ("late", [r for r in all_rows if r[0] >= SPLIT])):
            write(folder / f"raw-{part}.csv", COLUMNS, taken)
        names, header, encoded = by_hand(all_rows)
        for part, keep in (("early", lambda r: r[-1] < SPLIT), ("late", lambda r: r[-1] >= SPLIT)):
            write(folder / f"hand-{part}.csv", header, [r for r in encoded if keep(r)])
        gaps = ["--missing-value", str(GAP), "--missing", "impute"]
        kinds = "mu,lead,station:category,wdir:cyclic(360),weather:category,pressure,valid_time:season,valid_time:hour"
        print(f"{len(all_rows)} rows; fitted before {SPLIT}, judged after\n\n{'':34}{'CRPS':>8}{'calibration error':>19}{'seconds':>9}")
        for label, row in (
            ("numbers alone", judged(folder, "numbers", "mu,lead,wdir,pressure", gaps, "raw", options.command, extra)),
            ("kinds of inputs, one command", judged(folder, "kinds", kinds, gaps, "raw", options.command, extra)),
            ("encoded by hand", judged(folder, "hand", ",".join(names), [], "hand", options.command, extra)),
        ):
            print(f"{label:34}{row[0]:8.4f}{row[1]:18.2f}%{row[2]:9.1f}")
        peer = boosted(all_rows)
        print("scikit-learn is not installed: no boosted quantiles" if peer is None
              else f"{'boosted quantiles, 39 levels':34}{peer[0]:8.4f}{'':19}{peer[1]:9.1f}")


if __name__ == "__main__":
    main()
