#!/usr/bin/python3
"""A whole default fit by accrue beside the same fit in vectorised PyTorch with its L-BFGS.

Same rows, network, cost, folds, starts, patience, precision (double) and threads; PyTorch's own random numbers and strong
Wolfe search. PyTorch comes from Debian (python3-torch, which calculates with the system's BLAS; libopenblas0 here).
Prints wall times, their ratio and the mean held-out cost of the kept starts of both.
"""

import argparse
import json
import math
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

FOLDS, STARTS, MOST_ITERATIONS = 5, 3, 400


def cost(errors, log_sigma, beta):
    """The accuracy-reliability cost [AR]."""
    n = len(errors)
    sigma = torch.exp(torch.clamp(log_sigma, -14, 8))
    t = errors / sigma / math.sqrt(2)
    erf, gauss = torch.erf(t), torch.exp(-t * t)
    crps = torch.mean(errors * erf + sigma * (math.sqrt(2 / math.pi) * gauss - 1 / math.sqrt(math.pi)))
    t_sorted, order = torch.sort(t)
    rank = torch.arange(1, n + 1, dtype=torch.double)
    rs = (torch.sum(t_sorted * (erf[order] + 1 - (2 * rank - 1) / n)) + torch.sum(gauss) / math.sqrt(math.pi)) / n
    return beta * crps + (1 - beta) * (rs - math.sqrt(2 / math.pi) / 2)


def network(p, x):
    h = torch.relu(torch.addmm(p[1], x, p[0]))
    h = torch.clamp(torch.addmm(p[3], h, p[2]), -1, 1)
    return (torch.addmm(p[5], h, p[4])).squeeze(1)


def start(inputs, log_spread):
    normal = lambda sd, *shape: (sd * torch.randn(*shape, dtype=torch.double)).requires_grad_()
    zeros = lambda *shape: torch.zeros(*shape, dtype=torch.double, requires_grad=True)
    bias = torch.full((1,), log_spread, dtype=torch.double, requires_grad=True)
    return [normal(math.sqrt(2 / inputs), inputs, 50), normal(1, 50), normal(math.sqrt(1 / 50), 50, 10), zeros(10),
            normal(0.3 / math.sqrt(10), 10, 1), bias]


def train(x, e, x_held, e_held, beta, patience):
    p = start(x.shape[1], math.log(float(torch.sqrt(torch.mean(e * e)))))
    solver = torch.optim.LBFGS(p, lr=1, max_iter=1, history_size=20, line_search_fn="strong_wolfe",
                               tolerance_grad=1e-10, tolerance_change=0)

    def closure():
        solver.zero_grad()
        value = cost(e, network(p, x), beta)
        value.backward()
        return value

    best, since = math.inf, 0
    for _ in range(MOST_ITERATIONS):
        solver.step(closure)
        with torch.no_grad():
            held = float(cost(e_held, network(p, x_held), beta))
        best, since = (held, 0) if held < best else (best, since + 1)
        if since >= patience:
            break
    return best


def torch_fit(x, e, beta, patience, seed):
    torch.manual_seed(seed)
    x = (x - x.mean(0)) / x.std(0, unbiased=False)
    e = e / torch.sqrt(torch.mean(e * e))
    fold = torch.randperm(len(e)) % FOLDS
    costs = []
    for k in range(FOLDS):
        own = fold == k
        for _ in range(STARTS):
            costs.append(train(x[~own], e[~own], x[own], e[own], beta, patience))
    return costs


def kept_mean(costs):
    """Mean cost without the starts that got stuck near a constant (a twentieth above the best)."""
    best = min(costs)
    good = [c for c in costs if c < 1.1 * best]
    return sum(good) / len(good), len(good)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accrue", default="build/bin/accrue")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", help="JSON file for the ratios")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"PyTorch {torch.__version__} (Debian), {options.threads} threads, double; accrue: wall time of the process")
    print(f"{'':18}{'accrue s':>10}{'PyTorch s':>11}{'ratio':>8}{'cost':>10}{'PyTorch':>10}")
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, inputs, patience, key in (("G", 100, ["x"], 10, "100"),
                                                  ("5D", 10_000, [f"x{k}" for k in range(1, 6)], 30, "10000")):
            ours, theirs, our_costs, their_costs = [], [], [], []
            for seed in range(1, options.seeds + 1):
                data, model = Path(folder) / "data.csv", Path(folder) / "model.json"
                subprocess.run([options.accrue, "generate", name, "--rows", str(rows), "--seed", str(seed), "-o", data],
                               check=True)
                begin = time.perf_counter()
                out = subprocess.run([options.accrue, "fit", data, "--inputs", ",".join(inputs), "--prediction", "f",
                                      "--observation", "y", "--threads", str(options.threads), "--quiet", "--json",
                                      "-o", model], check=True, capture_output=True)
                ours.append(time.perf_counter() - begin)
                result = json.loads(out.stdout)
                our_costs += [s["validation_cost"] for s in result["fit"]["starts"] if s["kept"]]
                table = np.genfromtxt(data, delimiter=",", names=True)
                x = torch.tensor(np.stack([table[i] for i in inputs], 1))
                e = torch.tensor(table["y"] - table["f"])
                scale = float(torch.sqrt(torch.mean(e * e)))
                crps_min = math.erf(math.sqrt(math.log(4)) / 2) * float(torch.mean(torch.abs(e))) / scale
                beta = 0.3989 / (crps_min + 0.3989)
                begin = time.perf_counter()
                their_costs += torch_fit(x, e, beta, patience, seed)
                theirs.append(time.perf_counter() - begin)
            ratio = sorted(t / o for o, t in zip(ours, theirs))[len(ours) // 2]
            ratios[key] = ratio
            our_mean = sum(our_costs) / len(our_costs)
            their_mean, kept = kept_mean(their_costs) if rows > 500 else (sum(their_costs) / len(their_costs), len(their_costs))
            print(f"{name}, {rows} rows".ljust(18) + f"{sorted(ours)[len(ours) // 2]:10.3f}"
                  f"{sorted(theirs)[len(theirs) // 2]:11.3f}{ratio:8.1f}{our_mean:10.4f}{their_mean:10.4f}"
                  f"   (kept {len(our_costs)} and {kept} of {len(their_costs)} starts)")
    if options.out:
        Path(options.out).write_text(json.dumps(ratios))


if __name__ == "__main__":
    main()
