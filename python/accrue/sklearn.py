"""Estimators in the manner of scikit-learn: any regressor with calibrated error bars.

>>> from sklearn.datasets import make_regression
>>> from sklearn.linear_model import LinearRegression
>>> from accrue.sklearn import CalibratedRegressor
>>> X, y = make_regression(500, 3, noise=10, random_state=1)
>>> regressor = CalibratedRegressor(LinearRegression()).fit(X, y)
>>> mean, sigma = regressor.predict(X, return_std=True)
>>> low, high = regressor.predict_interval(X, 0.9)
>>> bool(0.85 < ((low < y) & (y < high)).mean() < 0.95)
True
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GroupKFold, KFold, check_cv
    from sklearn.multioutput import MultiOutputRegressor
    from sklearn.utils import _safe_indexing, check_array, check_consistent_length, check_random_state, get_tags
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
    from sklearn.utils.parallel import Parallel, delayed
    from sklearn.utils.validation import _check_method_params, _check_sample_weight, check_is_fitted, has_fit_parameter
    from sklearn.utils.validation import validate_data
except ImportError as problem:
    raise ImportError("accrue.sklearn needs scikit-learn 1.6 or newer: pip install 'accrue[sklearn]'") from problem

import sklearn

from . import _core
from ._arrays import Array, Table, as_array, category, codes, column, missing_rows, no_column, some_rows
from ._arrow import is_arrow
from ._forecast import Forecast
from ._model import Model, fit, with_kind
from ._options import Bias, BoundKind, Family, Form, Recalibrate, Score

__all__ = ["CalibratedRegressor", "SigmaRegressor"]


class _Calibrated(RegressorMixin, BaseEstimator):
    """What both have: options of the fit of sigma, and forecasts."""

    def _seed(self) -> int:
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return 1 if self.random_state is None else int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _fit_sigma(
        self,
        columns: Mapping[str, Any],
        prediction: Any,
        y: Any,
        weights: Any,
        groups: Any,
        seed: int,
        inputs: Sequence[str] | None = None,
    ) -> Model:
        """inputs: what sigma depends on, where columns are not all numbers; else all of them."""
        needed = _core.needs_inputs(_core.FitOptions({"form": self.form, "bias": self.bias}))
        used = columns if needed else {}
        has_gaps = any(gaps is not None and gaps.any() for gaps in map(missing_rows, used.values()))
        return fit(
            used,
            prediction=prediction,
            observation=y,
            sample_weight=weights,
            groups=groups,
            columns=[] if not needed else list(used) if inputs is None else list(inputs),
            missing="impute" if has_gaps else "refuse",
            progress=False,
            form=self.form,
            family=self.family,
            score=self.score_to_fit,
            bias=self.bias,
            lower=self.lower,
            upper=self.upper,
            bound_kind=self.bound_kind,
            recalibrate=self.recalibrate,
            folds=min(self.folds, len(y)),  # fewer rows than folds would be refused
            seed=seed,
        )

    def predict_distribution(self, X: Any) -> Any:
        """The forecast of every row: cdf, pdf, quantile, interval, sample, crps. Of several targets, a list with one for each."""
        raise NotImplementedError

    def _of_targets(self, X: Any, figure: Any) -> Any:
        """A figure of the forecast, with the targets behind the rows where there are several."""
        forecast = self.predict_distribution(X)
        if not isinstance(forecast, list):
            return figure(forecast)
        return np.stack([figure(one) for one in forecast], axis=1)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of every row, and its sigma with return_std=True."""
        figures = self._of_targets(X, lambda forecast: np.stack([forecast.mean, forecast.sigma], axis=-1))
        return (figures[..., 0], figures[..., 1]) if return_std else figures[..., 0]

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends of the central interval of probability `level`."""
        ends = self._of_targets(X, lambda forecast: np.stack(forecast.interval(level), axis=-1))
        return ends[..., 0], ends[..., 1]

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Array:
        """An array of (rows, quantiles), or of (rows, targets, quantiles)."""
        return self._of_targets(X, lambda forecast: forecast.quantile(np.atleast_1d(quantiles)))


def _frame(X: Any) -> Any:
    """What scikit-learn does not know, as what it knows: a polars LazyFrame collected, other Arrow tables as pyarrow's."""
    if hasattr(X, "collect") and hasattr(X, "lazy"):
        return X.collect()
    if is_arrow(X) and (not hasattr(X, "__array__") or type(X).__name__ == "RecordBatch"):
        import pyarrow

        return pyarrow.table(X)
    return X


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") or hasattr(X, "num_rows")


def _rows(X: Any, rows: Any) -> Any:
    # Not every version of scikit-learn has learned this of pyarrow's tables.
    return X.take(rows) if hasattr(X, "num_rows") else _safe_indexing(X, rows)


def _names(estimator: Any, count: int) -> list[str]:
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{k + 1}" for k in range(count)] if names is None else [str(name) for name in names]


def _place(column: str | int, names: Sequence[str], what: str) -> int:
    """Which column of X a name or a position means."""
    if isinstance(column, str):
        if column not in names:
            raise no_column(column, names, " in X")
        return list(names).index(column)
    if not -len(names) <= column < len(names):
        raise ValueError(f"{what} is column {column}, but X has {len(names)} columns")
    return range(len(names))[column]


class _SigmaInputs:
    """The columns of X that sigma depends on, and what each of them is."""

    def __init__(self, X: Any, names: list[str], inputs: Any, kinds: Any, rows: Any, numbers_only: bool):
        """rows: those to learn from. numbers_only: sigma cannot depend on categories, so that none is taken by itself."""
        own = {_place(column, names, "one of kinds"): kind for column, kind in (kinds or {}).items()}
        taken: list[tuple[int, Any]]
        if inputs is None:
            table = self._table(X, names, [names[k] for k in own], every=True)
            usual = [k for k, name in enumerate(names) if k in own or _is_input(table, name, rows, numbers_only)]
            taken = [(k, None) for k in usual]
        else:
            listed = [inputs] if isinstance(inputs, (str, int)) else list(inputs)
            taken = list(dict.fromkeys(_named(column, names) for column in listed))
            table = self._table(X, names, [names[k] for k, _ in taken])
        self.columns = list(dict.fromkeys(names[k] for k, _ in taken))
        self.inputs: list[str] = []  # as a model calls them: station:category
        for k, kind in taken:
            by_type = table.kind(names[k])
            kind = kind or own.get(k) or by_type
            # What is called a number stays one, whatever its type.
            self.inputs += [f"{names[k]}:number"] if kind == "number" != by_type else with_kind(names[k], kind)

    @staticmethod
    def _table(X: Any, names: list[str], needed: list[str], every: bool = False) -> Table:
        return Table(X, names if every else needed, every) if _is_frame(X) else Table(dict(zip(names, X.T)))

    def values(self, X: Any, names: list[str]) -> dict[str, Any]:
        table = self._table(X, names, self.columns)
        return {name: table.raw(name) for name in self.columns}


def _named(column: str | int, names: list[str]) -> tuple[int, str | None]:
    """Which column of X an input means, and the kind that stands behind its name: "station:category"."""
    if isinstance(column, str) and column not in names:
        source, _ = _core.parse_input(column)
        if source != column and source in names:
            return names.index(source), column[len(source) + 1 :]
    return _place(column, names, "one of inputs"), None


def _is_input(table: Table, name: str, rows: Any, numbers_only: bool) -> bool:
    """Whether sigma depends on a column that nobody named: on numbers, and on columns of a type for categories."""
    if table.is_categorical(name):
        # A value with fewer rows has no effect of its own (docs/inputs.md), so that nothing would be learned.
        places, _ = category(as_array(table.raw(name))[rows])
        return not numbers_only and bool((np.bincount(places[~np.isnan(places)].astype(int), minlength=1) >= 10).any())
    # A column that is missing altogether has no numbers.
    return table.is_numeric(name) and not table.is_time(name) and not np.isnan(table.column(name)).all()


def _tags(estimator: Any) -> Any:
    try:
        return get_tags(estimator)
    except AttributeError:  # not made with scikit-learn's classes
        return get_tags(LinearRegression())


class CalibratedRegressor(MetaEstimatorMixin, _Calibrated):
    """Any regressor, with a standard deviation for every prediction.

    The regressor is cross-fitted: the error of a training row, from which sigma is learned, comes from a regressor that never
    saw the row. Predictions come from one that saw them all, or with ensemble=True are the mean of those of the cross-fit. The
    regressor gets X as it is: data frames, categories and
    missing values reach it, or the first step of its pipeline.

    estimator: any scikit-learn regressor; LinearRegression when left out.
    inputs: names or positions of the columns of X that sigma depends on; default: all that hold numbers or have a type for
        categories (pandas, polars, Arrow), or the prediction where there is none. Where such a column has gaps, sigma learns from
        the gaps too.
    kinds: what columns are where they are not numbers, by name or position, as for `accrue.fit`: {"station": "category",
        "wdir": "cyclic(360)", "t": ["season", "hour"]}; columns that it names are inputs even where `inputs` is left out. By
        default texts that `inputs` lists and columns of a type for categories are categories. The regressor gets them as
        they are.
    cv: number of folds, or a splitter of scikit-learn, for the cross-fit; "auto": 10 below 2,000 rows, else 5. A number of
        folds never splits the `groups` given to fit(). Rows that a splitter never holds out, as TimeSeriesSplit does with the
        first, are left out of the calibration, with a warning; of a row that it holds out several times the first counts.
    ensemble: predict by the mean of the regressors of the cross-fit, all of those that held rows out, in place of one fitted on
        all rows. For regressors that vary with their rows, such as deep trees, the mean errs less; where rows are few each of
        them has seen fewer, and it may err more. Sigma is that of one of them, and so on the safe side.
    form, family, score_to_fit, bias, recalibrate, folds: of the fit of sigma, as for `accrue.fit`. With these defaults the
        forecast is normal around the regressor's prediction, unless held-out rows, 500 or more, ask for a map of its
        probabilities; recalibrate="none" has none. family="auto" chooses a family first.
    lower, upper, bound_kind: bounds of y, beyond which no quantile of the forecast lies, and what happens there, as for
        `accrue.fit`; of several targets they are the bounds of each.
    random_state: of the folds, the fit of sigma, and whatever random_state of the regressor is None; default: 1 for the first
        two, so that a fit can be repeated.
    n_jobs: fits of the regressor at a time, as in scikit-learn. It does not limit the threads of accrue (`accrue.threads`).

    y may have several columns: sigma is then learned for each, and predictions have shapes of (rows, targets).

    Attributes: `estimator_`, fitted on all rows, or with ensemble=True `estimators_`, those of the cross-fit; `model_`, the accrue.Model of sigma, with the verification of held-out rows,
    or of several targets `models_`; `out_of_fold_`, the predictions of the cross-fit, NaN where `held_out_` is False;
    `n_features_in_`, `feature_names_in_`.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        inputs: Any = None,
        kinds: Mapping[Any, str | Sequence[str]] | None = None,
        cv: Any = "auto",
        ensemble: bool = False,
        form: Form = "auto",
        family: Family = "normal",
        score_to_fit: Score = "ar",
        bias: Bias = "none",
        lower: float | None = None,
        upper: float | None = None,
        bound_kind: BoundKind = "auto",
        recalibrate: Recalibrate = "auto",
        folds: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.inputs = inputs
        self.kinds = kinds
        self.cv = cv
        self.ensemble = ensemble
        self.form = form
        self.family = family
        self.score_to_fit = score_to_fit
        self.bias = bias
        self.lower = lower
        self.upper = upper
        self.bound_kind = bound_kind
        self.recalibrate = recalibrate
        self.folds = folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def model_(self) -> Model:
        models = self.__dict__.get("models_", [])
        if len(models) != 1:
            raise AttributeError(f"model_ is of one target, but there are {len(models)}: see models_")
        return models[0]

    def get_metadata_routing(self) -> Any:
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router.add(estimator=self._unfitted(), method_mapping=mapping)
        if hasattr(self.cv, "split"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def _unfitted(self) -> Any:
        return LinearRegression() if self.estimator is None else self.estimator

    def _splits(self, X: Any, y: Array, groups: Any, split_params: Mapping[str, Any], seed: int) -> list[tuple[Any, Any]]:
        cv = self.cv
        rows = len(y)
        if isinstance(cv, str):
            if cv != "auto":
                raise ValueError(f"cv is '{cv}', but must be \"auto\", a number of folds or a splitter")
            # A regressor fitted on four fifths of few rows errs clearly more than the one on all rows, which predicts:
            # sigma would be too wide. With few rows more fits cost little.
            cv = 10 if rows < 2000 else 5
        if not isinstance(cv, (int, np.integer)):
            cv = check_cv(cv)
        elif groups is not None:
            cv, split_params = GroupKFold(min(cv, len(np.unique(groups)))), {"groups": groups}
        else:
            # Shuffled: rows of a file are often sorted.
            cv = KFold(min(cv, rows), shuffle=True, random_state=seed)
        splits = [(np.asarray(training), np.asarray(test)) for training, test in cv.split(X, y, **split_params) if len(test)]
        if not splits:
            raise ValueError("cv holds out no row, but sigma is learned from rows that a regressor never saw")
        if any(np.intersect1d(training, test).size for training, test in splits):
            raise ValueError(
                "cv holds out rows that it also trains on, but sigma is learned from rows that a regressor never saw"
            )
        return splits

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any) -> CalibratedRegressor:
        """Cross-fit the regressor, learn sigma from the errors, and fit the regressor on all rows.

        sample_weight reaches the regressor too where its fit() takes it, groups the splitter, fit_params the regressor; with
        scikit-learn's metadata routing all of them go where they were requested.
        """
        X = self._checked(X, y, reset=True)
        y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y").astype(np.float64, copy=False)
        check_consistent_length(X, y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, y)
        group_of = None if groups is None else np.frombuffer(codes(groups)[0], np.uint32)
        seed = self._seed()
        estimator = self._regressor(y, seed)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if sklearn.get_config().get("enable_metadata_routing", False):
            given |= {} if groups is None else {"groups": group_of}
            routed = process_routing(self, "fit", **given, **fit_params)
            fit_params, split_params = routed.estimator.fit, routed.splitter.split if hasattr(self.cv, "split") else {}
        else:
            if sample_weight is not None and has_fit_parameter(self._unfitted(), "sample_weight"):
                fit_params = {**fit_params, **given}
            split_params = {"groups": group_of}

        def fitted(rows: Any) -> Any:
            # Each row's part of what has one value a row.
            more = _check_method_params(X, fit_params, indices=rows)
            return clone(estimator).fit(_rows(X, rows), y[rows], **more)

        ensemble = self.ensemble

        def held_out(training: Any, test: Any) -> Any:
            regressor = fitted(training)
            # One that is not needed would be sent back by another process.
            return regressor if ensemble else None, regressor.predict(_rows(X, test))

        splits = self._splits(X, y, group_of, split_params, seed)
        of_folds = Parallel(n_jobs=self.n_jobs)(delayed(held_out)(*split) for split in splits)
        self.out_of_fold_ = np.full(y.shape, np.nan)
        self.held_out_ = np.zeros(len(y), bool)
        for (_, test), (_, predicted) in zip(splits, of_folds):
            new = ~self.held_out_[test]
            self.out_of_fold_[test[new]] = np.asarray(predicted, np.float64).reshape(len(test), *y.shape[1:])[new]
            self.held_out_[test] = True
        self.__dict__.pop("estimator_", None)
        self.__dict__.pop("estimators_", None)
        if ensemble:
            self.estimators_ = [regressor for regressor, _ in of_folds]
        else:
            self.estimator_ = fitted(np.arange(len(y)))
        self._learn_sigma(X, y, sample_weight, groups, seed)
        return self

    def _regressor(self, y: Array, seed: int) -> Any:
        estimator = clone(self._unfitted())
        if self.random_state is not None:
            unset = [name for name, value in estimator.get_params().items() if name.endswith("random_state") and value is None]
            estimator.set_params(**dict.fromkeys(unset, seed))
        if y.ndim > 1 and not _tags(estimator).target_tags.multi_output:
            return MultiOutputRegressor(estimator)
        return estimator

    def _learn_sigma(self, X: Any, y: Array, sample_weight: Any, groups: Any, seed: int) -> None:
        held_out = self.held_out_
        if not held_out.all():
            warnings.warn(
                f"cv never holds out {int((~held_out).sum())} of {len(y)} rows: they are left out of the calibration "
                "(held_out_ tells which)",
                stacklevel=3,
            )
        names = _names(self, self.n_features_in_)
        numbers_only = not _core.takes_categories(_core.FitOptions({"form": self.form}))
        self._sigma_inputs = _SigmaInputs(X, names, self.inputs, self.kinds, held_out, numbers_only)
        columns = {name: some_rows(values, held_out) for name, values in self._sigma_inputs.values(X, names).items()}
        weights = None if sample_weight is None else sample_weight[held_out]
        groups = None if groups is None else as_array(groups)[held_out]
        targets = zip(np.atleast_2d(self.out_of_fold_.T)[:, held_out], np.atleast_2d(y.T)[:, held_out])
        self.models_ = [
            self._fit_sigma(
                columns or {"prediction": predicted},
                predicted,
                observed,
                weights,
                groups,
                seed,
                self._sigma_inputs.inputs or None,
            )
            for predicted, observed in targets
        ]

    def _checked(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        """X for the regressor: a frame as it is, and all else as an array."""
        X = _frame(X)
        if _is_frame(X):
            validate_data(self, X, y, reset=reset, skip_check_array=True)
            return X
        # What may be missing or a text is for the regressor to say.
        X = check_array(
            X, dtype=None, ensure_all_finite=False, ensure_min_samples=4 if reset else 1, estimator=self, input_name="X"
        )
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        return X

    def predict_distribution(self, X: Any) -> Any:
        check_is_fitted(self)
        X = self._checked(X)
        regressors = self.__dict__.get("estimators_") or [self.estimator_]
        mu = np.mean([np.asarray(regressor.predict(X), dtype=np.float64) for regressor in regressors], axis=0)
        columns = self._sigma_inputs.values(X, _names(self, self.n_features_in_))
        forecasts = []
        for model, predicted in zip(self.models_, np.atleast_2d(mu.T)):
            predicted = np.ascontiguousarray(predicted)
            table = Table(columns or {"prediction": predicted})
            inputs = [column(values, what, len(predicted)) for what, values in model._columns(table)]
            forecasts.append(model._forecast(inputs, predicted, len(predicted)))
        return forecasts if self.out_of_fold_.ndim > 1 else forecasts[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = _tags(self._unfitted())
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.categorical = inner.input_tags.categorical
        tags.input_tags.string = inner.input_tags.string
        tags.target_tags.multi_output = True
        return tags


class SigmaRegressor(_Calibrated):
    """Error bars for predictions that are there already: one column of X holds them.

    prediction: name or position of that column; the last when left out. Sigma depends on the other columns, or on the prediction
        when it is the only one.
    form, family, score_to_fit, bias, recalibrate, folds: of the fit of sigma, as for `CalibratedRegressor`. random_state: its
        seed; default: 1.
    lower, upper, bound_kind: bounds of y, as for `accrue.fit`.

    `predict` gives back the prediction, after the bias correction if one was asked for; where a map was taken it is the mean of
    the mapped forecast.
    """

    model_: Model

    def __init__(
        self,
        prediction: str | int = -1,
        *,
        form: Form = "auto",
        family: Family = "normal",
        score_to_fit: Score = "ar",
        bias: Bias = "none",
        lower: float | None = None,
        upper: float | None = None,
        bound_kind: BoundKind = "auto",
        recalibrate: Recalibrate = "auto",
        folds: int = 5,
        random_state: Any = None,
    ):
        self.prediction = prediction
        self.form = form
        self.family = family
        self.score_to_fit = score_to_fit
        self.bias = bias
        self.lower = lower
        self.upper = upper
        self.bound_kind = bound_kind
        self.recalibrate = recalibrate
        self.folds = folds
        self.random_state = random_state

    def _split(self, array: Array) -> tuple[dict[str, Array], Array]:
        """Inputs of sigma and predictions."""
        names = _names(self, array.shape[1])
        place = _place(self.prediction, names, "prediction")
        inputs = {name: np.ascontiguousarray(array[:, k]) for k, name in enumerate(names) if k != place}
        mu = np.ascontiguousarray(array[:, place])
        return inputs or {names[place]: mu}, mu

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> SigmaRegressor:
        """Learn sigma from the errors y - prediction."""
        array, y = validate_data(self, _frame(X), y, y_numeric=True, dtype=np.float64, ensure_min_samples=4)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, array)
        inputs, mu = self._split(array)
        self.model_ = self._fit_sigma(inputs, mu, y.astype(np.float64, copy=False), sample_weight, groups, self._seed())
        return self

    def predict_distribution(self, X: Any) -> Forecast:
        check_is_fitted(self)
        array = validate_data(self, _frame(X), reset=False, dtype=np.float64)
        inputs, mu = self._split(array)
        return self.model_._forecast(list(inputs.values()) if self.model_.inputs else [], mu, len(array))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The checks put anything into the column of the prediction.
        tags.regressor_tags.poor_score = True
        return tags
