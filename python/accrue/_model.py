"""From an archive to a model, and from a model to forecasts."""

from __future__ import annotations

import copy
import html
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import Array, Table, codes, column, name_of, require_rows, times
from ._forecast import Forecast
from ._progress import progress as progress_of
from ._words import in_python

# Roles of a row beside its inputs, by their names in the model file, and what the arguments are called.
_ARGUMENTS = {
    "prediction": "prediction",
    "observation": "observation",
    "error": "error",
    "weight": "sample_weight",
    "group": "groups",
    "time": "times",
}


class _Roles:
    """What is known about every row. A text is the name of a column of the table; anything else is the values."""

    def __init__(self, table: Table, rows: int | None = None, **given: Any):
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self.used: set[str] = set()  # columns of the table that have a role
        self.dates = False
        for role, value in given.items():
            if value is None:
                continue
            argument = _ARGUMENTS[role]
            if isinstance(value, str):
                self.names[role] = value
                self.used.add(value)
                value = table.raw(value)
            else:
                self.names[role] = name_of(value, role)
            if role == "group":
                self.values[role] = codes(value)
            elif role == "time":
                self.values[role], self.dates = times(value)
            else:
                self.values[role] = column(value, argument, rows)

    def get(self, role: str) -> Any:
        return self.values.get(role)

    def rows(self) -> int | None:
        for role in ("observation", "error", "prediction"):
            if role in self.values:
                return len(self.values[role])
        return None

    def some(self, rows: Any) -> _Roles:
        """The same of some of the rows."""
        chosen = copy.copy(self)
        chosen.values = {role: values[rows] for role, values in self.values.items() if role != "group"}
        if "group" in self.values:
            of_rows, labels = self.values["group"]
            chosen.values["group"] = np.frombuffer(of_rows, np.uint32)[rows].tobytes(), labels
        return chosen

    def add_errors(self) -> None:
        """The errors as observation - prediction where they were not given."""
        y, mu = self.get("observation"), self.get("prediction")
        if "error" in self.values:
            if y is not None:
                raise ValueError("give either error, or prediction and observation")
        elif y is None:
            raise ValueError("give prediction and observation, or error")
        elif mu is not None:
            if len(y) != len(mu):
                raise ValueError(f"observation has {len(y)} rows, but prediction {len(mu)}")
            for role, values in (("observation", y), ("prediction", mu)):
                what = f"{role} '{self.names[role]}'"
                require_rows(np.isfinite(values), what, values, "finite; leave such rows out")
            with np.errstate(over="ignore", invalid="ignore"):
                self.values["error"] = y - mu


class _Fit(NamedTuple):
    """What a model remembers of its fit until it is written to a file."""

    verification: _core.Verification
    inputs: dict[str, Array]
    roles: _Roles
    errors: Array
    sigmas: Array


def fit(
    inputs: Any,
    *,
    prediction: Any = None,
    observation: Any = None,
    error: Any = None,
    groups: Any = None,
    times: Any = None,
    sample_weight: Any = None,
    columns: Sequence[str] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Model:
    """Learn sigma(x) from an archive, and verify it on rows that were held out.

    inputs: what sigma may depend on: a mapping of names to arrays, a pandas or polars data frame, or an array of (rows,
        columns), whose columns are then called x1, x2, ...
    prediction, observation: of every row; or error = observation - prediction in their place; or observation alone with
        mean="gp" or mean="network", which learn the prediction too. Arrays, or names of columns of `inputs`.
    groups: labels; folds never split a group. times: numbers or dates; folds are then blocks of time.
    sample_weight: only ratios matter.
    columns: names of the inputs to use; left out: all numeric columns that have no other role, or the prediction when there is
        none.
    progress: True or False; left out: where someone can see it.
    options: form ("network", "polynomial", "clusters", "constant"), recipe, score, mean, balance, bias ("none", "constant",
        "linear"), recalibrate ("none", "isotonic"), folds, starts, patience, most_iterations, stages, seed, training_share and
        validation_share, as for `accrue fit` (docs/cli.md).

    The result is the same for any number of threads, and its file the same as that of the command, byte for byte.
    Ctrl-C stops a fit. Throws ValueError with the rule that the archive breaks.

    >>> archive = generate("G", 500, seed=1)
    >>> model = fit({"x": archive["x"]}, prediction=archive["f"], observation=archive["y"], progress=False)
    >>> model.inputs
    ['x']
    """
    fit_options = _fit_options(options)
    table = Table(inputs)
    roles = _Roles(
        table,
        prediction=prediction,
        observation=observation,
        error=error,
        weight=sample_weight,
        group=groups,
        time=times,
    )
    roles.add_errors()
    if columns is not None:
        names = [columns] if isinstance(columns, str) else list(columns)
    else:
        # As for the command: what example data know of themselves is no input, and text neither.
        free = [name for name in table.names if name not in roles.used and name != "true_sigma"]
        names = [name for name in free if table.is_numeric(name)] if table.named else free
        if not names and isinstance(prediction, str):
            names = [prediction]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"columns names '{name}' twice")
    if fit_options.form == "constant" and columns is None:
        names = []
    if fit_options.mean == "none":
        if "error" not in roles.values:
            raise ValueError('give a prediction, or mean="gp" or mean="network" to learn one')
        roles.values.pop("observation", None)
    for name in names:
        if name in (roles.names.get("observation"), roles.names.get("error")) and name in roles.used:
            raise ValueError(f"'{name}' is what the errors are made of: it is not known when predicting")
    values = [table.column(name, roles.rows()) for name in names]
    with progress_of(progress) as watcher:
        core, verification, errors, sigmas = _core.fit(names, values, roles.values, roles.names, fit_options, watcher)
    return Model(core, _Fit(verification, dict(zip(names, values)), roles, errors, sigmas))


_KINDS = {bool: "True or False", str: "a text", int: "a whole number that is not negative", float: "a number"}


def _fit_options(given: Mapping[str, Any]) -> _core.FitOptions:
    options = _core.FitOptions()
    known = [name for name in dir(options) if not name.startswith("_")]
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"fit() has no option '{name}'; options: {', '.join(known)}")
        kind = _KINDS[type(getattr(options, name))]
        try:
            setattr(options, name, value.item() if isinstance(value, np.generic) else value)
        except TypeError:
            raise TypeError(f"{name} is {value!r}, but must be {kind}") from None
    return options


def generate(name: str, rows: int = 1000, seed: int = 1) -> dict[str, Array]:
    """Example data as columns: the sets G, Y, W and 5D with a known sigma, and `lorenz`, a small forecasting problem.

    >>> list(generate("G", 3))
    ['x', 'f', 'true_sigma', 'y']
    """
    return _core.generate(name, rows, seed)


class Model:
    """A fitted sigma(x), with the verification of its fit. Made by `accrue.fit` or `Model.load`."""

    def __init__(self, core: _core.Model, _fit: _Fit | None = None):
        self._core = core
        self._fit = _fit
        self._content: dict[str, Any] | None = None

    # Files

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Read a model file. OSError when it cannot be read, ValueError when it is no model or was edited."""
        with open(path, "rb"):  # Python's own error, with its errno, where there is no such file
            pass
        return Model(_core.Model.load(os.fspath(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all. OSError when that is impossible."""
        try:
            self._core.save(os.fspath(path))
        except ValueError as problem:
            raise OSError(str(problem)) from None

    def to_json(self) -> str:
        """The text of the model file (docs/model-file.md)."""
        return self._core.text()

    @staticmethod
    def from_json(text: str) -> Model:
        return Model(_core.Model.parse(text, "model"))

    # What it is

    @property
    def content(self) -> dict[str, Any]:
        """The model file as a dictionary."""
        if self._content is None:
            self._content = json.loads(self.to_json())
        return self._content

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return self._core.inputs

    @property
    def prediction(self) -> str | None:
        """Name of the prediction's column; None when there was none."""
        return self._core.prediction or None

    @property
    def has_mean(self) -> bool:
        """Whether the model learned the mean too, and so takes no prediction."""
        return self._core.has_mean

    @property
    def corrects_bias(self) -> bool:
        """Whether the mean of a forecast differs from the prediction."""
        return self._core.corrects_bias

    @property
    def verification(self) -> dict[str, Any]:
        """Figures of the rows that were held out (docs/evaluate.md)."""
        return self.content["verification"]

    @property
    def summary(self) -> str:
        """The verdict on the held-out rows, in a sentence."""
        return self.verification["verdict"]["summary"]

    @property
    def remarks(self) -> list[str]:
        """What else the fit has to say, of a bias that was not corrected for example."""
        return [in_python(remark) for remark in self.verification["verdict"]["remarks"]]

    @property
    def held_out(self) -> tuple[Array, Array]:
        """Errors and sigmas of the archive's rows by fits that never saw them; NaN for rows that were not verified.

        Known after `fit` only: a model file holds no rows.
        """
        if self._fit is None:
            raise ValueError("a model file holds no rows: held_out is known after fit() only")
        return self._fit.errors, self._fit.sigmas

    # Forecasts

    def _columns(self, table: Table, rows: int | None) -> list[Array]:
        names = self.inputs
        if table.named:
            missing = [name for name in names if name not in table]
            if missing:
                raise ValueError(f"the model's input '{missing[0]}' is not among the columns: {', '.join(table.names)}")
            return [table.column(name, rows) for name in names]
        if len(table.names) != len(names):
            raise ValueError(f"the model has {len(names)} inputs, but there are {len(table.names)} columns")
        return [table.column(name, rows) for name in table.names]

    def predict(self, inputs: Any, prediction: Any = None, *, quantiles: Sequence[float] | None = None) -> Any:
        """The forecast of new rows.

        inputs: as for `fit`; named columns are found by name, whatever their order, others are left alone.
        prediction: of every row: values (for a Dataset: a DataArray), or the name of a column of `inputs`; left out: the column
            that the archive had, where `inputs` has it.

        Of an xarray Dataset it returns a Dataset with `mean`, `sigma` and `off_support`, and with `quantiles` along a dimension
        of that name; lazy arrays stay lazy.

        >>> archive = generate("G", 500, seed=1)
        >>> model = fit(archive, columns=["x"], prediction="f", observation="y", progress=False)
        >>> model.predict(archive).sigma.shape
        (500,)
        """
        if type(inputs).__module__.partition(".")[0] == "xarray" and hasattr(inputs, "data_vars"):
            from ._xarray import predict

            return predict(self, inputs, prediction, quantiles)
        if quantiles is not None:
            raise ValueError("quantiles are for xarray Datasets; of other forecasts, ask .quantile(q)")
        table = Table(inputs)
        if prediction is None and table.named and self.prediction in table and not self.has_mean:
            prediction = self.prediction
        mu = _Roles(table, prediction=prediction).get("prediction")
        return self._forecast(self._columns(table, None if mu is None else len(mu)), mu, table.rows())

    def _forecast(self, columns: list[Array], mu: Array | None, rows: int | None) -> Forecast:
        if self.corrects_bias and mu is None:
            raise ValueError("the model corrects the prediction: give predict() a prediction")
        # A constant sigma has no inputs to count the rows by.
        counted = mu if mu is not None or columns or rows is None else np.zeros(rows)
        mean, sigma, off_support = self._core.forecast(columns, counted)
        if mu is None and not self.has_mean:
            mean = None
        # A row with a missing input is not known to lie inside.
        outside = np.frombuffer(off_support, np.uint8).astype(bool) | np.isnan(sigma)
        return Forecast(mean, sigma, outside, self._core.shape)

    # Verification

    def _score(
        self,
        inputs: Any,
        prediction: Any,
        levels: Sequence[float],
        names: Mapping[str, Any] | None,
        name: str,
        **given: Any,
    ) -> tuple[Table, _Roles, list[tuple[Any, ...]]]:
        """The forecasts of the rows by this model and by those it is compared with, each with its verification."""
        table = Table(inputs)
        if prediction is None and given["error"] is None and self.prediction in table and not self.has_mean:
            prediction = self.prediction
        roles = _Roles(table, prediction=prediction, **given)
        roles.add_errors()
        if self.corrects_bias and roles.get("observation") is None:
            raise ValueError("the model corrects the prediction: give prediction and observation in place of error")
        forecasts = []
        for label, other in {name: self, **(names or {})}.items():
            if isinstance(other, str):
                other = table.raw(other)
            errors, means, shape, core = roles.get("error"), roles.get("prediction"), None, None
            if isinstance(other, Model):
                forecast = other._forecast(other._columns(table, roles.rows()), means, roles.rows())
                sigmas, shape, core = forecast.sigma, other._core.shape, other._core
                if other.corrects_bias or other.has_mean:
                    means = forecast._centre()
                    errors = roles.get("observation") - means
            else:
                sigmas = column(other, f"sigma '{label}'", roles.rows())
            if errors is None:
                raise ValueError(f"'{label}' has no mean of its own: give a prediction")
            verification = _core.verify(
                errors, sigmas, shape, roles.get("weight"), roles.get("group"), list(levels), label
            )
            forecasts.append((verification, errors, sigmas, means, core))
        return table, roles, forecasts

    def evaluate(
        self,
        inputs: Any,
        *,
        observation: Any = None,
        prediction: Any = None,
        error: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        levels: Sequence[float] = (0.5, 0.9, 0.95),
        compare: Mapping[str, Any] | None = None,
        name: str = "model",
    ) -> dict[str, Any]:
        """Score the model's forecast of these rows: the object that `accrue evaluate --json` prints (docs/evaluate.md).

        compare: other forecasts of the same rows by name: models, or sigmas (values, or names of columns of `inputs`). The
            result is then {"forecasts": [...]}.
        """
        _, _, forecasts = self._score(
            inputs,
            prediction,
            levels,
            compare,
            name,
            observation=observation,
            error=error,
            group=groups,
            weight=sample_weight,
        )
        return json.loads(_core.scores_json([forecast[0] for forecast in forecasts]))

    def report(
        self,
        path: str | os.PathLike[str],
        inputs: Any = None,
        *,
        observation: Any = None,
        prediction: Any = None,
        error: Any = None,
        groups: Any = None,
        times: Any = None,
        sample_weight: Any = None,
        levels: Sequence[float] = (0.5, 0.9, 0.95),
        compare: Mapping[str, Any] | None = None,
        name: str = "model",
        title: str | None = None,
    ) -> dict[str, Any]:
        """Draw the forecast of these rows and its verification: one HTML page, written to `path`.

        Without rows it draws the fit: the archive's rows, each by fits that never saw it. Known after `fit` only.
        The page needs no network and no other file. Returns what it is drawn from (docs/report-data.md).
        """
        if inputs is None:
            return self._report_fit(path, title or "Fit report")
        table, roles, forecasts = self._score(
            inputs,
            prediction,
            levels,
            compare,
            name,
            observation=observation,
            error=error,
            group=groups,
            weight=sample_weight,
            time=times,
        )
        several = f"{len(forecasts)} forecasts compared"
        title = title or (several if len(forecasts) > 1 else f"Forecast report: {name}")
        columns = self._columns(table, len(forecasts[0][1]))
        return _write_report(path, title, "rows", roles, dict(zip(self.inputs, columns)), forecasts)

    def _report_fit(self, path: str | os.PathLike[str], title: str) -> dict[str, Any]:
        if self._fit is None:
            raise ValueError("a model file holds no rows: give report() some, or call it after fit()")
        verification, inputs, roles, errors, sigmas = self._fit
        held_out = np.flatnonzero(~np.isnan(sigmas))
        means = None
        if self.has_mean:
            means = roles.get("observation") - errors
        elif roles.get("prediction") is not None:
            # What the observation would be without the error that is left.
            means = roles.get("prediction") + (roles.get("error") - errors)
        drawn = (
            verification,
            errors[held_out],
            sigmas[held_out],
            None if means is None else means[held_out],
            self._core,
        )
        inputs = {name: values[held_out] for name, values in inputs.items()}
        # The fit has more to say than the figures alone, of a bias that was not corrected for example.
        verdict = self.verification["verdict"]
        return _write_report(path, title, self.verification["kind"], roles.some(held_out), inputs, [drawn], verdict)

    # In notebooks and between processes

    def __reduce__(self) -> Any:
        return Model.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"<accrue.Model of {', '.join(self.inputs) or 'no inputs'}: {self.summary}>"

    def _repr_html_(self) -> str:
        v = self.verification
        figures = [
            ("CRPS", f"{v['crps']:.4g}"),
            ("Calibration error", f"{v['calibration_error_percent']:.2f}%"),
            ("floor: if calibrated", f"{v['calibration_floor_percent']:.2f}%"),
            ("sd of z", f"{v['sd_z']:.3f}"),
            *((f"{c['level']:.0%} interval holds", f"{c['observed']:.1%}") for c in v["coverage"]),
        ]
        rows = "".join(f"<tr><td>{html.escape(k)}</td><td>{value}</td></tr>" for k, value in figures)
        remarks = "".join(f"<li>{html.escape(remark)}</li>" for remark in self.remarks)
        return (
            f"<p><b>accrue model</b> of {html.escape(', '.join(self.inputs) or 'no inputs')}; {html.escape(v['kind'])}: "
            f"{html.escape(self.summary)}</p><table>{rows}</table>" + (f"<ul>{remarks}</ul>" if remarks else "")
        )


def _write_report(
    path: str | os.PathLike[str],
    title: str,
    kind: str,
    roles: _Roles,
    inputs: Mapping[str, Array],
    forecasts: list[tuple[Any, ...]],
    verdict: dict[str, Any] | None = None,
) -> dict[str, Any]:
    difference = [roles.names[role] for role in ("observation", "prediction") if role in roles.names]
    data = _core.report_data(
        title,
        f"{len(forecasts[0][1])} rows; error = {roles.names.get('error') or ' - '.join(difference)}",
        kind,
        list(roles.names.items()),
        roles.get("weight"),
        roles.get("group"),
        roles.get("time"),
        roles.dates,
        list(inputs),
        list(inputs.values()),
        forecasts,
    )
    content = json.loads(data)
    if verdict is not None:
        content["verdict"] = verdict
    _write(path, _core.report_page(json.dumps(content)))
    return content


def _write(path: str | os.PathLike[str], text: str) -> None:
    """The file whole or not at all, as the command writes it."""
    temporary = f"{os.fspath(path)}.{os.getpid()}.part"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException as problem:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(problem, OSError):
            raise type(problem)(problem.errno, problem.strerror, os.fspath(path)) from None
        raise
