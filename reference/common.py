"""What every table shares: exact doubles in, decimals of fixed length out.

Only mpmath and random.random() are used to make numbers: libm's last digits differ between systems, and the tables must
come out byte for byte the same everywhere.
"""

import random

from mpmath import mp, mpf

DIGITS = 25  # significant digits of every decimal that is written


def decimal(x, digits=DIGITS):
    """x in decimal, rounded to `digits` significant digits."""
    return "0" if x == 0 else mp.nstr(x, digits, min_fixed=1, max_fixed=0)


def hexadecimal(x):
    """The double x as a C hex float without superfluous zeros, such as 0x1.8p+1."""
    assert isinstance(x, float)
    head, exponent = x.hex().split("p")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return head + "p" + exponent


class Draws:
    """Random doubles that are the same on every platform."""

    def __init__(self, seed):
        self._random = random.Random(seed).random

    def uniform(self, low, high):
        return low + (high - low) * self._random()

    def log_uniform(self, low_exponent, high_exponent):
        """10^u, u uniform."""
        with mp.workdps(30):
            return float(mpf(10) ** mpf(self.uniform(low_exponent, high_exponent)))

    def sign(self):
        return 1.0 if self._random() < 0.5 else -1.0

    def integer(self, low, high):
        return low + int((high - low + 1) * self._random())

    def normal(self):
        """Near enough to a standard normal for a test sample: twelve uniforms."""
        return sum(self._random() for _ in range(12)) - 6.0
