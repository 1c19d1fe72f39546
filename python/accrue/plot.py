"""Charts of a forecast on matplotlib axes, from the numbers that the report draws.

>>> import accrue
>>> archive = accrue.generate("G", 500, seed=1)
>>> model = accrue.fit(archive, columns=["x"], prediction="f", observation="y", progress=False)
>>> forecast = model.predict(archive)
>>> axes = accrue.plot.reliability(forecast, archive["y"])
>>> axes.get_xlabel()
'predicted probability'

Every function takes a forecast (`accrue.Forecast`), the observations y, and optionally the axes to draw on, which it returns.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError as problem:
    raise ImportError("accrue.plot needs matplotlib: pip install 'accrue[plot]'") from problem

from . import _core
from ._arrays import column, name_of
from ._forecast import Forecast

__all__ = ["fan", "pit", "reliability", "sigma", "spread_skill"]

_LINE = "#1f5fa8"
_BAND = "#1f5fa833"
_OTHER = "#c2571a"


def _data(forecast: Forecast, y: Any, x: Any = None) -> dict[str, Any]:
    """What a report of this forecast would draw (docs/report-data.md)."""
    observed = column(y, "y", len(forecast))
    mean = forecast._centre()
    known = np.isfinite(forecast.sigma) & np.isfinite(observed)
    if not known.any():
        raise ValueError("no row has both a forecast and an observation")
    errors, sigmas, mean = (observed - mean)[known], forecast.sigma[known], mean[known]
    verification = _core.verify(errors, sigmas, forecast._shape, None, None, [0.5, 0.9], "forecast")
    values = None if x is None else column(x, "x", len(forecast))[known]
    names, inputs = ([], []) if values is None else (["x"], [values])
    drawn = [(verification, errors, sigmas, mean, None)]
    return json.loads(_core.report_data("", "", "rows", [], None, None, None, False, names, inputs, drawn))


def _axes(ax: Any) -> Any:
    return plt.subplots()[1] if ax is None else ax


def reliability(forecast: Forecast, y: Any, ax: Any = None, label: str | None = None) -> Any:
    """How often observations lie below a quantile, against its probability; the band holds a calibrated forecast with 90%."""
    diagram = _data(forecast, y)["scores"]["reliability_diagram"]
    ax = _axes(ax)
    band = diagram["band_90_simultaneous"]
    ax.fill_between(diagram["probability"], band["low"], band["high"], color="0.9", linewidth=0)
    ax.plot([0, 1], [0, 1], color="0.5", linewidth=0.8)
    ax.plot(diagram["probability"], diagram["observed"], color=_LINE, label=label)
    ax.set(xlabel="predicted probability", ylabel="observed frequency", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    return ax


def pit(forecast: Forecast, y: Any, ax: Any = None) -> Any:
    """Histogram of the probability integral transforms; flat where the forecast is calibrated."""
    bars = _histogram(forecast, y)
    ax = _axes(ax)
    ax.axhspan(bars["low"], bars["high"], color="0.9", linewidth=0)
    ax.stairs(bars["share"], bars["edges"], fill=True, color=_LINE, alpha=0.7)
    ax.set(xlabel="PIT", ylabel="share of rows", xlim=(0, 1))
    return ax


def _histogram(forecast: Forecast, y: Any) -> dict[str, Any]:
    # The report knows the shape of a recalibrated forecast from its model; here there is none.
    bars = _data(forecast, y)["forecasts"][0]["pit"]
    if not forecast.is_gaussian:
        pits = forecast.cdf(y)
        share, _ = np.histogram(pits[np.isfinite(pits)], bars["edges"])
        bars["share"] = list(share / share.sum())
    return bars


def sigma(forecast: Forecast, y: Any, x: Any, ax: Any = None) -> Any:
    """Sigma along one input, beside the root mean square error in bins of it with its 90% interval."""
    bins = _data(forecast, y, x)["forecasts"][0]["inputs"][0]["bins"]
    ax = _axes(ax)
    ax.plot(bins["x"], bins["sigma"], color=_LINE, label="sigma")
    _error_bars(ax, bins, bins["x"])
    ax.set(xlabel=name_of(x, "x"), ylabel="sigma")
    ax.legend()
    return ax


def spread_skill(forecast: Forecast, y: Any, ax: Any = None) -> Any:
    """Root mean square error against sigma, in bins of sigma; on the diagonal where sigma is right."""
    bins = _data(forecast, y)["forecasts"][0]["spread_skill"]
    ax = _axes(ax)
    most = max(*bins["sigma"], *bins["rmse_high"])
    ax.plot([0, most], [0, most], color="0.5", linewidth=0.8)
    _error_bars(ax, bins, bins["sigma"])
    ax.set(xlabel="sigma", ylabel="root mean square error")
    return ax


def _error_bars(ax: Any, bins: dict[str, Any], x: Any) -> None:
    rmse, low, high = (np.array(bins[key], float) for key in ("rmse", "rmse_low", "rmse_high"))
    # A bin of rounding width can put an end on the wrong side of its centre.
    ends = np.maximum([rmse - low, high - rmse], 0)
    ax.errorbar(x, rmse, ends, fmt="o", markersize=3, linewidth=1, color=_OTHER, label="root mean square error")


def fan(forecast: Forecast, y: Any = None, x: Any = None, ax: Any = None, levels: Any = (0.5, 0.9)) -> Any:
    """The mean with central intervals, and the observations, row by row or along `x` (time, for example)."""
    ax = _axes(ax)
    place = np.arange(len(forecast)) if x is None else np.asarray(x)
    for what, values in (("x", place), ("y", y)):
        if values is not None and len(values) != len(forecast):
            raise ValueError(f"{what} has {len(values)} rows, but the forecast {len(forecast)}")
    order = np.argsort(place, kind="stable")
    for level in sorted(levels, reverse=True):
        low, high = forecast.interval(level)
        ax.fill_between(place[order], low[order], high[order], color=_BAND, linewidth=0, label=f"{level:.0%} interval")
    ax.plot(place[order], forecast._centre()[order], color=_LINE, label="mean")
    if y is not None:
        ax.plot(place[order], np.asarray(y, float)[order], ".", markersize=3, color=_OTHER, label="observation")
    ax.set(xlabel="row" if x is None else name_of(x, "x"))
    ax.legend()
    return ax
