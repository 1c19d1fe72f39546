"""accrue.scores.crps beside properscoring and the NumPy backend of scoringrules, one thread, and the cost of a call on one row.

    scores.py ROWS

Rounds take turns, and the best of each counts.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy comes

import json
import sys
import time
import timeit

import accrue
import numpy as np
import properscoring
import scoringrules

ROUNDS, CALLS = 9, 20_000

rows = int(sys.argv[1])
rng = np.random.default_rng(1)
mu, sigma = rng.normal(size=rows), rng.uniform(0.5, 2, rows)
y = mu + sigma * rng.normal(size=rows)

# Ours takes errors: the subtraction counts.
contenders = {
    "accrue": lambda: accrue.scores.crps(y - mu, sigma),
    "properscoring": lambda: properscoring.crps_gaussian(y, mu, sigma),
    "scoringrules": lambda: scoringrules.crps_normal(y, mu, sigma, backend="numpy"),
}
best = dict.fromkeys(contenders, np.inf)
results = {}
with accrue.threads(1):
    for _ in range(ROUNDS):
        for name, score in contenders.items():
            began = time.perf_counter()
            results[name] = score()
            best[name] = min(best[name], time.perf_counter() - began)
for name, result in results.items():
    # Theirs cancel in the last places.
    np.testing.assert_allclose(result, results["accrue"], rtol=1e-9, atol=1e-12)

one_error, one_sigma = np.zeros(1), np.ones(1)
call = min(timeit.repeat(lambda: accrue.scores.crps(one_error, one_sigma), number=CALLS, repeat=ROUNDS)) / CALLS
print(json.dumps({"seconds": best, "call": call}))
