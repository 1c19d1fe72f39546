"""Models through time."""

import datetime

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
