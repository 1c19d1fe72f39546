#!/usr/bin/env python3
"""Reads an accrue model file without accrue: python3 read_model.py model.json

Checks the checksum, evaluates mean and sigma for the file's own test vectors with nothing but the standard library, and
says how far the two are apart. docs/model-file.md explains every step.
"""
import json
import math
import sys


def log_sigma(member, x, model):
    """log sigma of one member, in units of the errors' scale; x are the standardised inputs."""
    p = member["parameters"]
    if member["form"] == "constant":
        return p[0]
    if member["form"] == "polynomial":  # Chebyshev series over the input's range, clamped to it
        scaling = model["inputs"][0]
        low, high = ((scaling[end] - scaling["centre"]) / scaling["scale"] for end in ("lowest", "highest"))
        u = max(-1.0, min(1.0, (x[0] - (low + high) / 2) / ((high - low) / 2))) if high > low else 0.0
        value = sum(c * math.cos(order * math.acos(u)) for order, c in enumerate(p))
        return math.log(max(value, math.exp(-14)))
    if member["form"] == "clusters":  # the centres' coordinates, then log sigma of each
        count = len(p) // (len(x) + 1)
        centres = [p[c * len(x) : (c + 1) * len(x)] for c in range(count)]
        nearest = min(range(count), key=lambda c: sum((a - b) ** 2 for a, b in zip(centres[c], x)))
        return p[count * len(x) + nearest]
    take = iter(p)  # a network: weights of 50 units, their biases; 10 units, their biases; output weights, output bias
    layers = []
    for units, inputs in ((50, len(x)), (10, 50), (1, 10)):
        weights = [[next(take) for _ in range(inputs)] for _ in range(units)]
        layers.append((weights, [next(take) for _ in range(units)]))
    activations = (lambda s: max(s, 0.0), lambda s: max(-1.0, min(1.0, s)), lambda s: s)
    for (weights, biases), activation in zip(layers, activations):
        x = [activation(sum(w * v for w, v in zip(row, x)) + b) for row, b in zip(weights, biases)]
    return x[0]


def regression(r, x):
    """The mean that was learned where the archive had no prediction, in units of the target's scale."""
    if r["kind"] == "ensemble":
        return sum(regression(member, x) for member in r["members"]) / len(r["members"])
    if r["kind"] == "gp":
        lengths = [math.exp(log) for log in r["log_lengths"]] * (len(x) if len(r["log_lengths"]) == 1 else 1)
        signal2 = math.exp(2 * r["log_signal"])
        terms = []
        for i, alpha in enumerate(r["alpha"]):
            distance2 = sum(((v - column[i]) / length) ** 2 for v, column, length in zip(x, r["points"], lengths))
            terms.append(alpha * signal2 * math.exp(-distance2 / 2))
        return math.fsum(terms)
    p, width = r["parameters"], len(x) + 1  # a network of 50 tanh units: each unit's weights and bias, then the output's
    units = [p[u * width : (u + 1) * width] for u in range(50)]
    output = p[50 * width :]
    hidden = [math.tanh(sum(w * v for w, v in zip(unit, x)) + unit[-1]) for unit in units]
    return sum(w * h for w, h in zip(output, hidden)) + output[-1]


def forecast(model, inputs, prediction):
    """Mean and sigma of one row."""
    x = [(value - i["centre"]) / i["scale"] for value, i in zip(inputs, model["inputs"])]
    logs = [max(-14.0, min(8.0, log_sigma(member, x, model))) for member in model["sigma"]["members"]]
    sigma = model["error_scale"] * math.exp(sum(logs) / len(logs))
    if model["mean"]:
        target = model["mean"]["target"]
        return target["centre"] + target["scale"] * regression(model["mean"]["regression"], x), sigma
    mu = model["prediction"]
    regressors = [1.0] + x + ([(prediction - mu["centre"]) / mu["scale"]] if mu else [])
    correction = sum(c * r for c, r in zip(model["bias"]["coefficients"], regressors))
    return prediction + correction, sigma


def checksum(text):
    """FNV-1a, 64 bits, of everything before the checksum, without the line breaks and blanks between the entries."""
    lines = [line.rstrip(",") for line in text.splitlines()[1:-2]]
    entries = (line.replace('": ', '":', 1) for line in lines)
    total = 0xCBF29CE484222325
    for byte in ("{" + ",".join(entries) + "}").encode():
        total = (total ^ byte) * 0x100000001B3 % 2**64
    return f"{total:016x}"


def main():
    with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
        text = file.read()
    model = json.loads(text)
    if checksum(text) != model["checksum"]:
        sys.exit("the checksum does not match: the file was edited or damaged")
    furthest = 0.0
    for vector in model["test_vectors"]:
        mean, sigma = forecast(model, vector["inputs"], vector["prediction"])
        scale = abs(vector["mean"]) + abs(vector["prediction"]) + vector["sigma"]
        furthest = max(furthest, abs(sigma / vector["sigma"] - 1), abs(mean - vector["mean"]) / scale)
    print(f"checksum {model['checksum']} is right; {len(model['test_vectors'])} test vectors agree to {furthest:.1e}")
    if furthest > 1e-12:
        sys.exit("that is further apart than 1e-12")


if __name__ == "__main__":
    main()
