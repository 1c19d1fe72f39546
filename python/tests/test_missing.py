"""Rows with gaps: refused with the place where they are, or dropped."""

import numpy as np
import pytest

import accrue

ROLES = dict(columns=["x"], prediction="f", observation="y", progress=False)


@pytest.fixture(scope="module")
def gappy(archive):
    columns = {name: values.copy() for name, values in archive.items()}
    columns["x"][10] = columns["f"][20] = columns["y"][30] = np.nan
    station = np.array(["a", "b", "c", "d", "e"] * 200, object)
    station[40] = None
    when = np.datetime64("2024-01-01", "us") + np.arange(1000) * np.timedelta64(1, "h")
    when[50] = np.datetime64("NaT")
    return {**columns, "station": station, "when": when}


def left(columns, *rows):
    return {name: np.delete(values, rows) for name, values in columns.items()}


def tables(kind, columns):
    if kind == "mapping":
        return columns
    return pytest.importorskip(kind).DataFrame(columns)


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars"])
def test_dropping_rows_is_leaving_them_out(gappy, kind):
    table = tables(kind, gappy)
    dropped = accrue.fit(table, missing="drop", **ROLES)
    assert dropped.to_json() == accrue.fit(left(gappy, 10, 20, 30), **ROLES).to_json()
    # A gap counts where its column is used.
    whole = left(gappy, 10, 20, 30, 40, 50)
    both = dict(groups="station", times="when", **ROLES)
    assert accrue.fit(table, missing="drop", **both).to_json() == accrue.fit(whole, **both).to_json()
    errors, sigmas = dropped.held_out
    assert len(errors) == 1000 and np.flatnonzero(np.isnan(sigmas)).tolist() == [10, 20, 30]
    scored = dropped.evaluate(table, observation="y", missing="drop", by="station")
    expected = dropped.evaluate(left(gappy, 10, 20, 30, 40), observation="y", by="station")
    assert scored.pop("dropped") == 4 and expected.pop("dropped") == 0
    assert scored == expected


def test_it_is_what_the_command_drops(gappy, tmp_path):
    import csv
    import subprocess
    import sys

    with open(tmp_path / "archive.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "f", "y"])
        writer.writerows(["" if v != v else repr(float(v)) for v in row] for row in zip(*(gappy[name] for name in "xfy")))
    command = "--inputs x --prediction f --observation y --missing drop -o model.json".split()
    accrue_command = [sys.executable, "-c", "from accrue._command import main; main()", "fit", "archive.csv", *command]
    subprocess.run(accrue_command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "model.json").read_text() == accrue.fit(gappy, missing="drop", **ROLES).to_json()


def test_other_rules_and_rows_without_any_value_are_refused(gappy):
    with pytest.raises(ValueError, match="^missing is 'skip', but must be one of refuse, drop, impute$"):
        accrue.fit(gappy, missing="skip", **ROLES)
    with pytest.raises(ValueError, match="^all 1000 rows have a missing value: no row is left$"):
        accrue.fit({**gappy, "x": np.full(1000, np.nan)}, missing="drop", **ROLES)
    with pytest.raises(ValueError, match="^column 'x' has 7 rows, but there are 1000$"):
        accrue.fit({**gappy, "x": np.zeros(7)}, missing="drop", **ROLES)
    # What is no gap is still an error, in the row that the user knows.
    infinite = {**gappy, "x": gappy["x"].copy()}
    infinite["x"][99] = np.inf
    with pytest.raises(ValueError, match="^column 'x' of row 100 is inf, but must be finite$"):
        accrue.fit(infinite, missing="drop", **ROLES)


# On a grid


@pytest.fixture
def grid():
    xarray = pytest.importorskip("xarray")
    rng = np.random.default_rng(1)
    time = np.arange("2020-01-01", "2020-01-31", dtype="datetime64[D]").astype("datetime64[ns]")
    shape = (30, 4, 5)
    f = rng.normal(size=shape)
    return xarray.Dataset(
        {
            "f": (("time", "lat", "lon"), f),
            "y": (("time", "lat", "lon"), f + rng.normal(size=shape)),
            "height": (("lat", "lon"), rng.uniform(0, 1, (4, 5))),
            "area": (("lat",), np.ones(4)),
            "region": (("lat",), np.array(["n", "n", "s", "s"], object)),
        },
        coords={"time": time, "lat": [47.5, 48.0, 48.5, 49.0]},  # lon has none: it is counted
    )


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("y", {}, r"^observation 'y' of time=2020-01-02, lat=48.5, lon=3 is nan, but must be finite; missing=\"drop\" leaves"),
        ("f", {}, r"^prediction 'f' of time=2020-01-02, lat=48.5, lon=3 is nan, but must be finite; missing=\"drop\" leaves"),
        ("height", {}, "^column 'height' of time=2020-01-01, lat=48.5, lon=3 is nan, but must be finite; missing="),
        ("area", dict(sample_weight="area"), "^weight 'area' of time=2020-01-01, lat=48.5, lon=0 is nan, but must be finite"),
        ("region", dict(groups="region"), "^the group of time=2020-01-01, lat=48.5, lon=0 is missing; leave such rows out$"),
    ],
)
def test_a_gap_on_a_grid_is_named_by_its_coordinates(grid, name, options, message):
    place = {"time": 1, "lat": 2, "lon": 3}
    grid[name][{dim: place[dim] for dim in grid[name].dims}] = None if name == "region" else np.nan
    roles = dict(columns=["height"], prediction="f", observation="y", form="clusters", folds=2, progress=False, **options)
    with pytest.raises(ValueError, match=message):
        accrue.fit(grid, **roles)
    model = accrue.fit(grid, missing="drop", **roles)
    gaps = {"y": 1, "f": 1, "height": 30, "area": 150, "region": 150}[name]
    assert model.verification["rows"] == 600 - gaps


def test_a_bad_value_on_a_grid_is_named_by_its_coordinates(grid):
    grid["area"][1] = -1.0
    roles = dict(columns=["height"], prediction="f", observation="y", progress=False)
    with pytest.raises(ValueError, match="^weight 'area' of time=2020-01-01, lat=48, lon=0 is -1, but must not be negative$"):
        accrue.fit(grid, sample_weight="area", **roles)
    model = accrue.fit(grid, form="clusters", **roles)
    grid["y"][2, 0, 1] = np.inf
    with pytest.raises(ValueError, match="^observation 'y' of time=2020-01-03, lat=47.5, lon=1 is inf, but must be finite$"):
        model.evaluate(grid, observation="y")


def test_a_broken_bound_names_the_row_of_the_table_or_the_place_on_the_grid(grid):
    rng = np.random.default_rng(1)
    table = {"x": rng.random(60), "f": np.ones(60), "y": 1 + rng.random(60)}
    table["f"][4] = np.nan
    table["y"][18] = -3
    roles = dict(prediction="f", observation="y", lower=0, missing="drop", progress=False)
    with pytest.raises(ValueError, match="^the observation of row 19 is -3, but lower is 0$"):
        accrue.fit(table, **roles)
    grid["y"][{"time": 0, "lat": 0, "lon": 0}] = np.nan
    grid["y"][{"time": 1, "lat": 2, "lon": 3}] = -1e9
    with pytest.raises(ValueError, match=r"^the observation of time=2020-01-02, lat=48.5, lon=3 is -1000000000, but lower is -1000"):
        accrue.fit(grid, **{**roles, "lower": -1e6})
