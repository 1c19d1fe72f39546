#!/usr/bin/env python3
"""Rain at Innsbruck by censored logistic regression, a usual way to calibrate precipitation, beside what docs/distributions.md has.

    bench/peers/censored_logistic.py DATA

DATA has rain/innsbruck.csv. Fitted to 2009 by maximum likelihood, judged later: a logistic distribution, censored at 0, whose location is linear in
the members' mean (or in rainfc.1) and whose log scale is constant, or linear in the log of the members' spread. CRPS by quadrature over the cdf.
"""

import argparse
import csv
import pathlib

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit


def columns(path):
    rows = list(csv.DictReader(path.open()))
    members = np.array([[float(value) for name, value in row.items() if name.startswith("rainfc")] for row in rows])
    return np.array([row["date"] < "2010" for row in rows]), members, np.array([float(row["rain"]) for row in rows])


def parameters(theta, x, spread):
    scale = theta[2] + (theta[3] * np.log1p(spread) if len(theta) > 3 else 0)
    return theta[0] + theta[1] * x, np.exp(np.clip(scale, -10, 10)) * np.ones(len(x))


def cost(theta, x, spread, y):
    """Mean negative log likelihood."""
    location, scale = parameters(theta, x, spread)
    z = (y - location) / scale
    return -np.mean(np.where(y > 0, log_expit(z) + log_expit(-z) - np.log(scale), log_expit(z)))


def crps(theta, x, spread, y):
    """F^2 from 0 to the observation, and (1 - F)^2 from there to 25 scales beyond, by the midpoint rule on 4,000 points each."""
    mid = (np.arange(4000) + 0.5) / 4000
    scores = []
    for location, scale, own in zip(*parameters(theta, x, spread), y):
        top = max(own, location) + 25 * scale
        below = own * np.mean(expit((own * mid - location) / scale) ** 2)
        scores.append(below + (top - own) * np.mean(expit((location - own - (top - own) * mid) / scale) ** 2))
    return np.mean(scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    early, members, y = columns(parser.parse_args().data / "rain" / "innsbruck.csv")
    spread = members.std(axis=1, ddof=1)
    print("| prediction | scale | CRPS |")
    print("|---|---|---|")
    for name, x in (("members' mean", members.mean(axis=1)), ("rainfc.1", members[:, 0])):
        for scale, start in (("constant", [0.0, 1.0, 1.0]), ("by the spread", [0.0, 1.0, 1.0, 0.1])):
            best = min(
                (minimize(cost, [start[0], slope, *start[2:]], args=(x[early], spread[early], y[early]), method="BFGS") for slope in (0.3, 1.0)),
                key=lambda found: found.fun,
            )
            print(f"| {name} | {scale} | {crps(best.x, x[~early], spread[~early], y[~early]):.3f} |", flush=True)


if __name__ == "__main__":
    main()
