#!/usr/bin/env python3
"""time.py DATA [--accrue COMMAND] [--hours 4 12 19]: models through time on electricity prices (DATA/epex).

A model of each hour is fitted on the rows before 2023, and 2023 is replayed day by day; 2022 moves the state before. Prints
twice the mean pinball loss over the deciles, which published figures are for, and the coverage of the 80% interval, of the
model that learns and of the static one. To beat: the quantiles of the last 56 errors."""

import argparse
import json
import pathlib
import subprocess
import tempfile

LAST_56 = {4: 8.01, 12: 10.69, 19: 10.86}
MEAN = "mean(forecast*)"
DEPARTURES = [f"forecast{k} - {MEAN}" for k in range(1, 5)]


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def replay(accrue, archive, folder, family, options):
    lines = archive.read_text().splitlines()
    early, late = folder / "early.csv", folder / "late.csv"
    early.write_text("\n".join([lines[0]] + [line for line in lines[1:] if line < "2023"]) + "\n")
    late.write_text("\n".join([lines[0]] + [line for line in lines[1:] if line >= "2022"]) + "\n")
    model = folder / "model.json"
    run(accrue, "fit", early, "--prediction", MEAN, "--observation", "price", "--time", "date", "--family", family,
        "--inputs", ",".join([MEAN, "spread(forecast*)", *DEPARTURES]), "-o", model)  # fmt: skip
    return json.loads(run(accrue, "replay", late, "--model", model, "--from", "2023-01-01", "--json", *options))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--hours", type=int, nargs="+", default=[4, 12, 19])
    parser.add_argument("--family", default="logistic")
    arguments = parser.parse_args()
    variants = {"shift and scale": [], "and a linear correction": ["--correct", ",".join(DEPARTURES)]}
    print(f"{'':26}{'hour':>6}{'learns':>9}{'static':>9}{'last 56':>9}{'80% covers':>12}{'static':>9}")
    for name, options in variants.items():
        losses, covered = [], []
        for hour in arguments.hours:
            with tempfile.TemporaryDirectory() as folder:
                figures = replay(arguments.accrue, arguments.data / "epex" / f"hour{hour}.csv", pathlib.Path(folder),
                                 arguments.family, options)  # fmt: skip
            coverage = {kind: next(one["observed"] for one in figures[kind]["coverage"] if one["level"] == 0.8)
                        for kind in ("adapting", "static")}  # fmt: skip
            losses.append(figures["adapting"]["pinball"])
            covered.append(coverage["adapting"])
            print(f"{name:26}{hour:6}{losses[-1]:9.3f}{figures['static']['pinball']:9.3f}{LAST_56.get(hour, ''):>9}"
                  f"{coverage['adapting']:12.1%}{coverage['static']:9.1%}")  # fmt: skip
        print(f"{name:26}{'all':>6}{sum(losses) / len(losses):9.3f}{'':18}{sum(covered) / len(covered):12.1%}")


if __name__ == "__main__":
    main()
