import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import accrue
from accrue import CalibratedRegressor, SigmaRegressor

# No exclusions. (The check of array_api_input skips itself unless SciPy was asked for it.)


@parametrize_with_checks([CalibratedRegressor(LinearRegression()), SigmaRegressor()])
def test_scikit_learn_accepts_the_estimator(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.fixture(scope="module")
def frame():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"a": rng.uniform(-2, 2, 2000), "b": rng.uniform(0, 1, 2000)})
    frame["y"] = np.sin(frame["a"]) + rng.normal(0, 0.1 + 0.4 * frame["b"])
    return frame


@pytest.fixture(scope="module")
def fitted(frame):
    return CalibratedRegressor(HistGradientBoostingRegressor(max_iter=50, random_state=1)).fit(
        frame[["a", "b"]], frame["y"]
    )


def test_a_wrapped_regressor_is_calibrated_on_new_rows(fitted):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    X = pandas.DataFrame({"a": rng.uniform(-2, 2, 2000), "b": rng.uniform(0, 1, 2000)})
    y = np.sin(X["a"]) + rng.normal(0, 0.1 + 0.4 * X["b"])
    mean, sigma = fitted.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, fitted.predict(X))
    assert np.corrcoef(sigma, X["b"])[0, 1] > 0.9
    result = accrue.verify.verify(y - mean, sigma)
    # Seeded; a calibrated forecast of 2000 rows passes 3 times its floor with probability 0.9999.
    assert result["calibration_error_percent"] < 3 * result["calibration_floor_percent"]
    assert 0.9 < result["sd_z"] < 1.2


def test_intervals_quantiles_and_distributions_agree(fitted, frame):
    X = frame[["a", "b"]]
    low, high = fitted.predict_interval(X, 0.8)
    quantiles = fitted.predict_quantiles(X, [0.1, 0.9])
    # Two ways to the same factor, each rounded.
    np.testing.assert_allclose(np.column_stack([low, high]), quantiles, rtol=1e-12, atol=1e-12)
    distribution = fitted.predict_distribution(X)
    np.testing.assert_allclose(distribution.cdf(low), 0.1, rtol=1e-10)
    assert fitted.predict_quantiles(X).shape == (2000, 3)


def test_errors_come_from_regressors_that_never_saw_the_row(frame):
    class Memory(LinearRegression):
        """Knows its training rows by heart, and is wrong by 1 for all others."""

        def fit(self, X, y):
            self.known_ = dict(zip(np.asarray(X)[:, 0], y))
            self.n_features_in_ = X.shape[1]
            return self

        def predict(self, X):
            return np.array([self.known_.get(a, 99.0) for a in np.asarray(X)[:, 0]])

    rows = frame[:200]
    regressor = CalibratedRegressor(Memory(), form="constant").fit(rows[["a", "b"]].to_numpy(), rows["y"])
    assert (regressor.out_of_fold_ == 99).all()


def test_names_are_kept_and_other_or_reordered_columns_refused(fitted, frame):
    assert (
        list(fitted.feature_names_in_)
        == ["a", "b"]
        == fitted.model_.inputs
        == list(fitted.estimator_.feature_names_in_)
    )
    for columns in (["b", "a"], ["a", "y"], ["a"]):
        with pytest.raises(ValueError):
            fitted.predict(frame[columns])


def test_it_works_in_pipelines_searches_and_clones(frame):
    X, y = frame[["a", "b"]], frame["y"]
    pipeline = make_pipeline(StandardScaler(), CalibratedRegressor(Ridge()))
    search = GridSearchCV(pipeline, {"calibratedregressor__estimator__alpha": [0.1, 10.0]}, cv=2).fit(X, y)
    mean, sigma = search.best_estimator_.predict(X, return_std=True)
    assert (sigma > 0).all() and len(mean) == len(X)
    again = clone(search.best_estimator_)
    assert again.get_params()["calibratedregressor__estimator__alpha"] in (0.1, 10.0)
    assert len(cross_val_score(CalibratedRegressor(cv=3), X, y, cv=2)) == 2


def test_groups_are_never_split(frame):
    groups = np.arange(2000) // 50
    regressor = CalibratedRegressor(LinearRegression(), cv=4).fit(frame[["a", "b"]], frame["y"], groups=groups)
    assert regressor.model_.content["configuration"]["folds_by"] == "group"
    other = CalibratedRegressor(LinearRegression(), cv=GroupKFold(4)).fit(frame[["a", "b"]], frame["y"], groups=groups)
    np.testing.assert_array_equal(regressor.out_of_fold_, other.out_of_fold_)


def test_few_rows_are_cross_fitted_with_more_folds(frame):
    X, y = frame[["a", "b"]], frame["y"]
    for rows, folds in ((1999, 10), (2000, 5), (7, 7)):
        chosen = CalibratedRegressor(form="constant", folds=2).fit(X[:rows], y[:rows])
        same = CalibratedRegressor(form="constant", folds=2, cv=folds).fit(X[:rows], y[:rows])
        np.testing.assert_array_equal(chosen.out_of_fold_, same.out_of_fold_)
    with pytest.raises(ValueError, match="cv is 'many', but must be"):
        CalibratedRegressor(cv="many").fit(X, y)


def test_a_cross_fit_must_hold_out_every_row_once(frame):
    with pytest.raises(ValueError, match="exactly once"):
        CalibratedRegressor(cv=ShuffleSplit(2, random_state=1)).fit(frame[["a", "b"]], frame["y"])


def test_weights_reach_the_regressor_and_sigma(frame):
    X, y = frame[["a", "b"]], frame["y"]
    weights = np.where(frame["b"] > 0.5, 1.0, 1e-3)
    weighted = CalibratedRegressor(LinearRegression()).fit(X, y, sample_weight=weights)
    assert weighted.model_.verification["effective_rows"] < 1500
    assert (weighted.predict(X) != CalibratedRegressor(LinearRegression()).fit(X, y).predict(X)).any()


def test_predictions_of_any_origin_get_a_sigma(frame):
    X = frame[["a", "b"]].assign(mu=np.sin(frame["a"]))
    for prediction in ("mu", -1, 2):
        regressor = SigmaRegressor(prediction).fit(X, frame["y"])
        mean, sigma = regressor.predict(X, return_std=True)
        np.testing.assert_array_equal(mean, X["mu"])
        assert regressor.model_.inputs == ["a", "b"]
    with pytest.raises(ValueError, match="no column 'f'"):
        SigmaRegressor("f").fit(X, frame["y"])


def test_a_fitted_model_does_not_mind_parameters_set_later(frame):
    X, y = frame[["a", "b"]], frame["y"]
    regressor = CalibratedRegressor(form="constant").fit(X, y)
    before = regressor.predict(X, return_std=True)[1]
    assert (regressor.set_params(form="network").predict(X, return_std=True)[1] == before).all()


def test_missing_groups_and_columns_are_named(frame):
    X, y = frame[["a", "b"]], frame["y"]
    groups = np.array(["a", "b", None, "c"] * (len(y) // 4 + 1), dtype=object)[: len(y)]
    with pytest.raises(ValueError, match="the group of row 3 is missing"):
        CalibratedRegressor(form="constant").fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="prediction is column 77, but X has"):
        SigmaRegressor(77).fit(X, y)
