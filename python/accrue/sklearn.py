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

from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GroupKFold, KFold, check_cv
    from sklearn.utils import _safe_indexing
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter, validate_data
except ImportError as problem:
    raise ImportError("accrue.sklearn needs scikit-learn 1.6 or newer: pip install 'accrue[sklearn]'") from problem

from ._arrays import Array, codes
from ._forecast import Forecast
from ._model import Model, fit

__all__ = ["CalibratedRegressor", "SigmaRegressor"]


class _Calibrated(RegressorMixin, BaseEstimator):
    """What both have: options of the fit of sigma, and forecasts."""

    model_: Model

    def _fit_sigma(self, columns: dict[str, Any], prediction: Any, y: Any, weights: Any, groups: Any) -> Model:
        rows = len(y)
        options = {
            "form": self.form,
            "score": self.score_to_fit,
            "bias": self.bias,
            "recalibrate": self.recalibrate,
            # Fewer rows than folds would be refused.
            "folds": min(self.folds, rows),
            "seed": self.seed,
        }
        if self.form == "constant":
            columns = {}
        return fit(
            columns,
            prediction=prediction,
            observation=y,
            sample_weight=weights,
            groups=groups,
            progress=False,
            **options,
        )

    def predict_distribution(self, X: Any) -> Forecast:
        """The forecast of every row: cdf, pdf, quantile, interval, sample, crps."""
        raise NotImplementedError

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of every row, and its sigma with return_std=True."""
        forecast = self.predict_distribution(X)
        return (forecast.mean, forecast.sigma) if return_std else forecast.mean

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends of the central interval of probability `level`."""
        return self.predict_distribution(X).interval(level)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Array:
        """An array of (rows, quantiles)."""
        return self.predict_distribution(X).quantile(np.atleast_1d(quantiles))


def _names(estimator: Any, count: int) -> list[str]:
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{k + 1}" for k in range(count)] if names is None else [str(name) for name in names]


class CalibratedRegressor(MetaEstimatorMixin, _Calibrated):
    """Any regressor, with a standard deviation for every prediction.

    The regressor is cross-fitted: the error of a training row, from which sigma is learned, comes from a regressor that never
    saw the row. Predictions come from one that saw them all.

    estimator: any scikit-learn regressor; LinearRegression when left out.
    cv: number of folds, or a splitter of scikit-learn, for the cross-fit; "auto": 10 below 2,000 rows, else 5. A number of
        folds never splits the `groups` given to fit().
    form, score_to_fit, bias, recalibrate, folds, seed: of the fit of sigma, as for `accrue.fit`.

    Attributes: `estimator_`, fitted on all rows; `model_`, the accrue.Model of sigma, with the verification of held-out rows;
    `out_of_fold_`, the predictions of the cross-fit; `n_features_in_`, `feature_names_in_`.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        cv: Any = "auto",
        form: str = "network",
        score_to_fit: str = "ar",
        bias: str = "none",
        recalibrate: str = "none",
        folds: int = 5,
        seed: int = 1,
    ):
        self.estimator = estimator
        self.cv = cv
        self.form = form
        self.score_to_fit = score_to_fit
        self.bias = bias
        self.recalibrate = recalibrate
        self.folds = folds
        self.seed = seed

    def _splits(self, rows: int, y: Array, groups: Any) -> list[tuple[Any, Any]]:
        cv = self.cv
        if isinstance(cv, str):
            if cv != "auto":
                raise ValueError(f"cv is '{cv}', but must be \"auto\", a number of folds or a splitter")
            # A regressor fitted on four fifths of few rows errs clearly more than the one on all rows, which predicts:
            # sigma would be too wide. With few rows more fits cost little.
            cv = 10 if rows < 2000 else 5
        if not isinstance(cv, (int, np.integer)):
            cv = check_cv(cv)
        elif groups is not None:
            cv = GroupKFold(min(cv, len(np.unique(groups))))
        else:
            # Shuffled: rows of a file are often sorted.
            cv = KFold(min(cv, rows), shuffle=True, random_state=self.seed)
        splits = list(cv.split(np.zeros((rows, 1)), y, groups))
        times_held_out = np.zeros(rows, int)
        for _, test in splits:
            times_held_out[test] += 1
        if (times_held_out != 1).any():
            raise ValueError("cv must hold out every row exactly once, as KFold and GroupKFold do")
        return splits

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> CalibratedRegressor:
        """Cross-fit the regressor, learn sigma from the errors, and fit the regressor on all rows."""
        array, y = validate_data(self, X, y, y_numeric=True, ensure_min_samples=4)
        array = array.astype(np.float64, copy=False)
        y = y.astype(np.float64, copy=False)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, array)
        group_of = None if groups is None else np.frombuffer(codes(groups)[0], np.uint32)
        # The regressor sees what the user gave where it has names, which it keeps.
        rows_of = X if hasattr(self, "feature_names_in_") else array
        estimator = LinearRegression() if self.estimator is None else self.estimator
        weighted = sample_weight is not None and has_fit_parameter(estimator, "sample_weight")

        def fitted(rows: Any) -> Any:
            more = {"sample_weight": sample_weight[rows]} if weighted else {}
            return clone(estimator).fit(_safe_indexing(rows_of, rows), y[rows], **more)

        self.out_of_fold_ = np.empty(len(y))
        for training, test in self._splits(len(y), y, group_of):
            self.out_of_fold_[test] = fitted(training).predict(_safe_indexing(rows_of, test))
        self.estimator_ = fitted(np.arange(len(y)))
        columns = dict(zip(_names(self, array.shape[1]), array.T))
        self.model_ = self._fit_sigma(columns, self.out_of_fold_, y, sample_weight, groups)
        return self

    def predict_distribution(self, X: Any) -> Forecast:
        check_is_fitted(self)
        array = validate_data(self, X, reset=False).astype(np.float64, copy=False)
        mu = np.asarray(self.estimator_.predict(X if hasattr(self, "feature_names_in_") else array), dtype=np.float64)
        columns = [np.ascontiguousarray(column) for column in array.T] if self.model_.inputs else []
        return self.model_._forecast(columns, mu, len(array))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = False
        return tags


class SigmaRegressor(_Calibrated):
    """Error bars for predictions that are there already: one column of X holds them.

    prediction: name or position of that column; the last when left out. Sigma depends on the other columns, or on the prediction
        when it is the only one.
    form, score_to_fit, bias, recalibrate, folds, seed: of the fit of sigma, as for `accrue.fit`.

    `predict` gives back the prediction, after the bias correction if one was asked for.
    """

    def __init__(
        self,
        prediction: str | int = -1,
        *,
        form: str = "network",
        score_to_fit: str = "ar",
        bias: str = "none",
        recalibrate: str = "none",
        folds: int = 5,
        seed: int = 1,
    ):
        self.prediction = prediction
        self.form = form
        self.score_to_fit = score_to_fit
        self.bias = bias
        self.recalibrate = recalibrate
        self.folds = folds
        self.seed = seed

    def _split(self, array: Array) -> tuple[dict[str, Array], Array]:
        """Inputs of sigma and predictions."""
        names = _names(self, array.shape[1])
        if isinstance(self.prediction, str):
            if self.prediction not in names:
                raise ValueError(f"there is no column '{self.prediction}' in X; columns: {', '.join(names)}")
            place = names.index(self.prediction)
        else:
            count = array.shape[1]
            if not -count <= self.prediction < count:
                raise ValueError(f"prediction is column {self.prediction}, but X has {count} columns")
            place = range(count)[self.prediction]
        inputs = {name: np.ascontiguousarray(array[:, k]) for k, name in enumerate(names) if k != place}
        mu = np.ascontiguousarray(array[:, place])
        return inputs or {names[place]: mu}, mu

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> SigmaRegressor:
        """Learn sigma from the errors y - prediction."""
        array, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64, ensure_min_samples=4)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, array)
        inputs, mu = self._split(array)
        self.model_ = self._fit_sigma(inputs, mu, y.astype(np.float64, copy=False), sample_weight, groups)
        return self

    def predict_distribution(self, X: Any) -> Forecast:
        check_is_fitted(self)
        array = validate_data(self, X, reset=False, dtype=np.float64)
        inputs, mu = self._split(array)
        return self.model_._forecast(list(inputs.values()) if self.model_.inputs else [], mu, len(array))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The checks put anything into the column of the prediction.
        tags.regressor_tags.poor_score = True
        return tags
