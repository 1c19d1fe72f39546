#!/usr/bin/env python3
"""Reads an accrue model file without accrue: python3 read_model.py model.json

Checks the checksum, evaluates mean and sigma for the file's own test vectors with nothing but the standard library, and
says how far the two are apart, and gives quantiles of the first one. docs/model-file.md explains every step.
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


def normal(n):
    """Phi(n), with all its digits below."""
    return math.erfc(-n / math.sqrt(2)) / 2


def score(below, above):
    """The normal score of a value with these probabilities on its sides, from the smaller one."""
    if min(below, above) <= 0:
        return -math.inf if below <= 0 else math.inf
    return NormalDist().inv_cdf(below) if below < above else -NormalDist().inv_cdf(above)


def above_in_t(w, nu):
    """The probability of Student's t above sqrt(nu)*sinh(w), w >= 0: an incomplete beta function by its power series."""
    near = w < 0.5
    a, b, at, rest = 0.5, nu / 2, math.tanh(w) ** 2, math.cosh(w) ** -2
    if not near:
        a, b, at, rest = b, a, rest, at
    term, total, k = 1.0, 1.0, 0
    while term > 1e-17 * total:
        term *= (a + b + k) / (a + 1 + k) * at
        total += term
        k += 1
    value = at**a * rest**b / a * total * math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))
    return (1 - value) / 2 if near else value / 2


def to_score(family, further, u):
    """The normal score of u."""
    if family == "normal":
        return u
    if family == "logistic":
        small = math.exp(-abs(u)) / (1 + math.exp(-abs(u)))
    elif family == "sinh-arcsinh":
        return math.sinh(math.asinh(u) / math.exp(-further[1]) - further[0])
    elif family == "two-piece-normal":
        below, above = math.exp(-further[0] / 2), math.exp(further[0] / 2)  # scales of the two halves
        side = below if u < 0 else above
        small = 2 * side / (below + above) * normal(-abs(u) / side)
        return score(small, 1 - small) if u < 0 else score(1 - small, small)
    elif family == "student-t":
        nu = math.exp(further[0])
        small = above_in_t(math.asinh(abs(u) / math.sqrt(nu)), nu)
    return math.copysign(score(1 - small, small), u)


def of_score(family, further, n):
    """The u that has the normal score n."""
    if family == "normal":
        return n
    if family == "logistic":
        return math.log(normal(n) / normal(-n))
    if family == "sinh-arcsinh":
        return math.sinh(math.exp(-further[1]) * (math.asinh(n) + further[0]))
    if family == "two-piece-normal":
        below, above = math.exp(-further[0] / 2), math.exp(further[0] / 2)
        share = below / (below + above)
        if normal(n) < share:
            return below * NormalDist().inv_cdf(normal(n) / share / 2)
        return -above * NormalDist().inv_cdf(normal(-n) / (1 - share) / 2)
    low, high, nu, tail = 0.0, 400.0, math.exp(further[0]), normal(-abs(n))  # student-t, by bisection
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if above_in_t(middle, nu) > tail else (low, middle)
    return math.copysign(math.sqrt(nu) * math.sinh(low), n)


def of_score_in_bounds(model, location, scale, further, n):
    """As of_score, where the distribution may have bounds: censored or truncated there."""
    family, bounds = model.get("family", "normal"), model.get("bounds", {})
    low, high = ((bounds[end] - location) / scale if end in bounds else None for end in ("lower", "upper"))
    if bounds.get("kind") == "truncated":
        a = -math.inf if low is None else to_score(family, further, low)
        b = math.inf if high is None else to_score(family, further, high)
        below = normal(-n) * normal(a) + normal(n) * normal(b)
        above = normal(-n) * normal(-a) + normal(n) * normal(-b)
        n = score(below, above)
    if math.isinf(n):  # all of it lies so far in a tail that doubles have no probability there
        return low if n > 0 else high
    u = of_score(family, further, n)
    return min(max(u, -math.inf if low is None else low), math.inf if high is None else high)


def tail_slope(u, v):
    """Of the map beyond its last knot (u and v going outwards)."""
    inner = [j for j in range(len(v) - 1) if normal(-v[j]) >= 10 * normal(-v[-1])] or [0]
    return min(1.0, (v[-1] - v[inner[-1]]) / (u[-1] - u[inner[-1]])) if len(v) > 1 else 1.0


def without_map(model, n, group):
    """The normal score in the distribution before recalibration of what has the score n after it."""
    m = model.get("recalibration")
    if not m:
        return n
    m = next((own for own in m.get("groups", {}).get("maps", []) if own["label"] == group), m)
    u, v = list(m["predicted"]), list(m["actual"])
    if model["recalibration"].get("knots") != "scores":  # version 0.1: knots are probabilities
        if n > 0:  # from above, where the digits are
            u, v = ([1 - p for p in reversed(knots)] for knots in (u, v))
        u, v, p = [0.0, *u, 1.0], [0.0, *v, 1.0], normal(-abs(n))
        k = next(k for k in range(1, len(v)) if p < v[k])
        p = u[k - 1] + (u[k] - u[k - 1]) * (p - v[k - 1]) / (v[k] - v[k - 1])
        return score(1 - p, p) if n > 0 else score(p, 1 - p)
    first = last = 1.0
    if model.get("family") == "student-t":  # back to its own tails
        low, high = u[0] - max(1.0, 2 * (u[0] - v[0])), u[-1] + max(1.0, 2 * (v[-1] - u[-1]))
        u, v = [low, *u, high], [low, *v, high]
    else:
        first, last = tail_slope([-x for x in reversed(u)], [-x for x in reversed(v)]), tail_slope(u, v)
    if n < v[0]:
        return u[0] + (n - v[0]) / first
    if n >= v[-1]:
        return u[-1] + (n - v[-1]) / last
    k = next(k for k in range(1, len(v)) if n < v[k])
    return u[k - 1] + (u[k] - u[k - 1]) * (n - v[k - 1]) / (v[k] - v[k - 1])


def quantile(model, location, scale, further, p, group=None):
    """What is not exceeded with probability p; None of a model with a state, which moves every row by its time and group."""
    if model.get("state"):
        return None
    n = without_map(model, score(p, 1 - p), group)
    return location + scale * of_score_in_bounds(model, location, scale, further, n)


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
    if not model.get("state"):
        print("quantiles of the first:", ", ".join(f"{p:g}: {quantile(model, *row, p):.6g}" for p in (0.05, 0.5, 0.95)))


if __name__ == "__main__":
    main()
