"""The forecast of many rows: a distribution for each."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import Array, broadcast, numbers, require_rows


class Forecast:
    """Distributions N(mean, sigma^2) of rows, or of the shape that a recalibrated model gives them.

    `mean` is None where there was no prediction; then only `sigma` is known. A row with a missing input has NaN, and is off
    support.

    >>> forecast = Forecast(mean=[0.0, 10.0], sigma=[1.0, 2.0])
    >>> forecast.cdf(0.0)
    array([5.00000000e-01, 2.86651572e-07])
    >>> forecast.quantile(0.5)
    array([ 0., 10.])
    >>> forecast.quantile([0.1, 0.9]).shape
    (2, 2)
    """

    def __init__(self, mean: Any, sigma: Any, off_support: Any = None, shape: _core.Shape | None = None):
        self.sigma: Array = np.atleast_1d(numbers(sigma))
        self._mean = None if mean is None else np.atleast_1d(numbers(mean))
        require_rows(~(self.sigma <= 0), "sigma", self.sigma, "positive")
        if self._mean is not None and self._mean.shape != self.sigma.shape:
            raise ValueError(f"mean has the shape {self._mean.shape}, but sigma {self.sigma.shape}")
        self.off_support: NDArray[np.bool_] = (
            np.zeros(self.sigma.shape, bool) if off_support is None else np.asarray(off_support, bool)
        )
        self._shape = shape

    @property
    def mean(self) -> Array | None:
        """Prediction and bias correction, or the model's own mean; None where there was neither."""
        return self._mean

    def _centre(self) -> Array:
        if self._mean is None:
            raise ValueError("there was no prediction, so only sigma is known: give predict() a prediction")
        return self._mean

    def __len__(self) -> int:
        return len(self.sigma)

    def __getitem__(self, rows: Any) -> Forecast:
        mean = None if self._mean is None else self._mean[rows]
        return Forecast(mean, self.sigma[rows], np.atleast_1d(self.off_support[rows]), self._shape)

    def _figure(self, function: Any, y: Any) -> Array:
        mean, sigma, values = broadcast(self._centre(), self.sigma, y)
        return function(mean, sigma, self._shape, values)

    def pdf(self, y: Any) -> Array:
        """Density at `y`, which is one number, one a row, or anything that broadcasts with the rows."""
        return self._figure(_core.pdf, y)

    def cdf(self, y: Any) -> Array:
        """Probability of at most `y`."""
        return self._figure(_core.cdf, y)

    def crps(self, y: Any) -> Array:
        """Continuous ranked probability score of the observations `y`, in their unit; lower is better."""
        return self._figure(_core.crps_of_observation, y)

    def quantile(self, q: Any) -> Array:
        """Value that is not exceeded with probability `q`: one for every row, and behind the rows the shape of several q."""
        probabilities = np.asarray(q, float)
        factors = np.array([_core.standard_quantile(self._shape, float(p)) for p in probabilities.ravel()])
        return self._scaled(factors.reshape(probabilities.shape))

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends of the central interval that holds the observation with probability `level`."""
        low, high = _core.standard_interval(self._shape, level)
        return self._scaled(np.float64(low)), self._scaled(np.float64(high))

    def sample(self, n: int = 1, seed: int = 1) -> Array:
        """`n` draws for every row, an array of (rows, n); the same seed gives the same numbers."""
        z: Any = _core.standard_sample(self._shape, len(self) * n, seed)
        return self._centre()[:, np.newaxis] + self.sigma[:, np.newaxis] * z.reshape(len(self), n)

    def _scaled(self, factors: Any) -> Array:
        behind = (..., *[np.newaxis] * factors.ndim)
        return self._centre()[behind] + factors * self.sigma[behind]

    @property
    def is_gaussian(self) -> bool:
        """False for the forecast of a recalibrated model."""
        return self._shape is None

    def __reduce__(self) -> Any:
        knots = None if self._shape is None else (self._shape.predicted, self._shape.actual)
        return _restored, (self._mean, self.sigma, self.off_support, knots)

    def __repr__(self) -> str:
        kind = "Gaussian" if self.is_gaussian else "recalibrated"
        return (
            f"<accrue.Forecast of {len(self)} row{'' if len(self) == 1 else 's'}, {kind}, sigma {np.nanmin(self.sigma):.4g} to "
            f"{np.nanmax(self.sigma):.4g}, {int(self.off_support.sum())} off support>"
            if len(self)
            else "<accrue.Forecast of 0 rows>"
        )

    def _repr_html_(self) -> str:
        shown = self[:5]
        head = ["mean", "sigma", "90% interval"] if self._mean is not None else ["sigma"]
        rows = []
        for i in range(len(shown)):
            cells = [f"{shown.sigma[i]:.4g}"]
            if self._mean is not None:
                low, high = shown.interval(0.9)
                cells = [f"{shown._centre()[i]:.4g}", *cells, f"{low[i]:.4g} to {high[i]:.4g}"]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        return (
            f"<p>{html.escape(repr(self)[1:-1])}</p><table><tr>"
            + "".join(f"<th>{name}</th>" for name in head)
            + "</tr>"
            + "".join(rows)
            + "</table>"
        )


def _restored(mean: Any, sigma: Any, off_support: Any, knots: Any) -> Forecast:
    return Forecast(mean, sigma, off_support, None if knots is None else _core.Shape(*knots))
