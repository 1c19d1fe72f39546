"""From an archive to a model, and from a model to forecasts."""

from __future__ import annotations

import datetime
import inspect
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

from . import _core, _html
from ._arrays import Array, Table, as_array, category, codes, column, missing_rows, name_of, no_column, some_rows, times
from ._compare import Comparison
from ._forecast import Forecast
from ._options import FitOptions
from ._progress import progress as progress_of

if TYPE_CHECKING:
    from typing_extensions import Unpack  # of typing from Python 3.11 on

Missing = Literal["refuse", "drop"]


class ScoreOptions(TypedDict, total=False):
    """Other forecasts to score, and further scores: docs/evaluate.md, docs/scores.md.

    members: an ensemble: an array of (rows, members), or names or patterns ("P*") of columns of `inputs`.
    quantiles: a quantile forecast: a mapping of levels to values or names of columns, {0.05: "q05", 0.5: "q50"}.
    baselines: "constant", "climatology", "isotonic", or some of them: forecasts fitted on the very rows that are scored.
    exceed: thresholds: Brier score and reliability of the probability of more than each, and the CRPS above it.
    quantile_scores: levels of quantiles whose scores are wanted.
    conditional: whether it is calibrated everywhere: along inputs and the prediction, in each value of `by` and each group, and with `times`
        in months and hours.
    decompose: what the CRPS is made of, which takes seconds for 100,000 rows.
    """

    members: Any
    quantiles: Mapping[float, Any] | None
    baselines: str | Sequence[str]
    exceed: Sequence[float]
    quantile_scores: Sequence[float]
    conditional: bool
    decompose: bool


class _Dataset(Protocol):
    """What an xarray Dataset is known by, so that a type checker need not know xarray."""

    @property
    def data_vars(self) -> Any: ...


# Roles of a row beside its inputs, by their names in the model file, and what the arguments are called.
_ARGUMENTS = {
    "prediction": "prediction",
    "observation": "observation",
    "error": "error",
    "weight": "sample_weight",
    "group": "groups",
    "fold_group": "fold_groups",
    "time": "times",
    "observation_error": "observation_error",
    "recalibrate_group": "recalibrate_group",
}


class _Roles:
    """What is known about every row. A text is the name of a column of the table; anything else is the values."""

    def __init__(self, table: Table, by: Any = None, **given: Any):
        self.table = table
        self.names: dict[str, str] = {}
        self.used: dict[str, str] = {}  # columns of the table that have a role
        self.kept: NDArray[np.bool_] | None = None  # rows in which nothing is missing; None: nobody asked
        self.values: dict[str, Any] = {}
        self.core: _core.Rows  # once they are loaded
        self.dates = False
        self._raw: dict[str, Any] = {}
        self._raw_by = _by(table, by)
        for role, value in given.items():
            if value is None:
                continue
            if isinstance(value, str):
                if role not in ("group", "fold_group", "time", "recalibrate_group"):
                    value = table.written_out(value)
                self.names[role] = self.used[role] = value
                value = table.raw(value)
            elif role == "observation_error" and isinstance(value, (int, float, np.number)):
                self.names[role] = f"{value:g}"
            else:
                self.names[role] = name_of(value, role)
            self._raw[role] = value

    def load(
        self, missing: str = "refuse", columns: Sequence[tuple[str, Any]] = (), choices: Sequence[str] = ("refuse", "drop")
    ) -> list[Array]:
        """Take the values of all roles, and those of these columns, which are returned; each comes with what messages call it.

        missing="drop" leaves out the rows in which one of all these is missing.
        """
        if missing not in choices:
            raise ValueError(f"missing is '{missing}', but must be one of {', '.join(choices)}")
        table = self.table  # and not self, which would hold itself by way of its core
        place = table.place
        if missing != "refuse":
            # A row without a recalibration group has the map of all rows.
            labelled = [(_ARGUMENTS[role], values) for role, values in self._raw.items() if role != "recalibrate_group"]
            self.kept = _complete([*labelled, *self._raw_by, *(columns if missing == "drop" else [])])
            rows_left = np.flatnonzero(self.kept)
            place = lambda row: table.place(int(rows_left[row]))  # noqa: E731
        check = self.table.on_grid or self.kept is not None  # else the library names the row
        for role, values in self._raw.items():
            values = self._left(values)
            if role in ("group", "fold_group"):
                self.values[role] = codes(values, place)
            elif role == "recalibrate_group":
                self.values[role] = _codes_with_gaps(values)
            elif role == "time":
                self.values[role], self.dates = times(values, place)
            else:
                rows = self.rows() if role == "observation_error" else None  # a number stands for all rows
                self.values[role] = column(values, _ARGUMENTS[role], rows)
                if check:
                    positive = role in ("weight", "observation_error")
                    _require_finite(self.values[role], f"{role} '{self.names[role]}'", place, positive)
        by = [(name, codes(self._left(labels), place)) for name, labels in self._raw_by]
        self.core = _core.Rows(self.values, self.names, by, self.dates)
        self.core.set_place(place)
        loaded = []
        for what, values in columns:
            loaded.append(column(self._left(values), what, self.rows()))
            if check and missing != "impute":
                _require_finite(loaded[-1], what, place)
        return loaded

    def _left(self, values: Any) -> Any:
        """The rows that are not dropped."""
        if self.kept is None or as_array(values).ndim == 0:
            return values
        return some_rows(values, self.kept)

    def get(self, role: str) -> Any:
        return self.values.get(role)

    def rows(self) -> int | None:
        for role in ("observation", "error", "prediction"):
            if role in self.values:
                return len(self.values[role])
        return None

    def dropped(self) -> int:
        return 0 if self.kept is None else int((~self.kept).sum())


def _codes_with_gaps(values: Any) -> tuple[bytes, list[str]]:
    """Groups as codes into labels; that of a missing value is empty."""
    places, labels = category(values)
    gaps = np.isnan(places)
    places[gaps] = len(labels)
    return places.astype(np.uint32).tobytes(), [*labels, ""] if gaps.any() else labels


def _complete(columns: Sequence[tuple[str, Any]]) -> NDArray[np.bool_]:
    """The rows in which no column has a gap."""
    kept = np.ones(0, bool)
    for what, values in columns:
        gaps = missing_rows(values)
        if gaps is None:
            continue
        if not kept.size:
            kept = np.ones(len(gaps), bool)
        if len(gaps) != len(kept):
            raise ValueError(f"{what} has {len(gaps)} rows, but there are {len(kept)}")
        kept &= ~gaps
    if kept.size and not kept.any():
        raise ValueError(f"all {len(kept)} rows have a missing value: no row is left")
    return kept


def _require_finite(values: Array, what: str, place: Callable[[int], str], positive: bool = False) -> None:
    good = np.isfinite(values) & (values >= 0) if positive else np.isfinite(values)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        hint = '; missing="drop" leaves such rows out' if np.isnan(values[row]) else ""
        rule = "must not be negative" if positive and values[row] < 0 else "must be finite"
        raise ValueError(f"{what} of {place(row)} is {values[row]:g}, but {rule}{hint}")


def _by(table: Table, by: Any) -> list[tuple[str, Any]]:
    """The columns of `by`: names of columns of the table, or a mapping of names to labels."""
    if by is None:
        return []
    if not isinstance(by, Mapping):
        names = [by] if isinstance(by, str) else list(by)
        for name in names:
            if not isinstance(name, str):
                raise ValueError("by takes names of columns, or a mapping of names to labels")
        return [(name, table.raw(name)) for name in names]
    return [(str(name), labels) for name, labels in by.items()]


def _by_names(by: Any) -> list[Any]:
    """The columns of the table that `by` names."""
    return [] if by is None or isinstance(by, Mapping) else [by] if isinstance(by, str) else list(by)


def _listed(names: Sequence[str] | str | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _inputs(table: Table, columns: list[str], used: dict[str, str]) -> list[str]:
    """The inputs that are named, patterns written out: those of them that hold numbers and have no role."""
    names: list[str] = []
    for name in columns:
        # Quotes around a column are left out, what is computed has one spelling, and a kind must be one.
        name = _core.written_input(name, table.names) if ":" in name else name
        if name not in table and _core.parse_input(name)[1] != "number":
            names.append(name)
            continue
        matching = table.matching(name)
        if matching is None:
            names.append(table.written_out(name))
            continue
        free = [m for m in matching if table.is_free(m) and m not in used.values()]
        if not free:
            raise ValueError(f"no column of numbers without another role matches '{name}'; columns: {', '.join(table.names)}")
        names += [m for m in free if m not in names and m not in columns]
    return names


def _sources(columns: Sequence[str] | str | None) -> list[str]:
    """The columns that named inputs are made of."""
    return [name for text in _listed(columns) for name in {text, _core.parse_input(text)[0]}]


def _with_kinds(
    table: Table, names: list[str], kinds: Mapping[str, str | Sequence[str]], used: dict[str, str] | None, categories: bool
) -> list[str]:
    """The inputs with their kinds: "station:category".

    used: no inputs were named, and these columns have a role. categories: columns whose type is one for categories are then
    inputs by themselves.
    """
    for name in kinds:
        if name not in table and name not in names:
            raise no_column(name, table.names, ", which kinds names")
    if used is not None:
        taken = {*used.values(), *names}
        names = names + [n for n in table.names if n not in taken and (n in kinds or categories and table.is_categorical(n))]
    all_names = []
    for name in names:
        all_names += with_kind(name, kinds.get(name, table.kind(name) if name in table else "number"))
    return all_names


def with_kind(name: str, kinds: str | Sequence[str]) -> list[str]:
    """A column with what it is, once for each of several kinds: ["t:season", "t:hour"]."""
    every = [kinds] if isinstance(kinds, str) else list(kinds)
    return [name if kind == "number" else _core.written_input(f"{name}:{kind}", [name]) for kind in every]


def _input(table: Table, name: str) -> tuple[Any, list[str]]:
    """The values of an input, and the labels of a category."""
    if name in table:
        return table.raw(name), []
    source, kind = _core.parse_input(name)
    if kind == "category":
        return category(table.raw(source))
    if kind in ("season", "hour"):
        return _seconds(table.raw(source), name), []
    return table.raw(source), []


def _seconds(values: Any, name: str) -> Array:
    seconds, are_dates = times(values, gaps=True)
    if not are_dates:
        raise ValueError(f"the input '{name}' needs dates, not plain numbers")
    return seconds


def fit(
    inputs: Any,
    *,
    prediction: Any = None,
    observation: Any = None,
    error: Any = None,
    groups: Any = None,
    fold_groups: Any = None,
    times: Any = None,
    by: Any = None,
    sample_weight: Any = None,
    observation_error: Any = None,
    recalibrate_group: str | None = None,
    columns: Sequence[str] | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    missing: Literal["refuse", "drop", "impute"] = "refuse",
    missing_value: Any = None,
    later: Any = None,
    progress: bool | None = None,
    **options: Unpack[FitOptions],
) -> Model:
    """Learn sigma(x) from an archive, and verify it on rows that were held out.

    inputs: what sigma may depend on: a mapping of names to arrays, a pandas or polars data frame (of a LazyFrame only the
        columns that are needed are collected), anything with the Arrow PyCapsule interface (pyarrow, DuckDB), an xarray
        Dataset, or an array of (rows, columns), whose columns are then called x1, x2, ...
    prediction, observation: of every row; or error = observation - prediction in their place; or observation alone with
        mean="auto", "constant", "gp" or "network", which learn the prediction too (docs/distributions.md). Arrays, or names
        of columns of `inputs`, or what is computed from some: "mean(forecast*)" (docs/columns.md).
    groups: labels of what rows that err together share. The verification resamples whole groups, and folds never split one
        unless there are `times` or `fold_groups`.
    times: numbers or dates (those with a time zone are converted to UTC, others are UTC); folds are then contiguous blocks of
        time. fold_groups: labels of groups that folds never split,
        with or without times (docs/groups.md).
    by: names of columns, or a mapping of names to labels: also figures for each value of these columns.
    sample_weight: only ratios matter.
    observation_error: known standard deviation of the noise in the observations: a number, values, or a column. Sigma is
        learned without it, and the forecast is that of the quantity, not of its measurement (docs/observation-error.md).
    recalibrate_group: name of a column of `inputs`: its values that have enough rows may have a recalibration of their own,
        other values and missing ones that of all rows. `predict` reads the same column (docs/recalibration.md).
    columns: names of the inputs to use, patterns ("P*") or expressions ("sqrt(x)"); default: the prediction, where it is a
        column of `inputs`, all numeric columns that hold no times and have no role other than `by`, and what has a type for
        categories (docs/inputs.md).
    kinds: what inputs are where they are not numbers: {"station": "category", "wdir": "cyclic(360)", "t": ["season", "hour"]};
        the same may stand in `columns`, "station:category" (docs/inputs.md). Texts and categories that `columns` names, and
        columns of a type for categories, are categories.
    missing: a row with a missing value: "refuse" it, "drop" it, or "impute": a missing input becomes the mean, with an indicator
        that the model learns from, and rows without another value are dropped.
    missing_value: a number that means a missing one in columns of `inputs`, such as -9999, or several, or a mapping of columns
        to such numbers. They become NaN.
    later: rows from after the model that predicts was made, with the same named columns: sigma is rescaled where their errors
        ask for it, and verified on them (docs/evaluate.md). The columns of the archive must have names then.
    progress: True or False; default: where someone can see it.
    options: what is learned and how: form, recipe, score, balance, bias, mean, recalibrate, folds, seed and others, which
        help(accrue.FitOptions) and docs/options.md explain.

    The result is the same for any number of threads, and its file the same as that of the command, byte for byte.
    Ctrl-C stops a fit. Throws ValueError with the rule that the archive breaks.

    >>> archive = generate("G", 500, seed=1)
    >>> model = fit({"x": archive["x"]}, prediction=archive["f"], observation=archive["y"], progress=False)
    >>> model.inputs
    ['x']
    """
    _require_options(options)
    # NumPy's numbers and arrays, as in balance_front, as Python's.
    fit_options = _core.FitOptions(
        {name: v.tolist() if isinstance(v, (np.generic, np.ndarray)) else v for name, v in options.items()}
    )
    if recalibrate_group is not None and not isinstance(recalibrate_group, str):
        raise ValueError("recalibrate_group is the name of a column of inputs, from which forecasts read the groups of new rows")
    needed = [prediction, observation, error, groups, fold_groups, times, sample_weight, observation_error, recalibrate_group, *_by_names(by), *_sources(columns), *(kinds or {})]
    needs_inputs = _core.needs_inputs(fit_options)
    categories = _core.takes_categories(fit_options)
    by_themselves = columns is None and needs_inputs
    table = Table(
        inputs, needed, numeric=by_themselves, missing_value=missing_value, categorical=by_themselves and categories
    )
    roles = _Roles(
        table,
        prediction=prediction,
        observation=observation,
        error=error,
        weight=sample_weight,
        group=groups,
        fold_group=fold_groups,
        time=times,
        observation_error=observation_error,
        recalibrate_group=recalibrate_group,
        by=by,
    )
    if recalibrate_group is not None:
        del roles.used["recalibrate_group"]  # it may be an input as well
        if not table.named:
            raise ValueError("recalibrate_group goes with inputs whose columns have names")
    kinds = dict(kinds or {})
    if columns is not None:
        # What is called a number stays one, whatever its type and attributes say.
        for text in _listed(columns):
            if text.endswith(":number") and text not in table:
                kinds.setdefault(_core.parse_input(_core.written_input(text, table.names))[0], "number")
        names = _inputs(table, _listed(columns), roles.used)
    elif needs_inputs:
        # As for the command: neither texts nor times are inputs by themselves.
        free = [name for name in table.names if not table.named or table.is_free(name)]
        names = _core.default_inputs(free, roles.used, fit_options)
    else:
        names = []
    names = _with_kinds(table, names, kinds, roles.used if by_themselves else None, categories)
    _core.require_inputs(names, roles.used, table.names)
    read = [_input(table, name) for name in names]
    loaded = [(f"column '{name}'", values) for name, (values, _) in zip(names, read)]
    values = roles.load(missing, loaded, ("refuse", "drop", "impute"))
    typed = any(name not in table and _core.parse_input(name)[1] != "number" for name in names)
    roles.core.set_inputs(names, values, [labels for _, labels in read] if typed else [], missing == "impute")
    with progress_of(progress) as watcher:
        fitted = _core.fit(roles.core, fit_options, watcher)
    if later is not None:
        given = dict(
            prediction=prediction, observation=observation, error=error, weight=sample_weight, group=groups, fold_group=fold_groups, time=times,
            recalibrate_group=recalibrate_group, by=by
        )
        if not table.named or any(not isinstance(role, str) for name, role in given.items() if role is not None and name != "by"):
            raise ValueError("later goes with an archive whose columns have names, by which prediction, observation and so on are given")
        later_table = Table(later, needed, missing_value=missing_value)
        later_roles = _Roles(later_table, **given)
        read = [_input(later_table, name) for name in names]
        values = later_roles.load(missing, [(f"column '{name}' of later", values) for name, (values, _) in zip(names, read)], ("refuse", "drop", "impute"))
        later_roles.core.set_inputs(names, values, [labels for _, labels in read] if typed else [], missing == "impute")
        fitted.judge_later(later_roles.core)
    model = Model(fitted.model, fitted, roles.kept)
    if categories and table.named:
        taken = {*(name for role, name in roles.used.items() if role != "time"), *_sources(names)}
        model._offers = table.offers(taken)
    return model


# What other programs, and the command, call some arguments.
_OTHER_WORDS = {
    "input": "columns",
    "features": "columns",
    "weight": "sample_weight",
    "weights": "sample_weight",
    "group": "groups",
    "fold_group": "fold_groups",
    "time": "times",
    "random_state": "seed",
}


def _require_options(options: Mapping[str, Any]) -> None:
    for name in options:
        if name in FitOptions.__annotations__:
            continue
        known = [argument for argument in inspect.signature(fit).parameters if argument not in ("inputs", "options")]
        meant = _OTHER_WORDS.get(name) or _core.nearest_name(name, [*known, *FitOptions.__annotations__])
        suggestion = f"; did you mean '{meant}'?" if meant else "; docs/options.md has them all"
        raise TypeError(f"accrue.fit has no option '{name}'{suggestion}")


def generate(name: str, rows: int = 1000, seed: int = 1) -> dict[str, Array]:
    """Example data as columns: the sets G, Y, W and 5D with a known sigma, and `lorenz`, a small forecasting problem.

    >>> list(generate("G", 3))
    ['x', 'f', 'true_sigma', 'y']
    """
    return _core.generate(name, rows, seed)


def _duration(value: Any) -> str | None:
    """A duration or a number as the command writes it; a timedelta in seconds."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, np.timedelta64):
        return f"{value / np.timedelta64(1, 's')!r}s"
    seconds = getattr(value, "total_seconds", None)
    return f"{float(value)!r}" if seconds is None else f"{seconds()!r}s"


def _levels(adaptive: Sequence[float] | float) -> list[float]:
    return [float(level) for level in ([adaptive] if isinstance(adaptive, (int, float)) else adaptive)]


def _lead(values: Any) -> Any:
    """Timedeltas as seconds; anything else as it is."""
    if isinstance(values, datetime.timedelta):
        return values.total_seconds()
    if values is None or isinstance(values, (str, int, float)):
        return values
    array = as_array(values)
    return array / np.timedelta64(1, "s") if array.dtype.kind == "m" else values


class Replay(NamedTuple):
    """What `replay` found."""

    forecast: Forecast  # of the model that learned, in the order of the rows
    shift: Array  # of every row: how its normal scores had moved
    scale: Array
    scores: dict[str, Any]  # as `accrue replay --json` prints them: "adapting" and "static"
    model: Model  # with what it has learned at the end


def replay(
    model: Model,
    inputs: Any,
    *,
    times: Any = None,
    observation: Any = None,
    prediction: Any = None,
    error: Any = None,
    groups: Any = None,
    delay: Any = None,
    lead: Any = None,
    since: str | None = None,
    refit: Any = None,
    window: Any = None,
    forget: Any = None,
    shrink: float | str | None = None,
    correct: Sequence[str] | str = (),
    shape: bool = False,
    adaptive: Sequence[float] | float = (),
    missing: Missing = "refuse",
) -> Replay:
    """Go through an archive as operations would have: each row is forecast from what had been observed by then.

    delay: how long after its time an observation is known: "2d", a timedelta, of plain numbers a number.
    lead: how long before its time each row was forecast: values or the name of a column, in the unit of the times (seconds where
        they are dates), or timedeltas; one for all rows is enough.
    since: rows from this time on are scored; those before only move the state.
    refit, window: fit the model again so often ("30d"), to the rows of the last "365d" that are known by then.
    The rest as for `Model.update`; rows may come in any order. With `adaptive` the forecast has `adaptive_interval(level)`.
    """
    roles, options, columns = model._timed(
        inputs,
        missing,
        {"time": times, "observation": observation, "prediction": prediction, "error": error, "group": groups},
        {
            "forget": forget,
            "shrink": shrink,
            "correct": correct,
            "shape": shape,
            "adaptive": adaptive,
            "delay": delay,
            "from": since,
            "refit": refit,
            "window": window,
        },
        {"lead": _lead(lead)},
    )
    forecast, shift, scale, scores, core, adaptive = _core.replay(model._core, roles.core, options, columns.get("lead"))
    moved = model._with_adaptive(model._with_family(*forecast), adaptive)
    return Replay(moved, shift, scale, json.loads(scores), Model(core))


def monitor(
    model: Model,
    inputs: Any,
    *,
    times: Any = None,
    observation: Any = None,
    prediction: Any = None,
    error: Any = None,
    alpha: float = 0.02,
    missing: Missing = "refuse",
) -> dict[str, Any]:
    """Whether the world has moved away from a model, by all rows since its fit: what `accrue monitor --json` prints.

    Run it as often as you like: without a change "alarm" is ever true with a probability of at most alpha. "sentence" says it in
    words, "through_time" has the evidence after every time (docs/operation.md). Roles as for `Model.update`.
    """
    roles, _, _ = model._timed(
        inputs, missing, {"time": times, "observation": observation, "prediction": prediction, "error": error}, {"correct": (), "adaptive": ()}
    )
    return json.loads(_core.monitor(model._core, roles.core, alpha))


class Model:
    """A fitted sigma(x), with the verification of its fit. Made by `accrue.fit` or `Model.load`."""

    def __init__(self, core: _core.Model, _fit: _core.Fit | None = None, _kept: NDArray[np.bool_] | None = None):
        self._core = core
        self._fit = _fit
        self._kept = _kept  # rows of the archive that were not dropped
        self._content: dict[str, Any] | None = None
        self._offers: list[str] = []  # what columns of the archive could be inputs too

    # Files

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Read a model file. OSError when it cannot be read, ValueError when it is not a model or was edited."""
        return Model(_core.Model.load(os.fspath(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all. OSError when that is impossible."""
        self._core.save(os.fspath(path))

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
        """What else the fit has to say, of a bias that was not corrected for example, or of a column that could be an input.

        After `fit` options have their names in Python; a model file has the words of the command, and nothing of columns.
        """
        if self._fit is None:
            return self.verification["verdict"]["remarks"]
        return [*self._fit.remarks, *self._offers]

    @property
    def held_out(self) -> tuple[Array, Array]:
        """Errors and sigmas of the archive's rows by fits that never saw them; NaN for rows that were dropped or not verified.

        Known after `fit` only: a model file holds no rows.
        """
        if self._fit is None:
            raise ValueError("a model file holds no rows: held_out is known after fit() only")
        return self._in_archive(self._fit.errors), self._in_archive(self._fit.sigmas)

    def _in_archive(self, values: Array) -> Array:
        if self._kept is None:
            return values
        all_rows = np.full(len(self._kept), np.nan)
        all_rows[self._kept] = values
        return all_rows

    # Forecasts

    def _predicted_by(self, table: Table) -> bool:
        """Whether the table has the archive's prediction, or what it was computed from."""
        if self.prediction is None or self.has_mean:
            return False
        try:
            return self.prediction in table or table.expression(self.prediction) is not None
        except ValueError:
            return False

    def _sources(self) -> list[str]:
        return [source for source, _ in self._core.input_columns]

    def _input(self, table: Table, k: int, source: str, kind: str) -> Any:
        if source not in table and table.expression(source) is None:
            raise no_column(source, table.names, ", an input of the model")
        return self._encoded(table.raw(source), k, kind)

    def _encoded(self, values: Any, k: int, kind: str) -> Any:
        """The values of input k as the model takes them: numbers, places among its labels, or seconds."""
        if kind == "category":
            places, labels = category(values)
            known = np.array([self._core.category_code(k, label) for label in labels])
            present = ~np.isnan(places)
            places[present] = known[places[present].astype(int)]
            return places
        return _seconds(values, self.inputs[k]) if kind in ("season", "hour") else values

    def _columns(self, table: Table) -> list[tuple[str, Any]]:
        """The model's inputs in the table, with what messages call them."""
        names = self.inputs
        if table.named:
            return [(f"column '{name}'", self._input(table, k, *of)) for k, (name, of) in enumerate(zip(names, self._core.input_columns))]
        if len(table.names) != len(names):
            raise ValueError(f"the model has {len(names)} inputs, but there are {len(table.names)} columns")
        names = table.names
        return [(f"column '{name}'", table.raw(name)) for name in names]

    def _looked_at(self, table: Table) -> list[tuple[str, Any, list[str]]]:
        """The inputs as `_columns` has them, but categories as places among all values of the table, with these."""
        looked_at = []
        for k, (what, values) in enumerate(self._columns(table)):
            source, kind = self._core.input_columns[k]
            labels: list[str] = []
            if kind == "category":
                values, labels = category(table.raw(source) if table.named else values)
            looked_at.append((what, values, labels))
        return looked_at

    @overload
    def predict(
        self,
        inputs: _Dataset,
        prediction: Any = None,
        *,
        times: Any = None,
        groups: Any = None,
        state: bool = True,
        quantiles: Sequence[float] | None = None,
        missing_value: Any = None,
        off_support: Literal["flag", "widen", "refuse"] = "flag",
    ) -> Any: ...

    @overload
    def predict(
        self,
        inputs: Any,
        prediction: Any = None,
        *,
        times: Any = None,
        groups: Any = None,
        state: bool = True,
        quantiles: None = None,
        missing_value: Any = None,
        off_support: Literal["flag", "widen", "refuse"] = "flag",
    ) -> Forecast: ...

    def predict(
        self,
        inputs: Any,
        prediction: Any = None,
        *,
        times: Any = None,
        groups: Any = None,
        state: bool = True,
        quantiles: Sequence[float] | None = None,
        missing_value: Any = None,
        off_support: Literal["flag", "widen", "refuse"] = "flag",
    ) -> Any:
        """The forecast of new rows.

        inputs: as for `fit`; named columns are found by name, whatever their order, others are left alone.
        prediction: of every row: values (for a Dataset: a DataArray), or the name of a column of `inputs`; default: the column
            that the archive had, where `inputs` has it.
        times, groups: of a model with a state (`update`), values (for a Dataset: DataArrays) or names of columns of `inputs`;
            default: the columns that the state was made with. Forecasts are as of each row's time, which lies after what the state has seen.
            state=False gives the forecasts of the model as it was fitted.
        missing_value: as for `fit`; the forecasts of such rows are NaN.
        off_support: of rows outside the archive: "flag" marks them, "widen" also widens their forecasts with the distance to
            the archive, "refuse" raises ValueError (docs/off-support.md).

        Of an xarray Dataset it returns a Dataset with `mean`, `sigma` and `off_support`, and with `quantiles` along a dimension
        of that name; where the state has adaptive intervals, `adaptive_lower` and `adaptive_upper` along `level`. Lazy arrays
        stay lazy.

        >>> archive = generate("G", 500, seed=1)
        >>> model = fit(archive, columns=["x"], prediction="f", observation="y", progress=False)
        >>> model.predict(archive).sigma.shape
        (500,)
        """
        if off_support not in ("flag", "widen", "refuse"):
            raise ValueError(f"off_support must be one of flag, widen, refuse, but it is {off_support!r}")
        if off_support == "widen":
            wider = Model(self._core.widened())
            return wider.predict(inputs, prediction, times=times, groups=groups, state=state, quantiles=quantiles, missing_value=missing_value)
        if state and self._core.state_columns is not None:
            usual_time, usual_group = self._core.state_columns
            times = usual_time if times is None else times
            groups = usual_group or None if groups is None else groups
        elif times is not None or groups is not None:
            raise ValueError("times and groups are for models with a state, and this forecast uses none")
        if type(inputs).__module__.partition(".")[0] == "xarray" and hasattr(inputs, "data_vars"):
            if off_support == "refuse":
                raise ValueError('off_support="refuse" is not for xarray Datasets: look at off_support of the result')
            from ._xarray import predict

            return predict(self, inputs, prediction, quantiles, missing_value, times, groups)
        if quantiles is not None:
            raise ValueError("quantiles are for xarray Datasets; of other forecasts, ask .quantile(q)")
        table = Table(
            inputs,
            [*self._sources(), self.prediction if prediction is None else prediction, times, groups],
            missing_value=missing_value,
        )
        if prediction is None and table.named and self._predicted_by(table):
            prediction = self.prediction
        roles = _Roles(table, prediction=prediction, time=times, group=groups)
        roles.load()
        mu = roles.get("prediction")
        columns = [column(values, what, None if mu is None else len(mu)) for what, values in self._columns(table)]
        if times is not None:
            forecast = self._at(columns, mu, roles.get("time"), roles.get("group"))
        else:
            forecast = self._forecast(columns, mu, table.rows())
        if off_support == "refuse":
            outside = forecast.off_support & ~np.isnan(forecast.sigma)
            found = self._core.why_off_support(columns, outside.astype(np.uint8).tobytes())
            if found is not None:
                raise ValueError(f"row {found[0] + 1} lies outside the archive: {found[1]}")
        return forecast

    def _with_family(self, mean: Array, sigma: Array, off_support: bytes, parameters: Array, family: _core.Family) -> Forecast:
        outside = np.frombuffer(off_support, np.uint8).astype(bool) | np.isnan(sigma)
        forecast = Forecast(mean, sigma, outside, family, parameters)
        forecast._model = self
        return forecast

    def _at(self, columns: list[Array], mu: Array | None, seconds: Any, groups: Any) -> Forecast:
        """The forecast as of these times, by the state."""
        figures, adaptive = _core.forecast_at(self._core, columns, mu, seconds, groups)
        return self._with_adaptive(self._with_family(*figures), adaptive)

    @staticmethod
    def _with_adaptive(forecast: Forecast, ends: list[tuple[float, Array, Array]]) -> Forecast:
        forecast._adaptive = {level: (lower, upper) for level, lower, upper in ends}
        return forecast

    def _forecast(self, columns: list[Array], mu: Array | None, rows: int | None) -> Forecast:
        if self.corrects_bias and mu is None:
            raise ValueError("the model corrects the prediction: give predict() a prediction")
        # A constant sigma has no inputs to count the rows by.
        mean, sigma, off_support, parameters = self._core.forecast(columns, mu, rows or 0)
        # A row with a missing input is not known to lie inside.
        return self._with_family(mean, sigma, off_support, parameters, self._core.family)

    # Through time

    def _timed(
        self,
        inputs: Any,
        missing: str,
        given: dict[str, Any],
        options: dict[str, Any],
        beside: Mapping[str, Any] | None = None,
        perhaps: Sequence[str] = (),
    ) -> tuple[_Roles, dict[str, Any], dict[str, Array]]:
        """Rows with their times, the options of those who learn from them, and other columns of the rows, which may be infinite.

        Roles that are not given are the archive's; `perhaps` are columns that are taken where the table has one of them.
        """
        columns = self.content["columns"]
        state_time, state_group = self._core.state_columns or ("", "")
        if given["observation"] is None and given["error"] is None:
            given["observation"] = columns.get("observation")
            given["error"] = None if given["observation"] is not None else columns.get("error")
        if given["prediction"] is None and given["error"] is None and not self.has_mean:
            given["prediction"] = self.prediction
        for role, usual in (("time", state_time or columns.get("time")), ("group", state_group or None)):
            if role not in given:
                continue
            # A name is part of what a state is made with; values have none of their own.
            if isinstance(given[role], str) or not state_time:
                options[role] = given[role] if isinstance(given[role], str) or given[role] is None else role
            given[role] = usual if given[role] is None else given[role]
        if given["time"] is None:
            raise ValueError("the model has no time: give times")
        more = {name: values for name, values in (beside or {}).items() if values is not None}
        table = Table(inputs, [*self._sources(), *given.values(), *more.values(), *perhaps])
        if any(name in table for name in perhaps):
            more.update((name, name) for name in perhaps)
        roles = _Roles(table, **given)
        values = roles.load(missing, self._columns(table))
        taken = {
            name: column(roles._left(table.raw(table.written_out(own)) if isinstance(own, str) else own), name, roles.rows())
            for name, own in more.items()
        }
        roles.core.set_inputs(self.inputs, values)
        given_options = {"correct": [table.written_out(name) for name in _listed(options.pop("correct"))]}
        for name in ("forget", "shrink", "delay", "refit", "window"):
            given_options[name] = _duration(options.pop(name, None))
        given_options.update(options)
        given_options["adaptive"] = _levels(given_options["adaptive"])
        return roles, {name: value for name, value in given_options.items() if value is not None}, taken

    def update(
        self,
        inputs: Any,
        *,
        times: Any = None,
        observation: Any = None,
        prediction: Any = None,
        error: Any = None,
        groups: Any = None,
        forget: Any = None,
        shrink: float | str | None = None,
        correct: Sequence[str] | str = (),
        shape: bool = False,
        adaptive: Sequence[float] | float = (),
        issued: Mapping[float, tuple[Any, Any]] | None = None,
        missing: Missing = "refuse",
    ) -> Model:
        """The model after it has learned from these rows, whose observations have arrived: `accrue update`.

        Rows are in the order of their times, and later than what the model has seen. Roles that are not given are columns of
        `inputs` that are called as they were in the archive. What the state is made with is said at the first update and kept:
        groups: labels of what has a shift of its own, such as stations.
        forget: "auto", "never", a duration ("28d", a timedelta; of plain numbers a number).
        shrink: a number of observations, or "auto"; docs/operation.md explains it, and correct, shape and adaptive.
        issued: the adaptive intervals that were issued for the rows, {0.9: (lower, upper)}: values or names of columns. Default: the
            columns adaptive_lower_0.9 and adaptive_upper_0.9 (`Forecast.to_frame`) where `inputs` has them. Where they are not
            known, intervals are taken to have been made from all that came before each time.

        ValueError for rows that were seen, times that go back, a row that is there twice.
        """
        roles, options, ends = self._timed(
            inputs,
            missing,
            {"time": times, "observation": observation, "prediction": prediction, "error": error, "group": groups},
            {"forget": forget, "shrink": shrink, "correct": correct, "shape": shape, "adaptive": adaptive},
            *self._issued(adaptive, issued),
        )
        return Model(_core.update(self._core, roles.core, options, list(ends.values())))

    def _issued(
        self, adaptive: Sequence[float] | float, issued: Mapping[float, tuple[Any, Any]] | None
    ) -> tuple[dict[str, Any], list[str]]:
        """The ends of the adaptive intervals that were issued, of all levels, by the names that `accrue predict` has for them.

        Where they are not given, the columns that may have them.
        """
        levels = self.content.get("state", {}).get("levels") or _levels(adaptive)
        names = {level: (f"adaptive_lower_{level}", f"adaptive_upper_{level}") for level in levels}
        if issued is None:
            return {}, [name for pair in names.values() for name in pair]
        if sorted(issued) != sorted(levels):
            raise ValueError(f"issued has the levels {sorted(issued)}, but the state {sorted(levels)}")
        return {name: end for level in levels for name, end in zip(names[level], issued[level], strict=True)}, []

    # Verification

    def _forecasts(
        self,
        inputs: Any,
        prediction: Any,
        compare: Mapping[str, Any] | None,
        name: str,
        missing: str,
        missing_value: Any,
        scores: ScoreOptions,
        **given: Any,
    ) -> _Evaluated:
        named = [(name, self), *(compare or {}).items()]
        return _evaluated(named, inputs, prediction, missing, missing_value, scores, **given)

    def evaluate(
        self,
        inputs: Any,
        *,
        observation: Any = None,
        prediction: Any = None,
        error: Any = None,
        groups: Any = None,
        times: Any = None,
        by: Any = None,
        sample_weight: Any = None,
        missing: Missing = "refuse",
        missing_value: Any = None,
        levels: Sequence[float] = (0.5, 0.9, 0.95),
        compare: Mapping[str, Any] | None = None,
        name: str = "model",
        **scores: Unpack[ScoreOptions],
    ) -> dict[str, Any]:
        """Score the model's forecast of these rows: the object that `accrue evaluate --json` prints (docs/evaluate.md).

        compare: other forecasts of the same rows by name: models, `Forecast`s, or sigmas (values, or names of columns of
            `inputs`). The result is then {"forecasts": [...], "comparison": [...], "lowest_crps": {...}}.
        groups: labels of what rows that err together share: they are resampled. by: names of columns, or a mapping of names to
            labels: also figures for each value (docs/groups.md). times: rows that err together are looked for in this order, and
            `conditional=True` looks at months and hours too.
        missing, missing_value: of rows and numbers as for `fit`.
        scores: other forecasts and further scores, which help(accrue.ScoreOptions) explains.
        """
        _require_score_options(scores)
        evaluated = self._forecasts(
            inputs,
            prediction,
            compare,
            name,
            missing,
            missing_value,
            scores,
            observation=observation,
            error=error,
            group=groups,
            by=by,
            weight=sample_weight,
            time=times,
        )
        return evaluated.scores(levels)

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
        by: Any = None,
        sample_weight: Any = None,
        missing: Missing = "refuse",
        missing_value: Any = None,
        levels: Sequence[float] = (0.5, 0.9, 0.95),
        compare: Mapping[str, Any] | None = None,
        name: str = "model",
        title: str | None = None,
        **scores: Unpack[ScoreOptions],
    ) -> dict[str, Any]:
        """Draw the forecast of these rows and its verification: one HTML page, written to `path`.

        Without rows it draws the fit: the archive's rows, each by fits that never saw it. Known after `fit` only.
        compare, scores: other forecasts beside it, as for `evaluate`: an ensemble for example (help(accrue.ScoreOptions)).
        The page needs no network and no other file. Returns what it is drawn from (docs/report-data.md).
        """
        _require_score_options(scores)
        if inputs is not None:
            evaluated = self._forecasts(
                inputs,
                prediction,
                compare,
                name,
                missing,
                missing_value,
                {**scores, "conditional": True},
                observation=observation,
                error=error,
                group=groups,
                by=by,
                weight=sample_weight,
                time=times,
            )
            return evaluated.report(path, title, levels)
        if self._fit is None:
            raise ValueError("a model file holds no rows: give report() some, or call it after fit()")
        return _write_page(path, self._fit.report(title or "Fit report"))

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
            *((f"{c['level']:.0%} interval coverage", f"{c['observed']:.1%}") for c in v["coverage"]),
        ]
        return (
            _html.paragraph(f"of {', '.join(self.inputs) or 'no inputs'}; {v['kind']}: {self.summary}", title="accrue model")
            + _html.side_by_side(_html.table([], figures), _html.reliability(v))
            + _html.bullets(self.remarks)
        )


class _Evaluated(NamedTuple):
    """Rows with observations, and forecasts of them, as the library takes them."""

    rows: _core.Rows
    forecasts: list[tuple[str, Any, list[Array], list[Any]]]
    dropped: int
    options: dict[str, Any]

    def scores(self, levels: Sequence[float]) -> dict[str, Any]:
        return json.loads(_core.evaluate(self.rows, self.forecasts, list(levels), self.dropped, self.options))

    def report(self, path: str | os.PathLike[str], title: str | None, levels: Sequence[float]) -> dict[str, Any]:
        return _write_page(path, _core.report(title or "", self.rows, self.forecasts, list(levels), self.options))


def _write_page(path: str | os.PathLike[str], data: str) -> dict[str, Any]:
    _core.write_page(os.fspath(path), data)
    return json.loads(data)


def _require_score_options(scores: ScoreOptions) -> None:
    for option in scores:
        if option not in ScoreOptions.__annotations__:
            raise no_column(option, ScoreOptions.__annotations__, what="option")


def _members(members: Any, table: Table, used: Collection[str]) -> list[tuple[str, Any]]:
    """The columns of an ensemble: names and patterns of columns of the table, or an array of (rows, members)."""
    texts = [members] if isinstance(members, str) else members
    if all(isinstance(text, str) for text in texts):
        columns: list[tuple[str, Any]] = []
        for text in texts:
            matching = table.matching(text)
            names = [text] if matching is None else [m for m in matching if table.is_free(m) and m not in used]
            if not names:
                raise ValueError(f"members: no column of numbers without another role matches '{text}'; columns: {', '.join(table.names)}")
            columns += [(f"member '{name}'", table.raw(name)) for name in names]
        return columns
    values = as_array(members)
    if values.ndim != 2:
        raise ValueError(f"members has the shape {values.shape}, but must be (rows, members), or names of columns")
    return [(f"member {k + 1}", np.ascontiguousarray(values[:, k])) for k in range(values.shape[1])]


def _quantiles(quantiles: Any, table: Table) -> list[tuple[float, tuple[str, Any]]]:
    """Levels with their columns."""
    if not isinstance(quantiles, Mapping) or not quantiles:
        raise ValueError('quantiles is a mapping of levels to values or names of columns: {0.05: "q05", 0.95: "q95"}')
    return [
        (float(level), (f"quantile {level}", table.raw(values) if isinstance(values, str) else values))
        for level, values in quantiles.items()
    ]


def _names_in(values: Any) -> list[str]:
    """The columns of a table that these values name."""
    if isinstance(values, Mapping):
        values = list(values.values())
    return [values] if isinstance(values, str) else [v for v in values if isinstance(v, str)] if isinstance(values, (list, tuple)) else []


def _evaluated(
    named: Sequence[tuple[str, Any]],
    inputs: Any,
    prediction: Any,
    missing: str,
    missing_value: Any,
    scores: ScoreOptions,
    **given: Any,
) -> _Evaluated:
    """Forecasts by name: models, `Forecast`s, or sigmas: values, or names of columns of `inputs`; and those of `scores`."""
    members, quantiles = scores.get("members"), scores.get("quantiles")
    models = [forecast for _, forecast in named if isinstance(forecast, Model)]
    needed = [prediction, *given.values(), *_by_names(given.get("by")), *_names_in(members), *_names_in(quantiles)]
    for model in models:
        needed += [model.prediction, *model._sources()]
    needed += [forecast for _, forecast in named if isinstance(forecast, str)]
    table = Table(inputs, needed, numeric=members is not None, missing_value=missing_value)
    if prediction is None and given.get("error") is None:
        usual = [model.prediction for model in models if model._predicted_by(table)]
        prediction = usual[0] if usual else None
    roles = _Roles(table, prediction=prediction, **given)
    sources: list[tuple[str, Any, list[tuple[str, Any]], list[float]]] = []
    for label, forecast in named:
        # A model with a mean of its own beside others, which lie around the prediction.
        if isinstance(forecast, Model) and forecast.has_mean and prediction is not None and len(named) > 1:
            forecast = forecast.predict(inputs, missing_value=missing_value)
        if isinstance(forecast, Model):
            sources.append((label, forecast._core, forecast._columns(table), []))
        elif isinstance(forecast, Forecast):
            figures = [(f"sigma '{label}'", forecast.sigma), (f"mean '{label}'", forecast._centre())]
            figures += [(f"parameter '{label}'", np.ascontiguousarray(one)) for one in forecast._parameters.T]
            sources.append((label, forecast._family, figures, []))
        else:
            values = table.raw(forecast) if isinstance(forecast, str) else forecast
            sources.append((label, None, [(f"sigma '{label}'", values)], []))
    if members is not None:
        sources.append(("members", "members", _members(members, table, roles.used.values()), []))
    if quantiles is not None:
        levelled = _quantiles(quantiles, table)
        sources.append(("quantiles", "quantiles", [one for _, one in levelled], [level for level, _ in levelled]))
    looks = scores.get("conditional", False) and named and isinstance(named[0][1], Model)
    looked_at = named[0][1]._looked_at(table) if looks else []
    columns = [one for _, _, columns, _ in sources for one in columns] + [(what, values) for what, values, _ in looked_at]
    loaded = iter(roles.load(missing, columns))
    forecasts: list[tuple[str, Any, list[Array], list[Any]]] = []
    for label, source, columns, quantile_levels in sources:
        values = [next(loaded) for _ in columns]
        # Of a forecast: sigma, perhaps its mean, and parameters of the rows.
        count = len(values) - source.width if isinstance(source, _core.Family) else len(values)
        forecasts.append((label, source, values[:count], quantile_levels or values[count:]))
    if looked_at:
        labels = [own for _, _, own in looked_at] if any(kind != "number" for _, kind in named[0][1]._core.input_columns) else []
        roles.core.set_inputs(named[0][1].inputs, list(loaded), labels)
    options = {
        "exceed": [float(y) for y in scores.get("exceed") or ()],
        "quantile_scores": [float(level) for level in scores.get("quantile_scores") or ()],
        "conditional": bool(scores.get("conditional", False)),
        "decompose": bool(scores.get("decompose", False)),
        "baselines": _listed(scores.get("baselines")),
    }
    return _Evaluated(roles.core, forecasts, roles.dropped(), options)


def evaluate(
    inputs: Any = None,
    *,
    observation: Any = None,
    prediction: Any = None,
    error: Any = None,
    sigma: Any = None,
    groups: Any = None,
    times: Any = None,
    by: Any = None,
    sample_weight: Any = None,
    missing: Missing = "refuse",
    missing_value: Any = None,
    levels: Sequence[float] = (0.5, 0.9, 0.95),
    **scores: Unpack[ScoreOptions],
) -> dict[str, Any]:
    """Score forecasts of any kind: the object that `accrue evaluate --json` prints (docs/evaluate.md).

    sigma: standard deviations around the prediction, as values or as a column of `inputs`; the rest as for `Model.evaluate`.
    scores: an ensemble (members), a quantile forecast (quantiles), baselines and further scores (help(accrue.ScoreOptions)).

    >>> rng = np.random.default_rng(1)
    >>> y = rng.normal(size=500)
    >>> result = evaluate(observation=y, members=rng.normal(size=(500, 20)), exceed=[1.0])
    >>> result["members"], len(result["rank_histogram"]["share"])
    (20, 21)
    """
    given = dict(observation=observation, error=error, group=groups, by=by, weight=sample_weight, time=times)
    return _judged(sigma, inputs, prediction, missing, missing_value, scores, given).scores(levels)


def report(
    path: str | os.PathLike[str],
    inputs: Any = None,
    *,
    observation: Any = None,
    prediction: Any = None,
    error: Any = None,
    sigma: Any = None,
    groups: Any = None,
    times: Any = None,
    by: Any = None,
    sample_weight: Any = None,
    missing: Missing = "refuse",
    missing_value: Any = None,
    levels: Sequence[float] = (0.5, 0.9, 0.95),
    title: str | None = None,
    **scores: Unpack[ScoreOptions],
) -> dict[str, Any]:
    """Draw forecasts of any kind and their verification: one HTML page, written to `path`.

    The rest as for `evaluate`. Models have `Model.report`. Returns what the page is drawn from (docs/report-data.md).
    """
    given = dict(observation=observation, error=error, group=groups, by=by, weight=sample_weight, time=times)
    return _judged(sigma, inputs, prediction, missing, missing_value, scores, given).report(path, title, levels)


def _judged(
    sigma: Any, inputs: Any, prediction: Any, missing: str, missing_value: Any, scores: ScoreOptions, given: dict[str, Any]
) -> _Evaluated:
    """What is no model."""
    _require_score_options(scores)
    named = [] if sigma is None else [(sigma if isinstance(sigma, str) else "sigma", sigma)]
    if not named and scores.get("members") is None and scores.get("quantiles") is None:
        raise ValueError("there is no forecast: give sigma, members or quantiles")
    return _evaluated(named, {} if inputs is None else inputs, prediction, missing, missing_value, scores, **given)


def compare(
    forecasts: Mapping[str, Any],
    inputs: Any = None,
    *,
    observation: Any = None,
    prediction: Any = None,
    error: Any = None,
    groups: Any = None,
    times: Any = None,
    by: Any = None,
    sample_weight: Any = None,
    missing: Missing = "refuse",
    missing_value: Any = None,
    levels: Sequence[float] = (0.5, 0.9, 0.95),
    **scores: Unpack[ScoreOptions],
) -> Comparison:
    """Several forecasts of the same rows: scores, differences row by row, and which is best, as `accrue evaluate` has them.

    forecasts: by name: models, `Forecast`s, or sigmas around the prediction (values, or names of columns of `inputs`).
    inputs: a table as for `fit`; it can be left out where all is given as values and no forecast is a model.
    scores: an ensemble, a quantile forecast or baselines beside them, and further scores (help(accrue.ScoreOptions)).
    The rest as for `Model.evaluate`. A `Forecast` needs the observation; sigmas need a prediction or an error.

    >>> archive, later = generate("G", 500, seed=1), generate("G", 500, seed=2)
    >>> roles = dict(prediction="f", observation="y")
    >>> network = fit(archive, columns=["x"], **roles, progress=False)
    >>> constant = fit(archive, form="constant", **roles, progress=False)
    >>> compare({"network": network, "constant": constant}, later, observation="y").best
    'network'
    """
    _require_score_options(scores)
    others = [scores.get("members"), scores.get("quantiles"), *_listed(scores.get("baselines"))]
    count = len(forecasts) + sum(other is not None for other in others)
    if count < 2:
        raise ValueError(f"compare takes at least two forecasts, but there {'is' if count else 'are'} {count}")
    evaluated = _evaluated(
        [(str(name), forecast) for name, forecast in forecasts.items()],
        {} if inputs is None else inputs,
        prediction,
        missing,
        missing_value,
        scores,
        observation=observation,
        error=error,
        group=groups,
        by=by,
        weight=sample_weight,
        time=times,
    )
    return Comparison(evaluated.scores(levels))
