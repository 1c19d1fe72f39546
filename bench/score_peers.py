"""Scores of `accrue evaluate` beside those of scoringrules and properscoring, on the same random rows.

    pip install scoringrules properscoring scipy
    python bench/score_peers.py [accrue]

Prints each score and how far the other package's is from it; all differences are rounding.
"""

import json
import subprocess
import sys
import tempfile

import numpy as np
import properscoring
import scoringrules
from scipy.stats import norm

ROWS, MEMBERS, THRESHOLD = 500, 11, 0.3


def main(accrue="accrue"):
    rng = np.random.default_rng(7)
    mu = rng.normal(size=ROWS)
    sigma = np.exp(0.3 * rng.normal(size=ROWS))
    y = mu + sigma * rng.normal(size=ROWS)
    members = mu[:, None] + sigma[:, None] * rng.normal(size=(ROWS, MEMBERS))
    quantiles = {0.1: mu - 1.2 * sigma, 0.5: mu, 0.9: mu + 1.3 * sigma}
    names = ["mu", "y", "sigma", "q1", "q5", "q9", *(f"P{k}" for k in range(MEMBERS))]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        table = np.column_stack([mu, y, sigma, *quantiles.values(), *members.T])
        np.savetxt(file, table, delimiter=",", fmt="%.17g", header=",".join(names), comments="")
        file.flush()
        command = [accrue, "evaluate", file.name, "--prediction", "mu", "--observation", "y", "--sigma", "sigma"]
        command += ["--members", "P*", "--quantile-columns", "q1=0.1,q5=0.5,q9=0.9", "--exceed", str(THRESHOLD), "--json"]
        normal, ensemble, levels = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["forecasts"]

    def show(what, ours, theirs):
        print(f"{what:45} {ours:.15g}  {abs(ours - np.mean(theirs)):.1e}")

    above = ensemble["exceed"][0]
    brier = scoringrules.brier_score((y > THRESHOLD) * 1.0, norm.sf((THRESHOLD - mu) / sigma))
    weighted = scoringrules.twcrps_ensemble(y, members, a=THRESHOLD, b=np.inf, estimator="nrg")
    show("CRPS of a normal, scoringrules", normal["crps"], scoringrules.crps_normal(y, mu, sigma))
    show("CRPS of an ensemble, scoringrules", ensemble["crps"], scoringrules.crps_ensemble(y, members, estimator="nrg"))
    show("CRPS of an ensemble, properscoring", ensemble["crps"], properscoring.crps_ensemble(y, members))
    show("fair CRPS, scoringrules", ensemble["fair_crps"], scoringrules.crps_ensemble(y, members, estimator="fair"))
    show("threshold-weighted CRPS, scoringrules", above["threshold_weighted_crps"], weighted)
    show("Brier score, scoringrules", normal["exceed"][0]["brier"]["score"], brier)
    show("Brier score of an ensemble, properscoring", above["brier"]["score"],
         properscoring.threshold_brier_score(y, members, threshold=THRESHOLD))
    for one, (level, values) in zip(levels["quantile_scores"], quantiles.items()):
        show(f"quantile score {level}, scoringrules", one["score"], scoringrules.quantile_score(y, values, level))


if __name__ == "__main__":
    main(*sys.argv[1:])
