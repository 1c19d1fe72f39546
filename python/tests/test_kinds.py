"""Inputs that are not numbers, and gaps."""
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import accrue


def archive(rows: int = 600, seed: int = 1) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    station = draw.integers(0, 4, rows)
    wdir = draw.uniform(0, 360, rows)
    mu = draw.normal(size=rows)
    x = draw.normal(size=rows)
    x[::17] = np.nan
    sigma = np.exp(np.where(station % 2 == 0, -0.5, 0.5) + 0.3 * np.cos(np.radians(wdir)))
    times = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.arange(rows), unit="h")
    return pd.DataFrame(
        {"x": x, "station": [f"s{s}" for s in station], "wdir": wdir, "t": times, "mu": mu, "y": mu + sigma * draw.normal(size=rows)}
    )


ROLES = {"prediction": "mu", "observation": "y", "starts": 1, "progress": False}
INPUTS = ["x", "station:category", "wdir:cyclic(360)", "t:season", "t:hour"]


def test_kinds_may_stand_in_names_or_beside_them():
    rows = archive()
    named = accrue.fit(rows, columns=INPUTS, missing="impute", **ROLES)
    beside = accrue.fit(
        rows,
        columns=["x", "station", "wdir", "t"],
        kinds={"station": "category", "wdir": "cyclic(360)", "t": ["season", "hour"]},
        missing="impute",
        **ROLES,
    )
    assert named.inputs == INPUTS
    assert named.to_json() == beside.to_json()


def test_texts_that_are_named_are_categories():
    rows = archive()
    assert accrue.fit(rows, columns=["wdir", "station"], **ROLES).inputs == ["wdir", "station:category"]


def test_categorical_columns_are_inputs_by_default():
    rows = archive().drop(columns=["x", "t"])
    rows["station"] = rows["station"].astype("category")
    assert accrue.fit(rows, **ROLES).inputs == ["mu", "wdir", "station:category"]
    # Clusters take none, and leave out what nobody named.
    assert accrue.fit(rows, form="clusters", **ROLES).inputs == ["mu", "wdir"]


def polars_table(kind, lazy):
    def table(rows):
        polars = pytest.importorskip("polars")
        of_type = polars.Categorical if kind == "Categorical" else polars.Enum(["s0", "s1", "s2", "s3"])
        frame = polars.from_pandas(rows).with_columns(polars.col("station").cast(of_type))
        return frame.lazy() if lazy else frame

    return table


def pyarrow_table(rows):
    table = pytest.importorskip("pyarrow").Table.from_pandas(rows, preserve_index=False)
    place = table.schema.get_field_index("station")
    return table.set_column(place, "station", table.column(place).dictionary_encode())


def pyarrow_stream(rows):
    return pyarrow_table(rows).to_reader(50)  # chunks with a dictionary each


def pyarrow_columns(rows):
    table = pyarrow_table(rows)
    return {name: table.column(name) for name in table.column_names}


def pandas_of_arrow(rows):
    return pyarrow_table(rows).to_pandas(types_mapper=pd.ArrowDtype)


def duckdb_relation(rows):
    duckdb = pytest.importorskip("duckdb")
    table = pytest.importorskip("pyarrow").Table.from_pandas(rows, preserve_index=False)
    station = "cast(station as enum('s0', 's1', 's2', 's3')) as station"
    return duckdb.from_arrow(table).select(", ".join(station if name == "station" else name for name in table.column_names))


OF_A_TYPE_FOR_CATEGORIES = {
    **{f"polars {kind}{' lazy' * lazy}": polars_table(kind, lazy) for kind in ("Categorical", "Enum") for lazy in (False, True)},
    "pyarrow": pyarrow_table,
    "stream": pyarrow_stream,
    "columns": pyarrow_columns,
    "pandas of pyarrow": pandas_of_arrow,
    "DuckDB": duckdb_relation,
}


@pytest.mark.parametrize("table", OF_A_TYPE_FOR_CATEGORIES.values(), ids=OF_A_TYPE_FOR_CATEGORIES)
def test_types_for_categories_of_every_library_are_inputs_by_default(table):
    rows = archive().drop(columns=["x", "t"])
    model = accrue.fit(table(rows), **ROLES)
    assert model.inputs == ["mu", "wdir", "station:category"]
    assert model.to_json() == accrue.fit(rows.assign(station=rows["station"].astype("category")), **ROLES).to_json()
    np.testing.assert_array_equal(model.predict(table(rows)).sigma, model.predict(rows).sigma)
    assert accrue.fit(table(rows), form="clusters", **ROLES).inputs == ["mu", "wdir"]
    # Where the inputs are named it is mentioned, read or not.
    offers = [remark for remark in accrue.fit(table(rows), columns=["wdir"], **ROLES).remarks if "could be" in remark]
    assert len(offers) == 1 and offers[0].endswith(" could be an input: station:category")


def test_a_dictionary_of_numbers_holds_numbers():
    pyarrow = pytest.importorskip("pyarrow")
    rows = archive().drop(columns=["x", "t", "station"])
    table = pyarrow.Table.from_pandas(rows, preserve_index=False)
    place = table.schema.get_field_index("wdir")
    encoded = table.set_column(place, "wdir", table.column(place).dictionary_encode())
    assert accrue.fit(encoded, **ROLES).to_json() == accrue.fit(table, **ROLES).to_json()


def test_columns_that_could_be_inputs_are_mentioned():
    rows = archive().drop(columns="x")
    rows["remark"] = [f"remark {row}" for row in range(len(rows))]  # each stands in one row
    model = accrue.fit(rows, columns=["wdir"], **ROLES)
    offers = [remark for remark in model.remarks if "could" in remark]
    assert offers == [
        "station (text, 4 values) could be an input: station:category",
        "t (time) could give two inputs: t:season and t:hour",
    ]
    assert "could be an input: station:category" in model._repr_html_()
    named = accrue.fit(rows, columns=["station:category", "t:hour"], **ROLES)
    assert not any("could" in remark for remark in named.remarks)
    grouped = accrue.fit(rows, columns=["wdir"], groups="station", times="t", **ROLES)
    assert [remark for remark in grouped.remarks if "could" in remark] == offers[1:]
    many = pd.concat([rows] * 20, ignore_index=True)
    offer = "station (text, 4 values in the first 10000 rows) could be an input: station:category"
    assert offer in accrue.fit(many, columns=["wdir"], **ROLES).remarks


def test_texts_that_were_not_read_are_mentioned_too():
    polars = pytest.importorskip("polars")
    rows = polars.from_pandas(archive().drop(columns=["x", "t"]))
    for table in (rows.lazy(), rows.to_arrow()):
        remarks = accrue.fit(table, columns=["wdir"], **ROLES).remarks
        assert "station (text) could be an input: station:category" in remarks


def test_quotes_and_spellings_do_not_matter():
    rows = archive().rename(columns={"station": "the station"})
    model = accrue.fit(rows, columns=["'the station':category", "wdir+1", "'wdir'"], **ROLES)
    assert model.inputs == ["the station:category", "wdir + 1", "wdir"]
    assert np.isfinite(model.predict(rows).sigma).all()


def test_forecasts_follow_labels_not_codes():
    rows = archive()
    model = accrue.fit(rows, columns=INPUTS, missing="impute", **ROLES)
    forecast = model.predict(rows)
    backwards = model.predict(rows[::-1].reset_index(drop=True))
    np.testing.assert_array_equal(forecast.sigma, backwards.sigma[::-1])
    assert np.isfinite(forecast.sigma).all()
    assert not forecast.off_support.any()
    new = rows.head(3).assign(station=["s1", "elsewhere", None])
    assert list(model.predict(new).off_support) == [False, True, False]
    assert model.evaluate(rows, observation="y", missing="drop")["crps"] > 0


def test_files_are_those_of_the_command(tmp_path):
    rows = archive()
    rows.to_csv(tmp_path / "a.csv", index=False, date_format="%Y-%m-%dT%H:%M:%S")
    options = ["--inputs", ",".join(INPUTS), "--prediction", "mu", "--observation", "y", "--missing", "impute", "--starts", "1"]
    command = [sys.executable, "-c", "from accrue._command import main; main()", "fit", "a.csv", *options, "--quiet", "-o", "m.json"]
    subprocess.run(command, cwd=tmp_path, check=True)
    model = accrue.fit(rows, columns=INPUTS, missing="impute", **ROLES)
    assert (tmp_path / "m.json").read_text() == model.to_json()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": ["wdir:cyclic"]}, "needs a period above 0"),
        ({"columns": ["wdir"], "kinds": {"direction": "cyclic(360)"}}, "there is no column 'direction', which kinds names"),
        ({"columns": ["mu:season"]}, "needs dates"),
        ({"columns": ["station"], "form": "clusters"}, "takes numbers only"),
        ({"columns": ["station:categry"]}, "'categry' is not a kind of input; did you mean 'station:category'\\?"),
        ({"columns": ["station"], "kinds": {"station": "factor"}}, "did you mean 'station:category'\\?"),
        ({"columns": ["x+1", "x + 1"]}, "columns names 'x \\+ 1' twice|inputs names 'x \\+ 1' twice"),
        ({"columns": ["station:number"]}, "column 'station': values of type .* are not numbers"),
        ({"columns": ["wdir"], "missing": "fill"}, "missing is 'fill', but must be one of refuse, drop, impute"),
    ],
)
def test_refuses_kinds_that_make_no_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        accrue.fit(archive(), **{**ROLES, **arguments})


def test_known_noise_of_the_observations_is_taken_out(tmp_path):
    draw = np.random.default_rng(6)
    x, sd = draw.uniform(size=600), draw.uniform(0.5, 1.5, 600)
    rows = pd.DataFrame({"x": x, "mu": 0.0, "sd": sd, "y": 0.5 * draw.normal(size=600) + sd * draw.normal(size=600)})
    given = {"columns": ["x"], "form": "constant", **{k: v for k, v in ROLES.items() if k != "starts"}}
    whole = accrue.fit(rows, **given).predict(rows).sigma[0]
    model = accrue.fit(rows, observation_error="sd", **given)
    # sqrt(0.25 + 1.08) in truth, and 0.5; the standard error of 600 squares of the first is 0.077, of the second 0.07.
    assert 1.0 < whole < 1.3
    assert 0.2 < model.predict(rows).sigma[0] < 0.75
    assert accrue.fit(rows, observation_error=rows["sd"], **given).to_json() == model.to_json()
    same = accrue.fit(rows, observation_error=0.25, **given)
    assert same.content["columns"]["observation_error"] == "0.25"
    rows.to_csv(tmp_path / "a.csv", index=False)
    options = ["--inputs", "x", "--form", "constant", "--prediction", "mu", "--observation", "y", "--quiet", "-o", "m.json"]
    command = [sys.executable, "-c", "from accrue._command import main; main()", "fit", "a.csv", *options]
    for value, expected in (("sd", model), ("0.25", same)):
        subprocess.run([*command, "--observation-error", value], cwd=tmp_path, check=True)
        assert (tmp_path / "m.json").read_text() == expected.to_json()
    with pytest.raises(ValueError, match="is larger than the errors"):
        accrue.fit(rows, observation_error=50.0, **given)
    with pytest.raises(ValueError, match="observation error of row 3 is -1"):
        accrue.fit(rows, observation_error=np.where(np.arange(600) == 2, -1.0, sd), **given)
