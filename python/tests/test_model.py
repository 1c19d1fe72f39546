import _thread
import json
import os
import pickle
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import accrue


def command(*arguments):
    # Beside the interpreter, as pip puts it there.
    program = os.path.join(os.path.dirname(sys.executable), "accrue")
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def csv(archive, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "g.csv"
    rows = zip(*archive.values())
    path.write_text("\n".join([",".join(archive), *(",".join(map(repr, map(float, row))) for row in rows)]) + "\n")
    return path


ROLES = ("--inputs", "x", "--prediction", "f", "--observation", "y")


@pytest.mark.parametrize(
    "options", [{}, {"bias": "linear", "recalibrate": "isotonic"}, {"form": "clusters", "seed": 3}]
)
def test_the_model_file_is_that_of_the_command_byte_for_byte(archive, csv, tmp_path, options):
    model = accrue.fit(archive, columns=["x"], prediction="f", observation="y", progress=False, **options)
    model.save(tmp_path / "python.json")
    flags = [word for key, value in options.items() for word in (f"--{key}", value)]
    command("fit", csv, *ROLES, *flags, "--quiet", "-o", tmp_path / "command.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "command.json").read_bytes()


@pytest.mark.skipif("ACCRUE_CPP_EXAMPLE" not in os.environ, reason="ctest names the program of examples/")
def test_a_program_in_cpp_learns_the_same_sigma_bit_for_bit(archive, tmp_path):
    path = tmp_path / "cpp.json"
    subprocess.run([os.environ["ACCRUE_CPP_EXAMPLE"], path], check=True, capture_output=True)
    cpp = accrue.Model.load(path)
    # It gives errors and predictions, without names for the observations.
    model = accrue.fit({"x": archive["x"]}, prediction=archive["f"], error=archive["y"] - archive["f"], progress=False)
    np.testing.assert_array_equal(cpp.predict({"x": archive["x"]}).sigma, model.predict({"x": archive["x"]}).sigma)
    # JSON numbers are the shortest that round-trip: equal here means equal bits.
    for entry in ("sigma", "test_vectors", "error_scale"):
        assert cpp.content[entry] == model.content[entry]


def test_sigma_and_quantiles_are_those_of_the_command_bit_for_bit(archive, csv, tmp_path, model):
    model.save(tmp_path / "model.json")
    command(
        "predict",
        tmp_path / "model.json",
        csv,
        "--quantiles",
        "0.1,0.9",
        "--interval",
        "0.5",
        "-o",
        tmp_path / "out.csv",
    )
    out = np.genfromtxt(tmp_path / "out.csv", delimiter=",", names=True, deletechars="")
    forecast = model.predict(archive)
    np.testing.assert_array_equal(out["sigma"], forecast.sigma)
    np.testing.assert_array_equal(out["mean"], forecast.mean)
    np.testing.assert_array_equal(np.column_stack([out["q0.1"], out["q0.9"]]), forecast.quantile([0.1, 0.9]))
    low, high = forecast.interval(0.5)
    np.testing.assert_array_equal(out["lower_0.5"], low)
    np.testing.assert_array_equal(out["upper_0.5"], high)


def test_evaluate_gives_what_the_command_prints(archive, csv, tmp_path, model):
    path = tmp_path / "model.json"
    model.save(path)
    printed = command(
        "evaluate", csv, "--prediction", "f", "--observation", "y", "--model", path, "--sigma", "true_sigma", "--json"
    )
    computed = model.evaluate(archive, observation="y", name=str(path), compare={"true_sigma": "true_sigma"})
    assert json.loads(printed) == computed


def test_all_kinds_of_table_give_one_model(archive, model):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (pandas.DataFrame(archive), polars.DataFrame(archive)):
        by_name = accrue.fit(frame, columns=["x"], prediction="f", observation="y", progress=False)
        by_series = accrue.fit(frame[["x"]], prediction=frame["f"], observation=frame["y"], progress=False)
        assert by_name.to_json() == by_series.to_json() == model.to_json()
        np.testing.assert_array_equal(model.predict(frame).sigma, model.predict(archive).sigma)
    array = accrue.fit(archive["x"][:, None], prediction=archive["f"], observation=archive["y"], progress=False)
    assert array.inputs == ["x1"]
    np.testing.assert_array_equal(array.predict(archive["x"][:, None]).sigma, model.predict(archive).sigma)


def test_errors_may_come_in_place_of_predictions(archive):
    model = accrue.fit({"x": archive["x"]}, error=archive["y"] - archive["f"], progress=False)
    forecast = model.predict({"x": archive["x"]})
    assert forecast.mean is None
    with pytest.raises(ValueError, match="no prediction"):
        forecast.cdf(0.0)
    assert model.evaluate(archive, error=archive["y"] - archive["f"])["rows"] == 1000


def test_a_mean_is_learned_where_there_is_no_prediction(archive):
    model = accrue.fit(archive, columns=["x"], observation="y", mean="network", progress=False)
    assert model.has_mean
    forecast = model.predict(archive)
    assert np.isfinite(forecast.mean).all()
    assert model.evaluate(archive, observation="y")["rows"] == 1000


def test_groups_times_and_weights_are_used(archive):
    start = np.datetime64("2020-01-01") + np.arange(1000)
    common = dict(columns=["x"], prediction="f", observation="y", progress=False)
    by_group = accrue.fit(archive, groups=np.arange(1000) // 100, **common)
    assert by_group.content["configuration"]["folds_by"] == "group"
    assert "group_band_90_pointwise" in by_group.verification["reliability_diagram"]
    assert by_group.verification["by"] == []
    assert accrue.fit(archive, times=start, **common).content["configuration"]["folds_by"] == "time"
    weighted = accrue.fit(archive, sample_weight=np.linspace(0.1, 1, 1000), **common)
    assert weighted.verification["effective_rows"] < 1000


def test_groups_that_span_the_period_are_split_by_blocks_of_time_unless_folds_must_not(archive):
    times, stations = np.arange(1000), np.arange(1000) % 10
    common = dict(columns=["x"], prediction="f", observation="y", form="constant", times=times, progress=False)
    model = accrue.fit(archive, groups=stations, **common)
    assert model.content["configuration"]["folds_by"] == "time"
    assert "group_band_90_pointwise" in model.verification["reliability_diagram"]
    with pytest.raises(ValueError, match="a single block of time without splitting a 'fold_group'.*use another column, or no fold_groups$"):
        accrue.fit(archive, fold_groups=stations, **common)
    whole = accrue.fit(archive, fold_groups=times // 50, **common)
    assert whole.content["columns"]["fold_group"] == "fold_group"


def test_figures_are_given_for_each_value_of_a_column(archive):
    table = {**archive, "station": np.where(np.arange(1000) % 2, "odd", "even"), "season": np.arange(1000) // 250}
    common = dict(prediction="f", observation="y", columns=["x"], form="polynomial", progress=False)
    model = accrue.fit(table, by=["station", "season"], **common)
    assert [column["column"] for column in model.verification["by"]] == ["station", "season"]
    assert [value["name"] for value in model.verification["by"][0]["values"]] == ["even", "odd"]
    assert [value["name"] for value in model.verification["by"][1]["values"]] == ["0", "1", "2", "3"]
    result = model.evaluate(table, observation="y", by={"half": table["x"] > 0.5}, groups="season")
    assert [column["column"] for column in result["by"]] == ["half"]
    assert sum(value["rows"] for value in result["by"][0]["values"]) == 1000
    # The input itself may be one of them.
    assert accrue.fit(table, by="season", **{**common, "columns": ["season"]}).inputs == ["season"]
    with pytest.raises(ValueError, match="by names 'station' twice"):
        accrue.fit(table, by=["station", "station"], **common)


def test_rows_off_the_support_are_counted(archive, tmp_path):
    model = accrue.fit(archive, columns=["x"], prediction="f", observation="y", form="polynomial", progress=False)
    later = {name: values.copy() for name, values in archive.items()}
    later["x"][:250] += 10
    result = model.evaluate(later, observation="y", compare={"true": "true_sigma"})["forecasts"]
    assert result[0]["off_support_percent"] == 25
    assert any("25% of the rows lie outside" in remark for remark in result[0]["verdict"]["remarks"])
    assert "off_support_percent" not in result[1]
    weight = np.where(np.arange(1000) < 250, 3.0, 1.0)
    assert model.evaluate(later, observation="y", sample_weight=weight)["off_support_percent"] == 50
    data = model.report(tmp_path / "r.html", later, observation="y")
    assert data["scores"]["off_support_percent"] == 25


def test_groups_are_called_as_the_command_calls_them(tmp_path):
    columns = accrue.generate("lorenz", 500, seed=1)
    command("generate", "lorenz", "--rows", 500, "--seed", 1, "-o", tmp_path / "lorenz.csv")
    roles = dict(prediction="prediction", observation="observation", groups="start_time")
    model = accrue.fit(columns, columns=["lead_time"], progress=False, **roles)
    flags = [
        "--prediction",
        "prediction",
        "--observation",
        "observation",
        "--group",
        "start_time",
        "--inputs",
        "lead_time",
    ]
    command("fit", tmp_path / "lorenz.csv", *flags, "--quiet", "-o", tmp_path / "model.json")
    assert model.to_json() == (tmp_path / "model.json").read_text()
    with pytest.raises(ValueError, match="group of row 1 is missing"):
        accrue.fit(columns, columns=["lead_time"], **{**roles, "groups": np.full(500, np.nan)})


def test_inputs_are_all_numeric_columns_but_times_whatever_their_names(archive):
    table = {**archive, "day": np.datetime64("2020-01-01") + np.arange(1000), "site": ["a"] * 1000}
    model = accrue.fit(table, prediction="f", observation="y", form="clusters", progress=False)
    assert model.inputs == ["f", "x", "true_sigma"]


def test_held_out_rows_belong_to_the_archive(archive, model):
    errors, sigmas = model.held_out
    np.testing.assert_array_equal(errors, archive["y"] - archive["f"])
    assert accrue.scores.mean_crps(errors, sigmas) == pytest.approx(model.verification["crps"], rel=1e-12)


def test_a_model_survives_file_and_pickle(tmp_path, archive, model):
    model.save(tmp_path / "model.json")
    for again in (accrue.Model.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert again.to_json() == model.to_json()
        np.testing.assert_array_equal(again.predict(archive).sigma, model.predict(archive).sigma)
        with pytest.raises(ValueError, match="held_out"):
            again.held_out


def test_a_recalibrated_forecast_is_consistent_and_survives_pickle(archive):
    skewed = archive["f"] + np.random.default_rng(4).exponential(1, 1000)
    model = accrue.fit(
        {"x": archive["x"]},
        prediction=archive["f"],
        observation=skewed,
        family="normal",
        bias="none",
        recalibrate="isotonic",
        progress=False,
    )
    forecast = model.predict({"x": archive["x"]}, prediction=archive["f"])
    assert not forecast.is_gaussian
    for one in (forecast, pickle.loads(pickle.dumps(forecast))):
        # Far inside the knots the two are inverse functions of each other up to rounding.
        np.testing.assert_allclose(one.cdf(one.quantile(0.3)), 0.3, rtol=1e-9)
        # Mean and sigma are those of the distribution: of its quantiles at 20,000 evenly spaced probabilities the tails
        # beyond the outermost are missing, less than a hundredth of sigma.
        draws = one.quantile((np.arange(20_000) + 0.5) / 20_000)
        np.testing.assert_allclose(draws.mean(1), one.mean, atol=1e-3 * one.sigma.max())
        np.testing.assert_allclose(draws.std(1), one.sigma, rtol=1e-2)
        # The Gaussian that was recalibrated lies around the prediction.
        np.testing.assert_allclose(one.gaussian_mean, archive["f"], rtol=1e-12, atol=1e-12)
        assert not np.allclose(one.gaussian_sigma, one.sigma, rtol=1e-3)
    assert model.evaluate({"x": archive["x"]}, prediction=archive["f"], observation=skewed)["nlpd"] is None


def test_a_choice_that_is_asked_for_is_made_for_a_form_given_by_hand(archive, tmp_path):
    pandas = pytest.importorskip("pandas")
    skewed = archive["f"] + np.random.default_rng(4).exponential(1, 1000)
    rows = pandas.DataFrame({"x": archive["x"], "f": archive["f"], "y": skewed})
    rows.to_csv(tmp_path / "a.csv", index=False)
    options = dict(form="constant", family="normal", bias="none", prediction="f", observation="y")
    for more, taken in (({}, "none"), ({"recalibrate": "none"}, "none"), ({"recalibrate": "auto"}, "isotonic")):
        model = accrue.fit(rows, **options, **more, progress=False)
        assert model.content["configuration"]["recalibrate"] == taken
        given = [text for name, value in {**options, **more}.items() for text in (f"--{name}", value)]
        command("fit", tmp_path / "a.csv", *given, "--quiet", "-o", tmp_path / "m.json")
        assert (tmp_path / "m.json").read_text() == model.to_json()


def test_a_conformal_interval_is_rounded_outwards_and_survives_pickle(archive):
    skewed = archive["f"] + np.random.default_rng(4).exponential(1, 1000)
    roles = dict(prediction=archive["f"], observation=skewed)
    options = dict(form="constant", family="normal", bias="none", recalibrate="conformal", progress=False)
    model = accrue.fit({"x": archive["x"]}, **roles, **options, calibration_share=0.05)
    # 50 rows set apart: the ranks 2 and 49 of 51, not 2.55 and 48.45, which a quantile lies at.
    assert model.content["configuration"]["calibration_rows"] == 50
    assert model.content["fit"]["recalibration"]["finite_sample_guarantee"]
    assert np.isnan(model.held_out[1]).sum() == 50
    forecast = model.predict({"x": archive["x"]}, prediction=archive["f"])
    low, high = forecast.interval(0.9)
    np.testing.assert_allclose(forecast.cdf(low), 2 / 51, rtol=1e-6)
    np.testing.assert_allclose(forecast.cdf(high), 49 / 51, rtol=1e-6)
    assert (low < forecast.quantile(0.05)).all() and (high > forecast.quantile(0.95)).all()
    again = pickle.loads(pickle.dumps(forecast))
    np.testing.assert_array_equal(again.interval(0.9), forecast.interval(0.9))
    with pytest.raises(ValueError, match="^calibration_share is 2, but must be between 0 and 0.9$"):
        accrue.fit({"x": archive["x"]}, **roles, **options, calibration_share=2)
    with pytest.raises(ValueError, match='does not go with sample_weight; recalibrate="isotonic" takes weights'):
        accrue.fit({"x": archive["x"]}, **roles, **options, sample_weight=np.ones(1000))


def test_a_forecast_has_the_figures_of_the_normal_distribution():
    stats = pytest.importorskip("scipy.stats")
    forecast = accrue.Forecast([0.0, 3.0], [1.0, 2.0])
    normal = stats.norm([0.0, 3.0], [1.0, 2.0])
    np.testing.assert_allclose(forecast.cdf(0.7), normal.cdf(0.7), rtol=1e-14)
    np.testing.assert_allclose(forecast.pdf([0.7, 2.0]), normal.pdf([0.7, 2.0]), rtol=1e-14)
    np.testing.assert_allclose(forecast.quantile(0.3), normal.ppf(0.3), rtol=1e-13)
    assert forecast.cdf(np.zeros((5, 1))).shape == (5, 2)
    np.testing.assert_array_equal(forecast.crps([1.0, 1.0]), accrue.scores.crps([1.0, -2.0], [1.0, 2.0]))
    draws = forecast.sample(20_000, seed=5)
    assert draws.shape == (2, 20_000)
    # Means and spreads within 5 standard errors: by chance 1 in a million times.
    np.testing.assert_allclose(draws.mean(1), [0, 3], atol=5 * 2 / 20_000**0.5)
    np.testing.assert_allclose(draws.std(1), [1, 2], rtol=5 / 40_000**0.5)
    np.testing.assert_array_equal(draws, forecast.sample(20_000, seed=5))
    assert abs(np.corrcoef(draws)[0, 1]) < 5 / 20_000**0.5


def test_missing_inputs_give_missing_figures(model):
    forecast = model.predict({"x": [0.5, np.nan]}, prediction=[0.0, 0.0])
    assert np.isfinite(forecast.sigma[0]) and np.isnan(forecast.sigma[1])
    assert np.isnan(forecast.cdf(0.0)[1]) and np.isnan(forecast.crps(0.0)[1])


def test_rows_outside_the_archive_are_marked(model):
    assert model.predict({"x": [0.5, 99.0]}).off_support.tolist() == [False, True]


def test_a_constant_sigma_needs_no_inputs(archive):
    model = accrue.fit(archive, prediction="f", observation="y", form="constant", progress=False)
    assert model.inputs == []
    assert len(model.predict(archive)) == 1000
    assert model.evaluate(archive, observation="y")["rows"] == 1000


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(prediction="f"), "observation"),
        (dict(prediction="f", observation="nowhere"), "no column 'nowhere'"),
        (dict(prediction="f", observation="y", folds=1), "^folds is 1, but must be at least 2$"),
        (dict(prediction="f", observation="y", error="y"), "either error"),
        (dict(prediction="f", observation="y", columns=["y"]), "not known when predicting"),
        (dict(observation="y"), "give a prediction"),
        (dict(prediction="f", observation="y", groups=np.zeros(1000)), "single group"),
        (dict(prediction="f", observation=np.zeros(3)), "3 rows"),
        (dict(prediction="f", observation=np.full(1000, np.nan)), "^observation 'observation' of row 1 is nan"),
        (dict(prediction="f", observation=["a"] * 1000), "^observation: values of type .* are not numbers$"),
        (dict(prediction="f", observation="y", sample_weight=np.full(1000, -1.0)), "row 1 is -1, but must not be neg"),
        (dict(prediction="f", observation="y", balance=2.0), "^balance is 2, but must be between 0 and 1$"),
        (dict(observation="y", mean="gp", bias="linear"), '^bias="linear" corrects a prediction; with mean="gp" there is none$'),
        (dict(prediction="f", observation="y", folds=2000), "use more rows or fewer folds$"),
        (dict(mean="gp"), "^mean=\"gp\" learns the mean from the observations: give observation alone$"),
        (dict(observation=np.r_[1.0, np.nan, np.ones(998)], mean="gp"), "^'observation' of row 2 is nan, but must be"),
        (dict(prediction="f", observation="y", groups=np.arange(1000) % 3), "use folds=3 or another column$"),
        (
            dict(prediction="f", observation="y", groups=np.arange(1000) % 7, recipe="paper"),
            'groups, fold_groups and times go with recipe="default"$',
        ),
    ],
)
def test_bad_input_is_a_value_error_that_names_the_rule(archive, given, message):
    with pytest.raises(ValueError, match=message):
        accrue.fit(archive, progress=False, **{"columns": ["x"], **given})


def test_remarks_name_arguments_and_the_file_options(archive):
    given = dict(columns=["x"], prediction=archive["f"] + 1, observation="y", bias="none")
    model = accrue.fit(archive, **given, progress=False)
    assert any('bias="constant" would' in remark for remark in model.remarks)
    assert any("--bias constant would" in remark for remark in model.verification["verdict"]["remarks"])
    assert "bias=&quot;constant&quot;" in model._repr_html_()
    assert any("--bias constant would" in remark for remark in accrue.Model.from_json(model.to_json()).remarks)


def test_an_unknown_option_is_named_with_the_known_ones(archive):
    with pytest.raises(TypeError, match="no option 'fold'.*folds"):
        accrue.fit(archive, prediction="f", observation="y", fold=3)


BAD_VALUES = {
    str: [("lin", ValueError), (3, TypeError)],
    int: [(-1, ValueError), (2.5, TypeError), (2**70, TypeError), ("3", TypeError), (None, TypeError)],
    float: [(1.5, ValueError), (np.nan, ValueError), ("half", TypeError)],
    bool: [("no", TypeError), (1, TypeError)],
    type(None): [(np.nan, ValueError), ("low", TypeError), (True, TypeError)],  # a number or none
    list: [([2.0], ValueError), ([np.nan], ValueError), (0.5, TypeError), ("half", TypeError), (["half"], TypeError)],
}


@pytest.mark.parametrize("name", accrue.FitOptions.__annotations__)
def test_every_option_takes_its_default_and_refuses_by_its_name(archive, name):
    default = getattr(accrue._core.FitOptions({}), name)
    assert getattr(accrue._core.FitOptions({name: default}), name) == default
    for bad, error in BAD_VALUES[type(default)]:
        with pytest.raises(error, match=f"^{name} is .*, but must be [a-z]"):
            accrue.fit(archive, prediction="f", observation="y", **{name: bad})


def test_a_script_that_ends_with_a_model_in_hand_prints_nothing():
    script = """
import accrue, numpy
y = numpy.random.default_rng(1).normal(size=60)
model = accrue.fit({"x": numpy.arange(60.0), "f": 0 * y, "y": y}, prediction="f", observation="y")
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_the_estimators_have_the_defaults_of_fit():
    options = accrue._core.FitOptions({})
    for estimator in (accrue.CalibratedRegressor(), accrue.SigmaRegressor()):
        given = estimator.get_params(deep=False)
        given["score"] = given.pop("score_to_fit")
        shared = given.keys() & accrue.FitOptions.__annotations__.keys()
        assert len(shared) == 9
        for name in shared - {"family", "bias"}:
            assert given[name] == getattr(options, name)
        # The mean is the regressor's, and stays so.
        assert (given["family"], given["bias"]) == ("normal", "none")


def test_numbers_of_numpy_are_numbers():
    options = dict(folds=np.int64(3), balance=np.float32(0.25), stages=np.bool_(False), balance_front=np.array([0, 0.75]))
    x = np.arange(20.0)
    configuration = accrue.fit(x[:, None], error=x, progress=False, **options).content["configuration"]
    assert all(np.all(configuration[name] == value) for name, value in options.items())


def test_columns_of_text_are_no_inputs_unless_named(archive):
    table = {name: archive[name] for name in ("x", "f", "y")}
    table |= {"station": ["A"] * 1000, "date": np.datetime64("2020-01-01") + np.arange(1000)}
    assert accrue.fit(table, prediction="f", observation="y", progress=False).inputs == ["f", "x"]
    named = accrue.fit(table, columns=["x", "station"], prediction="f", observation="y", progress=False)
    assert named.inputs == ["x", "station:category"]


def test_columns_that_are_missing_are_named(model):
    with pytest.raises(ValueError, match="^there is no column 'x', an input of the model. Columns: z$"):
        model.predict({"z": [1.0]})
    with pytest.raises(ValueError, match="1 inputs, but there are 2"):
        model.predict(np.zeros((3, 2)))


def test_files_that_cannot_be_used_are_errors_of_the_system(tmp_path, model):
    with pytest.raises(FileNotFoundError):
        accrue.Model.load(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ValueError, match="cannot be used as a model"):
        accrue.Model.load(tmp_path / "bad.json")
    with pytest.raises(OSError):
        model.save(tmp_path / "no folder" / "model.json")


def test_a_report_is_one_page_with_its_data(tmp_path, archive, model):
    start = np.datetime64("2020-01-01T00") + np.arange(1000)
    data = model.report(
        tmp_path / "report.html", archive, observation="y", times=start, compare={"true": "true_sigma"}, title="A & B"
    )
    assert (tmp_path / "report.html").read_text().startswith("<!")
    assert data["title"] == "A & B" and len(data["forecasts"]) == 2
    assert data["forecasts"][0]["time_unit"] == "seconds"
    expected = model.evaluate(archive, observation="y", compare={"true": "true_sigma"})
    for scores in data["scores"]["forecasts"] + expected["forecasts"]:
        del scores["verdict"]  # the page looks into every place, months and hours too
    assert data["scores"] == expected
    places = data["forecasts"][0]["conditional"]["columns"]
    assert [column["name"] for column in places][-1] == "hour"
    judged = model.evaluate(archive, observation="y", times=start, conditional=True)["conditional"]
    assert [column["name"] for column in judged["columns"]] == [column["name"] for column in places]
    assert os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(OSError):
        model.report(tmp_path / "no folder" / "report.html", archive, observation="y")


def test_values_of_categories_and_months_are_looked_at(tmp_path):
    rng = np.random.default_rng(1)
    table = {"x": rng.random(2000), "station": np.array(["a", "b", "c"])[rng.integers(0, 3, 2000)], "f": rng.normal(size=2000)}
    table["day"] = np.datetime64("2021-01-01") + rng.integers(0, 365, 2000)
    table["y"] = table["f"] + (0.3 + table["x"]) * rng.normal(size=2000)
    columns = ["x", "station:category", "day:season"]
    model = accrue.fit(table, columns=columns, family="normal", starts=1, prediction="f", observation="y", progress=False)
    table["station"] = np.where(table["station"] == "c", "new", table["station"])
    table["y"] = table["y"] + (0.3 + table["x"]) * (table["station"] == "new")  # higher by a sigma
    judged = model.evaluate(table, observation="y", conditional=True)["conditional"]
    assert [column["name"] for column in judged["columns"]] == [*columns, "f"]
    assert judged["worst"].startswith("where station is 'new' observations lie ")
    assert {place["label"] for place in judged["columns"][2]["places"]} >= {"January", "July"}
    data = model.report(tmp_path / "report.html", table, observation="y")
    assert data["forecasts"][0]["conditional"]["worst"] == judged["worst"]
    assert [one["name"] for one in data["forecasts"][0]["inputs"]] == ["x"]


@pytest.mark.parametrize("options", [{}, {"bias": "linear"}, {"recipe": "paper"}])
def test_a_report_without_rows_draws_the_fit(tmp_path, archive, options):
    roles = dict(prediction="f", observation="y", sample_weight=np.linspace(1, 2, 1000))
    model = accrue.fit(archive, columns=["x"], progress=False, **roles, **options)
    data = model.report(tmp_path / "fit.html")
    assert data["kind"] == model.verification["kind"]
    assert data["scores"]["crps"] == pytest.approx(model.verification["crps"], rel=1e-12)
    assert data["verdict"] == model.verification["verdict"]
    with pytest.raises(ValueError, match="holds no rows"):
        pickle.loads(pickle.dumps(model)).report(tmp_path / "again.html")


def test_control_c_stops_a_fit():
    archive = accrue.generate("5D", 100_000, seed=1)
    inputs = {name: archive[name] for name in ("x1", "x2", "x3", "x4", "x5")}
    threading.Timer(0.5, _thread.interrupt_main).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        accrue.fit(inputs, prediction=archive["f"], observation=archive["y"], starts=50, progress=False)
    assert time.monotonic() - began < 60  # the whole fit would take many minutes


def test_an_error_in_a_progress_bar_stops_the_fit(archive, monkeypatch):
    import contextlib

    from accrue import _model

    @contextlib.contextmanager
    def broken(asked):
        def watcher(finished, tasks, cost):
            raise ZeroDivisionError

        yield watcher

    monkeypatch.setattr(_model, "progress_of", broken)
    big = accrue.generate("5D", 50_000, seed=1)
    with pytest.raises(ZeroDivisionError):
        accrue.fit({"x": big["x1"]}, prediction=big["f"], observation=big["y"], starts=20)


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_progress_is_shown_when_asked_for(capsys, monkeypatch, has_tqdm):
    if has_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    big = accrue.generate("G", 5_000, seed=1)
    common = dict(columns=["x"], prediction="f", observation="y", starts=4)
    accrue.fit(big, progress=True, **common)
    assert "fit" in capsys.readouterr().err
    accrue.fit(big, progress=False, **common)
    assert capsys.readouterr().err == ""


def test_notebooks_show_a_table(archive, model):
    assert "Calibration error" in model._repr_html_()
    assert model.predict(archive)._repr_html_().count("<tr>") == 6
    assert "x" in repr(model) and "1000 rows" in repr(model.predict(archive))


def test_the_command_comes_with_the_package():
    assert command("--version").strip() == f"accrue {accrue.__version__}"


def test_the_command_starts_without_numpy():
    code = "import accrue._command, sys; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_types_are_shipped():
    folder = os.path.dirname(accrue.__file__)
    assert {"py.typed", "_core.pyi"} <= set(os.listdir(folder))


def test_stages_are_an_option(archive):
    few = {name: values[:100] for name, values in archive.items()}
    options = {"columns": ["x"], "prediction": "f", "observation": "y", "progress": False}
    for stages in (True, False):
        assert accrue.fit(few, stages=stages, **options).content["configuration"]["stages"] is stages
    with pytest.raises(TypeError, match="stages is 'no', but must be true or false"):
        accrue.fit(few, stages="no", **options)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_group_is_no_group(archive, missing):
    groups = np.array(["a", "b"] * 500, dtype=object)
    groups[7] = missing
    with pytest.raises(ValueError, match="the group of row 8 is missing"):
        accrue.fit(archive, columns=["x"], prediction="f", observation="y", groups=groups, progress=False)


def test_a_column_is_named_once(archive):
    with pytest.raises(ValueError, match="columns names 'x' twice"):
        accrue.fit(archive, columns=["x", "x"], prediction="f", observation="y", progress=False)


def test_rows_with_missing_inputs_are_not_known_to_lie_inside(model):
    assert model.predict({"x": [0.5, np.nan]}).off_support.tolist() == [False, True]


def test_sigma_is_positive_or_missing():
    for bad in (0.0, -1.0):
        with pytest.raises(ValueError, match=f"sigma of row 2 is {bad}, but must be positive"):
            accrue.Forecast([0.0, 0.0], [1.0, bad])
    assert np.isnan(accrue.Forecast([0.0], [np.nan]).cdf(0.0))


def test_quantiles_have_the_shape_of_the_probabilities():
    forecast = accrue.Forecast([0.0, 10.0, 20.0], [1.0, 2.0, 3.0])
    table = forecast.quantile([[0.1, 0.2], [0.3, 0.4]])
    assert table.shape == (3, 2, 2)
    assert table[2, 1, 0] == forecast.quantile(0.3)[2]


def test_the_wheel_carries_the_licences_of_what_is_inside():
    from pathlib import Path

    folder = Path(accrue.__file__).parent
    assert "MIT" in (folder / "LICENSE").read_text()
    carried = (folder / "THIRD_PARTY.txt").read_text()
    for name in ("libceres-dev", "libeigen3-dev", "libboost-dev", "nanobind"):
        assert f"======== {name}" in carried


def test_other_threads_run_while_a_model_is_loaded(model, tmp_path):
    # Whoever held the GIL while it reads from the pipe would wait for ever: it is filled by another thread.
    script = """
import os, sys, threading
from accrue import _core
pipe, file = sys.argv[1:]
os.mkfifo(pipe)
def fill():
    with open(pipe, "w") as to:
        to.write(open(file).read())
threading.Thread(target=fill).start()
_core.Model.load(pipe)
"""
    model.save(tmp_path / "model.json")
    arguments = [sys.executable, "-c", script, str(tmp_path / "pipe"), str(tmp_path / "model.json")]
    subprocess.run(arguments, check=True, timeout=120)


def test_an_edited_model_is_refused_in_words_whatever_was_edited(model, tmp_path):
    model.save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    del content["checksum"]
    content["fit"] = {"starts": [{}]}
    total = 0xCBF29CE484222325
    for byte in json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode():
        total = (total ^ byte) * 0x100000001B3 % 2**64
    content["checksum"] = f"{total:016x}"
    (tmp_path / "edited.json").write_text(json.dumps(content, ensure_ascii=False))
    with pytest.raises(ValueError, match=re.escape("its entry 'fit.starts[0].fold' is missing")):
        accrue.Model.load(tmp_path / "edited.json")
