import numpy as np
import pytest

xarray = pytest.importorskip("xarray")


@pytest.fixture
def dataset():
    x = np.linspace(0, 1, 12)
    return xarray.Dataset(
        {
            "x": ("site", x),
            "f": (("time", "site"), np.ones((4, 1)) * np.sin(x), {"units": "K", "standard_name": "air_temperature"}),
        },
        coords={"time": np.arange("2020-01-01", "2020-01-05", dtype="datetime64[D]").astype("datetime64[ns]")},
        attrs={"source": "a model"},
    )


def test_variables_are_matched_by_name_and_broadcast(model, dataset):
    result = model.predict(dataset)
    assert set(result.data_vars) == {"mean", "sigma", "off_support"}
    assert result["sigma"].sizes == {"time": 4, "site": 12}
    expected = model.predict({"x": dataset["x"].values}).sigma
    np.testing.assert_array_equal(result["sigma"].isel(time=2), expected)
    np.testing.assert_array_equal(result["mean"], dataset["f"])


@pytest.mark.parametrize("lazy", [False, True])
def test_dimensions_keep_the_order_of_the_prediction(model, dataset, lazy):
    if lazy:
        pytest.importorskip("dask")
        dataset = dataset.chunk({"time": 2})
    for order in (("time", "site"), ("site", "time")):
        result = model.predict(dataset.transpose(*order), quantiles=[0.1, 0.9])
        for name in ("mean", "sigma", "off_support"):
            assert result[name].dims == order
        assert result["quantiles"].dims == (*order, "quantile")
    # What the prediction lacks comes behind.
    result = model.predict(dataset.drop_vars("f"), prediction=dataset["f"].isel(site=0))
    assert result["sigma"].dims == ("time", "site")


def test_dimensions_keep_the_order_of_the_input_that_has_them_all(archive):
    import accrue

    columns = {"site_height": archive["x"], "wind": archive["f"]}
    model = accrue.fit(columns, error=archive["y"] - archive["f"], progress=False)
    dataset = xarray.Dataset({"site_height": ("site", archive["x"][:3]), "wind": (("time", "site"), np.ones((2, 3)))})
    assert model.inputs == ["site_height", "wind"]
    assert model.predict(dataset)["sigma"].dims == ("time", "site")
    assert model.predict(dataset.transpose("site", "time"))["sigma"].dims == ("site", "time")


def test_attributes_and_coordinates_are_kept(model, dataset):
    result = model.predict(dataset)
    assert result.attrs == {"source": "a model"}
    assert result["sigma"].attrs["units"] == "K"
    assert result["mean"].attrs["standard_name"] == "air_temperature"
    assert dataset["f"].attrs == {"units": "K", "standard_name": "air_temperature"}
    np.testing.assert_array_equal(result["time"], dataset["time"])


def test_quantiles_lie_along_a_dimension(model, dataset):
    result = model.predict(dataset, quantiles=[0.1, 0.5, 0.9])
    assert result["quantiles"].sizes["quantile"] == 3
    np.testing.assert_array_equal(result["quantile"], [0.1, 0.5, 0.9])
    forecast = model.predict({"x": dataset["x"].values}, prediction=dataset["f"].values[0])
    np.testing.assert_array_equal(result["quantiles"].isel(time=0).sel(quantile=0.9), forecast.quantile(0.9))


def test_lazy_arrays_stay_lazy_and_give_the_same(model, dataset):
    pytest.importorskip("dask")
    lazy = model.predict(dataset.chunk({"time": 2, "site": 5}), quantiles=[0.9])
    assert lazy["sigma"].chunks is not None and lazy["quantiles"].chunks is not None
    xarray.testing.assert_identical(lazy.compute(), model.predict(dataset, quantiles=[0.9]))


def test_missing_values_stay_missing(model, dataset):
    dataset["x"][3] = np.nan
    result = model.predict(dataset)
    assert result["sigma"].isel(site=3).isnull().all() and result["off_support"].isel(site=3).isnull().all()


def test_what_is_missing_is_named(model, dataset):
    with pytest.raises(ValueError, match="there is no variable 'x', an input of the model"):
        model.predict(dataset.drop_vars("x"))
    with pytest.raises(ValueError, match="no variable 'g'"):
        model.predict(dataset, prediction="g")
    with pytest.raises(ValueError, match="lie around a prediction"):
        model.predict(dataset.drop_vars("f"), quantiles=[0.5])


def test_datasets_are_archives_too(model, dataset, archive):
    import accrue

    rows = xarray.Dataset({name: ("row", values) for name, values in archive.items()})
    again = accrue.fit(rows, columns=["x"], prediction="f", observation="y", progress=False)
    assert again.to_json() == model.to_json()


# Inputs that are not numbers, and gaps


@pytest.fixture
def grid():
    """Times and sites; the spread depends on the site, the direction and the hour."""
    draw = np.random.default_rng(5)
    times = np.arange("2023-01-01", "2023-01-21", np.timedelta64(3, "h"), dtype="datetime64[h]").astype("datetime64[ns]")
    shape = (len(times), 4)
    wdir = draw.uniform(0, 360, shape)
    mu = draw.normal(size=shape)
    sigma = np.exp(np.array([-1.0, -0.3, 0.3, 1.0]) + 0.5 * np.cos(np.radians(wdir)))
    return xarray.Dataset(
        {
            "mu": (("time", "site"), mu, {"units": "m s-1"}),
            "wdir": (("time", "site"), wdir),
            "y": (("time", "site"), mu + sigma * draw.normal(size=shape)),
        },
        coords={"time": times, "station": ("site", ["hill", "sea", "town", "wood"])},
    )


KINDS = ["mu", "station:category", "wdir:cyclic(360)", "time:season", "time:hour"]
ROLES = {"prediction": "mu", "observation": "y", "starts": 1, "progress": False}


@pytest.mark.parametrize("lazy", [False, True])
def test_labels_and_dates_of_datasets_are_inputs(grid, lazy):
    import accrue

    model = accrue.fit(grid, columns=KINDS, **ROLES)
    assert model.inputs == KINDS
    rows = grid.to_dataframe().reset_index()
    expected = model.predict(rows)
    if lazy:
        pytest.importorskip("dask")
        grid = grid.chunk({"time": 40})
    result = model.predict(grid, quantiles=[0.9])
    assert result["sigma"].dims == ("time", "site")
    assert (result["sigma"].chunks is not None) == lazy
    np.testing.assert_array_equal(result["sigma"].values.ravel(), expected.sigma)
    np.testing.assert_array_equal(result["quantiles"].sel(quantile=0.9).values.ravel(), expected.quantile(0.9))
    # A site that the archive did not have, one without a name, and a time that is missing.
    new = grid.isel(time=slice(0, 2)).compute().assign_coords(station=("site", ["hill", "lake", "", "wood"]))
    new["time"] = [new["time"].values[0], np.datetime64("NaT")]
    result = model.predict(new)
    assert result["off_support"].isel(time=0).values.tolist()[:2] == [0, 1]
    assert result["sigma"].isnull().values.tolist() == [[False, False, True, False], [True] * 4]


def test_metadata_decides_on_kinds_by_default(grid):
    import accrue

    assert accrue.fit(grid, **ROLES).inputs == ["mu", "wdir", "station:category"]
    grid["wdir"].attrs = {"units": "degrees", "standard_name": "wind_from_direction"}
    model = accrue.fit(grid, **ROLES)
    assert model.inputs == ["mu", "wdir:cyclic(360)", "station:category"]
    assert "time (time) could give two inputs: time:season and time:hour" in model.remarks
    assert accrue.fit(grid, columns=["wdir", "station"], **ROLES).inputs == ["wdir:cyclic(360)", "station:category"]
    assert accrue.fit(grid, columns=["wdir:number"], **ROLES).inputs == ["wdir"]
    assert accrue.fit(grid, columns=["wdir"], kinds={"wdir": "number"}, **ROLES).inputs == ["wdir"]
    assert accrue.fit(grid, form="clusters", **ROLES).inputs == ["mu", "wdir:cyclic(360)"]
    # A text for every row may be anything.
    remarks = grid.assign(remark=(("time", "site"), [[f"{t} {s}" for s in range(4)] for t in range(len(grid["time"]))]))
    assert accrue.fit(remarks, **ROLES).inputs == model.inputs


def test_files_have_the_kinds_of_datasets(grid, tmp_path):
    import subprocess
    import sys

    import accrue

    pytest.importorskip("netCDF4")
    grid["wdir"].attrs = {"units": "degrees", "standard_name": "wind_from_direction"}
    grid.to_netcdf(tmp_path / "a.nc")
    command = [sys.executable, "-c", "from accrue._command import main; main()", "fit", "a.nc", "--starts", "1"]
    roles = ["--prediction", "mu", "--observation", "y", "--quiet", "-o", "m.json"]
    subprocess.run([*command, *roles], cwd=tmp_path, check=True)
    assert (tmp_path / "m.json").read_text() == accrue.fit(grid, **ROLES).to_json()


def test_characters_of_netcdf_are_labels(grid):
    import accrue

    model = accrue.fit(grid, columns=KINDS, **ROLES)
    characters = grid.assign_coords(station=grid["station"].astype("S"))
    xarray.testing.assert_equal(model.predict(characters)["sigma"], model.predict(grid)["sigma"].assign_coords(station=characters["station"]))
    assert accrue.fit(characters, columns=["station", "mu"], **ROLES).inputs == ["station:category", "mu"]
    assert accrue.fit(characters, columns=KINDS, **ROLES).to_json() == model.to_json()


@pytest.mark.parametrize("what", ["wdir", "station", "time", "y"])
def test_gaps_in_datasets_are_dropped_or_filled_in(grid, what):
    import accrue

    if what == "station":
        grid = grid.assign_coords(station=("site", ["hill", "sea", "", "wood"]))
        gone = len(grid["time"])
    elif what == "time":
        times = grid["time"].values.copy()
        times[3] = np.datetime64("NaT")
        grid = grid.assign_coords(valid=("time", times))
        gone = 4
    else:
        grid[what][5, 2] = np.nan
        gone = 1
    columns = ["mu", "station:category", "wdir:cyclic(360)", "valid:hour" if what == "time" else "time:hour"]
    count = grid["y"].size
    dropped = accrue.fit(grid, columns=columns, missing="drop", **ROLES)
    assert dropped.verification["rows"] == count - gone
    filled = accrue.fit(grid, columns=columns, missing="impute", **ROLES)
    assert filled.verification["rows"] == count - (gone if what == "y" else 0)
    sigma = filled.predict(grid)["sigma"]
    assert np.isfinite(sigma).all() and sigma.dims == ("time", "site")
    message = "mu|wdir|station|time|observation" if what == "y" else f"{'valid' if what == 'time' else what}.* of .*time="
    with pytest.raises(ValueError, match=message):
        accrue.fit(grid, columns=columns, **ROLES)


def test_a_prediction_has_dimensions(model, dataset):
    with pytest.raises(ValueError, match="a DataArray, or the name of a variable"):
        model.predict(dataset, np.zeros(3))


def test_times_are_no_inputs_by_themselves(dataset):
    import accrue

    observed = dataset.assign(y=dataset["f"] + 0.1 * np.random.default_rng(1).normal(size=(4, 12)))
    # Not decoded: numbers with a unit.
    raw = observed.assign_coords(time=("time", [0.0, 24.0, 48.0, 72.0], {"units": "hours since 2020-01-01"}))
    for archive in (observed, raw):
        model = accrue.fit(archive, prediction="f", observation="y", form="clusters", progress=False)
        assert "time" not in model.inputs and "x" in model.inputs
    named = accrue.fit(raw, columns=["time"], prediction="f", observation="y", form="polynomial", progress=False)
    assert named.inputs == ["time"]
