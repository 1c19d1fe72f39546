"""Forecasts side by side, as frames, and in notebooks."""

import html.parser
import json
import subprocess
import sys

import numpy as np
import pytest

import accrue

ROLES = dict(prediction="f", observation="y")


@pytest.fixture(scope="module")
def later():
    return accrue.generate("G", 2000, seed=2)


@pytest.fixture(scope="module")
def constant(archive):
    return accrue.fit(archive, form="constant", **ROLES, progress=False)


@pytest.fixture(scope="module")
def compared(model, constant, later):
    return accrue.compare({"network": model, "constant": constant, "true": "true_sigma"}, later, observation="y")


def test_it_is_the_evaluation_of_the_library(model, constant, later, compared):
    other = model.evaluate(later, observation="y", compare={"constant": constant, "true": "true_sigma"}, name="network")
    assert compared.content == other
    assert compared.best == other["lowest_crps"]["name"] in ("network", "true")
    assert compared.summary == other["lowest_crps"]["sentence"]


def test_it_says_what_the_command_says(model, constant, later, compared, tmp_path):
    model.save(tmp_path / "network")
    constant.save(tmp_path / "constant")
    rows = np.column_stack([later[name] for name in ("x", "f", "true_sigma", "y")])
    np.savetxt(tmp_path / "later.csv", rows, fmt="%.17g", delimiter=",", header="x,f,true_sigma,y", comments="")
    options = "--prediction f --observation y --model network --model constant --sigma true_sigma".split()
    command = [sys.executable, "-c", "from accrue._command import main; main()", "evaluate", "later.csv", *options]
    printed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert " ".join(compared.summary.replace("true", "true_sigma").split()) in " ".join(printed.split())


def test_forecasts_with_means_of_their_own_are_compared(model, constant, later):
    forecasts = {name: m.predict(later) for name, m in (("network", model), ("constant", constant))}
    alone = accrue.compare(forecasts, observation=later["y"])
    by_models = accrue.compare({"network": model, "constant": constant}, later, observation="y")
    # A forecast's mean is the prediction, and y - f is the same number either way.
    assert alone.content["comparison"] == by_models.content["comparison"]
    moved = accrue.Forecast(later["f"] + 1, forecasts["network"].sigma)
    shifted = accrue.compare({"here": forecasts["network"], "there": moved}, observation=later["y"])
    assert shifted.best == "here"
    assert shifted.content["forecasts"][1]["mean_z"] < -0.5
    # A recalibrated forecast keeps its distribution.
    skewed = accrue.fit(later, columns=["x"], **ROLES, recalibrate="isotonic", progress=False)
    twice = {"model": skewed, "forecast": skewed.predict(later)}
    first, second = accrue.compare(twice, later, observation="y").content["forecasts"]
    assert first["recalibrated"] and second["recalibrated"]
    # The same errors, once rounded by adding and taking away the mean.
    assert first["crps"] == pytest.approx(second["crps"], rel=1e-9)


def test_a_model_that_learned_the_mean_is_compared_with_one_that_did_not(model, archive, later):
    learned = accrue.fit(archive, columns=["x"], observation="y", mean="network", progress=False)
    result = accrue.compare({"given": model, "learned": learned}, later, observation="y")
    alone = learned.evaluate(later, observation="y")
    assert result.content["forecasts"][1]["crps"] == pytest.approx(alone["crps"], rel=1e-9)


def test_bad_comparisons_are_refused(model, later):
    with pytest.raises(ValueError, match="^compare takes at least two forecasts, but there is 1$"):
        accrue.compare({"one": model}, later, observation="y")
    forecast = model.predict(later)
    with pytest.raises(ValueError, match="^a has a mean of its own: give observation$"):
        accrue.compare({"a": forecast, "b": forecast}, error=later["y"])
    with pytest.raises(ValueError, match="^sigma 'a' has 10 rows, but there are 2000$"):
        accrue.compare({"a": forecast[:10], "b": forecast}, observation=later["y"])
    with pytest.raises(
        ValueError, match="^there is no column 'true_sgima'; did you mean 'true_sigma'\\? Columns: x, f, true_sigma, y$"
    ):
        accrue.compare({"a": model, "b": "true_sgima"}, later, observation="y")


def test_frames_have_the_figures(compared, model, later):
    pytest.importorskip("pandas")
    frame = compared.to_frame()
    assert list(frame.index) == ["network", "constant", "true"]
    assert frame["crps"].idxmin() == compared.best
    assert frame.loc[compared.best, "crps_more_than_best"] == 0
    row = frame.loc["constant"]
    # The mean of the differences is the difference of the means, but for the order of a sum.
    assert row["crps_more_than_best"] == pytest.approx(row["crps"] - frame["crps"].min(), rel=1e-6)
    assert 0 < row["crps_more_low"] < row["crps_more_than_best"] < row["crps_more_high"]
    forecast = model.predict(later)
    table = forecast.to_frame(quantiles=[0.05], interval=0.9, exceed=[0.5, 1])
    assert list(table) == ["mean", "sigma", "q0.05", "lower_0.9", "upper_0.9", "above_0.5", "above_1", "off_support"]
    np.testing.assert_array_equal(table["above_0.5"], forecast.exceeding(0.5))
    np.testing.assert_allclose(table["above_1"], 1 - forecast.cdf(1.0), atol=1e-12)
    np.testing.assert_array_equal(table["upper_0.9"], forecast.interval(0.9)[1])
    assert list(model.predict({"x": later["x"]}).to_frame()) == ["sigma", "off_support"]


def test_without_pandas_a_frame_is_a_clear_error(model, later, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="^Forecast.to_frame needs pandas: pip install pandas$"):
        model.predict(later).to_frame()


def test_a_comparison_prints_as_a_table(compared):
    lines = repr(compared).splitlines()
    assert len(lines) == 5 and lines[-1] == compared.summary
    assert [line.split()[0] for line in lines[1:4]] == ["network", "constant", "true"]
    assert sum("lowest" in line for line in lines[1:4]) == 1


class Parsed(html.parser.HTMLParser):
    """Tags that are opened and closed, and the text."""

    VOID = ("polygon", "rect", "line", "polyline")

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in self.VOID
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.words.append(text)


def test_notebooks_show_the_verdict_and_a_reliability_diagram(model, later, compared):
    for shown, diagrams in ((model, 1), (model.predict(later), 1), (model.predict(later)[:3], 1), (compared, 3)):
        page = Parsed(shown._repr_html_())
        assert [tag for tag, _ in page.tags].count("svg") == diagrams
        assert (compared.summary if shown is compared else model.summary) in " ".join(page.words)
        for _, attributes in page.tags:
            for point in attributes.get("points", "").split():
                x, y = map(float, point.split(","))
                assert 0 <= x <= 150 and 0 <= y <= 150
    # A forecast of other origin has no verdict, and none is made up.
    assert "svg" not in accrue.Forecast([0.0], [1.0])._repr_html_()


def test_notebooks_escape_what_names_hold(archive, model, later):
    name = "<script>alert(1)</script>"
    other = accrue.fit({name: archive["x"]}, prediction=archive["f"], observation=archive["y"], progress=False)
    compared = accrue.compare({name: model, "<b>": "true_sigma"}, later, observation="y")
    for shown in (other, other.predict({name: [0.5]}, prediction=[0.0]), compared):
        tags = {tag for tag, _ in Parsed(shown._repr_html_()).tags}
        assert "script" not in tags
    assert compared._repr_html_().count("&lt;script&gt;") >= 2


def test_content_is_plain_json(compared):
    assert json.loads(json.dumps(compared.content)) == compared.content


def test_unknown_columns_and_options_get_a_suggestion(archive, model):
    fits = [
        (dict(input=["x"]), TypeError, "^accrue.fit has no option 'input'; did you mean 'columns'\\?$"),
        (dict(weight="x"), TypeError, "^accrue.fit has no option 'weight'; did you mean 'sample_weight'\\?$"),
        (dict(fold=3), TypeError, "^accrue.fit has no option 'fold'; did you mean 'folds'\\?$"),
        (dict(recalibarte="isotonic"), TypeError, "^accrue.fit has no option 'recalibarte'; did you mean 'recalibrate'\\?$"),
        (dict(colour="red"), TypeError, "^accrue.fit has no option 'colour'; docs/options.md has them all$"),
        (dict(columns=["X"]), ValueError, "^there is no column 'X'; did you mean 'x'\\? Columns: x, f, true_sigma, y$"),
        (dict(groups="station"), ValueError, "^there is no column 'station'. Columns: x, f, true_sigma, y$"),
    ]
    for options, error, message in fits:
        with pytest.raises(error, match=message):
            accrue.fit(archive, **ROLES, progress=False, **options)
    with pytest.raises(ValueError, match="^there is no column 'x', an input of the model. Columns: a, b$"):
        model.predict({"a": [1.0], "b": [1.0]})
