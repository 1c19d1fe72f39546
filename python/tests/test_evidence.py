"""Rows outside of the archive, later rows, inputs that matter."""

import accrue
import numpy as np
import pytest


@pytest.fixture(scope="module")
def archive():
    return accrue.generate("G", 600, seed=3)


@pytest.fixture(scope="module")
def model(archive):
    return accrue.fit(archive, columns=["x"], prediction="f", observation="y", form="constant", family="normal", bias="none", progress=False)


def test_forecasts_off_support_are_widened_or_refused(model):
    rows = {"x": [0.5, 2.0, 9.0]}
    plain = model.predict(rows)
    wide = model.predict(rows, off_support="widen")
    assert wide.sigma[0] == plain.sigma[0]
    assert plain.sigma[1] < wide.sigma[1] < wide.sigma[2]
    np.testing.assert_array_equal(wide.off_support, plain.off_support)
    np.testing.assert_array_equal(model.predict(rows, off_support="flag").sigma, plain.sigma)
    with pytest.raises(ValueError, match="row 2 lies outside the archive: x is 2, but the archive has "):
        model.predict(rows, off_support="refuse")
    assert len(model.predict({"x": [0.5]}, off_support="refuse")) == 1
    with pytest.raises(ValueError, match="off_support must be one of flag, widen, refuse"):
        model.predict(rows, off_support="wide")


def test_later_rows_rescale_sigma(archive, model):
    later = accrue.generate("G", 400, seed=4)
    later["y"] = later["f"] + 2 * (later["y"] - later["f"])
    options = dict(columns=["x"], prediction="f", observation="y", form="constant", family="normal", bias="none", progress=False)
    rescaled = accrue.fit(archive, later=later, **options)
    factor = rescaled.content["fit"]["later"]["factor"]
    # The spreads of 400 and 600 rows are known to 4% and 3%: six of these together.
    assert factor == pytest.approx(2, abs=0.6)
    np.testing.assert_allclose(rescaled.predict({"x": [0.5]}).sigma, factor * model.predict({"x": [0.5]}).sigma, rtol=1e-5)
    assert rescaled.remarks[0].startswith("400 later rows: the best sigma is ")
    with pytest.raises(ValueError, match="later goes with an archive whose columns have names"):
        accrue.fit(archive["x"], prediction=archive["f"], observation=archive["y"], later=later, progress=False)


def test_importance_and_rows_off_support_are_in_the_figures(archive, model):
    assert [own["input"] for own in model.content["fit"]["importance"]] == ["x"]
    figures = model.evaluate({"x": [0.5] * 30 + [3.0] * 10, "f": np.zeros(40), "y": np.linspace(-1, 1, 40)}, observation="y", prediction="f")
    assert figures["off_support"]["rows"] == 10
