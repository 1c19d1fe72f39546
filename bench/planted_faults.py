#!/usr/bin/env python3
"""How often a fault that averages hide is found and named, and how often a clean archive is called faulty.

    bench/planted_faults.py [--accrue build/bin/accrue] [--archives 200] [--clean 400] [--jobs 2] [--fit]

Archives of 5,000 rows, ten a day over 500 days, each with one fault in a forecast mu, sigma whose errors are normal:
  season    a bias of 0.3 sigma times the cosine of the day of the year
  station   one of 20 stations has 1.5 times the spread
  along x   sigma is 30% too large where the input x is smallest and 30% too small where it is largest
  day       errors of one day have a correlation of 0.5
  skew      one of 20 stations has exponential errors, less their mean: mean 0 and standard deviation 1 like all others
  ends      one of 20 stations has errors that end at 1.57 standard deviations, so that the 90% interval covers all; mean 0 and standard deviation 1 too
  clean     none of these
Each is judged by `accrue evaluate --conditional`, as a forecast that somebody else made; with --fit by `accrue fit`, which learns a sigma of its own
from x and u, so that there the third fault is found when the fit is calibrated all the same. A fault counts where the sentence names it: months around
the turn of the year, in which observations lie above the forecast, or around midsummer, in which they lie below; the station (of the last two with a
calibration error or a coverage); the input; or rows that err together.
"""

import argparse
import csv
import datetime
import json
import math
import multiprocessing
import pathlib
import random
import re
import subprocess
import tempfile

ROWS, A_DAY, STATIONS = 5000, 10, 20
FAULTS = ("season", "station", "along x", "day", "skew", "ends", "clean")
END, END_SD = 1.3, 0.8294  # of a standard normal number: where it is cut, and the standard deviation that it has then
# Of the bias of `season`: months of its sign, and those in which it is at least two thirds of its largest.
SIGN = {"above": "October November December January February March".split(), "below": "April May June July August September".split()}
PEAK = {sign: months[1:-1] for sign, months in SIGN.items()}
SEASON = re.compile(r"(?:in|from) (\w+)(?: (?:to|and) (\w+))? observations lie \S+ sigma (above|below)")


def write(path, fault, seed):
    rng = random.Random(f"{fault} {seed}")
    faulty = f"s{rng.randrange(STATIONS):02}"
    first = datetime.datetime(2020, 1, 1)
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["time", "station", "x", "u", "mu", "sigma", "y"])
        for i in range(ROWS):
            day, step = divmod(i, A_DAY)
            if step == 0:
                shared = rng.gauss(0, 1)
            time = first + datetime.timedelta(days=day, hours=2 * step)
            station, x, u = f"s{rng.randrange(STATIONS):02}", rng.random(), rng.gauss(0, 1)
            mu, sigma, z = 10 + 3 * u, 0.5 + x, rng.gauss(0, 1)
            if fault == "season":
                z += 0.3 * math.cos(2 * math.pi * day / 365.25)
            elif fault == "station" and station == faulty:
                z *= 1.5
            elif fault == "along x":
                z *= 1.3 ** (2 * x - 1)
            elif fault == "day":
                z = math.sqrt(0.5) * (z + shared)
            elif fault == "skew" and station == faulty:
                z = rng.expovariate(1) - 1
            elif fault == "ends" and station == faulty:
                z = max(-END, min(END, z)) / END_SD
            out.writerow([f"{time:%Y-%m-%dT%H:%M:%S}", station, repr(x), repr(u), repr(mu), repr(sigma), repr(mu + sigma * z)])
    return faulty


def judged(task):
    accrue, fault, seed, fit = task
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "rows.csv"
        faulty = write(path, fault, seed)
        roles = ["--prediction", "mu", "--observation", "y", "--inputs", "x,u", "--by", "station", "--time", "time", "--threads", "1", "--json"]
        if fit:
            command = [accrue, "fit", path, *roles, "--quiet", "-o", path.with_suffix(".json")]
        else:
            command = [accrue, "evaluate", path, *roles, "--sigma", "sigma", "--conditional"]
        found = json.loads(subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout)
        sentences = " ".join(found["verdict"]["remarks"])
    everywhere = re.search(r"Not calibrated everywhere: (.*?)\(", sentences)
    place = everywhere[1] if everywhere else ""
    together = "err together" in sentences
    if fault == "season":
        season = SEASON.match(place)
        months = [month for month in season.group(1, 2) if month] if season else []
        named = any(month in PEAK[season[3]] for month in months) and all(month in SIGN[season[3]] for month in months)
    elif fault == "station":
        named = f"where station is '{faulty}'" in place
    elif fault in ("skew", "ends"):
        named = f"where station is '{faulty}'" in place and ("calibration error" in place or "90% interval" in place)
    elif fault == "along x":
        named = place == "" if fit else "where x is" in place
    elif fault == "day":
        named = together
    else:
        named = bool(place) or together
    return fault, named, bool(place) or together


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--archives", type=int, default=200)
    parser.add_argument("--clean", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    tasks = [(arguments.accrue, fault, seed, arguments.fit) for fault in FAULTS
             for seed in range(arguments.clean if fault == "clean" else arguments.archives)]
    named = dict.fromkeys(FAULTS, 0)
    alarms = dict.fromkeys(FAULTS, 0)
    with multiprocessing.Pool(arguments.jobs) as pool:
        for fault, found, alarm in pool.imap_unordered(judged, tasks):
            named[fault] += found
            alarms[fault] += alarm
    print("| fault | archives | found and named | something was called faulty |\n|---|---|---|---|")
    for fault in FAULTS:
        count = arguments.clean if fault == "clean" else arguments.archives
        print(f"| {fault} | {count} | {'' if fault == 'clean' else named[fault]} | {alarms[fault]} |")


if __name__ == "__main__":
    main()
