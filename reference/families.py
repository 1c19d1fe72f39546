"""families.csv and family_moments.csv: every family of distributions at points that are exact doubles."""

from mpmath import mp, mpf

from common import decimal, hexadecimal

HEADER = "family,u,a,b,cdf,survival,log_pdf,crps,normal_score,score_slope,score_a,score_b,crps_a,crps_b,log_pdf_a,log_pdf_b"
MOMENTS_HEADER = "family,a,b,mean,sd"

# Further parameters: bounds, start and between.
SETTINGS = {
    "logistic": [()],
    "student-t": [(0.7419373447293773,), (1.2,), (2.302585092994046,), (3.5,), (5.298317366548036,)],
    "two-piece-normal": [(-3.0,), (-0.7,), (0.0,), (0.3,), (3.0,)],
    "sinh-arcsinh": [
        (0.0, 0.0), (0.5, -0.3), (-0.8, 0.4), (2.0, -1.2), (-2.0, -1.2), (2.0, 1.2), (0.0, -1.2), (0.0, 1.2),
    ],
}
PLACES = [-1e300, -1e3, -30.0, -7.0, -2.5, -1.1, -0.3, 0.0, 1e-300, 1e-9, 0.4, 1.3, 2.7, 8.0, 40.0, 1e100]


def phi(n):
    return mp.exp(-n * n / 2) / mp.sqrt(2 * mp.pi)


def upper(n):
    """Phi(-n)"""
    return mp.erfc(n / mp.sqrt(2)) / 2


def log_upper(n):
    """Its logarithm also where erfc is too far out: by the asymptotic series."""
    if n < 10**6:
        return mp.log(upper(n))
    r = 1 / n**2
    return -n * n / 2 - mp.log(n * mp.sqrt(2 * mp.pi)) + mp.log(1 - r + 3 * r**2 - 15 * r**3 + 105 * r**4)


def score_above(log_above):
    """The n with exp(log_above) above it, by Newton's method."""
    if log_above > mp.log(mpf(1) / 2):
        return -score_above(mp.log1p(-mp.exp(log_above)))
    n = mp.sqrt(max(-2 * log_above - mp.log(2 * mp.pi) - mp.log(max(-2 * log_above, mpf(1))), mpf(0)))
    for _ in range(200):
        step = (log_upper(n) - log_above) * mp.exp(log_upper(n) + n * n / 2 + mp.log(2 * mp.pi) / 2)
        n += step
        if abs(step) <= mpf(10) ** -45 * max(1, abs(n)):
            return n
    raise AssertionError("no score")


class Symmetric:
    """From functions of |u|: log_pdf, log_survival and what is integrated for the crps."""

    def row(self, u, p):
        x = abs(u)
        sign = -1 if u < 0 else 1
        log_above = self.log_survival(x, p)
        z = score_above(log_above)
        mills = mp.exp(log_upper(z) + z * z / 2 + mp.log(2 * mp.pi) / 2)
        above = mp.exp(log_above)
        values = {
            "cdf": above if u < 0 else 1 - above,
            "survival": 1 - above if u < 0 else above,
            "log_pdf": self.log_pdf(x, p),
            "crps": self.crps(x, p),
            "normal_score": sign * z,
            "score_slope": mp.exp(self.log_pdf(x, p) - log_above) * mills,
        }
        if p:
            by = lambda f: mp.diff(lambda a: f(x, (a,)), p[0])
            values["score_a"] = -sign * mills * by(self.log_survival)
            values["crps_a"] = by(self.crps)
            values["log_pdf_a"] = by(self.log_pdf)
        return values


class Logistic(Symmetric):
    def log_pdf(self, x, p):
        return -x - 2 * mp.log1p(mp.exp(-x))

    def log_survival(self, x, p):
        return -x - mp.log1p(mp.exp(-x))

    def crps(self, x, p):
        return x + 2 * mp.log1p(mp.exp(-x)) - 1

    def moments(self, p):
        return mpf(0), mp.pi / mp.sqrt(3)


class StudentT(Symmetric):
    def log_pdf(self, x, p):
        nu = mp.exp(p[0])
        return -mp.log(nu) / 2 - mp.log(mp.beta(mpf(1) / 2, nu / 2)) - (nu + 1) / 2 * mp.log1p(x * x / nu)

    def log_survival(self, x, p):
        nu = mp.exp(p[0])
        c = nu / (nu + x * x)
        if c < mpf(10) ** -6:  # a series, as betainc takes its time there
            a = nu / 2
            total, term = mpf(0), mpf(1)
            for n in range(12):
                total += term / (a + n)
                term *= c * (n + mpf(1) / 2) / (n + 1)
            return a * mp.log(c) - mp.log(2 * mp.beta(a, mpf(1) / 2)) + mp.log(total)
        return mp.log(mp.betainc(nu / 2, mpf(1) / 2, 0, c, regularized=True) / 2)

    def crps(self, x, p):
        nu = mp.exp(p[0])
        above = mp.exp(self.log_survival(x, p))
        gini = 2 * mp.sqrt(nu) / (nu - 1) * mp.beta(mpf(1) / 2, nu - mpf(1) / 2) / mp.beta(mpf(1) / 2, nu / 2) ** 2
        return x * (1 - 2 * above) + 2 * mp.exp(self.log_pdf(x, p)) * (nu + x * x) / (nu - 1) - gini

    def moments(self, p):
        nu = mp.exp(p[0])
        return mpf(0), mp.sqrt(nu / (nu - 2))


class TwoPiece:
    def parts(self, u, p):
        below, above = mp.exp(-p[0] / 2), mp.exp(p[0] / 2)
        own, other = (below, above) if u < 0 else (above, below)
        return own, other, abs(u) / own

    def log_beyond(self, u, p):
        own, other, x = self.parts(u, p)
        return mp.log(2 * own / (own + other)) + log_upper(x)

    def log_pdf(self, u, p):
        own, other, x = self.parts(u, p)
        return mp.log(2 / (own + other)) - x * x / 2 - mp.log(2 * mp.pi) / 2

    def crps(self, u, p):
        own, other, x = self.parts(u, p)
        share = own / (own + other)
        peak = 1 / mp.sqrt(2 * mp.pi)
        square = (1 / mp.sqrt(2) - mpf(1) / 2) / mp.sqrt(mp.pi)
        near = 4 * share * own * (phi(x) - x * upper(x) - peak) if x < 10**6 else -4 * share * own * peak
        return abs(u) + near + 4 * square * (share**2 * own + (1 - share) ** 2 * other)

    def row(self, u, p):
        sign = -1 if u < 0 else 1
        log_beyond = self.log_beyond(u, p)
        z = score_above(log_beyond)
        ratio = mp.exp(log_beyond + z * z / 2 + mp.log(2 * mp.pi) / 2)
        beyond = mp.exp(log_beyond)
        by = lambda f: mp.diff(lambda a: f(u, (a,)), p[0])
        return {
            "cdf": beyond if u < 0 else 1 - beyond,
            "survival": 1 - beyond if u < 0 else beyond,
            "log_pdf": self.log_pdf(u, p),
            "crps": self.crps(u, p),
            "normal_score": sign * z,
            "score_slope": mp.exp(self.log_pdf(u, p) - log_beyond) * ratio,
            "score_a": -sign * ratio * by(self.log_beyond),
            "crps_a": by(self.crps),
            "log_pdf_a": by(self.log_pdf),
        }

    def moments(self, p):
        below, above = mp.exp(-p[0] / 2), mp.exp(p[0] / 2)
        mean = mp.sqrt(2 / mp.pi) * (above - below)
        return mean, mp.sqrt((1 - 2 / mp.pi) * (above - below) ** 2 + above * below)


class SinhArcsinh:
    EDGES = list(map(mpf, (-16, -12, -8, -5, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12, 16)))

    def integral(self, value, low, high):
        low, high = max(low, self.EDGES[0]), min(high, self.EDGES[-1])
        if low >= high:
            return mpf(0)
        with mp.workdps(32):  # in a tenth of the time
            edges = [low] + [e for e in self.EDGES if low < e < high] + [high]
            return mp.quad(value, edges, method="gauss-legendre")

    def row(self, u, p):
        skew, tail = p[0], mp.exp(p[1])
        w = tail * mp.asinh(u) - skew
        z = mp.sinh(w)
        slope = tail * mp.cosh(w) / mp.sqrt(1 + u * u)

        def stretch(n):  # du/dn
            return mp.cosh((mp.asinh(n) + skew) / tail) / tail / mp.sqrt(1 + n * n)

        def squares(of_below, of_above):
            below = self.integral(lambda n: of_below(n) * stretch(n), -mp.inf, z)
            return below + self.integral(lambda n: of_above(n) * stretch(n), z, mp.inf)

        # Beyond the farthest edge probabilities are certain.
        last = self.EDGES[-1]
        far = max(abs(u - mp.sinh((mp.asinh(mp.sign(z) * last) + skew) / tail)) if abs(z) > last else mpf(0), mpf(0))

        def slope_of_crps(by):  # of the normal score at the place of n
            return squares(lambda n: 2 * upper(-n) * phi(n) * by(n), lambda n: -2 * upper(n) * phi(n) * by(n))

        return {
            "cdf": upper(-z) if abs(z) < 10**6 else mpf(z > 0),
            "survival": upper(z) if abs(z) < 10**6 else mpf(z < 0),
            "log_pdf": mp.log(slope) - z * z / 2 - mp.log(2 * mp.pi) / 2,
            "crps": squares(lambda n: upper(-n) ** 2, lambda n: upper(n) ** 2) + far,
            "normal_score": z,
            "score_slope": slope,
            "score_a": -mp.cosh(w),
            "score_b": tail * mp.asinh(u) * mp.cosh(w),
            "crps_a": slope_of_crps(lambda n: -mp.sqrt(1 + n * n)),
            "crps_b": slope_of_crps(lambda n: (mp.asinh(n) + skew) * mp.sqrt(1 + n * n)),
            "log_pdf_a": z * mp.cosh(w) - mp.tanh(w),
            "log_pdf_b": 1 - tail * mp.asinh(u) * (z * mp.cosh(w) - mp.tanh(w)),
        }

    def moments(self, p):
        skew, tail = p[0], mp.exp(p[1])
        of = lambda power: self.integral(
            lambda n: mp.sinh((mp.asinh(n) + skew) / tail) ** power * phi(n), -mp.inf, mp.inf
        )
        mean = of(1)
        return mean, mp.sqrt(of(2) - mean**2)


FAMILIES = {
    "logistic": Logistic(),
    "student-t": StudentT(),
    "two-piece-normal": TwoPiece(),
    "sinh-arcsinh": SinhArcsinh(),
}


def _check_closed_forms():
    """Of the crps, against the integral of the squared probabilities."""
    for name, p in (
        ("logistic", ()),
        ("student-t", (mpf(2),)),
        ("student-t", (mpf("0.9"),)),
        ("two-piece-normal", (mpf("0.8"),)),
        ("two-piece-normal", (mpf("-2.5"),)),
    ):
        family = FAMILIES[name]
        beyond = family.log_beyond if name == "two-piece-normal" else lambda x, p: family.log_survival(abs(x), p)
        for u in map(mpf, (0, "0.7", 3, "-1.2")):
            tail = lambda x: mp.exp(beyond(x, p))  # the probability on the outer side of x
            sign = -1 if u < 0 else 1
            x = abs(u)
            outside = mp.quad(lambda t: tail(sign * t) ** 2, [x, x + 1, x + 4, x + 20, mp.inf])
            outside += mp.quad(lambda t: tail(-sign * t) ** 2, [mpf(10) ** -40, 1, 4, 20, mp.inf])
            inside = mp.quad(lambda t: (1 - tail(sign * t)) ** 2, [0, x / 2, x]) if x > 0 else 0
            own = u if name == "two-piece-normal" else x
            assert abs(family.crps(own, p) - inside - outside) < mpf(10) ** -12, (name, u, p)


def _number(x):
    # What no double holds is left out.
    if abs(x) < mpf(2) ** -1022:
        return "0"
    if abs(x) >= mpf(2) ** 1023:
        return ""
    return decimal(x)


def table():
    lines = [HEADER]
    names = HEADER.split(",")[4:]
    with mp.workdps(25):
        _check_closed_forms()
    with mp.workdps(50):
        for name, settings in SETTINGS.items():
            for p in settings:
                for u in PLACES:
                    with mp.workdps(50 if abs(u) < 1e50 else 1000):  # far out hundreds of digits cancel
                        values = FAMILIES[name].row(mpf(u), tuple(map(mpf, p)))
                    own = [hexadecimal(x) for x in p] + [""] * (2 - len(p))
                    fields = [_number(values[n]) if n in values else "" for n in names]
                    lines.append(",".join([name, hexadecimal(u)] + own + fields))
    return "\n".join(lines) + "\n"


def moments_table():
    lines = [MOMENTS_HEADER]
    with mp.workdps(50):
        for name, settings in SETTINGS.items():
            for p in settings:
                own = [hexadecimal(x) for x in p] + [""] * (2 - len(p))
                moments = FAMILIES[name].moments(tuple(map(mpf, p)))
                # A mean of 0 comes out of the quadrature as rounding.
                lines.append(",".join([name] + own + [_number(m if abs(m) > mpf(10) ** -25 else mpf(0)) for m in moments]))
    return "\n".join(lines) + "\n"
