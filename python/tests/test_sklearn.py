import warnings
from typing import get_args

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import accrue
from accrue._options import Family
from accrue import CalibratedRegressor, SigmaRegressor

# No exclusions. (The check of array_api_input skips itself unless SciPy was asked for it.)


@parametrize_with_checks(
    [CalibratedRegressor(LinearRegression()), CalibratedRegressor(LinearRegression(), ensemble=True), SigmaRegressor()]
)
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
    return CalibratedRegressor(HistGradientBoostingRegressor(max_iter=50, random_state=1)).fit(frame[["a", "b"]], frame["y"])


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


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("cv", [4, KFold(3), TimeSeriesSplit(3)])
def test_an_ensemble_predicts_by_the_mean_of_the_regressors_of_the_folds(frame, cv, targets):
    rows = frame[:300]
    X, y = rows[["a", "b"]].to_numpy(), rows["y"].to_numpy()
    if targets == 2:
        y = np.column_stack([y, X[:, 0] - y])
    weights = np.random.default_rng(1).uniform(0.5, 2, 300)
    forest = RandomForestRegressor(5, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TimeSeriesSplit never holds the first rows out
        one = CalibratedRegressor(forest, cv=cv, form="constant", recalibrate="none").fit(X, y, sample_weight=weights)
        mean = clone(one).set_params(ensemble=True).fit(X, y, sample_weight=weights)
    splits = KFold(4, shuffle=True, random_state=1) if cv == 4 else cv
    expected = [clone(forest).fit(X[k], y[k], sample_weight=weights[k]).predict(X) for k, _ in splits.split(X)]
    assert len(mean.estimators_) == len(expected) and not hasattr(mean, "estimator_")
    np.testing.assert_allclose(mean.predict(X), np.mean(expected, axis=0), rtol=1e-12)
    assert np.abs(mean.predict(X) - one.predict(X)).max() > 0.01
    # Errors are those of regressors that did not see the row, and sigma is learned from them: as without.
    np.testing.assert_array_equal(mean.out_of_fold_, one.out_of_fold_)
    np.testing.assert_array_equal(mean.predict(X, return_std=True)[1], one.predict(X, return_std=True)[1])


def test_an_ensemble_is_the_same_on_any_number_of_jobs_and_forgotten_by_a_fit_without(frame):
    rows = frame[:200]
    X, y = rows[["a", "b"]], rows["y"]
    regressor = CalibratedRegressor(RandomForestRegressor(5), ensemble=True, cv=3, form="constant", random_state=1)
    expected = regressor.fit(X, y).predict(X)
    np.testing.assert_array_equal(clone(regressor).set_params(n_jobs=2).fit(X, y).predict(X), expected)
    regressor.set_params(ensemble=False)
    np.testing.assert_array_equal(regressor.predict(X), expected)
    regressor.fit(X, y)
    assert not hasattr(regressor, "estimators_")
    np.testing.assert_array_equal(regressor.predict(X), regressor.estimator_.predict(X))


def test_names_are_kept_and_other_or_reordered_columns_refused(fitted, frame):
    assert list(fitted.feature_names_in_) == ["a", "b"] == fitted.model_.inputs == list(fitted.estimator_.feature_names_in_)
    for columns in (["b", "a"], ["a", "y"], ["a"]):
        with pytest.raises(ValueError):
            fitted.predict(frame[columns])


@pytest.mark.parametrize("kind", ["polars", "query", "pyarrow", "batch"])
def test_other_tables_give_what_pandas_gives(frame, kind):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    few = frame[:200]
    columns = {name: few[name].to_numpy() for name in ("a", "b")}
    table = {
        "polars": polars.DataFrame,
        "query": polars.LazyFrame,
        "pyarrow": pyarrow.table,
        "batch": pyarrow.RecordBatch.from_pydict,
    }[kind](columns)
    for regressor in (CalibratedRegressor(LinearRegression(), form="constant"), SigmaRegressor("b", form="constant")):
        expected = clone(regressor).fit(few[["a", "b"]], few["y"])
        regressor.fit(table, few["y"].to_numpy())
        assert list(regressor.feature_names_in_) == ["a", "b"]
        # Columns lie in memory in another order, and the linear algebra then sums in another order.
        given, wanted = regressor.predict(table, return_std=True), expected.predict(few[["a", "b"]], return_std=True)
        np.testing.assert_allclose(given, wanted, rtol=1e-9, atol=1e-12)


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


def test_rows_that_are_never_held_out_are_left_out_of_the_calibration(frame):
    X, y = frame[["a", "b"]][:600], frame["y"][:600].copy()
    y[:100] += 1000.0  # would ruin any sigma that saw their errors
    with pytest.warns(UserWarning, match="^cv never holds out 150 of 600 rows: they are left out of the calibration"):
        regressor = CalibratedRegressor(Last(), cv=TimeSeriesSplit(3), form="constant").fit(X, y)
    np.testing.assert_array_equal(regressor.held_out_, np.arange(600) >= 150)
    np.testing.assert_array_equal(np.isnan(regressor.out_of_fold_), np.arange(600) < 150)
    assert regressor.model_.verification["rows"] == 450
    assert regressor.predict(X, return_std=True)[1].max() < 10


class Last(LinearRegression):
    """Predicts the mean of the last training rows."""

    def fit(self, X, y):
        self.level_ = float(np.mean(np.asarray(y)[-5:]))
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.full(len(X), self.level_)


def test_of_rows_that_are_held_out_several_times_the_first_counts(frame):
    X, y = frame[["a", "b"]][:300], frame["y"][:300]
    once = CalibratedRegressor(form="constant", cv=RepeatedKFold(n_splits=3, n_repeats=1, random_state=1)).fit(X, y)
    often = CalibratedRegressor(form="constant", cv=RepeatedKFold(n_splits=3, n_repeats=4, random_state=1)).fit(X, y)
    np.testing.assert_array_equal(once.out_of_fold_, often.out_of_fold_)
    with pytest.warns(UserWarning, match="never holds out"):
        shuffled = CalibratedRegressor(form="constant", cv=ShuffleSplit(2, random_state=1)).fit(X, y)
    assert shuffled.model_.verification["rows"] == shuffled.held_out_.sum() < 300


class Never(KFold):
    def split(self, X, y=None, groups=None):
        return [(np.arange(len(X)), np.arange(0))]


def test_a_splitter_that_holds_out_nothing_or_leaks_is_refused(frame):
    X, y = frame[["a", "b"]][:100], frame["y"][:100]
    for splitter in (Never(), []):
        with pytest.raises(
            ValueError, match="^cv holds out no row, but sigma is learned from rows that a regressor never saw$"
        ):
            CalibratedRegressor(cv=splitter).fit(X, y)
    with pytest.raises(ValueError, match="^cv holds out rows that it also trains on"):
        CalibratedRegressor(cv=[(np.arange(100), np.arange(50))]).fit(X, y)


# What X may hold


@pytest.fixture(scope="module")
def mixed():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    frame = pandas.DataFrame(
        {
            "station": pandas.Categorical(rng.choice(["hill", "sea", "town"], 1500)),
            "level": pandas.Categorical(rng.integers(0, 3, 1500)),
            "lead": rng.uniform(0, 1, 1500),
            "wind": rng.normal(size=1500),
        }
    )
    frame.loc[rng.uniform(size=1500) < 0.2, "wind"] = np.nan
    spread = 0.2 + frame["lead"] + 1.0 * frame["wind"].isna()
    frame["y"] = (frame["station"] == "sea") * 5.0 + rng.normal(0, spread)
    return frame


def test_gaps_categories_and_frames_reach_the_regressor(mixed):
    X = mixed.drop(columns="y")
    boosting = HistGradientBoostingRegressor(max_iter=30, categorical_features="from_dtype", random_state=1)
    regressor = CalibratedRegressor(boosting).fit(X, mixed["y"])
    assert list(regressor.estimator_.feature_names_in_) == list(X)
    assert regressor.estimator_.is_categorical_.tolist() == [True, True, False, False]
    # Sigma depends on categories and numbers, and on whether they are there.
    assert regressor.model_.inputs == ["station:category", "level:category", "lead", "wind"]
    mean, sigma = regressor.predict(X, return_std=True)
    assert np.isfinite(mean).all() and np.isfinite(sigma).all()
    gaps = X["wind"].isna()
    assert sigma[gaps].mean() - sigma[~gaps].mean() > 0.5  # 1 in truth
    chosen = CalibratedRegressor(boosting, inputs=["lead"]).fit(X, mixed["y"])
    by_position = CalibratedRegressor(boosting, inputs=[-2]).fit(X, mixed["y"])
    assert chosen.model_.inputs == ["lead"] == by_position.model_.inputs
    assert chosen.model_.to_json() == by_position.model_.to_json()


def test_frames_reach_the_first_step_of_a_pipeline(mixed):
    X = mixed.drop(columns="y")
    encode = make_column_transformer((OneHotEncoder(), ["station", "level"]), remainder=SimpleImputer())
    inside = CalibratedRegressor(make_pipeline(encode, Ridge()), inputs="lead").fit(X, mixed["y"])
    mean, sigma = inside.predict(X, return_std=True)
    assert np.corrcoef(mean, mixed["station"] == "sea")[0, 1] > 0.95
    assert np.corrcoef(sigma, X["lead"])[0, 1] > 0.9
    polars = pytest.importorskip("polars")
    other = polars.DataFrame({name: X[name].astype(str if X[name].dtype == "category" else float).to_list() for name in X})
    encode = make_column_transformer((OneHotEncoder(), ["station", "level"]), remainder=SimpleImputer())
    of_polars = CalibratedRegressor(make_pipeline(encode, Ridge()), inputs="lead").fit(other, mixed["y"].to_numpy())
    # Columns of the encoded matrix are the same; linear algebra rounds.
    np.testing.assert_allclose(of_polars.predict(other), mean, rtol=1e-6, atol=1e-6)


def test_without_an_input_sigma_depends_on_the_prediction(mixed):
    X = mixed[["station"]].astype(object)  # texts are inputs only where they are named
    regressor = CalibratedRegressor(make_pipeline(OneHotEncoder(), Ridge())).fit(X, mixed["y"])
    assert regressor.model_.inputs == ["prediction"]
    assert np.isfinite(regressor.predict(X, return_std=True)[1]).all()
    objects = X.to_numpy()  # an array of texts
    again = CalibratedRegressor(make_pipeline(OneHotEncoder(), Ridge())).fit(objects, mixed["y"])
    np.testing.assert_array_equal(again.predict(objects), regressor.predict(X))


def test_a_gap_where_training_had_none_gives_no_sigma(mixed):
    X = mixed[["lead"]]
    regressor = CalibratedRegressor(HistGradientBoostingRegressor(max_iter=10)).fit(X, mixed["y"])
    forecast = regressor.predict_distribution(X[:3].assign(lead=[0.5, np.nan, 0.5]))
    assert np.isnan(forecast.sigma).tolist() == [False, True, False] == forecast.off_support.tolist()


def test_inputs_of_sigma_must_be_columns_of_numbers_or_have_a_kind(mixed):
    X, y = mixed.drop(columns="y"), mixed["y"]
    boosting = HistGradientBoostingRegressor(max_iter=5)
    with pytest.raises(
        ValueError, match="^there is no column 'leed' in X; did you mean 'lead'\\? Columns: station, level, lead, wind$"
    ):
        CalibratedRegressor(boosting, inputs=["leed"]).fit(X, y)
    with pytest.raises(ValueError, match="^one of inputs is column 4, but X has 4 columns$"):
        CalibratedRegressor(boosting, inputs=[4]).fit(X, y)
    with pytest.raises(ValueError, match="^column 'station': values of type .* are not numbers$"):
        CalibratedRegressor(boosting, inputs=["station"], kinds={"station": "number"}).fit(X, y)
    with pytest.raises(ValueError, match="^there is no column 'statoin' in X; did you mean 'station'\\?"):
        CalibratedRegressor(boosting, kinds={"statoin": "category"}).fit(X, y)
    with pytest.raises(ValueError, match="needs a period above 0"):
        CalibratedRegressor(boosting, kinds={"lead": "cyclic"}).fit(X, y)


@pytest.fixture(scope="module")
def winds():
    """The spread depends on the station, the direction and the hour; the regressor sees nothing of it."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    rows = 2000
    frame = pandas.DataFrame(
        {
            "station": rng.choice(["hill", "sea"], rows),
            "wdir": rng.uniform(0, 360, rows),
            "t": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(np.arange(rows), unit="h"),
            "mu": rng.normal(size=rows),
        }
    )
    log_spread = np.where(frame["station"] == "sea", 0.7, -0.7) + 0.8 * np.cos(np.radians(frame["wdir"]))
    frame["y"] = frame["mu"] + np.exp(log_spread) * rng.normal(size=rows)
    return frame


class Mu(LinearRegression):
    """Predicts the column mu, whatever the others hold."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.asarray(X["mu"] if hasattr(X, "columns") else X[:, -1], float)


def test_kinds_say_what_the_inputs_of_sigma_are(winds):
    X, y = winds.drop(columns="y"), winds["y"]
    kinds = {"station": "category", "wdir": "cyclic(360)", "t": ["season", "hour"]}
    regressor = CalibratedRegressor(Mu(), kinds=kinds).fit(X, y)
    assert regressor.model_.inputs == ["station:category", "wdir:cyclic(360)", "t:season", "t:hour", "mu"]
    sigma = regressor.predict(X, return_std=True)[1]
    at_sea = X["station"] == "sea"
    assert 2.5 < sigma[at_sea].mean() / sigma[~at_sea].mean() < 6.5  # exp(1.4) = 4.06 in truth
    north = np.cos(np.radians(X["wdir"]))
    assert np.corrcoef(np.log(sigma[at_sea]), north[at_sea])[0, 1] > 0.9
    names = ["station:category", "wdir:cyclic(360)", "t:season", "t:hour", "mu"]
    written = CalibratedRegressor(Mu(), inputs=names).fit(X, y)
    by_position = CalibratedRegressor(Mu(), kinds={0: "category", 1: "cyclic(360)", 2: ["season", "hour"]}).fit(X, y)
    for other in (written, by_position):
        assert other.model_.to_json() == regressor.model_.to_json()
        np.testing.assert_array_equal(other.predict(X, return_std=True)[1], sigma)
    assert clone(regressor).kinds == kinds


def test_types_decide_on_kinds_by_default(winds):
    X, y = winds.drop(columns="y"), winds["y"]
    assert CalibratedRegressor(Mu()).fit(X, y).model_.inputs == ["wdir", "mu"]
    named = CalibratedRegressor(Mu(), inputs=["station", "mu"]).fit(X, y)
    assert named.model_.inputs == ["station:category", "mu"]
    typed = X.assign(station=X["station"].astype("category"))
    assert CalibratedRegressor(Mu()).fit(typed, y).model_.inputs == ["station:category", "wdir", "mu"]
    # Only a network takes categories; others leave out what nobody named.
    assert CalibratedRegressor(Mu(), form="clusters").fit(typed, y).model_.inputs == ["wdir", "mu"]
    # Of a value with fewer than 10 rows nothing is learned.
    typed["station"] = [str(row // 5) for row in range(len(typed))]
    typed["station"] = typed["station"].astype("category")
    assert CalibratedRegressor(Mu()).fit(typed, y).model_.inputs == ["wdir", "mu"]


@pytest.mark.parametrize("kind", ["polars", "polars lazy", "pyarrow", "duckdb"])
def test_types_for_categories_of_other_tables_are_inputs_too(winds, kind):
    pyarrow = pytest.importorskip("pyarrow")
    X, y = winds[["station", "wdir", "mu"]], winds["y"]
    table = pyarrow.Table.from_pandas(X, preserve_index=False)
    if kind == "pyarrow":
        table = table.set_column(0, "station", table.column("station").dictionary_encode())
    elif kind == "duckdb":
        relation = pytest.importorskip("duckdb").from_arrow(table)
        labels = ", ".join(f"'{label}'" for label in sorted(set(X["station"])))
        table = relation.select(f"cast(station as enum({labels})) as station, wdir, mu")
    else:
        polars = pytest.importorskip("polars")
        table = polars.from_arrow(table).with_columns(polars.col("station").cast(polars.Categorical))
        table = table.lazy() if kind.endswith("lazy") else table
    expected = CalibratedRegressor(Mu()).fit(X.assign(station=X["station"].astype("category")), y)
    regressor = CalibratedRegressor(Mu()).fit(table, y.to_numpy())
    assert regressor.model_.inputs == ["station:category", "wdir", "mu"]
    assert regressor.model_.to_json() == expected.model_.to_json()


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "array"])
def test_other_tables_have_the_kinds_of_pandas(winds, kind):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {name: winds[name].to_list() for name in ("station", "wdir", "mu")}
    table = {
        "polars": lambda: polars.DataFrame(columns).with_columns(polars.col("station").cast(polars.Categorical)),
        "pyarrow": lambda: pyarrow.table(columns),
        "array": lambda: np.column_stack([np.asarray(values, object) for values in columns.values()]),
    }[kind]()
    kinds = {"station": "category", "wdir": "cyclic(360)"}
    expected = CalibratedRegressor(Mu(), kinds=kinds).fit(winds[list(columns)], winds["y"])
    own = {0: "category", 1: "cyclic(360)", 2: "number"} if kind == "array" else kinds
    regressor = CalibratedRegressor(Mu(), kinds=own).fit(table, winds["y"].to_numpy())
    np.testing.assert_array_equal(
        regressor.predict(table, return_std=True)[1], expected.predict(winds[list(columns)], return_std=True)[1]
    )


def test_stations_that_are_new_or_missing_use_the_common_effect(winds):
    X, y = winds[["station", "mu"]].copy(), winds["y"]
    X.loc[::50, "station"] = None
    regressor = CalibratedRegressor(Mu(), inputs=["station", "mu"]).fit(X, y)
    new = X[:3].assign(station=["sea", "harbour", None])
    forecast = regressor.predict_distribution(new)
    assert np.isfinite(forecast.sigma).all()
    assert forecast.off_support.tolist() == [False, True, False]


# Several targets, seeds, jobs, metadata


@pytest.mark.parametrize("regressor", [LinearRegression(), HistGradientBoostingRegressor(max_iter=10)])
def test_every_target_has_its_own_distribution(frame, regressor):
    X = frame[["a", "b"]]
    both = np.column_stack([frame["y"], 10 * frame["b"]])
    fitted = CalibratedRegressor(regressor, form="polynomial", inputs="b", recalibrate="isotonic").fit(X, both)
    mean, sigma = fitted.predict(X, return_std=True)
    assert mean.shape == sigma.shape == fitted.out_of_fold_.shape == (2000, 2)
    low, high = fitted.predict_interval(X)
    assert low.shape == high.shape == (2000, 2) and fitted.predict_quantiles(X).shape == (2000, 2, 3)
    forecasts = fitted.predict_distribution(X)
    for k, target in enumerate(both.T):
        alone = CalibratedRegressor(regressor, form="polynomial", inputs="b", recalibrate="isotonic").fit(X, target)
        # Linear algebra of two targets rounds otherwise than that of one.
        np.testing.assert_allclose(mean[:, k], alone.predict(X), rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(forecasts[k].interval(0.9)[1], high[:, k])
    assert len(fitted.models_) == 2
    with pytest.raises(AttributeError, match="model_ is of one target, but there are 2: see models_"):
        fitted.model_


def test_the_same_random_state_gives_the_same_on_any_number_of_jobs(frame):
    X, y = frame[["a", "b"]][:300], frame["y"][:300]
    forest = RandomForestRegressor(5)

    def sigma(**options):
        return CalibratedRegressor(forest, cv=3, **options).fit(X, y).predict(X, return_std=True)

    first = sigma(random_state=7)
    for same in (sigma(random_state=7, n_jobs=2), sigma(random_state=np.int64(7))):
        np.testing.assert_array_equal(first, same)
    assert (sigma(random_state=8)[1] != first[1]).any()
    drawn = [sigma(random_state=np.random.RandomState(3)) for _ in range(2)]
    np.testing.assert_array_equal(*drawn)


def test_metadata_goes_where_it_was_requested(frame):
    X, y = frame[["a", "b"]][:400], frame["y"][:400]
    groups, weights = np.arange(400) // 20, np.where(frame["b"][:400] > 0.5, 1.0, 1e-3)
    plain = CalibratedRegressor(LinearRegression(), cv=GroupKFold(4), form="constant")
    expected = clone(plain).fit(X, y, sample_weight=weights, groups=groups)
    with config_context(enable_metadata_routing=True):
        inner = make_pipeline(StandardScaler(), LinearRegression().set_fit_request(sample_weight=True))
        inner[0].set_fit_request(sample_weight=False)
        routed = CalibratedRegressor(inner, cv=GroupKFold(4), form="constant")
        routed.fit(X, y, sample_weight=weights, groups=groups)
        # A scaled regression predicts the same but for rounding: the weights went through the pipeline.
        np.testing.assert_allclose(routed.predict(X), expected.predict(X), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(routed.out_of_fold_, expected.out_of_fold_, rtol=1e-9, atol=1e-9)
        assert routed.model_.verification["effective_rows"] < 300
        searched = GridSearchCV(
            clone(plain)
            .set_fit_request(groups=True, sample_weight=True)
            .set_score_request(sample_weight=False)
            .set_params(estimator=LinearRegression().set_fit_request(sample_weight=True)),
            {"form": ["constant"]},
            cv=GroupKFold(2),
        ).fit(X, y, groups=groups, sample_weight=weights)
        np.testing.assert_array_equal(searched.best_estimator_.out_of_fold_, expected.out_of_fold_)
        with pytest.raises(Exception, match="sample_weight.* (?:is|are) not explicitly set"):
            CalibratedRegressor(LinearRegression()).fit(X, y, sample_weight=weights)


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


def test_a_constant_has_inputs_where_the_correction_needs_them(frame):
    X = frame[["a", "b"]].assign(mu=np.sin(frame["a"]) + frame["b"])  # what b adds is bias
    assert SigmaRegressor("mu", form="constant").fit(X, frame["y"]).model_.inputs == []
    regressor = SigmaRegressor("mu", form="constant", bias="linear").fit(X, frame["y"])
    assert regressor.model_.inputs == ["a", "b"]
    # 2000 errors of standard deviation below 0.5, and three coefficients: seeded, and some 5 standard errors.
    np.testing.assert_allclose(regressor.predict(X), np.sin(frame["a"]), atol=0.1)
    plain = CalibratedRegressor(LinearRegression(), form="constant", bias="linear").fit(X[["a", "b"]], frame["y"])
    assert plain.model_.inputs == ["a", "b"]


@pytest.mark.parametrize("estimator", [CalibratedRegressor(form="constant"), SigmaRegressor(form="constant")])
def test_the_family_is_that_of_the_model(frame, estimator):
    for family in get_args(Family):
        regressor = clone(estimator).set_params(family=family).fit(frame[["a", "b"]], frame["y"])
        # A model has what was taken; a constant leaves nothing but the normal family to choose from.
        expected = "normal" if family == "auto" else family
        assert regressor.model_.content["configuration"]["family"] == expected
    with pytest.raises(ValueError, match="family is 'levy', but must be one of"):
        clone(estimator).set_params(family="levy").fit(frame[["a", "b"]], frame["y"])


def made(rows, seed, draw):
    """An input, twice, of which the second is the prediction; y errs as it is drawn, with mean 0."""
    rng = np.random.default_rng(seed)
    a = rng.uniform(-2, 2, rows)
    return np.column_stack([a, a]), a + draw(rng, rows)


def skewed(rng, rows):
    return rng.exponential(size=rows) - 1


def gaussian(rng, rows):
    return rng.normal(size=rows)


@pytest.mark.parametrize("estimator", [CalibratedRegressor(form="constant"), SigmaRegressor(form="constant")])
def test_held_out_rows_choose_a_map_by_default(estimator):
    X, y = made(1000, 1, skewed)
    regressor = clone(estimator).fit(X, y)
    content = regressor.model_.content
    taken = {name: content["configuration"][name] for name in ("family", "bias", "recalibrate")}
    assert taken == {"family": "normal", "bias": "none", "recalibrate": "isotonic"}
    assert content["fit"]["recalibration"]["asked"] == "auto"
    plain = clone(estimator).set_params(recalibrate="none").fit(X, y)
    X_new, y_new = made(4000, 2, skewed)
    ends = [0.05, 0.95]
    shares = [(y_new[:, None] < fitted.predict_quantiles(X_new, ends)).mean(axis=0) for fitted in (regressor, plain)]
    # Of 4,000 rows a share has a standard error of 0.003, and of the 1,000 that make the map 0.007: four of both. Without a map
    # no error is below -1, where the 5% quantile of a normal distribution is -1.64.
    np.testing.assert_allclose(shares[0], ends, atol=0.03)
    assert shares[1][0] == 0
    predicted = plain.estimator_.predict(X_new) if hasattr(plain, "estimator_") else X_new[:, 1]
    np.testing.assert_array_equal(plain.predict(X_new), predicted)


@pytest.mark.parametrize("estimator", [CalibratedRegressor(form="constant"), SigmaRegressor(form="constant")])
@pytest.mark.parametrize("rows, draw", [(499, skewed), (1000, gaussian)])
def test_few_rows_and_normal_errors_have_no_map(estimator, rows, draw):
    regressor = clone(estimator).fit(*made(rows, 3, draw))
    assert regressor.model_.content["configuration"]["recalibrate"] == "none"


@pytest.mark.parametrize(
    "estimator", [CalibratedRegressor(form="polynomial", inputs="b"), SigmaRegressor("mu", form="polynomial")]
)
@pytest.mark.parametrize("bound_kind", ["auto", "censored", "truncated"])
def test_nothing_lies_beyond_the_bounds(frame, estimator, bound_kind):
    # Amounts between 0 and 1: many observations sit on a bound, unless the distribution ends there.
    frame = frame[:400]
    y = np.clip(frame["y"], 0, 1)
    inside = (y > 0) & (y < 1) if bound_kind == "truncated" else np.full(len(y), True)
    X, y = frame[["b"]].assign(mu=np.sin(frame["a"]))[inside], y[inside]
    bounds = {"lower": 0.0, "upper": 1, "bound_kind": bound_kind}
    asked = clone(clone(estimator).set_params(**bounds))
    assert {name: asked.get_params()[name] for name in bounds} == bounds
    regressor = clone(asked).fit(X, y)
    configuration = regressor.model_.content["configuration"]
    assert (configuration["lower"], configuration["upper"]) == (0, 1)
    assert configuration["bound_kind"] == ("truncated" if bound_kind == "truncated" else "censored")
    # Far in the tails, and around predictions beyond the bounds.
    new = X.assign(mu=np.linspace(-0.5, 1.5, len(X)))
    quantiles = regressor.predict_quantiles(new, [1e-9, 0.01, 0.5, 0.99, 1 - 1e-9])
    assert quantiles.min() >= 0 and quantiles.max() <= 1
    assert 0 <= regressor.predict(new).min() and regressor.predict(new).max() <= 1
    low, high = regressor.predict_interval(new, 0.99)
    assert low.min() >= 0 and high.max() <= 1
    free = clone(asked).set_params(lower=None, upper=None, bound_kind="auto").fit(X, y)
    assert free.predict_quantiles(new, [0.01]).min() < 0
    with pytest.raises(ValueError, match="the observation of row .* is .*, but upper is 0.5"):
        clone(asked).set_params(upper=0.5).fit(X, y)


def test_the_bounds_are_those_of_every_target(frame):
    y = np.column_stack([np.maximum(frame["y"], 0), np.maximum(-frame["y"], 0)])
    regressor = CalibratedRegressor(form="constant", lower=0).fit(frame[["a", "b"]], y)
    assert regressor.predict_quantiles(frame[["a", "b"]], [0.001]).min() == 0


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
