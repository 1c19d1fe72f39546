"""Is a forecast calibrated? From errors e = y - mu and spreads sigma, of whatever origin.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> sigma = np.full(1000, 2.0)
>>> result = verify(rng.normal(0, sigma), sigma)
>>> result["verdict"]["summary"].startswith("Calibrated")
True
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, broadcast, codes, require_rows

__all__ = ["kolmogorov_cdf", "kolmogorov_quantile", "kolmogorov_survival", "pit", "verify"]


def verify(
    error: Any,
    sigma: Any,
    *,
    weights: Any = None,
    groups: Any = None,
    by: Mapping[str, Any] | None = None,
    levels: Sequence[float] = (0.5, 0.9, 0.95),
    name: str = "sigma",
) -> dict[str, Any]:
    """Every figure of N(mu, sigma^2): the object that `accrue evaluate --json` prints (docs/evaluate.md).

    groups: labels of what rows that err together share: they are resampled. by: names and labels of columns: also figures for
    each value of these (docs/groups.md).
    """
    e, s = (values.ravel() for values in broadcast(error, sigma))
    require_rows(np.isfinite(e), "error", e, "finite; leave such rows out")
    require_rows((s > 0) & np.isfinite(s), "sigma", s, "positive")
    values = {"error": e, "weight": weights, "group": None if groups is None else codes(groups)}
    columns = [(str(column), codes(values)) for column, values in (by or {}).items()]
    rows = _core.Rows(values, {"error": "error"}, columns, False)
    return json.loads(_core.evaluate(rows, [(name, None, [s], [])], list(levels)))


def pit(error: Any, sigma: Any) -> Array:
    """Probability integral transforms Phi(error/sigma): uniform where the forecast is calibrated; NaN where a number is missing.

    >>> pit([0.0], [1.0])
    array([0.5])
    """
    e, s = broadcast(error, sigma)
    require_rows(~(s <= 0), "sigma", s, "positive")
    values: Any = _core.pit(e.ravel(), s.ravel())
    return values.reshape(e.shape)


def kolmogorov_cdf(n: float, distance: float) -> float:
    """Probability that the cdf of n independent uniform numbers lies within `distance` of the diagonal. Exact."""
    return _core.kolmogorov_cdf(n, distance)


def kolmogorov_survival(n: float, distance: float) -> float:
    """1 - kolmogorov_cdf, without loss of digits."""
    return _core.kolmogorov_survival(n, distance)


def kolmogorov_quantile(n: float, probability: float) -> float:
    """The distance that is not exceeded with this probability; its median is the floor of the calibration error.

    >>> round(kolmogorov_quantile(1000, 0.5), 4)
    0.026
    """
    return _core.kolmogorov_quantile(n, probability)
