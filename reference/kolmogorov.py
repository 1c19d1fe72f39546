"""kolmogorov.csv and kolmogorov_median.csv: the distribution of D_n = sup |empirical cdf - cdf|, exactly.

Three routes, all for any real d with c = n d:

by_matrix   Marsaglia, Tsang, Wang (2003), Evaluating Kolmogorov's distribution, J. Stat. Software 8(18):
            P = n!/n^n (H^n)_kk with k = floor(c) + 1, h = k - c, H of order m = 2k - 1. Only row k of the power is needed,
            so a row vector is multiplied n times.

by_series   The same number as a coefficient. I - zH is a Hessenberg matrix whose minors have a generating function, and
                sum_n n^n/n! P(D_n <= c/n) z^n = Q_c(z)^2 / Q_2c(z),  Q_a(z) = sum_(0 <= s < a) (-(a - s) z)^s / s!
            (for whole c the polynomials of Kemperman, 1961, and Durbin, 1973). O(n c) instead of O(n c^2).

by_roots    The same coefficient from the poles of that fraction, for n in the thousands. The zeros of Q_a follow from the poles
            x of 1/(exp(zx) - x): with zx = u = theta cot(theta) + i theta one has z = theta/sin(theta) exp(-theta cot(theta)),
            and Q_a is -2 Re(exp(-a u)/(u - 1)) but for terms that are smaller by about exp(-a). Each zero starts there and is
            finished by Newton's method on Q_2c itself. Their contributions fall like exp(-n (pi j)^2/(8 c^2)).

table() checks them against each other where more than one is affordable.
"""

from mpmath import mp, mpf

from common import decimal, hexadecimal

SMALL = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
LARGE = (1000, 5000, 100000)
DPS = 50
AGREEMENT = mpf(10) ** -35


def _guard(c):
    """Digits that cancel: at z = 1/e the terms of Q_a reach exp(0.28 a) and their sum is of the size exp(-a); a = 2c."""
    return int(1.2 * c) + 30


def _trivial(n, d):
    if 2 * n * d <= 1:
        return mpf(0)
    return mpf(1) if d >= 1 else None


def by_matrix(n, d):
    d = mpf(d)
    known = _trivial(n, d)
    if known is not None:
        return known
    with mp.workdps(DPS + 30):
        k = int(mp.floor(n * d)) + 1
        h = k - n * d
        m = 2 * k - 1
        inverse_factorial = [1 / mp.factorial(i) for i in range(m + 1)]
        corner = 1 - 2 * h**m + max(2 * h - 1, 0) ** m
        columns = []
        for j in range(1, m + 1):
            column = [mpf(0)] * m
            for i in range(max(1, j - 1), m + 1):
                value = mpf(1)
                if j == 1 and i == m:
                    value = corner
                elif j == 1:
                    value = 1 - h**i
                elif i == m:
                    value = 1 - h ** (m + 1 - j)
                column[i - 1] = value * inverse_factorial[i - j + 1]
            columns.append(column)
        row = [mpf(0)] * m
        row[k - 1] = mpf(1)
        for i in range(1, n + 1):
            # The factor i/n a step keeps n!/n^n and the power at ordinary sizes.
            row = [mp.fdot(row, column) * i / n for column in columns]
        result = row[k - 1]
    return +result


def _q_coefficients(a):
    coefficients = []
    factorial = mpf(1)
    s = 0
    while s < a:
        coefficients.append((s - a) ** s / factorial)
        s += 1
        factorial *= s
    return coefficients


def by_series(n, d):
    d = mpf(d)
    known = _trivial(n, d)
    if known is not None:
        return known
    with mp.workdps(DPS + _guard(float(n * d))):
        q = _q_coefficients(n * d)
        denominator = _q_coefficients(2 * n * d)
        square = [mpf(0)] * (n + 1)
        for i, x in enumerate(q):
            for j, y in enumerate(q):
                if i + j <= n:
                    square[i + j] += x * y
        minus_tail = [-x for x in denominator[1:]]
        a = []
        for i in range(n + 1):
            reach = min(i, len(minus_tail))
            a.append(square[i] + mp.fdot(minus_tail[:reach], reversed(a[i - reach :])))
        result = a[n] * mp.factorial(n) / mpf(n) ** n
    return +result


def _polynomial(coefficients, z):
    value = slope = mpf(0)
    for x in reversed(coefficients):
        slope = slope * z + value
        value = value * z + x
    return value, slope


def by_roots(n, d):
    d = mpf(d)
    known = _trivial(n, d)
    if known is not None:
        return known
    with mp.workdps(DPS + _guard(float(n * d))):
        c = n * d
        q = _q_coefficients(c)
        denominator = _q_coefficients(2 * c)
        # n!/n^n exp(n) is of ordinary size; the powers of the zeros are taken relative to 1/e.
        scale = mp.exp(mp.loggamma(n + 1) - n * mp.log(n) + n)
        total = mpf(0)
        for j in range(1, len(denominator)):
            with mp.workdps(DPS + 10):
                theta = mp.findroot(
                    lambda x: 2 * c * x + mp.arg(mp.mpc(x * mp.cot(x) - 1, x)) - mp.pi / 2 - j * mp.pi,
                    j * mp.pi / (2 * c + mpf(1) / 3),
                )
                z = theta / mp.sin(theta) * mp.exp(-theta * mp.cot(theta))
            z = +z
            for _ in range(20):
                value, slope = _polynomial(denominator, z)
                step = value / slope
                assert abs(step) < mpf(10) ** -6 * z, "start too far from the zero"
                z -= step
                if abs(step) < mpf(10) ** -(DPS - 5) * z:  # so `slope`, of the last z, has as many digits
                    break
            else:
                raise ArithmeticError("no convergence")
            term = -scale * _polynomial(q, z)[0] ** 2 / (slope * z) * mp.exp(-n * (1 + mp.log(z)))
            total += term
            # Terms of even j are smaller by themselves, so only an odd one may end the sum.
            if j % 2 and abs(term) < mpf(10) ** -DPS:
                return +total
        raise ArithmeticError("the poles ran out before the sum converged")


def probability(n, d):
    """P(D_n <= d)."""
    return by_series(n, d) if n <= 500 else by_roots(n, d)


# ---------------------------------------------------------------- the grid

LOWER = [mpf(p) / 10000 for p in (10, 30, 100, 200, 500, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000)]
UPPER = [mpf(10) ** -k for k in (2, 3, 4, 5, 6, 7, 8, 9, 10)] + [mpf(p) / 1000 for p in (50, 25, 20, 5)]


def _limit_quantile(tail):
    """x with P(sqrt(n) D_n > x) = tail for n -> infinity, by the quickly convergent one of Kolmogorov's two series."""

    def excess(x):
        if x > 1:
            return 2 * mp.fsum((-1) ** (j - 1) * mp.exp(-2 * j * j * x * x) for j in range(1, 12)) - tail
        ideal = mp.fsum(mp.exp(-(((2 * j - 1) * mp.pi) ** 2) / (8 * x * x)) for j in range(1, 12))
        return 1 - mp.sqrt(2 * mp.pi) / x * ideal - tail

    low, high = mpf("0.2"), mpf(5)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


def _grid(n):
    """Doubles d whose probabilities are near those of LOWER and 1 - UPPER, and the corners of the distribution."""
    tails = [1 - p for p in LOWER] + UPPER
    points = set()
    for tail in tails:
        if n <= 20:
            low, high = mpf(1) / (2 * n), mpf(1)
            for _ in range(45):
                middle = (low + high) / 2
                low, high = (middle, high) if 1 - by_series(n, middle) > tail else (low, middle)
            points.add(float(high))
        else:
            # Stephens (1970): close enough to pick points, which are then taken as they are.
            root = mp.sqrt(n)
            points.add(float(_limit_quantile(tail) / (root + mpf("0.12") + mpf("0.11") / root)))
    if n <= 10:
        points |= {1 / (4 * n), 1.0}  # probability 0 and 1
    if 1 < n <= 50:
        points |= {1.0 / n, 1.5 / n, 2.0 / n, 0.5}  # where the formula changes
    if n == 10:
        points.add(0.274)  # the example of Marsaglia, Tsang and Wang
    return sorted(points)


def table():
    lines = ["n,d,probability,complement"]
    with mp.workdps(DPS):
        for n in SMALL + LARGE:
            points = _grid(n)
            for i, d in enumerate(points):
                p = probability(n, d)
                if n <= 20 or (n <= 100 and i % 4 == 0) or (n <= 500 and i == 4):
                    assert abs(by_matrix(n, d) - p) < AGREEMENT, (n, d)
                if n <= 500 and n * d >= 15 and i % 3 == 0:  # below, the starts of by_roots are poor
                    assert abs(by_roots(n, d) - p) < AGREEMENT, (n, d)
                if (n == 1000 and i % 9 == 0) or (n == 5000 and i == 10):
                    assert abs(by_series(n, d) - p) < AGREEMENT, (n, d)
                lines.append(f"{n},{hexadecimal(d)},{decimal(p)},{decimal(1 - p)}")
    return "\n".join(lines) + "\n"


def median(n):
    half = mpf(1) / 2
    root = mp.sqrt(n)
    if n <= 3:
        start = (mpf(1) / (2 * n) + 1) / 2, mpf(1) / (2 * n) + mpf(1) / (3 * n)
    else:
        guess = _limit_quantile(half) / (root + mpf("0.12") + mpf("0.11") / root)
        start = guess, guess * mpf("1.001")
    d = mp.findroot(lambda x: probability(n, x) - half, start, solver="secant", tol=mpf(10) ** -60)
    assert abs(probability(n, d) - half) < mpf(10) ** -30
    return d


def median_table():
    with mp.workdps(DPS):
        rows = [f"{n},{decimal(median(n))}" for n in SMALL + LARGE]
    return "\n".join(["n,median"] + rows) + "\n"
