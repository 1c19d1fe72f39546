"""Rows for the fits: a folder for each data set with train.npy, test.npy and, for the command, train_ROWS.csv and test.csv.

    prepare.py ACCRUE UCI FOLDER SIZES

5D has the exact prediction. Protein's is gradient boosting, cross-fitted over the training rows (an error from a prediction
that saw its row would be too small); 30% of its rows are for the test.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_predict

TEST_ROWS = 100_000


def generated(accrue, folder, name, rows, seed):
    file = folder / f"{name}.csv"
    subprocess.run([accrue, "generate", "5D", "--rows", str(rows), "--seed", str(seed), "-o", file], check=True)
    table = pd.read_csv(file).drop(columns="true_sigma").to_numpy()
    file.unlink()
    return table


def protein(uci):
    table = np.loadtxt(Path(uci) / "protein-tertiary-structure.txt")
    table = table[np.random.default_rng(1).permutation(len(table))]
    cut = round(0.7 * len(table))
    x, y = table[:, :-1], table[:, -1]
    boosting = HistGradientBoostingRegressor(random_state=1)
    train = cross_val_predict(boosting, x[:cut], y[:cut], cv=5)
    test = boosting.fit(x[:cut], y[:cut]).predict(x[cut:])
    return [np.column_stack([x[rows], f, y[rows]]) for rows, f in ((slice(cut), train), (slice(cut, None), test))]


def write(folder, train, test, sizes):
    names = [f"x{k + 1}" for k in range(train.shape[1] - 2)] + ["f", "y"]
    csv = lambda table, name: pd.DataFrame(table, columns=names).to_csv(folder / name, index=False)
    sizes = [n for n in sizes if n < len(train)] + ([len(train)] if max(sizes) >= len(train) else [])
    np.save(folder / "train.npy", train[: max(sizes)])
    np.save(folder / "test.npy", test)
    csv(test, "test.csv")
    for rows in sizes:
        csv(train[:rows], f"train_{rows}.csv")
    return {"inputs": len(names) - 2, "sizes": sizes, "test_rows": len(test)}


def main():
    accrue, uci, folder, sizes = sys.argv[1], sys.argv[2], Path(sys.argv[3]), [int(n) for n in sys.argv[4].split(",")]
    sets = {}
    (folder / "5D").mkdir(parents=True, exist_ok=True)
    rows = [generated(accrue, folder / "5D", "all", n, seed) for n, seed in ((max(sizes), 1), (TEST_ROWS, 2))]
    sets["5D"] = write(folder / "5D", *rows, sizes)
    if (Path(uci) / "protein-tertiary-structure.txt").exists():
        (folder / "Protein").mkdir(exist_ok=True)
        sets["Protein"] = write(folder / "Protein", *protein(uci), sizes)
    print(json.dumps(sets))


main()
