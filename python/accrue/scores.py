"""Scores of Gaussian forecasts N(mu, sigma^2), from errors e = y - mu and spreads sigma > 0.

Arrays of any kind go in: NumPy, pandas, polars, xarray, anything with `__array__` or DLPack, of any numeric type, and single numbers. Contiguous
float64 is read in place. A gradient is the derivative of the score with respect to every row's sigma. Equations are in
docs/notation.md. ValueError when a sigma is not positive or shapes do not fit.

>>> round(crps(0.0, 1.0), 12)
0.233694977255
>>> crps([0.0, 1.0], 1.0)
array([0.23369498, 0.60244136])
>>> value, slope = mean_crps([0.5, -0.5], [1.0, 1.0], gradient=True)
>>> slope.shape
(2,)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _core
from ._arrays import Array

__all__ = [
    "AccuracyReliability",
    "accuracy_reliability",
    "balanced_beta",
    "best_constant_sigma",
    "crps",
    "crps_minimum",
    "effective_rows",
    "mean_crps",
    "mean_nlpd",
    "nlpd",
    "reliability_floor",
    "reliability_minimum",
    "reliability_score",
]


def crps(error: Any, sigma: Any, *, gradient: bool = False) -> Any:
    """Continuous ranked probability score of every row, in the unit of the error; lower is better. [CRPS]

    With gradient=True a pair: scores and their derivatives.
    """
    return _core.crps(error, sigma, gradient)


def nlpd(error: Any, sigma: Any, *, gradient: bool = False) -> Any:
    """Negative log predictive density of every row. [NLPD]

    >>> round(nlpd(0.0, 1.0), 12)
    0.918938533205
    """
    return _core.nlpd(error, sigma, gradient)


def mean_crps(error: Any, sigma: Any, *, weights: Any = None, gradient: bool = False) -> Any:
    """Weighted mean of the CRPS. With gradient=True a pair."""
    return _core.mean_crps(error, sigma, weights, gradient)


def mean_nlpd(error: Any, sigma: Any, *, weights: Any = None, gradient: bool = False) -> Any:
    """Weighted mean of the NLPD. With gradient=True a pair."""
    return _core.mean_nlpd(error, sigma, weights, gradient)


def reliability_score(error: Any, sigma: Any, *, weights: Any = None, gradient: bool = False) -> Any:
    """Distance of the PITs' distribution from a flat one, over all rows; 0 is perfect. With gradient=True a pair. [RS]

    A calibrated forecast of N rows has reliability_floor(N) on average.
    """
    return _core.reliability_score(error, sigma, weights, gradient)


class AccuracyReliability(NamedTuple):
    """value = beta*crps + (1 - beta)*rs."""

    value: float
    crps: float
    rs: float


def accuracy_reliability(
    error: Any, sigma: Any, *, beta: float = 0.5, weights: Any = None, gradient: bool = False
) -> AccuracyReliability | tuple[AccuracyReliability, Array]:
    """The accuracy-reliability cost that a fit minimises. With gradient=True a pair. [AR]

    >>> round(accuracy_reliability([0.5, -1.0, 0.2], 1.0).crps, 6)
    0.394482
    """
    result: Any = _core.accuracy_reliability(error, sigma, beta, weights, gradient)
    score = result[0] if gradient else result
    named = AccuracyReliability(score.value, score.crps, score.rs)
    return (named, result[1]) if gradient else named


def effective_rows(weights: Any) -> float:
    """The number of equally weighted rows that carry as much information: (sum w)^2/sum w^2."""
    return _core.effective_rows(weights)


def reliability_floor(rows: float) -> float:
    """Mean reliability score of a calibrated forecast of so many rows."""
    return _core.reliability_floor(rows)


def reliability_minimum(rows: float) -> float:
    """The smallest reliability score that so many rows can have. [RSmin]"""
    return _core.reliability_minimum(rows)


def crps_minimum(error: Any, *, weights: Any = None) -> float:
    """Mean CRPS when every sigma is the best for its own row. [BETA]"""
    return _core.crps_minimum(error, weights)


def balanced_beta(error: Any, *, weights: Any = None) -> float:
    """The beta that gives accuracy and reliability equal weight. [BETA]"""
    return _core.balanced_beta(error, weights)


def best_constant_sigma(error: Any, *, weights: Any = None) -> float:
    """The one sigma for all rows that has the least mean CRPS."""
    return _core.best_constant_sigma(error, weights)
