#!/usr/bin/python3
"""What forecasts are worth outside of their archive: coverage on the tails and in gaps of UCI sets.

    bench/off_support.py [--data FOLDER] [--sets concrete,energy,yacht] [--splits tail,gap]

For every input of a set, rows with its 5% smallest and 5% largest values are left out (tail), or the middle third of them (gap). A model that
learns the mean too is fitted to the others, and forecasts those that were left out, once with `--off-support flag` and once with
`--off-support widen`. Inputs with so few values that a split leaves out more than half of the rows, or none, are passed over. Printed are, for
each input and for all of a set together: rows left out, coverage of the 95% interval, and the mean width in standard deviations of the target.
"""
import argparse
import csv
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent
LEVEL = "0.95"


def read(path):
    rows = [[float(cell) for cell in line.split()] for line in path.read_text().splitlines() if line.strip()]
    return rows


def write(path, rows):
    names = [f"x{k + 1}" for k in range(len(rows[0]) - 1)] + ["y"]
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(names)
        out.writerows(rows)
    return names


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def left_out(values, split):
    if split == "tail":
        low, high = quantile(values, 0.05), quantile(values, 0.95)
        return [x <= low or x >= high for x in values]
    low, high = quantile(values, 1 / 3), quantile(values, 2 / 3)
    return [low < x < high for x in values]


def run(command, *arguments):
    subprocess.run([str(command), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def judge(command, folder, rows, outside, arguments):
    """Coverage and width of the rows that were left out, for each way."""
    archive = [row for row, out in zip(rows, outside) if not out]
    new = [row for row, out in zip(rows, outside) if out]
    names = write(folder / "archive.csv", archive)
    write(folder / "new.csv", new)
    run(command, "fit", folder / "archive.csv", "--observation", "y", "--inputs", ",".join(names[:-1]), *arguments, "--quiet", "-o",
        folder / "model.json")
    spread = statistics.pstdev(row[-1] for row in archive)
    results = {}
    for way in ("flag", "widen"):
        run(command, "predict", folder / "model.json", folder / "new.csv", "--interval", LEVEL, "--off-support", way, "-o", folder / f"{way}.csv")
        with (folder / f"{way}.csv").open() as file:
            forecasts = list(csv.DictReader(file))
        inside = [float(f[f"lower_{LEVEL}"]) <= float(f["y"]) <= float(f[f"upper_{LEVEL}"]) for f in forecasts]
        width = statistics.fmean(float(f[f"upper_{LEVEL}"]) - float(f[f"lower_{LEVEL}"]) for f in forecasts) / spread
        results[way] = (sum(inside), width)
        results["marked"] = sum(f["off_support"] == "1" for f in forecasts)
    return len(new), results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "shared" / "data" / "uci")
    parser.add_argument("--sets", default="concrete,energy,yacht")
    parser.add_argument("--splits", default="tail,gap")
    parser.add_argument("--mean", default="network", help="what learns the mean: network or gp")
    parser.add_argument("--command", type=pathlib.Path, default=HERE / "build" / "bin" / "accrue")
    parser.add_argument("--fit", default="", help="further arguments of 'accrue fit'")
    options = parser.parse_args()
    print(f"{'set':<10}{'split':<6}{'input':<7}{'rows':>6}{'marked':>8}{'flag':>8}{'widen':>8}{'width':>8}{'widened':>9}")
    for name in options.sets.split(","):
        rows = read(options.data / f"{name}.txt")
        for split in options.splits.split(","):
            total, marked, covered = 0, 0, {"flag": 0, "widen": 0}
            for k in range(len(rows[0]) - 1):
                outside = left_out([row[k] for row in rows], split)
                if not 0 < sum(outside) <= len(rows) / 2:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    count, found = judge(options.command, pathlib.Path(folder), rows, outside, ["--mean", options.mean, *options.fit.split()])
                total += count
                marked += found["marked"]
                for way in covered:
                    covered[way] += found[way][0]
                print(f"{name:<10}{split:<6}{f'x{k + 1}':<7}{count:>6}{found['marked'] / count:>8.2f}{found['flag'][0] / count:>8.3f}"
                      f"{found['widen'][0] / count:>8.3f}{found['flag'][1]:>8.2f}{found['widen'][1]:>9.2f}", flush=True)
            if total > 0:
                print(f"{name:<10}{split:<6}{'all':<7}{total:>6}{marked / total:>8.2f}{covered['flag'] / total:>8.3f}{covered['widen'] / total:>8.3f}")


if __name__ == "__main__":
    main()
