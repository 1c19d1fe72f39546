"""Recalibrations of groups: recalibrate_group."""
import pickle

import numpy as np
import pandas as pd
import pytest

import accrue

ROLES = {"prediction": "mu", "observation": "y", "form": "constant", "family": "normal", "progress": False}


def archive(rows: int = 1200, seed: int = 1) -> pd.DataFrame:
    """Errors that are skewed to the right in the east, to the left in the west."""
    draw = np.random.default_rng(seed)
    station = np.where(np.arange(rows) % 2 == 0, "east", "west").astype(object)
    error = draw.exponential(size=rows) - 1
    error = np.where(station == "east", error, -error)
    station[::40] = None
    station[1::60] = "rare"
    x = draw.uniform(size=rows)
    return pd.DataFrame({"x": x, "station": station, "mu": 10 * x, "y": 10 * x + error})


def fitted(rows: pd.DataFrame, **options) -> accrue.Model:
    return accrue.fit(rows, **{"columns": ["x"], "recalibrate": "isotonic", "recalibrate_group": "station", **ROLES, **options})


def test_every_group_has_the_quantiles_of_its_own():
    rows = archive()
    model = fitted(rows)
    assert model.inputs == ["x", "station"]
    assert any("2 values of 'station' have a recalibration of their own" in remark for remark in model.remarks)
    new = pd.DataFrame({"x": 0.5, "mu": 0.0, "station": ["east", "west", "rare", None, "elsewhere"]})
    forecast = model.predict(new)
    low, high = forecast.quantile(0.05), forecast.quantile(0.95)
    # -0.95 and 2.0 in the east, -2.0 and 0.95 in the west; 570 rows tell the far ones to 0.18 (one standard error).
    assert abs(low[0] + 0.95) < 0.15 and abs(high[0] - 2.0) < 0.7
    assert abs(low[1] + 2.0) < 0.7 and abs(high[1] - 0.95) < 0.15
    assert high[2] == high[3] == high[4] != high[0]
    # Divided by what it was multiplied with, the Gaussian is the same but for rounding.
    assert np.ptp(forecast.gaussian_sigma) < 1e-14 and np.ptp(forecast.gaussian_mean) < 1e-14
    assert not forecast.off_support.any()
    # The same file, and the same forecasts from it.
    again = accrue.Model.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    assert np.array_equal(again.predict(new).quantile(0.9), forecast.quantile(0.9))
    restored = pickle.loads(pickle.dumps(forecast))
    assert np.array_equal(restored.quantile([0.1, 0.9]), forecast.quantile([0.1, 0.9]))
    assert np.array_equal(forecast[1:3].interval(0.8), [end[1:3] for end in forecast.interval(0.8)])


def test_it_is_evaluated_by_the_maps_of_its_groups():
    rows, later = archive(), archive(seed=2)
    own = fitted(rows)
    one = accrue.fit(rows, columns=["x"], recalibrate="isotonic", **ROLES)
    assert own.evaluate(later, observation="y")["crps"] < one.evaluate(later, observation="y")["crps"]
    assert own.verification["crps"] < one.verification["crps"]


def test_datasets_have_the_groups_too():
    xarray = pytest.importorskip("xarray")
    rows = archive()
    model = fitted(rows)
    grid = xarray.Dataset(
        {"x": (("place", "time"), np.full((2, 3), 0.5)), "mu": (("place", "time"), np.zeros((2, 3)))},
        coords={"station": ("place", ["east", "west"])},
    )
    high = model.predict(grid, quantiles=[0.95])["quantiles"].values[..., 0]
    new = pd.DataFrame({"x": 0.5, "mu": 0.0, "station": ["east", "west"]})
    assert np.array_equal(high[:, 0], model.predict(new).quantile(0.95))


def test_missing_rows_are_dropped_for_other_reasons_only():
    rows = archive()
    rows.loc[3, "y"] = np.nan
    model = fitted(rows, missing="drop")
    assert model.content["fit"]["recalibration"]["rows"] == len(rows) - 1
    later = fitted(archive(), later=archive(seed=3))
    assert "later" in later.content["fit"]


def test_the_column_has_to_be_there():
    rows = archive()
    model = fitted(rows)
    with pytest.raises(ValueError, match="no column 'station'"):
        model.predict(rows[["x", "mu"]])
    with pytest.raises(ValueError, match="statoin"):
        fitted(rows, recalibrate_group="statoin")


def test_what_cannot_be_is_refused():
    rows = archive()
    with pytest.raises(ValueError, match="recalibrate_group is the name of a column"):
        fitted(rows, recalibrate_group=rows["station"].to_numpy())
    with pytest.raises(ValueError, match="columns have names"):
        accrue.fit(rows[["x", "mu"]].to_numpy(), error=(rows["y"] - rows["mu"]).to_numpy(), recalibrate="isotonic",
                   recalibrate_group="x1", progress=False)
    with pytest.raises(ValueError, match='recalibrate_group is for a recalibration, but there is none: give recalibrate="auto"'):
        fitted(rows, recalibrate="none")
    with pytest.raises(ValueError, match='recalibrate_group="y": no value has the 50 rows'):
        fitted(rows, recalibrate_group="y")


def test_the_column_may_be_an_input_too():
    rows = archive()
    rows["station"] = rows["station"].fillna("none")
    model = accrue.fit(
        rows, columns=["x", "station:category"], recalibrate="isotonic", recalibrate_group="station", starts=1,
        **{**ROLES, "form": "network"},
    )
    assert model.inputs == ["x", "station:category", "station"]
    assert model.predict(rows).quantile(0.9).shape == (len(rows),)
