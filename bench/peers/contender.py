"""What a contender of the fits shares: its rows from a file, its time, and its sigma of the test rows for the judge.

    fit_NAME.py FOLDER ROWS THREADS

FOLDER holds train.npy and test.npy (inputs, prediction, observation: a row each), which prepare.py made.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np


def errors(table):
    """Inputs and errors; the prediction is given, and nobody may improve it."""
    return np.ascontiguousarray(table[:, :-2]), table[:, -1] - table[:, -2]


def compete(fit):
    """fit(x, e, threads) returns a function from inputs to sigma. Only the fit is timed: imports and reading are not."""
    folder, rows, threads = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    x, e = errors(np.load(folder / "train.npy", mmap_mode="r")[:rows])
    test = np.load(folder / "test.npy")
    begin = time.perf_counter()
    predict = fit(x, e, threads)
    fitted = time.perf_counter()
    sigma = predict(errors(test)[0])
    seconds = {"fit": fitted - begin, "predict": time.perf_counter() - fitted}
    with open(folder / "judged.csv", "w") as file:
        file.write("f,y,sigma\n")
        np.savetxt(file, np.column_stack([test[:, -2:], sigma]), delimiter=",", fmt="%.17g")
    print(json.dumps(seconds))
