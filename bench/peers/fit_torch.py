"""The default recipe in vectorised PyTorch with its L-BFGS: same network, cost, folds, starts, patience and rule for keeping a start,
double; its own random numbers and strong Wolfe search."""

import math

import torch
from contender import compete
from torch_model import cost, network, start

FOLDS, STARTS, MOST_ITERATIONS, LARGE_FOLD = 5, 3, 400, 500


def train(x, e, x_held, e_held, beta, patience):
    """The parameters of the best held-out cost, and its skill over a constant sigma."""
    log_spread = math.log(float(torch.sqrt(torch.mean(e * e))))
    p = start(x.shape[1], log_spread)
    solver = torch.optim.LBFGS(
        p, lr=1, max_iter=1, history_size=20, line_search_fn="strong_wolfe", tolerance_grad=1e-10, tolerance_change=0
    )

    def closure():
        solver.zero_grad()
        value = cost(e, network(p, x), beta)
        value.backward()
        return value

    best, since, kept = math.inf, 0, None
    for _ in range(MOST_ITERATIONS):
        solver.step(closure)
        with torch.no_grad():
            held = float(cost(e_held, network(p, x_held), beta))
            if held < best:
                best, since, kept = held, 0, [q.clone() for q in p]
            else:
                since += 1
        if since >= patience:
            break
    constant = float(cost(e_held, torch.full_like(e_held, log_spread), beta))
    return kept, 1 - best / constant


def fit(x, e, threads):
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    x, e = torch.tensor(x), torch.tensor(e)
    centre, scale, error_scale = x.mean(0), x.std(0, unbiased=False), torch.sqrt(torch.mean(e * e))
    x, e = (x - centre) / scale, e / error_scale
    crps_min = math.erf(math.sqrt(math.log(4)) / 2) * float(torch.mean(torch.abs(e)))
    beta = 0.3989 / (crps_min + 0.3989)
    fold = torch.randperm(len(e)) % FOLDS
    large = len(e) // FOLDS >= LARGE_FOLD
    trained = [
        train(x[fold != k], e[fold != k], x[fold == k], e[fold == k], beta, 30 if large else 10)
        for k in range(FOLDS)
        for _ in range(STARTS)
    ]
    best = max(skill for _, skill in trained)
    kept = [p for p, skill in trained if p is not None and (not large or skill >= best / 2)]

    @torch.no_grad()
    def sigma(new):
        new = (torch.tensor(new) - centre) / scale
        return (error_scale * torch.exp(sum(torch.clamp(network(p, new), -14, 8) for p in kept) / len(kept))).numpy()

    return sigma


compete(fit)
