#!/usr/bin/env python3
"""Reads an accrue model file without accrue: python3 read_model.py model.json

Checks the checksum, evaluates mean and sigma for the file's own test vectors with nothing but the standard library, and
says how far the two are apart; and where the formula is short, the quantiles of the first one. docs/model-file.md explains every step.
"""
import json
import math
import sys
from statistics import NormalDist


FURTHER = {  # parameters beyond location and scale, with their bounds
    "sinh-arcsinh": {"skew": (-2.0, 2.0), "log-tail": (-1.2, 1.2)},
    "student-t": {"log-nu": (math.log(2.1), math.log(200.0))},
    "two-piece-normal": {"log-ratio": (-3.0, 3.0)},
}


def bounds_of_outputs(model):
    """What a member gives: log sigma in units of the errors' scale, further parameters, and the location if it is learned."""
    bounds = [(-14.0, 8.0), *FURTHER.get(model.get("family", "normal"), {}).values()]
    return bounds + ([(-1e6, 1e6)] if "location" in model else [])


def outputs(member, x, model):
    """The outputs of one member; x are the standardised inputs."""
    p = member["parameters"]
    if member["form"] == "constant":
        return p
    if member["form"] == "polynomial":  # Chebyshev series over the input's range, clamped to it
        scaling = model["inputs"][0]
        low, high = ((scaling[end] - scaling["centre"]) / scaling["scale"] for end in ("lowest", "highest"))
        u = max(-1.0, min(1.0, (x[0] - (low + high) / 2) / ((high - low) / 2))) if high > low else 0.0
        value = sum(c * math.cos(order * math.acos(u)) for order, c in enumerate(p))
        return [math.log(max(value, math.exp(-14)))]
    if member["form"] == "clusters":  # the centres' coordinates, then log sigma of each
        count = len(p) // (len(x) + 1)
        centres = [p[c * len(x) : (c + 1) * len(x)] for c in range(count)]
        nearest = min(range(count), key=lambda c: sum((a - b) ** 2 for a, b in zip(centres[c], x)))
        return [p[count * len(x) + nearest]]
    categories = [i for i in model["inputs"] if i.get("kind") == "category"]
    numbers, at = x[len(categories) :], 0  # a network: three numbers for every label of every category come first
    for level, category in zip(x, categories):
        numbers += p[at + 3 * (level - 1) : at + 3 * level] if level > 0 else [0.0] * 3
        at += 3 * len(category["labels"])
    x = numbers
    take = iter(p[at:])  # weights of 50 units, their biases; 10 units, their biases; output weights, output bias
    layers = []
    for units, inputs in ((50, len(x)), (10, 50), (len(bounds_of_outputs(model)), 10)):
        weights = [[next(take) for _ in range(inputs)] for _ in range(units)]
        layers.append((weights, [next(take) for _ in range(units)]))
    activations = (lambda s: max(s, 0.0), lambda s: max(-1.0, min(1.0, s)), lambda s: s)
    for (weights, biases), activation in zip(layers, activations):
        x = [activation(sum(w * v for w, v in zip(row, x)) + b) for row, b in zip(weights, biases)]
    return x


def regression(r, x):
    """The mean that was learned where the archive had no prediction, in units of the target's scale."""
    if r["kind"] == "ensemble":
        return sum(regression(member, x) for member in r["members"]) / len(r["members"])
    if r["kind"] == "constant":
        return r["parameters"][0]
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


def encoded(value, i):
    """The columns that an input becomes. A category's value is the place of its label, and -1 for another one."""
    kind, missing = i.get("kind", "number"), value is None or math.isnan(value)
    if kind == "category":
        return [0 if missing or not 0 <= value < len(i["labels"]) else int(value) + 1]
    indicator = [1.0 if missing else 0.0] if i.get("missing") == "mean and indicator" else []
    if kind == "number":
        return [0.0 if missing else (value - i["centre"]) / i["scale"]] + indicator
    period = {"cyclic": i.get("period"), "hour": 86400.0, "season": 365.2425 * 86400.0}[kind]
    angle = 0.0 if missing else 2 * math.pi * (math.fmod(value, period) / period)
    pair = [0.0, 0.0] if missing else [math.sqrt(2) * math.sin(angle), math.sqrt(2) * math.cos(angle)]
    return pair + indicator


def correction(coefficients, x, prediction, categories):
    """What is added to the prediction: a constant, slopes of the numbers, effects of the categories' labels."""
    numbers = [1.0] + x[len(categories) :] + prediction
    effects, at = 0.0, len(numbers)
    for level, category in zip(x, categories):
        effects += coefficients[at + level - 1] if level > 0 and at < len(coefficients) else 0.0
        at += len(category["labels"])
    return sum(c * r for c, r in zip(coefficients, numbers)) + effects


def forecast(model, inputs, prediction):
    """Location, scale and further parameters of one row: of a Gaussian its mean and sigma."""
    columns = [(encoded(value, i), i) for value, i in zip(inputs, model["inputs"])]
    categories = [i for _, i in columns if i.get("kind") == "category"]
    x = [v for values, i in columns if i.get("kind") == "category" for v in values]  # categories come first
    x += [v for values, i in columns if i.get("kind") != "category" for v in values]
    members = [outputs(member, x, model) for member in model["sigma"]["members"]]
    weights = [member.get("weight", 1.0) for member in model["sigma"]["members"]]
    means = []  # of every output, each within its bounds
    for k, (low, high) in enumerate(bounds_of_outputs(model)):
        means.append(sum(w * max(low, min(high, values[k])) for w, values in zip(weights, members)) / sum(weights))
    sigma = model["error_scale"] * math.exp(means[0])
    moved = model["error_scale"] * means.pop() if "location" in model else 0.0
    if model["mean"]:
        target = model["mean"]["target"]
        mean = target["centre"] + target["scale"] * regression(model["mean"]["regression"], x)
        return mean + correction(model["bias"]["coefficients"], x, [], categories) + moved, sigma, means[1:]
    mu = model["prediction"]
    scaled = [(prediction - mu["centre"]) / mu["scale"]] if mu else []
    return prediction + correction(model["bias"]["coefficients"], x, scaled, categories) + moved, sigma, means[1:]


def quantile(model, location, scale, further, p):
    """What is not exceeded with probability p; None with bounds, a recalibration, or of Student's t, whose formula is longer."""
    family = model.get("family", "normal")
    if model.get("bounds") or model.get("recalibration") or family == "student-t":
        return None
    n = NormalDist()
    if family == "normal":
        u = n.inv_cdf(p)
    elif family == "logistic":
        u = math.log(p / (1 - p))
    elif family == "sinh-arcsinh":
        skew, log_tail = further
        u = math.sinh(math.exp(-log_tail) * (math.asinh(n.inv_cdf(p)) + skew))
    elif family == "two-piece-normal":
        below, above = math.exp(-further[0] / 2), math.exp(further[0] / 2)  # scales of the two halves
        share = below / (below + above)
        u = below * n.inv_cdf(p / share / 2) if p < share else -above * n.inv_cdf((1 - p) / (1 - share) / 2)
    else:
        return None
    return location + scale * u


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
        mean, sigma, further = forecast(model, vector["inputs"], vector["prediction"])
        scale = abs(vector["mean"]) + abs(vector["prediction"]) + vector["sigma"]
        furthest = max(furthest, abs(sigma / vector["sigma"] - 1), abs(mean - vector["mean"]) / scale)
        furthest = max([furthest, *(abs(a - b) for a, b in zip(further, vector.get("further", []), strict=True))])
    print(f"checksum {model['checksum']} is right; {len(model['test_vectors'])} test vectors agree to {furthest:.1e}")
    if furthest > 1e-12:
        sys.exit("that is further apart than 1e-12")
    first = model["test_vectors"][0]
    row = forecast(model, first["inputs"], first["prediction"])
    if quantile(model, *row, 0.5) is not None:
        print("quantiles of the first:", ", ".join(f"{p:g}: {quantile(model, *row, p):.6g}" for p in (0.05, 0.5, 0.95)))


if __name__ == "__main__":
    main()
