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
    assert result["sigma"].sizes == {"time": 4, "site": 12} or result["sigma"].sizes == {"site": 12, "time": 4}
    expected = model.predict({"x": dataset["x"].values}).sigma
    np.testing.assert_array_equal(result["sigma"].isel(time=2), expected)
    np.testing.assert_array_equal(result["mean"].transpose("time", "site"), dataset["f"])


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
    with pytest.raises(ValueError, match="input 'x'"):
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


def test_a_prediction_has_dimensions(model, dataset):
    with pytest.raises(ValueError, match="a DataArray, or the name of a variable"):
        model.predict(dataset, np.zeros(3))
