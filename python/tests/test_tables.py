"""Tables and times of every kind that people have give what plain arrays give."""

import datetime

import numpy as np
import pytest

import accrue
from accrue._arrays import times

NAMES = dict(columns=["x"], prediction="f", observation="y")


def pandas_frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def polars_query(columns):
    return pytest.importorskip("polars").LazyFrame(columns)


def pyarrow_table(columns):
    # In pieces, as a Parquet file gives them.
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(columns)
    return pyarrow.concat_tables([table[:400], table[400:]])


def pyarrow_batch(columns):
    return pytest.importorskip("pyarrow").RecordBatch.from_pydict({k: np.asarray(v) for k, v in columns.items()})


pytestmark = pytest.mark.filterwarnings("error")
TABLES = [pandas_frame, polars_frame, polars_query, pyarrow_table, pyarrow_batch]


@pytest.mark.parametrize("table", TABLES)
def test_every_kind_of_table_gives_the_same_everywhere(archive, model, tmp_path, table):
    station = np.array(["a", "b", "c", "d", "e"] * 200)
    columns = {**archive, "station": station}
    given = table(columns)
    # Without columns= text is no input.
    plain = {"x": archive["x"], "station": station, "f": archive["f"], "y": archive["y"]}
    roles = dict(prediction="f", observation="y", progress=False)
    assert accrue.fit(table(plain), **roles).to_json() == accrue.fit(plain, columns=["f", "x"], **roles).to_json()
    grouped = accrue.fit(given, groups="station", progress=False, **NAMES)
    assert grouped.to_json() == accrue.fit(columns, groups="station", progress=False, **NAMES).to_json()
    np.testing.assert_array_equal(model.predict(given).quantile(0.9), model.predict(archive).quantile(0.9))
    compared = dict(observation="y", compare={"true": "true_sigma", "grouped": grouped})
    assert model.evaluate(given, **compared) == model.evaluate(archive, **compared)
    drawn = [model.report(tmp_path / "page.html", rows, **compared) for rows in (given, archive)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("table", [pyarrow_table, pyarrow_batch, polars_frame])
def test_values_of_a_role_come_from_columns_of_any_table(archive, model, table):
    given = table(archive)
    fitted = accrue.fit({"x": given["x"]}, prediction=given["f"], observation=given["y"], progress=False)
    np.testing.assert_array_equal(fitted.predict(given).sigma, model.predict(archive).sigma)


def test_of_a_query_only_the_needed_columns_are_collected_and_once(archive, model, tmp_path):
    polars = pytest.importorskip("polars")
    collected = []

    def seen(name):
        def note(values):
            collected.append(name)
            return values

        return polars.col(name).map_batches(note, return_dtype=polars.Float64)

    query = polars.LazyFrame(archive).with_columns(*(seen(name) for name in archive), seen("x").cast(str).alias("text"))

    def columns_of(work):
        collected.clear()
        work()
        return sorted(collected)

    assert columns_of(lambda: accrue.fit(query, progress=False, **NAMES)) == ["f", "x", "y"]
    constant = dict(prediction="f", observation="y", form="constant", progress=False)
    assert columns_of(lambda: accrue.fit(query, **constant)) == ["f", "y"]
    numeric = query.drop("true_sigma")
    assert columns_of(lambda: accrue.fit(numeric, prediction="f", observation="y", progress=False)) == ["f", "x", "y"]
    assert columns_of(lambda: model.predict(query)) == ["f", "x"]
    assert columns_of(lambda: model.predict(query, prediction=np.zeros(1000))) == ["x"]
    assert columns_of(lambda: model.evaluate(query, observation="y")) == ["f", "x", "y"]
    report = dict(observation="y", compare={"t": "true_sigma"})
    assert columns_of(lambda: model.report(tmp_path / "page.html", query, **report)) == ["f", "true_sigma", "x", "y"]


def test_a_query_without_needed_columns_still_has_rows(archive):
    polars = pytest.importorskip("polars")
    constant = accrue.fit({}, error=archive["y"] - archive["f"], form="constant", progress=False)
    assert len(constant.predict(polars.LazyFrame(archive))) == 1000


class Unknown:
    pass


@pytest.mark.parametrize(
    "inputs, found",
    [
        ("archive.csv", "is of type str, .*; read the file first$"),
        (None, "is of type NoneType, "),
        (3.0, "is of type float, "),
        (Unknown(), "is of type Unknown, "),
        ([{"x": 1.0}, {"x": 2.0}], "is of type list, "),
        ([[1.0], [1.0, 2.0]], "is of type list, "),
        (np.zeros((2, 2, 2)), r"has the shape \(2, 2, 2\), "),
    ],
)
def test_what_is_no_table_is_refused_with_the_rule(model, tmp_path, inputs, found):
    rule = f"^inputs {found}" if "$" in found else f"^inputs {found}but must be a table: a mapping .*, a pandas or polars .*"
    for work in (
        lambda: accrue.fit(inputs, error=np.ones(2), progress=False),
        lambda: model.predict(inputs),
        lambda: model.evaluate(inputs, error=np.ones(2)),
    ):
        with pytest.raises(ValueError, match=rule):
            work()


def test_what_is_no_column_is_refused_by_its_name(archive):
    polars = pytest.importorskip("polars")
    for given in (polars.col("f"), polars.LazyFrame(archive), Unknown()):
        with pytest.raises(ValueError, match=f"^prediction: a value of type {type(given).__name__} is not a number$"):
            accrue.fit(archive, columns=["x"], prediction=given, observation="y", progress=False)
    with pytest.raises(ValueError, match="there is no column 'z'. Columns: x, f, true_sigma, y"):
        accrue.fit(polars.LazyFrame(archive), columns=["z"], prediction="f", observation="y", progress=False)


def test_numbers_in_texts_are_no_numbers(archive):
    codes = np.array([str(k) for k in range(1000)], object)
    table = {"x": archive["x"], "code": codes, "f": archive["f"], "y": archive["y"]}
    assert accrue.fit(table, prediction="f", observation="y", progress=False).inputs == ["f", "x"]


def test_numbers_among_missing_ones_are_numbers(archive):
    scored = accrue.scores.crps(np.array([1, None, 3.0], object), 1.0)
    assert np.isnan(scored).tolist() == [False, True, False]
    flags = pytest.importorskip("pyarrow").array([None, *[True, False, True] * 333])
    with pytest.raises(ValueError, match="'flag'.* row 1 is "):  # not left out in silence
        accrue.fit({"flag": flags, **archive}, prediction="f", observation="y", progress=False)


# Times. In every other row the clock of another zone: whoever reads the clocks and not the zones gets another order.

UTC = np.datetime64("2024-01-01T00:00:00", "us") + np.arange(1000) * np.timedelta64(3600_000_000, "us")
SECONDS = UTC.astype(np.int64) / 1e6
ZONES = [datetime.timezone(datetime.timedelta(hours=h)) for h in (-11, 13)]
AWARE = [
    t.replace(tzinfo=datetime.timezone.utc).astimezone(ZONES[row % 2]) for row, t in enumerate(UTC.astype(datetime.datetime))
]


def in_one_zone(kind):
    if kind == "pandas":
        return pytest.importorskip("pandas").Series(UTC).dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata")
    if kind == "pandas index":
        return pytest.importorskip("pandas").DatetimeIndex(UTC, tz="UTC").tz_convert("Asia/Kolkata")
    if kind == "polars":
        return pytest.importorskip("polars").Series(UTC).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Kolkata")
    pyarrow = pytest.importorskip("pyarrow")
    values = pyarrow.array(UTC.astype(np.int64), pyarrow.timestamp("us", tz="Asia/Kolkata"))
    if kind == "pandas with arrow":
        pandas = pytest.importorskip("pandas")
        return pandas.Series(values, dtype=pandas.ArrowDtype(values.type))
    return values if kind == "pyarrow" else pyarrow.chunked_array([values[:300], values[300:]])


@pytest.mark.parametrize("kind", ["pandas", "pandas index", "pandas with arrow", "polars", "pyarrow", "pyarrow in pieces"])
def test_times_with_a_zone_become_utc(archive, kind):
    values = in_one_zone(kind)
    seconds, dates = times(values)
    assert dates
    np.testing.assert_array_equal(seconds, SECONDS)
    options = dict(columns=["x"], prediction="f", observation="y", times="when", progress=False)
    fitted = accrue.fit({**archive, "when": values}, **options)
    assert fitted.to_json() == accrue.fit({**archive, "when": UTC}, **options).to_json()


@pytest.mark.parametrize(
    "values",
    [
        AWARE,
        np.array(AWARE, object),
        [t.isoformat() for t in AWARE],
        [f"{t}Z" for t in UTC],
        list(UTC.astype(datetime.datetime)),
        list(UTC),
    ],
    ids=["datetimes", "objects", "texts", "texts with Z", "without a zone", "of NumPy"],
)
def test_lists_of_times_become_utc(archive, values):
    seconds, dates = times(values)
    assert dates
    np.testing.assert_array_equal(seconds, SECONDS)
    common = dict(columns=["x"], prediction="f", observation="y", progress=False)
    assert accrue.fit(archive, times=values, **common).to_json() == accrue.fit(archive, times=UTC, **common).to_json()


@pytest.mark.parametrize(
    "values, message",
    [
        ([AWARE[0], None], "^the time of row 2 is missing; leave such rows out$"),
        (np.array(["2024-01-01", "NaT"], "datetime64[D]"), "^the time of row 2 is missing; leave such rows out$"),
        ([AWARE[0], AWARE[1].replace(tzinfo=None)], "^times must all have a time zone, or none of them$"),
        (["2024-01-01", "soon"], "^the time of row 2 is 'soon', but must be a number or a date such as"),
        ([object(), object()], "^times: values of type object are not numbers$"),
    ],
)
def test_times_that_mean_nothing_are_refused_with_the_rule(values, message):
    with pytest.raises(ValueError, match=message):
        times(values)


def test_days_and_numbers_are_times():
    days = [datetime.date(1970, 1, 2), datetime.date(1970, 1, 4)]
    for given in (days, np.array(days, "datetime64[D]")):
        seconds, dates = times(given)
        assert dates and seconds.tolist() == [86400.0, 3 * 86400.0]
    seconds, dates = times([3, 1.5])
    assert not dates and seconds.tolist() == [3.0, 1.5]


# Columns from columns


def ensemble(rows=600):
    random = np.random.default_rng(3)
    x = random.uniform(0, 1, rows)
    truth = np.sin(6 * x)
    members = {f"f{k}": truth + (0.1 + x) * random.normal(size=rows) for k in range(1, 5)}
    return {**members, "x": x, "y": truth + (0.1 + x) * random.normal(size=rows)}


@pytest.mark.parametrize("table", [dict, *TABLES])
def test_columns_are_computed_from_columns(table):
    columns = ensemble()
    members = [columns[f"f{k}"] for k in range(1, 5)]
    by_hand = {"mean": np.add.reduce(members) / 4, "root": np.sqrt(columns["x"]), "y": columns["y"]}
    model = accrue.fit(
        table(columns), prediction="mean(f*)", observation="y", columns=["sqrt(x)"], form="polynomial", progress=False
    )
    assert model.prediction == "mean(f1, f2, f3, f4)" and model.inputs == ["sqrt(x)"]
    other = accrue.fit(by_hand, prediction="mean", observation="y", columns=["root"], form="polynomial", progress=False)
    expected = other.predict(by_hand)
    forecast = model.predict(table(columns))
    # The order of a sum of four members may differ in the last bit.
    np.testing.assert_allclose(forecast.mean, expected.mean, rtol=1e-13)
    np.testing.assert_allclose(forecast.sigma, expected.sigma, rtol=1e-6)
    assert model.evaluate(table(columns), observation="y")["rows"] == 600


def test_a_dataset_computes_columns_too():
    xarray = pytest.importorskip("xarray")
    columns = ensemble(400)
    model = accrue.fit(columns, prediction="mean(f*)", observation="y", columns=["spread(f*)"], form="constant", progress=False)
    grid = xarray.Dataset({name: (("a", "b"), values.reshape(20, 20)) for name, values in columns.items()})
    sigma = model.predict(grid).sigma
    np.testing.assert_array_equal(sigma.values.ravel(), model.predict(columns).sigma)


def test_patterns_of_inputs_are_written_out():
    model = accrue.fit(ensemble(), prediction="f1", observation="y", columns=["f*", "x"], form="constant", progress=False)
    assert model.inputs == ["f2", "f3", "f4", "x"]


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(prediction="mean(g*)"), "'mean(g*)': no column of the table matches 'g*'"),
        (dict(prediction="f1 / (x - x)"), "row 1: f1 / (x - x) divides by zero"),
        (dict(prediction="f1 + z"), "the table has no column 'z'"),
        (dict(prediction="f1", columns=["y - x"]), "'y' is what the errors are made of"),
        (dict(prediction="f1", columns=["g*"]), "no column of numbers without another role matches 'g*'"),
    ],
)
def test_expressions_that_cannot_be_computed_are_refused(given, message):
    with pytest.raises(ValueError, match=".*") as caught:
        accrue.fit(ensemble(50), observation="y", progress=False, **given)
    assert message in str(caught.value)


@pytest.mark.parametrize("table", [dict, *TABLES])
def test_numbers_that_mean_missing_are_missing(table, tmp_path):
    columns = ensemble(400)
    model = accrue.fit(table(columns), prediction="f1", observation="y", columns=["x"], form="polynomial", progress=False)
    columns["x"] = columns["x"].copy()
    columns["x"][[3, 7]] = -9999
    columns["f1"] = np.round(columns["f1"], 1).astype(np.float32)
    columns["f1"][5] = 99.9
    marked = model.predict(table(columns), missing_value={"x": -9999, "f1": 99.9})
    assert np.flatnonzero(np.isnan(marked.sigma)).tolist() == [3, 5, 7]
    assert not np.isnan(model.predict(table(columns)).sigma).any()
    with pytest.raises(ValueError, match="row 4"):
        accrue.fit(
            table(columns), prediction="f1", observation="y", columns=["x"], missing_value=-9999, form="constant", progress=False
        )
    # In rows to judge forecasts by they are dropped, or refused, as NaN are.
    gappy = {**columns, "f1": columns["f1"].astype(float), "x": columns["x"].copy()}
    gappy["x"][[3, 7]] = gappy["f1"][5] = np.nan
    marks = dict(missing_value={"x": -9999, "f1": np.float32(99.9)}, missing="drop")
    expected = model.evaluate(gappy, observation="y", missing="drop")
    assert expected["dropped"] == 3
    assert model.evaluate(table(columns), observation="y", **marks) == expected
    with pytest.raises(ValueError, match="row 4"):
        model.evaluate(table(columns), observation="y", missing_value=-9999)
    both = accrue.compare({"a": model, "b": model}, table(columns), observation="y", **marks)
    assert both.content["forecasts"][0]["crps"] == expected["crps"]
    assert model.report(tmp_path / "r.html", table(columns), observation="y", **marks)["scores"]["rows"] == 397
    sigmas = dict(observation="y", prediction="f1", sigma=np.ones(400))
    assert accrue.evaluate(table(columns), **sigmas, **marks)["rows"] == 399
    assert accrue.evaluate(gappy, **sigmas, missing="drop") == accrue.evaluate(table(columns), **sigmas, **marks)
    with pytest.raises(ValueError, match="there is no column 'z', which missing_value names"):
        model.evaluate(table(columns), observation="y", missing_value={"z": 1})
    with pytest.raises(ValueError, match="there is no column 'z', which missing_value names"):
        model.predict(table(columns), missing_value={"z": 1})
