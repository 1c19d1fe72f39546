"""scores.csv: [CRPS] and [NLPD] with their slopes in sigma, at points that are exact doubles."""

import math
import sys

from mpmath import mp, mpf

from common import Draws, decimal, hexadecimal

HEADER = "error,sigma,crps,crps_slope,nlpd,nlpd_slope"
LARGEST_DOUBLE = mpf(sys.float_info.max)
SMALLEST_NORMAL = 2.0**-1022


def crps(e, s):
    t = e / (mp.sqrt(2) * s)
    return e * mp.erf(t) + s * (mp.sqrt(2 / mp.pi) * mp.exp(-t * t) - 1 / mp.sqrt(mp.pi))


def crps_slope(e, s):
    t = e / (mp.sqrt(2) * s)
    return mp.sqrt(2 / mp.pi) * mp.exp(-t * t) - 1 / mp.sqrt(mp.pi)


def nlpd(e, s):
    return mp.log(s) + (e / s) ** 2 / 2 + mp.log(2 * mp.pi) / 2


def nlpd_slope(e, s):
    return (1 - (e / s) ** 2) / s


def _neighbours(x, steps):
    """The double x moved by that many doubles."""
    for _ in range(abs(steps)):
        x = math.nextafter(x, math.inf if steps > 0 else 0.0)
    return x


def _points():
    """(error, sigma), in blocks that README.md lists."""
    draw = Draws(20240601)

    for _ in range(1000):
        sigma = draw.log_uniform(-150, 150)
        yield draw.sign() * draw.uniform(0, 6) * sigma, sigma
    for _ in range(400):
        sigma = draw.log_uniform(-150, 150)
        yield draw.sign() * draw.uniform(6, 40) * sigma, sigma
    # exp(-t^2) turns subnormal and then zero between these.
    for _ in range(60):
        sigma = draw.log_uniform(-150, 150)
        yield draw.sign() * draw.uniform(37.5, 39.0) * sigma, sigma
    # Ordinary sizes, as users have them.
    for _ in range(300):
        sigma = draw.log_uniform(-3, 3)
        yield draw.sign() * draw.uniform(0, 6) * sigma, sigma
    for _ in range(150):
        sigma = draw.log_uniform(-150, 150)
        yield draw.sign() * draw.log_uniform(-20, -0.5) * sigma, sigma

    spread = [float(mpf(10) ** k) for k in (-150, -75, -10, 0, 10, 75, 150)]
    z_grid = [i / 4 for i in range(1, 25)] + [float(i) for i in range(6, 41, 2)]
    for i, z in enumerate(z_grid):
        for j, sigma in enumerate(spread):
            yield (z if (i + j) % 2 else -z) * sigma, sigma

    # The zeros of the slopes: z^2 = log 2 (crps) and z = 1 (nlpd), by single doubles and by relative steps.
    steps = [0, 1, -1, 2, -2, 5, -5, 20, -20]
    relative = [sign * mpf(10) ** -k for k in (14, 13, 12, 11, 10, 8, 6, 4, 3, 2) for sign in (1, -1)]
    for root in (mp.sqrt(mp.log(2)), mpf(1)):
        for sigma in (spread[0], 1.7e-30, 0.3, 1.0, 1234.5, spread[-1]):
            centre = float(root * mpf(sigma))
            for n in steps:
                yield (1 if n >= 0 else -1) * _neighbours(centre, n), sigma
            for k, r in enumerate(relative):
                yield (1 if k % 4 < 2 else -1) * float(root * mpf(sigma) * (1 + r)), sigma
    # The zero of nlpd itself: log s = -(z^2 + log(2 pi))/2.
    for z in (0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0):
        centre = float(mp.exp(-(mpf(z) ** 2 + mp.log(2 * mp.pi)) / 2))
        for n in steps:
            sigma = _neighbours(centre, n)
            yield z * sigma, sigma

    for k in range(-150, 151, 10):
        yield 0.0, float(mpf(10) ** k)
    yield 0.0, 0.3

    # sigma -> 0 and sigma -> infinity at a fixed error.
    for exponent in (1, 2, 3, 5, 8, 10, 15, 16, 17, 20, 50, 100, 120, 150, 200, 300):
        for e in (1.0, -1.0, 0.1, -12345.678):
            yield e, float(mpf(10) ** -exponent)
    for exponent in (1, 2, 3, 5, 8, 10, 20, 50, 100, 150):
        for e in (1.0, -1.0, 0.1, -12345.678):
            yield e, float(mpf(10) ** exponent)


def _double_or_infinity(x):
    if abs(x) > LARGEST_DOUBLE:
        return "inf" if x > 0 else "-inf"
    return decimal(x)


def table():
    lines = [HEADER]
    seen = set()
    with mp.workdps(60):
        for e, s in _points():
            if (e, s) in seen:
                continue
            seen.add((e, s))
            z = e / s
            assert s >= SMALLEST_NORMAL and math.isfinite(z)
            assert e == 0 or min(abs(e), abs(z)) >= SMALLEST_NORMAL
            values = [f(mpf(e), mpf(s)) for f in (crps, crps_slope, nlpd, nlpd_slope)]
            lines.append(",".join([hexadecimal(e), hexadecimal(s)] + [_double_or_infinity(v) for v in values]))
    assert len(lines) > 2400
    return "\n".join(lines) + "\n"
