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
