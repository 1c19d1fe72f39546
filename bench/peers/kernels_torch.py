"""One kernel in PyTorch: its median time, and the memory that it takes beyond the data.

kernels_torch.py score|score-by-hand|step ROWS THREADS
"""

import json
import statistics
import sys
import time
from pathlib import Path

import torch
from torch_model import cost, cost_and_gradient, network, start

BETA = 0.4


def kilobytes(key):
    return next(
        int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key)
    )


def main():
    what, rows, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    log_sigma = torch.empty(rows, dtype=torch.double).uniform_(-1.6, 0.7)
    errors = torch.exp(log_sigma) * torch.randn(rows, dtype=torch.double)
    inputs = torch.randn(rows, 5, dtype=torch.double)
    parameters = start(5, 0)
    log_sigma.requires_grad_(what == "score")
    leaves = parameters if what == "step" else [log_sigma]

    def run():
        if what == "score-by-hand":
            return cost_and_gradient(errors, log_sigma, BETA)
        for leaf in leaves:
            leaf.grad = None
        cost(errors, network(parameters, inputs) if what == "step" else log_sigma, BETA).backward()

    before = kilobytes("VmRSS:")
    times = []
    while len(times) < 5 or (sum(times) < 3 and len(times) < 50):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    memory = (kilobytes("VmHWM:") - before) * 1024 / rows
    print(json.dumps({"seconds": statistics.median(times), "memory_per_row": memory, "version": torch.__version__}))


main()
