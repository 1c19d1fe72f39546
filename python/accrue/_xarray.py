"""Forecasts of xarray Datasets: variables are matched by name and broadcast, lazy arrays stay lazy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from . import _core
from ._model import Model


def predict(model: Model, dataset: Any, prediction: Any = None, quantiles: Sequence[float] | None = None) -> Any:
    """A Dataset with mean, sigma, off_support, and the quantiles along a dimension of that name."""
    if prediction is None and not model.has_mean and model.prediction in dataset:
        prediction = model.prediction
    if isinstance(prediction, str):
        if prediction not in dataset:
            raise ValueError(f"there is no variable '{prediction}'; variables: {_names(dataset)}")
        prediction = dataset[prediction]
    elif prediction is not None and not isinstance(prediction, xr.DataArray):
        raise ValueError("the prediction for a Dataset is a DataArray, or the name of a variable: values have no dimensions")
    for name in model.inputs:
        if name not in dataset:
            raise ValueError(f"the model's input '{name}' is not among the variables: {_names(dataset)}")
    if model.has_mean and prediction is not None:
        raise ValueError("the model has a mean of its own: it takes no prediction")
    has_mean = model.has_mean or prediction is not None
    if quantiles is not None and not has_mean:
        raise ValueError("quantiles lie around a prediction: give predict() a prediction")
    given = [dataset[name] for name in model.inputs]
    if prediction is not None:
        given.append(prediction)
    if not given:
        raise ValueError("a constant sigma has no inputs: give predict() a prediction, whose dimensions are the rows")

    def rows(*columns: Any) -> tuple[Any, ...]:
        columns = np.broadcast_arrays(*columns)
        flat = [np.ascontiguousarray(column, dtype=np.float64).ravel() for column in columns]
        mu = flat.pop() if prediction is not None else None
        forecast = model._forecast(flat, mu, None)
        # Missing rows are not known to lie inside.
        off_support = np.where(np.isnan(forecast.sigma), np.nan, forecast.off_support)
        figures: list[Any] = [forecast.sigma, off_support]
        if has_mean:
            figures.insert(0, forecast.mean)
        return tuple(figure.reshape(columns[0].shape) for figure in figures)

    count = 3 if has_mean else 2
    figures = xr.apply_ufunc(
        rows,
        *given,
        output_core_dims=[[]] * count,
        dask="parallelized",
        output_dtypes=[np.float64] * count,
        keep_attrs=False,
    )
    result = xr.Dataset(attrs=dataset.attrs)
    # Units and the like are those of the predicted quantity.
    kept = {} if prediction is None else {k: v for k, v in prediction.attrs.items() if k == "units"}
    if has_mean:
        mean, *figures = figures
        result["mean"] = mean.assign_attrs({} if prediction is None else prediction.attrs)
        result["mean"].attrs["long_name"] = "mean of the forecast"
    sigma, off_support = figures
    result["sigma"] = sigma.assign_attrs(long_name="standard deviation of the forecast", **kept)
    result["off_support"] = off_support.assign_attrs(
        long_name="1 where an input lies outside the range that the model was fitted on"
    )
    if quantiles is not None:
        factors = [_core.standard_quantile(model._core.shape, float(q)) for q in quantiles]
        factor = xr.DataArray(factors, dims="quantile", coords={"quantile": [float(q) for q in quantiles]})
        result["quantiles"] = (result["mean"] + factor * result["sigma"]).assign_attrs(
            long_name="quantiles of the forecast", **kept
        )
    return result


def _names(dataset: Any) -> str:
    return ", ".join(str(name) for name in dataset.variables)
