import numpy as np
import pytest

import accrue

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plot = accrue.plot


@pytest.fixture
def forecast(model, archive):
    yield model.predict(archive)
    matplotlib.pyplot.close("all")


def test_every_chart_draws_on_the_axes_that_it_is_given(forecast, archive):
    y, x = archive["y"], archive["x"]
    for draw in (plot.reliability, plot.pit, plot.spread_skill):
        ax = matplotlib.pyplot.subplots()[1]
        assert draw(forecast, y, ax=ax) is ax
        assert ax.has_data()
    assert plot.sigma(forecast, y, x).has_data()
    assert plot.fan(forecast, y, x).has_data()
    assert plot.fan(forecast[:20]).has_data()


def test_the_reliability_curve_is_that_of_the_scores(forecast, archive, model):
    curve = plot.reliability(forecast, archive["y"]).lines[-1]
    diagram = model.evaluate(archive, observation="y")["reliability_diagram"]
    np.testing.assert_array_equal(curve.get_ydata(), diagram["observed"])


def test_the_pits_of_a_recalibrated_forecast_are_its_own(archive):
    skewed = archive["f"] + np.random.default_rng(4).exponential(1, 1000)
    common = dict(prediction=archive["f"], observation=skewed, progress=False)
    model = accrue.fit({"x": archive["x"]}, recalibrate="isotonic", **common)
    forecast = model.predict({"x": archive["x"]}, prediction=archive["f"])
    bars = plot._data(forecast, skewed)["forecasts"][0]["pit"]
    share, _ = np.histogram(forecast.cdf(skewed), bars["edges"])
    # A PIT at an edge may fall on either side of it by rounding.
    np.testing.assert_allclose(bars["share"], share / 1000, atol=2 / 1000)
    other = plot._data(accrue.Forecast(forecast.mean, forecast.sigma), skewed)["forecasts"][0]["pit"]
    assert np.ptp(bars["share"]) < np.ptp(other["share"])


def test_missing_rows_are_left_out(forecast, archive):
    y = archive["y"].copy()
    y[:10] = np.nan
    assert plot.reliability(forecast, y).has_data()
    with pytest.raises(ValueError, match="no row"):
        plot.pit(forecast, np.full(1000, np.nan))


def test_a_fan_has_a_number_for_every_row(forecast, archive):
    with pytest.raises(ValueError, match="y has 4 rows, but the forecast"):
        accrue.plot.fan(forecast, archive["y"][:4])
