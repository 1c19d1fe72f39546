"""reliability.json: [RS] by numerical integration, [RSmin], [BETA] and the best constant sigma."""

import json
import statistics

from mpmath import mp, mpf

import scores
from common import Draws, decimal, hexadecimal

AGREEMENT = mpf(10) ** -30  # integral against closed form
FAR = 12  # erfc(12)^2 is about 1e-128: beyond it the ideal cdf is 0 or 1 to all digits in use


# ---------------------------------------------------------------- the score


def _sorted_steps(t, w):
    """Jumps of the weighted empirical cdf: positions ascending, heights that sum to 1."""
    total = mp.fsum(w)
    return sorted((ti, wi / total) for ti, wi in zip(t, w))


def rs_by_integration(t, w):
    """The integral over t of (ideal cdf - weighted empirical cdf)^2, the ideal cdf being (1 + erf t)/2."""
    steps = _sorted_steps(t, w)
    knots = sorted({x for x, _ in steps} | {mpf(i) for i in range(-FAR, FAR + 1)})
    total = mpf(0)
    level = mpf(0)
    taken = 0
    pieces = [(mp.ninf, knots[0])] + list(zip(knots, knots[1:])) + [(knots[-1], mp.inf)]
    for left, right in pieces:
        while taken < len(steps) and steps[taken][0] <= left:
            level += steps[taken][1]
            taken += 1
        if left == mp.ninf:
            total += mp.quad(lambda x: (mp.erfc(-x) / 2) ** 2, [left, right])
        elif right == mp.inf:
            total += mp.quad(lambda x: (mp.erfc(x) / 2) ** 2, [left, right])
        else:
            # The half of erfc that stays small is taken, so that the tails keep their digits.
            if right <= 0:
                term = lambda x: (mp.erfc(-x) / 2 - level) ** 2
            else:
                rest = mp.fsum(h for _, h in steps[taken:])
                term = lambda x: (mp.erfc(x) / 2 - rest) ** 2
            total += mp.quad(term, [left, right], method="gauss-legendre")
    return total


def rs_closed(t, w):
    """[RS] with weights, constant included."""
    total = mpf(0)
    before = mpf(0)
    for ti, wi in _sorted_steps(t, w):
        total += wi * (ti * (mp.erf(ti) + 1) - ti * (2 * before + wi) + mp.exp(-ti * ti) / mp.sqrt(mp.pi))
        before += wi
    return total - rs_constant()


def rs_constant():
    return mp.sqrt(2 / mp.pi) / 2


# ---------------------------------------------------------------- the cases


def _error_for(t, sigma):
    """The double nearest to sqrt(2) sigma t."""
    return float(mp.sqrt(2) * mpf(sigma) * mpf(t))


def _samples():
    """(name, errors, sigmas, weights); weights None: equal."""
    draw = Draws(20240602)

    for t in (0.0, 1e-300, -0.4, 1.0, -3.0, 20.0, -20.0):
        yield f"one row, t about {t:g}", [_error_for(t, 1.0)], [1.0], None
    yield "one row with a weight", [0.7], [0.5], [3.25]
    for a, b in ((-0.5, 0.5), (0.0, 0.0), (0.3, 0.3), (-20.0, 20.0), (0.0, 1e-300), (20.0, 20.5), (-1.0, 4.0)):
        yield f"two rows, t about {a:g} and {b:g}", [_error_for(a, 1.0), _error_for(b, 1.0)], [1.0, 1.0], None
    yield "two rows, unequal weights", [1.0, -2.0], [0.75, 1.5], [0.125, 2.0]
    yield "two tied rows, unequal weights", [1.0, 1.0], [2.0, 2.0], [1.0, 6.0]
    yield "three rows", [-1.0, 0.25, 2.0], [1.0, 0.5, 3.0], None
    yield "three rows, all equal", [0.5, 0.5, 0.5], [1.0, 1.0, 1.0], None
    yield "three rows, tied t from different rows", [0.5, 1.0, 2.0], [0.25, 0.5, 1.0], None
    yield "three rows, descending", [3.0, 0.0, -3.0], [1.0, 1.0, 1.0], None
    yield "three rows, integer weights", [-1.0, 0.25, 2.0], [1.0, 0.5, 3.0], [1.0, 2.0, 5.0]
    yield "the same three rows repeated", [-1.0] + [0.25] * 2 + [2.0] * 5, [1.0] + [0.5] * 2 + [3.0] * 5, None
    yield "three rows, equal weights of 7", [-1.0, 0.25, 2.0], [1.0, 0.5, 3.0], [7.0, 7.0, 7.0]

    def normal_rows(n, scale=1.0):
        sigmas = [draw.log_uniform(-1, 1) for _ in range(n)]
        return [scale * s * draw.normal() for s in sigmas], sigmas

    def random_weights(n):
        return [draw.uniform(0.01, 2.0) for _ in range(n)]

    for n in (5, 10, 50):
        yield f"{n} rows, calibrated", *normal_rows(n), None
        yield f"{n} rows, random weights", *normal_rows(n), random_weights(n)
        yield f"{n} rows, integer weights", *normal_rows(n), [float(draw.integer(1, 6)) for _ in range(n)]
    yield "10 rows, overconfident", *normal_rows(10, 3.0), None
    yield "10 rows, underconfident", *normal_rows(10, 0.1), None
    errors, sigmas = normal_rows(5)
    yield "10 rows in tied pairs", errors + errors, sigmas + sigmas, None
    yield "10 rows in tied pairs, random weights", errors + errors, sigmas + sigmas, random_weights(10)
    extreme = [-20.0, 20.0, 0.0, 1e-300, -1e-300, 0.5, -20.0, 20.0, 6.0, -6.0]
    yield "10 rows, extreme t", [_error_for(t, 1.0) for t in extreme], [1.0] * 10, None
    yield "10 rows, extreme t, random weights", [_error_for(t, 1.0) for t in extreme], [1.0] * 10, random_weights(10)
    yield "5 rows, weights over 12 decades", *normal_rows(5), [float(mpf(10) ** k) for k in (-6, -3, 0, 3, 6)]
    yield "50 rows, all errors positive", [abs(draw.normal()) for _ in range(50)], [1.0] * 50, None
    yield "50 rows on a lattice with ties", [float(draw.integer(-4, 4)) for _ in range(50)], [2.0] * 50, None


def _hex_list(values):
    return [hexadecimal(v) for v in values]


def _cases():
    for name, errors, sigmas, weights in _samples():
        exact = [(mpf(e), mpf(s)) for e, s in zip(errors, sigmas)]
        w = [mpf(v) for v in weights or [1.0] * len(errors)]
        assert len(exact) == len(w) and all(v > 0 for v in w)
        t = [e / (mp.sqrt(2) * s) for e, s in exact]
        rs = rs_by_integration(t, w)
        gap = abs(rs - rs_closed(t, w))
        assert gap < AGREEMENT, f"{name}: integral and closed form differ by {mp.nstr(gap, 3)}"
        total = mp.fsum(w)
        n_eff = total**2 / mp.fsum(v * v for v in w)
        yield {
            "name": name,
            "errors": _hex_list(errors),
            "sigmas": _hex_list(sigmas),
            "weights": _hex_list(weights or []),
            "rs": decimal(rs),
            "rs_without_constant": decimal(rs + rs_constant()),
            "rs_floor": decimal(rs_constant() / n_eff),
            "n_eff": decimal(n_eff),
            "mean_crps": decimal(mp.fsum(v * scores.crps(e, s) for v, (e, s) in zip(w, exact)) / total),
            "mean_nlpd": decimal(mp.fsum(v * scores.nlpd(e, s) for v, (e, s) in zip(w, exact)) / total),
        }


# ---------------------------------------------------------------- RSmin and beta


def _inverse_erfc(q):
    """t > 0 with erfc(t) = q, 0 < q < 1: a double to start from and Halley steps, each tripling the digits."""
    t = mpf(-statistics.NormalDist().inv_cdf(float(q / 2))) / mp.sqrt(2)
    for _ in range(3):
        ratio = (mp.erfc(t) - q) * mp.sqrt(mp.pi) / 2 * mp.exp(t * t)
        step = ratio / (1 + t * ratio)
        t += step
        if abs(step) < mpf(10) ** -20 * (1 + t):  # what is left is of the order of its cube
            return t
    raise ArithmeticError("no convergence")


def rs_min_without_constant(n):
    """[RSmin]: at erf(t_i) = (2i-1)/n - 1 only the exp terms are left; t_i = -t_(n+1-i) halves the work."""
    terms = []
    for i in range(1, n // 2 + 1):
        t = _inverse_erfc(mpf(2 * i - 1) / n)
        terms.append(2 * mp.exp(-t * t))
    if n % 2:
        terms.append(mpf(1))
    return mp.fsum(terms) / (mp.sqrt(mp.pi) * n)


def _rs_min():
    for n in (1, 2, 3, 5, 10, 50, 100, 1000, 4096, 5000, 20000, 100000):
        with mp.workdps(40):
            value = rs_min_without_constant(n)
            if n <= 100:
                t = [mp.erfinv(mpf(2 * i - 1) / n - 1) for i in range(1, n + 1)]
                assert abs(rs_closed(t, [mpf(1)] * n) + rs_constant() - value) < AGREEMENT
            yield {"n": n, "with_constant": decimal(value - rs_constant()), "without_constant": decimal(value)}


def _beta():
    draw = Draws(20240603)
    samples = [
        ("one row", [1.5]),
        ("two rows of opposite sign", [1.0, -1.0]),
        ("three rows, one zero", [0.0, -0.5, 4.0]),
        ("ten normal rows", [draw.normal() for _ in range(10)]),
        ("ten tiny rows", [1e-9 * draw.normal() for _ in range(10)]),
        ("fifty large rows", [1e6 * draw.normal() for _ in range(50)]),
        ("a hundred normal rows", [draw.normal() for _ in range(100)]),
    ]
    for name, errors in samples:
        mean = mp.fsum(abs(mpf(e)) for e in errors) / len(errors)
        crps_min = mp.erf(mp.sqrt(mp.log(4)) / 2) * mean
        rs_min = rs_min_without_constant(len(errors))
        yield {
            "name": name,
            "errors": _hex_list(errors),
            "crps_min": decimal(crps_min),
            "rs_min": decimal(rs_min),
            "beta": decimal(rs_min / (crps_min + rs_min)),
        }


# ---------------------------------------------------------------- the best constant sigma


def best_constant_sigma(errors, w):
    """The s that minimises the weighted mean CRPS.

    The mean slope, sqrt(2/pi) mean(exp(-e^2/(2 s^2))) - 1/sqrt(pi), rises with s from sqrt(2/pi) times the share of zero
    errors less 1/sqrt(pi): it has one zero, or none when zero errors have a share of at least 1/sqrt(2), and then the
    limit s -> 0 is best.
    """
    total = mp.fsum(w)

    def slope(s):
        return mp.fsum(v * scores.crps_slope(e, s) for e, v in zip(errors, w)) / total

    if mp.fsum(v for e, v in zip(errors, w) if e == 0) / total >= 1 / mp.sqrt(2):
        return mpf(0)
    low = mp.log(min(abs(e) for e in errors if e != 0)) - 1
    high = mp.log(max(abs(e) for e in errors)) + 1
    while slope(mp.exp(high)) < 0:
        high += 1
    while slope(mp.exp(low)) > 0:
        low -= 1
    for _ in range(150):  # halves to 1e-45 of the width
        middle = (low + high) / 2
        if slope(mp.exp(middle)) < 0:
            low = middle
        else:
            high = middle
    return mp.exp((low + high) / 2)


def _constant_sigma():
    draw = Draws(20240604)
    heavy = [draw.normal() / draw.uniform(0.02, 1.0) for _ in range(30)]
    samples = [
        ("one row", [2.0], None),
        ("two rows of one size", [-0.3, 0.3], None),
        ("two rows", [0.1, 10.0], None),
        ("two rows, weighted", [0.1, 10.0], [5.0, 0.5]),
        ("three rows, one zero", [0.0, 1.0, -2.0], None),
        ("three rows, two zero", [0.0, 0.0, 1.0], None),
        ("four rows, three zero: sigma 0", [0.0, 0.0, 0.0, 1.0], None),
        ("twenty normal rows", [draw.normal() for _ in range(20)], None),
        ("twenty tiny rows", [1e-12 * draw.normal() for _ in range(20)], None),
        ("twenty biased rows, weighted", [3.0 + draw.normal() for _ in range(20)],
         [draw.uniform(0.1, 3.0) for _ in range(20)]),
        ("thirty heavy-tailed rows", heavy, None),
        ("rows of very different size", [1e-6, -1e-3, 1.0, -1e3, 1e6], None),
    ]
    for name, errors, weights in samples:
        e = [mpf(v) for v in errors]
        w = [mpf(v) for v in weights or [1.0] * len(errors)]
        sigma = best_constant_sigma(e, w)
        mean = mp.fsum(v * (scores.crps(x, sigma) if sigma else abs(x)) for x, v in zip(e, w)) / mp.fsum(w)
        yield {
            "name": name,
            "errors": _hex_list(errors),
            "weights": _hex_list(weights or []),
            "sigma": decimal(sigma),
            "mean_crps": decimal(mean),
        }


def table():
    with mp.workdps(50):
        document = {
            "cases": list(_cases()),
            "rs_min": list(_rs_min()),
            "beta": list(_beta()),
            "best_constant_sigma": list(_constant_sigma()),
        }
    return json.dumps(document, indent=1) + "\n"
