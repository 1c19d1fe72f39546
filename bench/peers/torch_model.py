"""The cost and the network in vectorised PyTorch, double. Debian's PyTorch calculates with the system's BLAS."""

import math

import torch

ROOT_PI = math.sqrt(math.pi)


def places(t):
    """(2 rank - 1)/N of every row: constants for the gradient, so that nothing is differentiated through the sort."""
    with torch.no_grad():
        place = torch.empty_like(t)
        place[torch.argsort(t)] = torch.arange(1, 2 * len(t), 2, dtype=t.dtype) / len(t)
    return place


def parts(errors, log_sigma):
    sigma = torch.exp(torch.clamp(log_sigma, -14, 8))
    t = errors / sigma / math.sqrt(2)
    erf, gauss = torch.erf(t), torch.exp(-t * t)
    return sigma, t, erf, gauss, math.sqrt(2) / ROOT_PI * gauss - 1 / ROOT_PI


def cost(errors, log_sigma, beta):
    """The accuracy-reliability cost [AR]."""
    sigma, t, erf, gauss, slope = parts(errors, log_sigma)
    crps = torch.mean(errors * erf + sigma * slope)
    rs = torch.mean(t * (erf + 1 - places(t)) + gauss / ROOT_PI) - math.sqrt(2 / math.pi) / 2
    return beta * crps + (1 - beta) * rs


@torch.no_grad()
def cost_and_gradient(errors, log_sigma, beta):
    """The same with the gradient written out, which spares what autograd keeps."""
    sigma, t, erf, gauss, slope = parts(errors, log_sigma)
    crps = torch.mean(errors * erf + sigma * slope)
    pull = t * (erf + 1 - places(t))
    rs = torch.mean(pull) + torch.mean(gauss) / ROOT_PI - math.sqrt(2 / math.pi) / 2
    return beta * crps + (1 - beta) * rs, (beta * slope * sigma - (1 - beta) * pull) / len(errors)


def network(p, x):
    h = torch.relu(torch.addmm(p[1], x, p[0]))
    h = torch.clamp(torch.addmm(p[3], h, p[2]), -1, 1)
    return (torch.addmm(p[5], h, p[4])).squeeze(1)


def start(inputs, log_spread):
    normal = lambda sd, *shape: (sd * torch.randn(*shape, dtype=torch.double)).requires_grad_()
    zeros = lambda *shape: torch.zeros(*shape, dtype=torch.double, requires_grad=True)
    bias = torch.full((1,), log_spread, dtype=torch.double, requires_grad=True)
    return [
        normal(math.sqrt(2 / inputs), inputs, 50),
        normal(1, 50),
        normal(math.sqrt(1 / 50), 50, 10),
        zeros(10),
        normal(0.3 / math.sqrt(10), 10, 1),
        bias,
    ]
