#!/usr/bin/env python3
"""accrue with its defaults beside NGBoost, CatBoost, LightGBM quantiles and isotonic distributional regression: one table.

    bench/distribution_peers.py DATA [--accrue build/bin/accrue] [--splits 3] [--only bon,wine] [--skip NGBoost]

DATA has solar/*.csv (fitted on 2017 to 2019, judged on 2020) and uci/*.txt (70% of the rows, at random, to fit on). Every peer gets the same rows and
inputs, and is used as its documentation begins: NGBRegressor(); CatBoostRegressor with RMSEWithUncertainty; LGBMRegressor with objective "quantile" at 39
levels, sorted; isotonic distributional regression on the prediction. UCI sets have no prediction: there accrue and isotonic distributional regression get the
same held-out predictions, of five folds of HistGradientBoostingRegressor(), and those of one that is fitted to all rows for the later rows. accrue also fits
with a mean of its own (--mean auto), and the fit with the lower CRPS on rows out of fold is taken; lines below it show both. `accrue evaluate` scores them
all. accrue fits the solar stations as docs/distributions.md does. Seconds are of fit
and forecast, with the predictions where they are made; accrue's are of whole processes, and every peer has two threads.

Needs lightgbm, catboost, ngboost, pandas and scikit-learn, from PyPI. --jobs 8 works on so many splits at once; --json keeps the figures of each.
"""

import argparse
import json
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pandas as pd

LEVELS = np.arange(1, 40) / 40
UCI = {"boston": "bostonHousing", "concrete": "concrete", "energy": "energy", "kin8nm": "kin8nm", "power": "power-plant",
       "protein": "protein-tertiary-structure", "wine": "wine-quality-red", "yacht": "yacht"}
UCI_INPUTS = {"boston": 13, "concrete": 8, "energy": 8, "kin8nm": 8, "power": 4, "protein": 9, "wine": 11, "yacht": 6}
SOLAR_INPUTS = "ssrd rest2 zen sp t2m d2m kappa rh".split()


def ngboost(x, y, new, mu, new_mu):
    from ngboost import NGBRegressor

    found = NGBRegressor(verbose=False, random_state=1).fit(x, y).pred_dist(new)
    return found.loc, found.scale


def catboost(x, y, new, mu, new_mu):
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(loss_function="RMSEWithUncertainty", verbose=False, random_seed=1, thread_count=2, allow_writing_files=False)
    found = model.fit(x, y).predict(new)
    return found[:, 0], np.sqrt(found[:, 1])


def lightgbm(x, y, new, mu, new_mu):
    from lightgbm import LGBMRegressor

    found = [LGBMRegressor(objective="quantile", alpha=p, verbose=-1, random_state=1, n_jobs=2).fit(x, y).predict(new) for p in LEVELS]
    return np.sort(np.transpose(found), axis=1)


def isotonic(x, y, new, mu, new_mu):
    """Probabilities of at most t, falling in the prediction, for 200 thresholds t; then quantiles."""
    from sklearn.isotonic import IsotonicRegression

    thresholds = np.unique(np.quantile(y, np.linspace(0, 1, 200)))
    below = np.transpose([
        IsotonicRegression(y_min=0, y_max=1, increasing=False, out_of_bounds="clip").fit(mu, y <= t).predict(new_mu) for t in thresholds])
    at = np.minimum([np.searchsorted(row, LEVELS) for row in np.maximum.accumulate(below, axis=1)], len(thresholds) - 1)
    return thresholds[at]


def add_predictions(early, late, inputs):
    """What accrue and isotonic distributional regression stand on, where the archive has no prediction; and the seconds that it takes."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import KFold, cross_val_predict

    began = time.monotonic()
    regressor = HistGradientBoostingRegressor(random_state=1)
    x, y = early[inputs].to_numpy(), early["y"].to_numpy()
    early = early.assign(mu=cross_val_predict(regressor, x, y, cv=KFold(5, shuffle=True, random_state=1)))
    late = late.assign(mu=regressor.fit(x, y).predict(late[inputs].to_numpy()))
    return early, late, time.monotonic() - began


ISOTONIC = "isotonic distributional regression"
PEERS = {"NGBoost": ngboost, "CatBoost": catboost, "LightGBM quantiles": lightgbm, ISOTONIC: isotonic}


def scored(accrue, file, options):
    found = subprocess.run([accrue, "evaluate", str(file), "--observation", "y", *options, "--json"], check=True, capture_output=True)
    found = json.loads(found.stdout)
    coverage = next(one["observed"] for one in found["coverage"] if one["level"] == 0.9)
    return found["crps"], found.get("calibration_error_percent", np.nan), 100 * coverage


def judge_peer(accrue, peer, early, late, inputs, prediction, folder):
    mu, new_mu = early[prediction].to_numpy(), late[prediction].to_numpy()
    began = time.monotonic()
    found = peer(early[inputs].to_numpy(), early["y"].to_numpy(), late[inputs].to_numpy(), mu, new_mu)
    seconds = time.monotonic() - began
    table = pd.DataFrame({"y": late["y"].to_numpy()})
    if isinstance(found, tuple):
        table["mu"], table["sigma"] = found
        options = ["--prediction", "mu", "--sigma", "sigma"]
    else:
        for k, p in enumerate(LEVELS):
            table[f"q{k}"] = found[:, k]
        options = ["--quantile-columns", ",".join(f"q{k}={p}" for k, p in enumerate(LEVELS))]
    table.to_csv(folder / "peer.csv", index=False)
    crps, error, coverage = scored(accrue, folder / "peer.csv", options)
    if np.isnan(error):  # of quantiles: where the diagram is furthest from the diagonal, at their levels alone
        error = 100 * np.max(np.abs((late["y"].to_numpy()[:, None] <= found).mean(axis=0) - LEVELS))
    return crps, error, coverage, seconds


def judge_accrue(accrue, early, late, inputs, roles, time_column, folder):
    """CRPS on rows out of fold, by which fits are chosen; and the figures on the later rows."""
    early.to_csv(folder / "early.csv", index=False)
    late.to_csv(folder / "late.csv", index=False)
    order = ["--time", time_column] if time_column else []
    began = time.monotonic()
    fitted = subprocess.run([accrue, "fit", str(folder / "early.csv"), *roles, "--observation", "y", "--inputs", ",".join(inputs), *order, "--threads", "2",
                             "--quiet", "--json", "-o", str(folder / "model.json")], check=True, capture_output=True)
    subprocess.run([accrue, "predict", str(folder / "model.json"), str(folder / "late.csv"), "-o", str(folder / "out.csv")], check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    (folder / "out.csv").unlink()
    known = roles if roles[0] == "--prediction" else []
    return json.loads(fitted.stdout)["crps"], (*scored(accrue, folder / "late.csv", [*known, "--model", str(folder / "model.json")]), seconds)


def judged(task):
    """The figures of every contender on one split."""
    warnings.filterwarnings("ignore")
    accrue, peers, (name, early, late, inputs, prediction, times) = task
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        seconds = 0
        if prediction:
            found["accrue"] = judge_accrue(accrue, early, late, inputs, ["--prediction", prediction], times, folder)[1]
        else:
            own_crps, own = judge_accrue(accrue, early, late, inputs, ["--mean", "auto"], None, folder)
            early, late, seconds = add_predictions(early, late, inputs)
            prediction = "mu"
            crps, around = judge_accrue(accrue, early, late, [*inputs, "mu"], ["--prediction", "mu"], None, folder)
            around = (*around[:3], around[3] + seconds)
            found["accrue"] = (*(own if own_crps < crps else around)[:3], own[3] + around[3])
            found["accrue, own mean"], found["accrue, around predictions"] = own, around
        for who in peers:
            own = judge_peer(accrue, PEERS[who], early, late, inputs, prediction, folder)
            found[who] = (*own[:3], own[3] + (seconds if who == ISOTONIC else 0))
    return name, found


def archives(data, splits):
    """(name, early rows, later rows, inputs, prediction, time) of every split."""
    for path in sorted((data / "solar").glob("*.csv")):
        rows = pd.read_csv(path).rename(columns={"ghi": "y"})
        yield path.stem, rows[rows["time"] < "2020"], rows[rows["time"] >= "2020"], SOLAR_INPUTS, "ssrd", "time"
    for name, file in UCI.items():
        rows = pd.read_csv(data / "uci" / f"{file}.txt", sep=r"\s+", header=None)
        inputs = [f"x{k}" for k in range(UCI_INPUTS[name])]
        rows = rows.iloc[:, : len(inputs) + 1].set_axis([*inputs, "y"], axis=1)
        for seed in range(1, (1 if name == "protein" else splits) + 1):
            order = np.random.default_rng(seed).permutation(len(rows))
            cut = round(0.7 * len(rows))
            yield name, rows.iloc[order[:cut]], rows.iloc[order[cut:]], inputs, None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--skip", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    only = [name for name in arguments.only.split(",") if name]
    peers = [name for name in PEERS if name not in arguments.skip.split(",")]
    tasks = [(arguments.accrue, peers, split) for split in archives(arguments.data, arguments.splits) if not only or split[0] in only]
    tasks.sort(key=lambda task: -len(task[2][1]))  # the long ones first
    found = {}
    with multiprocessing.Pool(arguments.jobs) as pool:
        for name, ours in pool.imap_unordered(judged, tasks):
            for who, figures in ours.items():
                found.setdefault(name, {}).setdefault(who, []).append(figures)
            print(f"{name}: " + ", ".join(f"{who} {figures[0]:.4g}" for who, figures in ours.items()), file=sys.stderr, flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps(found))
    print("| archive | who | splits | CRPS | calibration error | 90% interval coverage | seconds |")
    print("|---|---|---|---|---|---|---|")
    ahead = {"CRPS": 0, "calibration error": 0}
    for name, rows in sorted(found.items()):
        medians = {who: np.median(runs, axis=0) for who, runs in rows.items()}
        for who, (crps, error, coverage, seconds) in medians.items():
            print(f"| {name} | {who} | {len(rows[who])} | {crps:.4g} | {error:.1f}% | {coverage:.1f}% | {seconds:.1f} |")
        for k, score in enumerate(ahead):
            ahead[score] += all(medians["accrue"][k] <= own[k] for who, own in medians.items() if who in PEERS)
    for score, count in ahead.items():
        print(f"\naccrue has the lowest {score} on {count} of {len(found)}")
    if "NGBoost" in peers:
        seconds = [(np.median(rows["NGBoost"], axis=0)[3], np.median(rows["accrue"], axis=0)[3]) for rows in found.values()]
        print(f"\naccrue is at least 3 times as fast as NGBoost on {sum(3 * ours <= theirs for theirs, ours in seconds)} of {len(found)}")


if __name__ == "__main__":
    main()
