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
    rows = _core.Rows({"error": errors, "prediction": mean}, {"error": "error"}, [], False)
    if x is not None:
        rows.set_inputs(["x"], [column(x, "x", len(forecast))[known]])
    parameters = [np.ascontiguousarray(one[known]) for one in forecast._parameters.T]
    return json.loads(_core.report("", rows, [("forecast", forecast._family, [sigmas], parameters)], [0.5, 0.9]))


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
    bars = _data(forecast, y)["forecasts"][0]["pit"]
    ax = _axes(ax)
    ax.axhspan(bars["low"], bars["high"], color="0.9", linewidth=0)
    ax.stairs(bars["share"], bars["edges"], fill=True, color=_LINE, alpha=0.7)
    ax.set(xlabel="PIT", ylabel="share of rows", xlim=(0, 1))
    return ax


def sigma(forecast: Forecast, y: Any, x: Any, ax: Any = None) -> Any:
    """The forecast's 5%, 50% and 95% quantiles of the error along one input, beside the observed ones in bins of it with
    their 90% intervals."""
    bins = _data(forecast, y, x)["forecasts"][0]["inputs"][0]["bins"]
    ax = _axes(ax)
    ax.fill_between(bins["x"], bins["q05"], bins["q95"], color=_BAND, linewidth=0, label="forecast: 5% to 95%")
    ax.plot(bins["x"], bins["q50"], color=_LINE, label="forecast: median")
    for share in ("q05", "q50", "q95"):
        label = "observed 5%, 50%, 95%" if share == "q50" else None
        _error_bars(ax, bins, bins["x"], f"observed_{share}", label)
    ax.set(xlabel=name_of(x, "x"), ylabel="error")
    ax.legend()
    return ax


def spread_skill(forecast: Forecast, y: Any, ax: Any = None) -> Any:
    """Width of the middle 90% of the errors against that of the forecast, in bins of sigma; on the diagonal where it is right."""
    bins = _data(forecast, y)["forecasts"][0]["spread_skill"]
    ax = _axes(ax)
    most = max(*bins["width"], *bins["observed_width_high"])
    ax.plot([0, most], [0, most], color="0.5", linewidth=0.8)
    _error_bars(ax, bins, bins["width"], "observed_width", None)
    ax.set(xlabel="forecast: width of the middle 90%", ylabel="errors: width of the middle 90%")
    return ax


def _error_bars(ax: Any, bins: dict[str, Any], x: Any, key: str, label: str | None) -> None:
    value, low, high = (np.array(bins[name], float) for name in (key, f"{key}_low", f"{key}_high"))
    # Rounding can put an end on the wrong side of its centre.
    ends = np.maximum([value - low, high - value], 0)
    ax.errorbar(x, value, ends, fmt="o", markersize=3, linewidth=1, color=_OTHER, label=label)


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
