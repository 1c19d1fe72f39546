"""Every family of distributions, one that is loaded beside the library included."""

import ctypes
import os
import pickle

import numpy as np
import pytest

import accrue
from accrue import _core

TOY = os.environ.get("ACCRUE_TOY_FAMILY")
if TOY and "toy" not in _core.family_names():
    ctypes.CDLL(TOY)


def test_a_family_that_is_loaded_is_there():
    assert "normal" in _core.family_names()
    assert TOY is None or "toy" in _core.family_names()


@pytest.mark.parametrize("recalibrate", ["none", "isotonic"])
@pytest.mark.parametrize("bound_kind", ["auto", "censored", "truncated"])
def test_nothing_lies_beyond_a_bound(archive, bound_kind, recalibrate):
    # As rain: amounts from 0 on, of which many are 0 unless the distribution ends there.
    few, later = {name: values[:300] for name, values in archive.items()}, accrue.generate("G", 300, seed=2)
    rows, new = ({**table, "y": np.maximum(table["y"], 0)} for table in (few, later))
    if bound_kind == "truncated":
        rows, new = ({name: values[table["y"] > 0] for name, values in table.items()} for table in (rows, new))
    roles = dict(columns=["x"], prediction="f", observation="y", form="polynomial", progress=False)
    options = dict(recalibrate=recalibrate, family="normal", bias="none", **roles)
    model = accrue.fit(rows, lower=0, bound_kind=bound_kind, **options)
    configuration = model.content["configuration"]
    assert configuration["lower"] == 0 and "upper" not in configuration
    assert configuration["bound_kind"] == ("truncated" if bound_kind == "truncated" else "censored")
    forecast = model.predict(new)
    # A censored distribution has probability on the bound, a truncated one none.
    if bound_kind != "truncated":
        assert (forecast.cdf(0) > 0.1).any()
    assert (forecast.cdf(-1e-9) == 0).all()
    assert forecast.quantile([1e-9, 0.01, 0.5]).min() >= 0
    assert forecast.interval(0.999)[0].min() >= 0
    assert forecast.sample(50, seed=1).min() >= 0
    assert forecast.mean.min() > 0
    again = accrue.Model.from_json(model.to_json()).predict(new)
    np.testing.assert_array_equal(again.quantile([0.05, 0.95]), forecast.quantile([0.05, 0.95]))
    free = accrue.fit(rows, **options)
    assert free.predict(new).quantile(1e-9).min() < 0
    assert model.evaluate(new, observation="y")["crps"] < free.evaluate(new, observation="y")["crps"]


@pytest.mark.parametrize(
    "bounds, message",
    [
        (dict(lower=1.0), "the observation of row \\d+ is .*, but lower is 1"),
        (dict(lower=9, upper=-9), "lower is 9, but must be below upper, which is -9"),
        (dict(bound_kind="censored"), 'bound_kind="censored" needs a bound: give lower or upper'),
        (dict(lower=-9, bound_kind="cut"), "bound_kind is 'cut', but must be one of auto, censored, truncated"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(archive, bounds, message):
    with pytest.raises(ValueError, match=message):
        accrue.fit(archive, columns=["x"], prediction="f", observation="y", form="constant", progress=False, **bounds)


@pytest.mark.parametrize("name", _core.family_names())
@pytest.mark.parametrize("recalibrate", ["none", "isotonic"])
def test_fits_predicts_and_is_evaluated(name, recalibrate):
    rows = accrue.generate("G", 200, seed=3)
    model = accrue.fit(
        {"x": rows["x"]},
        prediction=rows["f"],
        observation=rows["y"],
        family=name,
        recalibrate=recalibrate,
        max_iterations=30,
        progress=False,
    )
    assert model.content["configuration"]["family"] == name
    forecast = model.predict({"x": rows["x"]}, rows["f"])
    assert forecast.is_gaussian == (name == "normal" and recalibrate == "none")
    quantiles = forecast.quantile([0.1, 0.5, 0.9])
    assert (np.diff(quantiles, axis=1) > 0).all()
    np.testing.assert_allclose(forecast.cdf(quantiles[:, 0]), 0.1, rtol=1e-9)
    assert (forecast.crps(rows["y"]) >= 0).all()
    assert hasattr(forecast, "gaussian_sigma") == hasattr(forecast, "gaussian_mean") == (name == "normal")
    again = pickle.loads(pickle.dumps(forecast))
    np.testing.assert_array_equal(again.quantile(0.3), forecast.quantile(0.3))
    scores = model.evaluate({"x": rows["x"]}, prediction=rows["f"], observation=rows["y"])
    np.testing.assert_allclose(scores["crps"], forecast.crps(rows["y"]).mean(), rtol=1e-12)


def test_a_location_and_a_shape_are_learned_and_chosen():
    rng = np.random.default_rng(5)
    x = rng.uniform(-1.5, 1.5, 1000)
    mu = 10 + x
    y = mu + 2 * np.sin(3 * x) + 0.5 * rng.exponential(1, 1000)
    model = accrue.fit({"x": x}, prediction=mu, observation=y, family="auto", bias="auto", progress=False)
    assert model.content["configuration"]["bias"] == "network"
    assert [one["taken"] for one in model.content["fit"]["candidates"]].count(True) == 1
    assert any("candidates" in remark for remark in model.remarks)
    forecast = model.predict({"x": x}, mu)
    np.testing.assert_allclose(forecast.exceeding(forecast.quantile(0.75)), 0.25, rtol=1e-9)
    np.testing.assert_allclose(forecast[3:5].interval(0.9), np.array(forecast.interval(0.9))[:, 3:5], rtol=1e-12)
    assert forecast.sample(3).shape == (1000, 3)
    first, second = accrue.compare({"one": forecast, "two": forecast}, observation=y).content["forecasts"]
    np.testing.assert_allclose([first["crps"], second["crps"]], forecast.crps(y).mean(), rtol=1e-9)


def test_an_unknown_family_is_refused():
    rows = accrue.generate("G", 100)
    with pytest.raises(ValueError, match="^family is 'levy', but must be one of auto, normal"):
        accrue.fit({"x": rows["x"]}, prediction=rows["f"], observation=rows["y"], family="levy", progress=False)
