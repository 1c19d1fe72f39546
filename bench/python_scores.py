#!/usr/bin/env python3
"""accrue.scores.crps beside properscoring and the NumPy backend of scoringrules: 10^6 rows, one thread, and one row.

Rounds take turns, and the best of each counts. Exits with 1 when a figure is missed: 5 times as fast, 2 microseconds a call.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy comes

import argparse
import json
import sys
import time
import timeit

import numpy as np
import properscoring
import scoringrules

import accrue

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--rows", type=int, default=1_000_000)
parser.add_argument("--rounds", type=int, default=9)
parser.add_argument("--out", help="write the figures as JSON")
arguments = parser.parse_args()

rng = np.random.default_rng(1)
mu, sigma = rng.normal(size=arguments.rows), rng.uniform(0.5, 2, arguments.rows)
y = mu + sigma * rng.normal(size=arguments.rows)

# Ours takes errors: the subtraction counts.
contenders = {
    "accrue": lambda: accrue.scores.crps(y - mu, sigma),
    "properscoring": lambda: properscoring.crps_gaussian(y, mu, sigma),
    "scoringrules": lambda: scoringrules.crps_normal(y, mu, sigma, backend="numpy"),
}
best = dict.fromkeys(contenders, np.inf)
results = {}
with accrue.threads(1):
    for _ in range(arguments.rounds):
        for name, score in contenders.items():
            began = time.perf_counter()
            results[name] = score()
            best[name] = min(best[name], time.perf_counter() - began)
for name, result in results.items():
    # Theirs cancel in the last places.
    np.testing.assert_allclose(result, results["accrue"], rtol=1e-9, atol=1e-12)

one_error, one_sigma = np.zeros(1), np.ones(1)
calls = 500  # few at a time: on a busy machine a short stretch is left alone more often than a long one
overhead = min(timeit.repeat(lambda: accrue.scores.crps(one_error, one_sigma), number=calls, repeat=400)) / calls

for name, seconds in best.items():
    print(
        f"{name:>14}: {seconds * 1e3:8.2f} ms for {arguments.rows} rows, {seconds / best['accrue']:5.1f} times accrue"
    )
print(f"  call on 1 row: {overhead * 1e6:.2f} microseconds")
ratio = min(best["properscoring"], best["scoringrules"]) / best["accrue"]
if arguments.out:
    with open(arguments.out, "w") as file:
        json.dump({"crps_ratio": ratio, "call_microseconds": overhead * 1e6}, file)
sys.exit(0 if ratio >= 5 and overhead < 2e-6 else 1)
