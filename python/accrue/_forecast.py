"""The forecast of many rows: a distribution for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _html
from ._arrays import Array, broadcast, numbers, require_rows
from ._compare import pandas_for

if TYPE_CHECKING:
    from ._model import Model

_NORMAL = _core.family("normal")


class Forecast:
    """Distributions N(mean, sigma^2) of rows, or of the family that a model gives them.

    `mean` and `sigma` are the mean and the standard deviation of each distribution, recalibrated or not. `mean` is None
    where there was no prediction; then only `sigma` is known. A row with a missing input has NaN, and is off
    support.

    >>> forecast = Forecast(mean=[0.0, 10.0], sigma=[1.0, 2.0])
    >>> forecast.cdf(0.0)
    array([5.00000000e-01, 2.86651572e-07])
    >>> forecast.quantile(0.5)
    array([ 0., 10.])
    >>> forecast.quantile([0.1, 0.9]).shape
    (2, 2)
    """

    def __init__(
        self,
        mean: Any,
        sigma: Any,
        off_support: Any = None,
        family: _core.Family | None = None,
        parameters: Any = None,
    ):
        self.sigma: Array = np.atleast_1d(numbers(sigma))
        self._mean = None if mean is None else np.atleast_1d(numbers(mean))
        require_rows(~(self.sigma <= 0), "sigma", self.sigma, "positive")
        if self._mean is not None and self._mean.shape != self.sigma.shape:
            raise ValueError(f"mean has the shape {self._mean.shape}, but sigma {self.sigma.shape}")
        self.off_support: NDArray[np.bool_] = (
            np.zeros(self.sigma.shape, bool) if off_support is None else np.asarray(off_support, bool)
        )
        self._family = _NORMAL if family is None else family
        # Of families whose rows differ in more than mean and sigma: what else there is to know of each row.
        shape = (len(self.sigma), self._family.width)
        self._parameters: Array = np.empty(shape)
        if self._family.width > 0:
            self._parameters = np.reshape([] if parameters is None else np.asarray(parameters, float), shape)
        self._model: Model | None = None  # which made it, and knows how far it can be trusted
        self._adaptive: dict[float, tuple[Array, Array]] = {}

    @property
    def mean(self) -> Array | None:
        """Mean of the forecast; None where there was neither a prediction nor a mean of the model's own."""
        return self._mean

    @property
    def gaussian_sigma(self) -> Array:
        """Standard deviation of the Gaussian forecast that was recalibrated; `sigma` where none was. Normal family only."""
        family = self._of_gaussian()
        return self.sigma / (self._parameters[:, 1] if family.width > 0 else family.u_sd)

    @property
    def gaussian_mean(self) -> Array | None:
        """Mean of the Gaussian forecast that was recalibrated; `mean` where none was. Normal family only."""
        if self._mean is None:
            return None
        family = self._of_gaussian()
        return self._mean - (self._parameters[:, 0] if family.width > 0 else family.u_mean) * self.gaussian_sigma

    def _of_gaussian(self) -> _core.Family:
        if not _core.family(self._family.name).is_normal or self._family.bounds is not None:
            raise AttributeError(f"the forecast is of the family '{self._family.name}', not of a Gaussian")
        return self._family

    def _centre(self) -> Array:
        if self._mean is None:
            raise ValueError("there was no prediction, so only sigma is known: give predict() a prediction")
        return self._mean

    def __len__(self) -> int:
        return len(self.sigma)

    def __getitem__(self, rows: Any) -> Forecast:
        mean = None if self._mean is None else self._mean[rows]
        parameters = np.atleast_2d(self._parameters[rows])
        part = Forecast(mean, self.sigma[rows], np.atleast_1d(self.off_support[rows]), self._family, parameters)
        part._model = self._model
        part._adaptive = {
            level: (np.atleast_1d(lower[rows]), np.atleast_1d(upper[rows])) for level, (lower, upper) in self._adaptive.items()
        }
        return part

    def _figure(self, function: Any, y: Any) -> Array:
        rows = np.arange(len(self), dtype=float)
        mean, sigma, rows, values = broadcast(self._centre(), self.sigma, rows, y)
        return function(mean, sigma, self._family, self._parameters.ravel(), rows, values)

    def pdf(self, y: Any) -> Array:
        """Density at `y`, which is one number, one per row, or anything that broadcasts with the rows."""
        return self._figure(_core.pdf, y)

    def cdf(self, y: Any) -> Array:
        """Probability of at most `y`."""
        return self._figure(_core.cdf, y)

    def exceeding(self, y: Any) -> Array:
        """Probability of more than `y`, with its digits where it is tiny."""
        return self._figure(_core.exceeding, y)

    def crps(self, y: Any) -> Array:
        """Continuous ranked probability score of the observations `y`, in their unit; lower is better."""
        return self._figure(_core.crps_of_observation, y)

    def quantile(self, q: Any) -> Array:
        """Value that is not exceeded with probability `q`: one for every row, and behind the rows the shape of several q."""
        probabilities = np.asarray(q, float)
        own = self._parameters.ravel()
        factors = [_core.standard_quantile(self._family, own, float(p)) for p in probabilities.ravel()]
        # Of every row, or of all; and behind them the shape of the probabilities.
        by_row = np.stack(factors, axis=-1) if factors else np.empty((1, 0))
        return self._scaled(by_row.reshape(len(by_row), *probabilities.shape))

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends of the central interval that holds the observation with probability `level`."""
        low, high = _core.standard_interval(self._family, self._parameters.ravel(), level)
        return self._scaled(low), self._scaled(high)

    @property
    def adaptive_levels(self) -> list[float]:
        """Levels of the adaptive intervals: those that the state of the model has, or the replay was given (docs/operation.md)."""
        return list(self._adaptive)

    def adaptive_interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends of the interval that covers so much in the long run whatever happens; they may be infinite."""
        if level not in self._adaptive:
            have = ", ".join(str(own) for own in self._adaptive)
            rest = f"it has them of {have}" if have else "they come from a state, or a replay, that was made with adaptive=[...]"
            raise ValueError(f"the forecast has no adaptive interval of the level {level}: {rest}")
        return self._adaptive[level]

    def sample(self, n: int = 1, seed: int = 1) -> Array:
        """`n` draws for every row, an array of (rows, n); the same seed gives the same numbers."""
        z: Any = _core.standard_sample(self._family, self._parameters.ravel(), len(self), n, seed)
        return self._scaled(z.reshape(len(self), n))

    def _scaled(self, factors: Any) -> Array:
        behind = (..., *[np.newaxis] * (factors.ndim - 1))
        values = self._centre()[behind] + factors * self.sigma[behind]
        if self._family.bounds is None:
            return values
        # What is on a bound but for rounding is on it, as in C++ (Limits::hold).
        _, lower, upper = self._family.bounds
        slack = 1e-9 * self.sigma[behind]
        return np.where(values < lower + slack, lower, np.where(values > upper - slack, upper, values))

    def to_frame(
        self, quantiles: Sequence[float] = (), interval: float | None = None, exceed: Sequence[float] = ()
    ) -> Any:
        """A pandas data frame with the columns that `accrue predict` adds: mean, sigma, q0.05 and so on for `quantiles`,
        lower_0.9 and upper_0.9 for an `interval` of 0.9, above_10 for the probability of more than 10 with `exceed`,
        adaptive_lower_0.9 and adaptive_upper_0.9 for each of its `adaptive_levels`, off_support.

        >>> list(Forecast([0.0], [1.0]).to_frame(quantiles=[0.05], interval=0.9, exceed=[10]))
        ['mean', 'sigma', 'q0.05', 'lower_0.9', 'upper_0.9', 'above_10', 'off_support']
        """
        pandas = pandas_for("Forecast.to_frame")
        columns: dict[str, Any] = {} if self._mean is None else {"mean": self._mean}
        columns["sigma"] = self.sigma
        for q in quantiles:
            columns[f"q{q:g}"] = self.quantile(q)
        if interval is not None:
            columns[f"lower_{interval:g}"], columns[f"upper_{interval:g}"] = self.interval(interval)
        for threshold in exceed:
            columns[f"above_{threshold:g}"] = self.exceeding(threshold)
        for level, (lower, upper) in self._adaptive.items():
            columns[f"adaptive_lower_{level}"], columns[f"adaptive_upper_{level}"] = lower, upper
        return pandas.DataFrame({**columns, "off_support": self.off_support})

    @property
    def is_gaussian(self) -> bool:
        """False for the forecast of a recalibrated model, or of one of another family."""
        return self._family.is_normal

    def __reduce__(self) -> Any:
        own = self._family
        family = (own.name, own.knots, own.bounds, own.group_knots, own.moved)
        return _restored, (self._mean, self.sigma, self.off_support, family, self._parameters, self._adaptive)

    def __repr__(self) -> str:
        kind = "Gaussian" if self.is_gaussian else "recalibrated" if self._family.recalibrated else self._family.name
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
            rows.append(cells)
        parts = [_html.table(head, rows)]
        verdict = ""
        if self._model is not None:
            verdict = _html.paragraph(f"The model, on rows that it was not fitted on: {self._model.summary}")
            parts.append(_html.reliability(self._model.verification))
        return _html.paragraph(repr(self)[1:-1]) + verdict + _html.side_by_side(*parts)


def _restored(
    mean: Any, sigma: Any, off_support: Any, family: Any, parameters: Any = None, adaptive: dict[float, tuple[Array, Array]] | None = None
) -> Forecast:
    forecast = Forecast(mean, sigma, off_support, _core.family(*family), parameters)
    forecast._adaptive = adaptive or {}
    return forecast
