"""Models through time."""

import datetime
import pickle

import accrue
import numpy as np
import pytest


def rows(days, shift, seed, first="2024-01-01"):
    """Three stations a day."""
    random = np.random.default_rng(seed)
    count = 3 * days
    x, mu = random.uniform(-0.5, 0.5, count), random.normal(size=count)
    day = np.datetime64(first) + np.repeat(np.arange(days), 3).astype("timedelta64[D]")
    y = mu + np.exp(x) * (shift + random.normal(size=count))
    return {"x": x, "mu": mu, "y": y, "day": day, "station": np.tile(["a", "b", "c"], days)}


@pytest.fixture(scope="module")
def model():
    archive = rows(100, 0, 1)
    return accrue.fit(archive, columns=["x"], prediction="mu", observation="y", times="day", form="polynomial", progress=False)


def part(table, begin, end):
    return {name: values[begin:end] for name, values in table.items()}


def test_updates_at_once_and_in_parts_are_the_same(model):
    later = rows(20, 0.5, 2, "2025-01-01")
    once = model.update(later, groups="station", forget="auto")
    parts = model.update(part(later, 0, 30), groups="station", forget="auto").update(part(later, 30, 60))
    assert once.to_json() == parts.to_json()
    with pytest.raises(ValueError, match="rows already seen are refused"):
        once.update(later)
    with pytest.raises(ValueError, match="another shrink"):
        once.update(rows(2, 0.5, 3, "2025-03-01"), shrink=7)


def test_a_state_chooses_its_shrink_and_learns_a_shape(model):
    later = rows(40, 0.5, 2, "2025-01-01")
    options = dict(groups="station", shrink="auto", shape=True)
    moved = model.update(part(later, 0, 117), **options)
    assert moved.content["state"]["shrink"] == [4, 1, 16, 64]
    assert moved.content["format_version"] == 8
    replayed = accrue.replay(model, later, **options)
    assert replayed.scores["shrink"] in (1, 4, 16, 64)
    forecast = moved.predict(part(later, 117, 120))
    np.testing.assert_array_equal(forecast.quantile(0.9), replayed.forecast.quantile(0.9)[117:])
    for one in (forecast, replayed.forecast):
        again = pickle.loads(pickle.dumps(one))
        np.testing.assert_array_equal(again.quantile(0.1), one.quantile(0.1))
    with pytest.raises(ValueError, match="shrink is 'lots', which is neither a number nor auto"):
        model.update(later, shrink="lots")


def test_a_forecast_that_has_moved_survives_pickle():
    archive = rows(100, 0, 1)
    columns = dict(columns=["x"], prediction="mu", observation="y", times="day")
    fitted = accrue.fit(archive, **columns, form="polynomial", family="logistic", recalibrate="none", progress=False)
    later = rows(20, 0.5, 2, "2025-01-01")
    forecast = fitted.update(part(later, 0, 57)).predict(part(later, 57, 60))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(forecast)).quantile(0.1), forecast.quantile(0.1))


def test_predict_uses_the_state(model):
    later = rows(20, 0.5, 2, "2025-01-01")
    replayed = accrue.replay(model, later, groups="station")
    moved = model.update(part(later, 0, 57), groups="station")
    last = part(later, 57, 60)
    np.testing.assert_array_equal(moved.predict(last).mean, replayed.forecast.mean[57:])
    np.testing.assert_array_equal(moved.predict(last).quantile(0.9), replayed.forecast.quantile(0.9)[57:])
    np.testing.assert_array_equal(moved.predict(last, state=False).mean, last["mu"])
    without = {name: values for name, values in last.items() if name != "day"}
    np.testing.assert_array_equal(moved.predict(without, times=last["day"]).mean, moved.predict(last).mean)
    with pytest.raises(ValueError, match="state=False"):
        moved.predict(later)
    with pytest.raises(ValueError, match="models with a state"):
        model.predict(last, times="day")


@pytest.fixture(params=[None, "UTC", "America/St_Johns"])
def indexed(request):
    """Rows, and the same in a frame of pandas whose index has the days, in some time zone."""
    pandas = pytest.importorskip("pandas")
    table = rows(20, 0.5, 2, "2025-01-01")
    frame = pandas.DataFrame(table).drop(columns="day")
    frame.index = pandas.DatetimeIndex(table["day"])
    if request.param is not None:
        frame.index = frame.index.tz_localize("UTC").tz_convert(request.param)
    return table, frame


def test_update_takes_times_from_an_index(model, indexed):
    table, frame = indexed
    by_name, by_index = model.update(table, groups="station"), model.update(frame, times=frame.index, groups="station")
    # A name is part of a state, and values have none.
    expected = by_name.content["state"] | {"time": by_index.content["state"]["time"]}
    assert by_index.content["state"] == expected
    parts = model.update(frame[:30], times=frame.index[:30], groups="station")
    assert parts.update(frame[30:], times=frame.index[30:]).content["state"] == expected


def test_predict_takes_times_from_an_index(model, indexed):
    table, frame = indexed
    moved = model.update(part(table, 0, 57), groups="station")
    expected = moved.predict(part(table, 57, 60))
    forecast = moved.predict(frame[57:], times=frame.index[57:])
    np.testing.assert_array_equal(forecast.mean, expected.mean)
    np.testing.assert_array_equal(forecast.sigma, expected.sigma)


def test_replay_takes_times_from_an_index(model, indexed):
    table, frame = indexed
    expected = accrue.replay(model, table, groups="station")
    replayed = accrue.replay(model, frame, times=frame.index, groups="station")
    np.testing.assert_array_equal(replayed.forecast.mean, expected.forecast.mean)
    assert replayed.scores == expected.scores


def test_fits_take_times_from_an_index(model, indexed):
    table, frame = indexed
    options = dict(columns=["x"], prediction="mu", observation="y", form="constant", progress=False)
    fitted = accrue.fit(frame, times=frame.index, **options)
    assert fitted.verification == accrue.fit(table, times="day", **options).verification
    gappy = frame.assign(x=frame["x"].where(frame["x"] < 0.4))
    assert accrue.fit(gappy, times=frame.index, missing="drop", **{**options, "form": "polynomial"}).verification["rows"] < 60


@pytest.mark.parametrize("lazy", [False, True])
def test_datasets_are_forecast_with_the_state(model, lazy):
    xarray = pytest.importorskip("xarray")
    table = rows(20, 0.5, 2, "2025-01-01")
    moved = model.update(part(table, 0, 48), groups="station")
    last = part(table, 48, 60)
    dataset = xarray.Dataset(
        {name: (("day", "site"), last[name].reshape(4, 3)) for name in ("x", "mu")},
        coords={"day": last["day"][::3].astype("datetime64[ns]"), "station": ("site", ["a", "b", "c"])},
    )
    if lazy:
        pytest.importorskip("dask")
        dataset = dataset.chunk({"day": 3})
    expected = moved.predict(last)
    result = moved.predict(dataset, quantiles=[0.9])
    assert result["sigma"].dims == ("day", "site") and (result["sigma"].chunks is not None) == lazy
    np.testing.assert_array_equal(result["mean"].values.ravel(), expected.mean)
    np.testing.assert_array_equal(result["sigma"].values.ravel(), expected.sigma)
    np.testing.assert_array_equal(result["quantiles"].values.ravel(), expected.quantile(0.9))
    still = moved.predict(dataset, state=False)
    np.testing.assert_array_equal(still["mean"].values.ravel(), last["mu"])
    # Variables of other names, and values with dimensions.
    renamed = dataset.rename(day="valid", station="name")
    for given in (dict(times="valid", groups="name"), dict(times=renamed["valid"], groups=renamed["name"])):
        np.testing.assert_array_equal(moved.predict(renamed, **given)["mean"], result["mean"])


@pytest.mark.parametrize("lazy", [False, True])
def test_datasets_have_adaptive_intervals(model, lazy):
    xarray = pytest.importorskip("xarray")
    table = rows(20, 0.5, 2, "2025-01-01")
    moved = model.update(part(table, 0, 48), adaptive=[0.8, 0.9])
    last = part(table, 48, 60)
    dataset = xarray.Dataset(
        {name: (("day", "site"), last[name].reshape(4, 3)) for name in ("x", "mu")},
        coords={"day": last["day"][::3].astype("datetime64[ns]")},
    )
    if lazy:
        pytest.importorskip("dask")
        dataset = dataset.chunk({"day": 3})
    result = moved.predict(dataset, quantiles=[0.9])
    assert result["adaptive_lower"].dims == ("day", "site", "level")
    for level in (0.8, 0.9):
        low, high = moved.predict(last).adaptive_interval(level)
        np.testing.assert_array_equal(result["adaptive_lower"].sel(level=level).values.ravel(), low)
        np.testing.assert_array_equal(result["adaptive_upper"].sel(level=level).values.ravel(), high)
    assert "adaptive_lower" not in moved.predict(dataset, state=False)


def test_times_of_datasets_that_cannot_be_are_refused_or_missing(model):
    xarray = pytest.importorskip("xarray")
    moved = model.update(rows(20, 0.5, 2, "2025-01-01"))
    days = np.array(["2025-02-01", "NaT", "2025-02-03"], "datetime64[ns]")
    dataset = xarray.Dataset({"x": ("row", np.zeros(3)), "mu": ("row", np.ones(3)), "day": ("row", days)})
    result = moved.predict(dataset, quantiles=[0.5])
    for name in ("mean", "sigma", "off_support", "quantiles"):
        assert np.isnan(result[name]).values.ravel().tolist() == [False, True, False]
    with pytest.raises(ValueError, match="there is no variable 'day', the times of the model's state"):
        moved.predict(dataset.drop_vars("day"))
    with pytest.raises(ValueError, match="times for a Dataset are a DataArray, or the name of a variable"):
        moved.predict(dataset, times=days)
    with pytest.raises(ValueError, match="state=False"):
        moved.predict(dataset.assign(day=("row", days - np.timedelta64(300, "D"))))
    with pytest.raises(ValueError, match="models with a state"):
        model.predict(dataset, times="day")


def test_replay_scores_both(model):
    later = rows(120, 0.8, 4, "2025-01-01")
    replayed = accrue.replay(model, later, delay=datetime.timedelta(days=2), since="2025-02-01", adaptive=0.9)
    scores = replayed.scores
    assert scores["adapting"]["crps"] < scores["static"]["crps"]
    assert scores["adapting"]["rows"] == 3 * 89
    assert scores["adaptive"][0]["level"] == 0.9
    assert replayed.shift.shape == replayed.scale.shape == (360,)
    assert replayed.model.content["state"]["rows"] == 360


def test_replay_fits_again_on_a_schedule(model):
    later = rows(120, 0.8, 4, "2025-01-01")
    replayed = accrue.replay(model, later, refit="30d", window=datetime.timedelta(days=50))
    assert [refit["time"] for refit in replayed.scores["refits"]] == ["2025-02-20", "2025-03-22", "2025-04-21"]
    assert replayed.model.content["verification"] != model.content["verification"]  # it is the last one
    with pytest.raises(ValueError, match="refit needs window"):
        accrue.replay(model, later, refit="30d")


def test_a_model_without_a_time(model):
    archive = rows(60, 0, 5)
    plain = accrue.fit(archive, columns=["x"], prediction="mu", observation="y", form="polynomial", progress=False)
    with pytest.raises(ValueError, match="the model has no time: give times"):
        plain.update(rows(2, 0, 6))
    assert plain.update(rows(2, 0, 6), times="day").content["state"]["time"] == "day"


def test_adaptive_intervals_come_with_forecasts(model):
    later = rows(60, 0.5, 7, "2025-01-01")
    replayed = accrue.replay(model, later, adaptive=[0.8, 0.9])
    assert replayed.forecast.adaptive_levels == [0.8, 0.9]
    low, high = replayed.forecast.adaptive_interval(0.9)
    covered = (low <= later["y"]) & (later["y"] <= high)
    scores = {figures["level"]: figures for figures in replayed.scores["adaptive"]}
    assert covered.mean() == pytest.approx(scores[0.9]["observed"], abs=1e-12)
    assert (high - low).mean() == pytest.approx(scores[0.9]["mean_width"])
    # What predict says of the next day is what a replay that goes on says.
    moved = model.update(part(later, 0, 177), adaptive=[0.8, 0.9])
    forecast = moved.predict(part(later, 177, 180))
    for level in (0.8, 0.9):
        np.testing.assert_array_equal(forecast.adaptive_interval(level), np.array(replayed.forecast.adaptive_interval(level))[:, 177:])
    np.testing.assert_array_equal(forecast[1:].adaptive_interval(0.9)[0], low[178:])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(forecast)).adaptive_interval(0.9)[0], low[177:])
    with pytest.raises(ValueError, match="no adaptive interval of the level 0.5: it has them of 0.8, 0.9"):
        forecast.adaptive_interval(0.5)
    with pytest.raises(ValueError, match="no adaptive interval of the level 0.9: they come from a state"):
        model.predict(part(later, 0, 3)).adaptive_interval(0.9)


def test_adaptive_intervals_of_a_frame_have_the_names_of_the_command(model):
    pytest.importorskip("pandas")
    later = rows(20, 0.5, 7, "2025-01-01")
    frame = model.update(part(later, 0, 57), adaptive=0.9).predict(part(later, 57, 60)).to_frame()
    assert list(frame) == ["mean", "sigma", "adaptive_lower_0.9", "adaptive_upper_0.9", "off_support"]


def test_updates_go_by_the_intervals_that_were_issued(model):
    later = rows(20, 0.5, 2, "2025-01-01")
    first, rest = part(later, 0, 30), part(later, 30, 60)
    moved = model.update(first, adaptive=0.9)
    tail = moved.content["state"]["tails"][0]
    low, high = moved.predict(rest).adaptive_interval(0.9)
    missed = np.sum((rest["y"] < low) | (rest["y"] > high)) / 3
    expected = tail + 0.02 * (10 * 0.1 - missed)
    by_values = moved.update(rest, issued={0.9: (low, high)})
    assert by_values.content["state"]["tails"][0] == pytest.approx(expected, abs=1e-12)
    by_columns = moved.update({**rest, "adaptive_lower_0.9": low, "adaptive_upper_0.9": high})
    assert by_columns.to_json() == by_values.to_json()
    infinite = moved.update(rest, issued={0.9: (np.full(30, -np.inf), np.full(30, np.inf))})
    assert infinite.content["state"]["tails"][0] == pytest.approx(tail + 0.02 * 10 * 0.1, abs=1e-12)
    with pytest.raises(ValueError, match=r"issued has the levels \[0.5\], but the state \[0.9\]"):
        moved.update(rest, issued={0.5: (low, high)})
    with pytest.raises(ValueError, match="row 3: the interval that was issued is from nan"):
        moved.update(rest, issued={0.9: (np.where(np.arange(30) == 2, np.nan, low), high)})


def test_a_lead_is_as_late_as_a_delay(model):
    later = rows(60, 0.5, 8, "2025-01-01")
    delayed = accrue.replay(model, later, delay="5d")
    hours = {**later, "hours": np.full(180, 120.0)}
    for table, lead in (
        (later, np.full(180, 5 * 86400.0)),
        (later, 5 * 86400),
        (later, datetime.timedelta(days=5)),
        (later, np.full(180, np.timedelta64(5, "D"))),
        (hours, "hours * 3600"),
    ):
        np.testing.assert_array_equal(accrue.replay(model, table, lead=lead).shift, delayed.shift)
    with pytest.raises(ValueError, match="row 1: lead time is -1, but must not be negative"):
        accrue.replay(model, later, lead=-1)


def test_monitor_tells_whether_the_world_has_moved(model):
    alarmed = accrue.monitor(model, rows(60, 1.5, 9, "2025-01-01"))
    assert alarmed["alarm"] and alarmed["alarm_time"] is not None
    calm = accrue.monitor(model, rows(60, 0, 9, "2025-01-01"), alpha=0.01)
    assert not calm["alarm"] and calm["threshold"] == 100
    assert len(calm["through_time"]) == calm["times"] == 60
    with pytest.raises(ValueError, match="alpha: 2 is not between 0 and 1"):
        accrue.monitor(model, rows(60, 0, 9, "2025-01-01"), alpha=2)
