import _thread
import inspect
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
    assert [g["name"] for g in by_group.verification["groups"]] == [str(k) for k in range(10)]
    assert accrue.fit(archive, times=start, **common).content["configuration"]["folds_by"] == "time"
    weighted = accrue.fit(archive, sample_weight=np.linspace(0.1, 1, 1000), **common)
    assert weighted.verification["effective_rows"] < 1000


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


def test_example_data_do_not_give_their_sigma_away(archive):
    model = accrue.fit(archive, prediction="f", observation="y", progress=False)
    assert model.inputs == ["x"]


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
        {"x": archive["x"]}, prediction=archive["f"], observation=skewed, recalibrate="isotonic", progress=False
    )
    forecast = model.predict({"x": archive["x"]}, prediction=archive["f"])
    assert not forecast.is_gaussian
    for one in (forecast, pickle.loads(pickle.dumps(forecast))):
        # Far inside the knots the two are inverse functions of each other up to rounding.
        np.testing.assert_allclose(one.cdf(one.quantile(0.3)), 0.3, rtol=1e-9)
    assert model.evaluate({"x": archive["x"]}, prediction=archive["f"], observation=skewed)["nlpd"] is None


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
        (dict(prediction="f", observation="y", folds=1), "at least 2 folds"),
        (dict(prediction="f", observation="y", error="y"), "either error"),
        (dict(prediction="f", observation="y", columns=["y"]), "not known when predicting"),
        (dict(observation="y"), "give a prediction"),
        (dict(prediction="f", observation="y", groups=np.zeros(1000)), "single group"),
        (dict(prediction="f", observation=np.zeros(3)), "3 rows"),
        (dict(prediction="f", observation=np.full(1000, np.nan)), "^observation 'observation' of row 1 is nan"),
        (dict(prediction="f", observation=["a"] * 1000), "^observation: values of type .* are not numbers$"),
        (dict(prediction="f", observation="y", sample_weight=np.full(1000, -1.0)), "row 1 is -1, but must not be neg"),
        (dict(prediction="f", observation="y", balance=2.0), "^balance is 2, but must be between 0 and 1$"),
        (dict(observation="y", mean="gp", bias="linear"), '^bias corrects a prediction; with mean="gp" there is none$'),
        (dict(prediction="f", observation="y", folds=2000), "use more rows or fewer folds$"),
        (dict(prediction="f", observation="y", groups=np.arange(1000) % 3), "use folds=3 or another column$"),
        (
            dict(prediction="f", observation="y", groups=np.arange(1000) % 7, recipe="paper"),
            'groups and times go with recipe="default"$',
        ),
    ],
)
def test_bad_input_is_a_value_error_that_names_the_rule(archive, given, message):
    with pytest.raises(ValueError, match=message):
        accrue.fit(archive, progress=False, **{"columns": ["x"], **given})


def test_every_option_of_the_command_has_a_name_in_python():
    from accrue._words import in_python

    roles = set(inspect.signature(accrue.fit).parameters)
    options = roles | {name for name in dir(accrue._core.FitOptions()) if not name.startswith("_")}
    choices = re.findall(r"--([a-z]+) \{(.*?)\}", command("fit", "--help"))
    assert len(choices) >= 6
    for option, values in choices:
        if option == "missing":  # of files
            continue
        assert option in options
        for value in values.split(","):
            assert in_python(f"try --{option} {value}, or") == f'try {option}="{value}", or'
    for option in "inputs prediction observation error weight group time folds starts balance seed".split():
        assert in_python(f"--{option} is") in {f"{name} is" for name in options}


def test_remarks_name_arguments_and_the_file_options(archive):
    model = accrue.fit(archive, columns=["x"], prediction=archive["f"] + 1, observation="y", progress=False)
    assert any('bias="constant" would' in remark for remark in model.remarks)
    assert any("--bias constant would" in remark for remark in model.verification["verdict"]["remarks"])
    assert "bias=&quot;constant&quot;" in model._repr_html_()


def test_an_unknown_option_is_named_with_the_known_ones(archive):
    with pytest.raises(TypeError, match="no option 'fold'.*folds"):
        accrue.fit(archive, prediction="f", observation="y", fold=3)


@pytest.mark.parametrize("option", [dict(folds=2.5), dict(seed=-1), dict(form=3)])
def test_an_option_of_the_wrong_kind_is_named(archive, option):
    with pytest.raises(TypeError, match=f"^{next(iter(option))} is .*, but must be a"):
        accrue.fit(archive, prediction="f", observation="y", **option)


def test_columns_of_text_are_no_inputs_unless_named(archive):
    table = {**archive, "station": ["A"] * 1000, "date": np.datetime64("2020-01-01") + np.arange(1000)}
    assert accrue.fit(table, prediction="f", observation="y", progress=False).inputs == ["x"]
    with pytest.raises(ValueError, match="column 'station': values of type .* are not numbers"):
        accrue.fit(table, columns=["x", "station"], prediction="f", observation="y", progress=False)


def test_columns_that_are_missing_are_named(model):
    with pytest.raises(ValueError, match="input 'x' is not among the columns: z"):
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
    assert data["scores"] == model.evaluate(archive, observation="y", compare={"true": "true_sigma"})
    assert os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(OSError):
        model.report(tmp_path / "no folder" / "report.html", archive, observation="y")


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
    with pytest.raises(TypeError, match="stages is 'no', but must be True or False"):
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
