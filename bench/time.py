#!/usr/bin/env python3
"""time.py DATA [--accrue COMMAND] [--hours 4 12 19] [--stations bon tbl dra] [--delay 2d] [--learn '--shrink auto']: models
through time on electricity prices (DATA/epex) and on irradiance (DATA/solar). Replays get --delay and what --learn names.

A model of each hour is fitted on the rows before 2023, and 2023 is replayed day by day; 2022 moves the state before. Prints
twice the mean pinball loss over the deciles, which published figures are for, and the coverage of the 80% interval, of the
model that learns and of the static one. To beat: the quantiles of the last 56 errors.

A model of each station is fitted by the defaults on 2017 to 2019, and 2020 is replayed hour by hour: CRPS, calibration error
and coverage of the 90% interval. To beat: the static model."""

import argparse
import json
import pathlib
import subprocess
import tempfile

INPUTS = "ssrd,rest2,zen,sp,t2m,d2m,kappa,rh"  # of irradiance
LAST_56 = {4: 8.01, 12: 10.69, 19: 10.86}
MEAN = "mean(forecast*)"
DEPARTURES = [f"forecast{k} - {MEAN}" for k in range(1, 5)]


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def split(archive, folder, is_early, is_late):
    lines = archive.read_text().splitlines()
    files = folder / "early.csv", folder / "late.csv"
    for file, wanted in zip(files, (is_early, is_late)):
        file.write_text("\n".join([lines[0]] + [line for line in lines[1:] if wanted(line)]) + "\n")
    return files


def coverage(figures, level):
    return {kind: next(one["observed"] for one in figures[kind]["coverage"] if one["level"] == level)
            for kind in ("adapting", "static")}  # fmt: skip


def replay(accrue, archive, folder, family, options):
    early, late = split(archive, folder, lambda line: line < "2023", lambda line: line >= "2022")
    model = folder / "model.json"
    run(accrue, "fit", early, "--prediction", MEAN, "--observation", "price", "--time", "date", "--family", family,
        "--inputs", ",".join([MEAN, "spread(forecast*)", *DEPARTURES]), "-o", model)  # fmt: skip
    return json.loads(run(accrue, "replay", late, "--model", model, "--from", "2023-01-01", "--json", *options))


def station(accrue, archive, folder, options):
    column = archive.read_text().splitlines()[0].split(",").index("time")

    def is_in(years):
        return lambda line: line.split(",")[column][:4] in years

    early, late = split(archive, folder, is_in(("2017", "2018", "2019")), is_in(("2020",)))
    model = folder / "model.json"
    run(accrue, "fit", early, "--prediction", "ssrd", "--observation", "ghi", "--inputs", INPUTS, "--time", "time", "-o", model)
    return json.loads(run(accrue, "replay", late, "--model", model, "--json", *options))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--hours", type=int, nargs="*", default=[4, 12, 19])
    parser.add_argument("--stations", nargs="*", default=["bon", "tbl", "dra"])
    parser.add_argument("--family", default="logistic")
    parser.add_argument("--delay", help="how long an observation takes, such as 2d")
    parser.add_argument("--learn", default="", help="more options of the replays, such as '--shrink auto'")
    arguments = parser.parse_args()
    learn = arguments.learn.split() + (["--delay", arguments.delay] if arguments.delay else [])
    variants = {"shift and scale": learn, "and a linear correction": [*learn, "--correct", ",".join(DEPARTURES)]}
    print(f"{'':26}{'hour':>6}{'learns':>9}{'static':>9}{'last 56':>9}{'80% covers':>12}{'static':>9}")
    for name, options in variants.items():
        losses, covered = [], []
        for hour in arguments.hours:
            with tempfile.TemporaryDirectory() as folder:
                figures = replay(arguments.accrue, arguments.data / "epex" / f"hour{hour}.csv", pathlib.Path(folder),
                                 arguments.family, options)  # fmt: skip
            of_80 = coverage(figures, 0.8)
            losses.append(figures["adapting"]["pinball"])
            covered.append(of_80["adapting"])
            print(f"{name:26}{hour:6}{losses[-1]:9.3f}{figures['static']['pinball']:9.3f}{LAST_56.get(hour, ''):>9}"
                  f"{of_80['adapting']:12.1%}{of_80['static']:9.1%}")  # fmt: skip
        if losses:
            print(f"{name:26}{'all':>6}{sum(losses) / len(losses):9.3f}{'':18}{sum(covered) / len(covered):12.1%}")
    print(f"\n{'':10}{'CRPS learns':>12}{'static':>9}{'calibration error':>19}{'static':>9}{'90% covers':>12}{'static':>9}")
    for name in arguments.stations:
        with tempfile.TemporaryDirectory() as folder:
            figures = station(arguments.accrue, arguments.data / "solar" / f"{name}.csv", pathlib.Path(folder), learn)
        of_90 = coverage(figures, 0.9)
        learns, static = figures["adapting"], figures["static"]
        print(f"{name:10}{learns['crps']:12.2f}{static['crps']:9.2f}{learns['calibration_error_percent']:18.1f}%"
              f"{static['calibration_error_percent']:8.1f}%{of_90['adapting']:12.1%}{of_90['static']:9.1%}")  # fmt: skip


if __name__ == "__main__":
    main()
