"""Forecasts of xarray Datasets: variables are matched by name and broadcast, lazy arrays stay lazy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from . import _core
from ._arrays import Array, codes, no_column
from ._arrays import times as seconds_of
from ._model import Model


def predict(
    model: Model,
    dataset: Any,
    prediction: Any = None,
    quantiles: Sequence[float] | None = None,
    missing_value: Any = None,
    times: Any = None,
    groups: Any = None,
) -> Any:
    """A Dataset with mean, sigma, off_support, the quantiles along a dimension of that name, and adaptive intervals along `level`.

    times, groups: variables or their names, for a forecast by the model's state as of each time; None: without a state.
    The order of dimensions is that of the prediction, or of an input that has them all; what it lacks comes behind.
    """
    if missing_value is not None:
        marked = {}
        for name, variable in dataset.data_vars.items():
            marks = missing_value.get(name) if isinstance(missing_value, Mapping) else missing_value
            if marks is not None and variable.dtype.kind in "fiu":
                kind = variable.dtype if variable.dtype.kind == "f" else np.float64
                marked[name] = variable.where(~variable.isin(np.atleast_1d(np.asarray(marks, np.float64)).astype(kind)))
        dataset = dataset.assign(marked)
    if prediction is None and not model.has_mean and model.prediction and _has(dataset, model.prediction):
        prediction = model.prediction
    if isinstance(prediction, str):
        name, prediction = prediction, _variable(dataset, prediction)
        if prediction is None:
            raise no_column(name, _names(dataset), what="variable")
    elif prediction is not None and not isinstance(prediction, xr.DataArray):
        raise ValueError("the prediction for a Dataset is a DataArray, or the name of a variable: values have no dimensions")
    given = []
    for k, (source, kind) in enumerate(model._core.input_columns):
        variable = _variable(dataset, source)
        if variable is None:
            raise no_column(source, _names(dataset), ", an input of the model", what="variable")
        given.append(_encoded(model, variable, k, kind))
    if model.has_mean and prediction is not None:
        raise ValueError("the model has a mean of its own: it takes no prediction")
    has_mean = model.has_mean or prediction is not None
    if quantiles is not None and not has_mean:
        raise ValueError("quantiles lie around a prediction: give predict() a prediction")
    given += [_of_state(dataset, values, what) for values, what in ((times, "times"), (groups, "groups")) if values is not None]
    if prediction is not None:
        given.append(prediction)
    if not given:
        raise ValueError("a constant sigma has no inputs: give predict() a prediction, whose dimensions are the rows")

    wanted = [] if quantiles is None else [float(q) for q in quantiles]
    levels = model.content["state"].get("levels", []) if times is not None else []

    def rows(*columns: Any) -> tuple[Any, ...]:
        columns = np.broadcast_arrays(*columns)
        flat = [column.ravel() for column in columns]
        mu = _numbers(flat.pop()) if prediction is not None else None
        labels = codes(flat.pop()) if groups is not None else None
        seconds = seconds_of(flat.pop(), gaps=True)[0] if times is not None else None
        inputs = [_numbers(column) for column in flat]
        if seconds is None:
            forecast = model._forecast(inputs, mu, None)
        else:
            forecast = model._at(inputs, mu, seconds, labels)
        # Missing rows are not known to lie inside.
        off_support = np.where(np.isnan(forecast.sigma), np.nan, forecast.off_support)
        figures: list[Any] = [forecast.sigma, off_support]
        if has_mean:
            figures.insert(0, forecast.mean)
        figures += [forecast.quantile(q) for q in wanted]
        figures += [end for level in levels for end in forecast.adaptive_interval(level)]
        if seconds is not None:
            figures = [np.where(np.isnan(seconds), np.nan, figure) for figure in figures]
        return tuple(figure.reshape(columns[0].shape) for figure in figures)

    # apply_ufunc would have them in the order in which it sees them, and it sees the inputs first.
    ranked = sorted(given, key=lambda array: (array is not prediction, -array.ndim))
    dimensions = list(dict.fromkeys(name for array in ranked for name in array.dims))
    count = (3 if has_mean else 2) + len(wanted) + 2 * len(levels)
    figures = xr.apply_ufunc(
        rows,
        *given,
        output_core_dims=[[]] * count,
        dask="parallelized",
        output_dtypes=[np.float64] * count,
        keep_attrs=False,
    )
    figures = [figure.transpose(*dimensions) for figure in figures]
    result = xr.Dataset(attrs=dataset.attrs)
    # Units and the like are those of the predicted quantity.
    kept = {} if prediction is None else {k: v for k, v in prediction.attrs.items() if k == "units"}
    if has_mean:
        mean, *figures = figures
        result["mean"] = mean.assign_attrs({} if prediction is None else prediction.attrs)
        result["mean"].attrs["long_name"] = "mean of the forecast"
    sigma, off_support, *rest = figures
    of_quantiles, ends = rest[: len(wanted)], rest[len(wanted) :]
    result["sigma"] = sigma.assign_attrs(long_name="standard deviation of the forecast", **kept)
    result["off_support"] = off_support.assign_attrs(
        long_name="1 where an input lies outside the range that the model was fitted on"
    )
    if wanted:
        # Behind the rows, as where one array of factors is multiplied with sigma.
        stacked = xr.concat(of_quantiles, dim=xr.DataArray(wanted, dims="quantile", name="quantile"))
        result["quantiles"] = stacked.transpose(*dimensions, "quantile").assign_attrs(
            long_name="quantiles of the forecast", **kept
        )
    if levels:
        along = xr.DataArray(levels, dims="level", name="level")
        for name, own in (("lower", ends[::2]), ("upper", ends[1::2])):
            result[f"adaptive_{name}"] = (
                xr.concat(own, dim=along)
                .transpose(*dimensions, "level")
                .assign_attrs(long_name=f"{name} end of the interval that covers so much in the long run", **kept)
            )
    return result


def _numbers(values: Any) -> Array:
    return np.ascontiguousarray(values, dtype=np.float64)


def _of_state(dataset: Any, values: Any, what: str) -> Any:
    """The times or groups of the rows: a variable, or its name."""
    if isinstance(values, str):
        if values not in dataset:
            raise no_column(values, _names(dataset), f", the {what} of the model's state", what="variable")
        return dataset[values]
    if not isinstance(values, xr.DataArray):
        raise ValueError(f"{what} for a Dataset are a DataArray, or the name of a variable: values have no dimensions")
    return values


def _encoded(model: Model, variable: Any, k: int, kind: str) -> Any:
    """Numbers as they are, labels as their places in the model, dates as seconds."""
    if kind not in ("category", "season", "hour"):
        return variable

    def values(array: Any) -> Any:
        return model._encoded(array.ravel(), k, kind).reshape(array.shape)

    return xr.apply_ufunc(values, variable, dask="parallelized", output_dtypes=[np.float64], keep_attrs=False)


def _variable(dataset: Any, name: str) -> Any:
    """The variable, or what is computed from others by an expression of that text (docs/columns.md); None without either."""
    if name in dataset:
        return dataset[name]
    expression = _core.computed_column(name, _names(dataset))
    if expression is None:
        return None

    def values(*columns: Any) -> Any:
        columns = np.broadcast_arrays(*columns)
        flat = [np.ascontiguousarray(column, dtype=np.float64).ravel() for column in columns]
        return expression.values(flat).reshape(columns[0].shape)

    operands = [dataset[operand] for operand in expression.columns]
    return xr.apply_ufunc(values, *operands, dask="parallelized", output_dtypes=[np.float64], keep_attrs=False)


def _has(dataset: Any, name: str) -> bool:
    try:
        return name in dataset or _core.computed_column(name, _names(dataset)) is not None
    except ValueError:
        return False


def _names(dataset: Any) -> list[str]:
    return [str(name) for name in dataset.variables]
