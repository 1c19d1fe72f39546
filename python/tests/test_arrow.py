"""What has the Arrow PyCapsule interface is a table, seen where it lies."""

import datetime
import decimal
import gc
import tracemalloc

import numpy as np
import pytest

import accrue
from accrue._arrays import Table, times
from accrue._arrow import Stream, array_of, is_arrow

pyarrow = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("error")
ROWS = 1_000_000


class Capsules:
    """Nothing but the interface: what pyarrow's methods would tell is not to be had."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Batch:
    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


def duckdb_relation(columns):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(pyarrow.table(columns))


def bare_stream(columns):
    table = pyarrow.table(columns)
    return Capsules(pyarrow.concat_tables([table[:300], table[300:301], table[301:]]))


def bare_batch(columns):
    return Batch(pyarrow.RecordBatch.from_pydict({name: np.asarray(values) for name, values in columns.items()}))


def reader(columns):
    table = pyarrow.table(columns)
    return pyarrow.RecordBatchReader.from_batches(table.schema, iter(table.to_batches(max_chunksize=77)))


@pytest.mark.parametrize("table", [duckdb_relation, bare_stream, bare_batch, reader])
def test_anything_with_the_interface_gives_what_plain_arrays_give(archive, model, table):
    columns = {**archive, "station": np.array(["a", "b", "long names of stations", "d", "é"] * 200)}
    roles = dict(columns=["x"], prediction="f", observation="y", progress=False)
    grouped = accrue.fit(table(columns), groups="station", **roles)
    assert grouped.to_json() == accrue.fit(columns, groups="station", **roles).to_json()
    plain = {name: columns[name] for name in ("x", "station", "f", "y")}
    usual = dict(prediction="f", observation="y", progress=False)
    assert accrue.fit(table(plain), **usual).to_json() == accrue.fit(plain, columns=["f", "x"], **usual).to_json()
    np.testing.assert_array_equal(model.predict(table(columns)).sigma, model.predict(archive).sigma)
    compared = dict(observation="y", compare={"true": "true_sigma"})
    assert model.evaluate(table(columns), **compared) == model.evaluate(archive, **compared)


def bytes_taken(work):
    """The most memory that Python and NumPy held at any time during the work, beyond what they held before."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = work()
        return result, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def float64_table(library):
    columns = {name: np.random.default_rng(k).normal(size=ROWS) for k, name in enumerate("xfy")}
    if library == "polars":
        return pytest.importorskip("polars").DataFrame(columns)
    table = pyarrow.table(columns)
    return {
        "pyarrow": table,
        "batch": table.to_batches()[0],
        "bare": Capsules(table),
        "bare batch": Batch(table.to_batches()[0]),
    }[library]


@pytest.mark.parametrize("library", ["pyarrow", "batch", "polars", "bare", "bare batch"])
def test_no_byte_of_a_million_float64_is_copied(library):
    source = float64_table(library)
    table, taken = bytes_taken(lambda: Table(source, ["f", "y"], numeric=True))
    # One column would be 8 MB; what is taken are names and objects.
    assert taken < 100_000
    columns, taken = bytes_taken(lambda: [table.column(name, ROWS) for name in "xfy"])
    assert taken < 100_000
    if library == "pyarrow":
        for name, column in zip("xfy", columns):
            assert column.ctypes.data == source.column(name).chunk(0).buffers()[1].address
    # The memory stays as long as someone sees it.
    expected = [np.random.default_rng(k).normal(size=ROWS) for k in range(3)]
    del source, table
    gc.collect()
    for column, values in zip(columns, expected):
        np.testing.assert_array_equal(column, values)


def test_what_has_to_be_converted_takes_its_own_size_and_no_more():
    whole = np.arange(float(ROWS))
    chunked = pyarrow.table({"x": pyarrow.chunked_array([whole[:10], whole[10:]]), "text": ["word"] * ROWS})
    table, taken = bytes_taken(lambda: Table(chunked, ["x"]))
    assert 8 * ROWS <= taken < 8 * ROWS + 100_000  # joined once; the texts are never made
    np.testing.assert_array_equal(table.column("x"), whole)
    del table
    single = pyarrow.table({"x": np.arange(ROWS, dtype=np.float32)})
    table, taken = bytes_taken(lambda: Table(single, ["x"]).column("x"))
    assert 8 * ROWS <= taken < 8 * ROWS + 100_000


def test_chunks_are_let_go_when_their_numbers_were_taken():
    gc.collect()
    before = pyarrow.total_allocated_bytes()
    held = []

    def batches():
        for _ in range(20):
            held.append(pyarrow.total_allocated_bytes() - before)
            texts = pyarrow.array(["x" * 1000] * 1000)
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([1.5] * 1000), texts], names=["x", "text"])
            del texts

    schema = pyarrow.schema([("x", pyarrow.float64()), ("text", pyarrow.string())])
    stream = Capsules(pyarrow.RecordBatchReader.from_batches(schema, batches()))
    assert len(Table(stream, ["x"]).column("x")) == 20_000
    # The texts of a chunk are 1 MB: those of this chunk and the one before are there, and not of all 20.
    assert max(held) < 5_000_000
    del stream
    gc.collect()
    assert pyarrow.total_allocated_bytes() <= before


WHEN = datetime.datetime(2024, 1, 31, 6)
DAY = np.datetime64("2024-01-31")
COLUMNS = {
    "float": (pyarrow.array([1.5, None, -2.0]), [1.5, np.nan, -2.0]),
    "half": (pyarrow.array(np.array([1.5, 2, 3], np.float16)), [1.5, 2.0, 3.0]),
    "byte": (pyarrow.array([1, None, -128], pyarrow.int8()), [1.0, np.nan, -128.0]),
    "large": (pyarrow.array([2**63, 1, 0], pyarrow.uint64()), [2**63, 1, 0]),
    "flag": (pyarrow.array([True, None, False]), [1.0, np.nan, 0.0]),
    "decimal": (
        pyarrow.array([decimal.Decimal("-0.25"), None, decimal.Decimal("12345678901234567890.50")]),
        [-0.25, np.nan, 12345678901234567890.5],
    ),
    "text": (pyarrow.array(["é", None, ""]), ["é", None, ""]),
    "long": (pyarrow.array(["a", "b" * 30, None], pyarrow.large_string()), ["a", "b" * 30, None]),
    "category": (pyarrow.array(["u", None, "u"]).dictionary_encode(), ["u", None, "u"]),
    "number category": (pyarrow.array([7, None, 8]).dictionary_encode(), [7.0, np.nan, 8.0]),
    "nothing": (pyarrow.nulls(3), [None, None, None]),
    "second": (pyarrow.array([WHEN, None, WHEN], pyarrow.timestamp("s", "Asia/Kolkata")), [WHEN, None, WHEN]),
    "nanosecond": (pyarrow.array([WHEN, None, WHEN], pyarrow.timestamp("ns")), [WHEN, None, WHEN]),
    "day": (pyarrow.array([DAY.item(), None, DAY.item()]), [DAY, None, DAY]),
    "day in ms": (pyarrow.array([DAY.item(), None, DAY.item()], pyarrow.date64()), [DAY, None, DAY]),
}
if hasattr(pyarrow, "string_view"):
    COLUMNS["view"] = (pyarrow.array(["a", None, "b" * 30], pyarrow.string_view()), ["a", None, "b" * 30])


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_every_kind_are_read_whole_sliced_and_in_chunks(name):
    values, expected = COLUMNS[name]
    for given, rows in (
        (values, [0, 1, 2]),
        (values[1:], [1, 2]),
        (values[2:], [2]),
        (values[:0], []),
        (pyarrow.chunked_array([values[2:], values[:2]]), [2, 0, 1]),
        (pyarrow.chunked_array([pyarrow.concat_arrays([values] * 7)[9:12]]), [0, 1, 2]),  # not at the start of a byte
    ):
        alone = [array_of(given)] if is_arrow(given) else []  # chunks learned it later than tables
        for array in (*alone, Stream(pyarrow.table({"c": given})).read(["c"])[0]["c"]):
            assert len(array) == len(rows)
            for value, row in zip(array, rows):
                if isinstance(expected[row], (datetime.datetime, np.datetime64)):
                    assert value == np.datetime64(expected[row])
                elif expected[row] is None or expected[row] != expected[row]:
                    assert value is None or value != value
                else:
                    assert value == expected[row]


def test_bytes_and_lists_are_refused_where_they_are_asked_for():
    table = pyarrow.table({"x": [1.0, 2.0], "list": [[1], [2]], "bytes": [b"a", b"b"]})
    assert Table(table, ["x"]).rows() == 2
    for name, kind in (("list", r"\+l"), ("bytes", "z")):
        with pytest.raises(
            ValueError, match=f"^column '{name}' is of Arrow's type '{kind}', but must hold numbers, texts or times$"
        ):
            Table(table, [name])
    with pytest.raises(ValueError, match="is a table, but must be one column"):
        array_of(table)


def test_an_error_of_the_stream_is_one_line():
    def batches():
        yield pyarrow.RecordBatch.from_pydict({"x": [1.0]})
        raise RuntimeError("the server went away")

    schema = pyarrow.schema([("x", pyarrow.float64())])
    with pytest.raises(ValueError, match="^the Arrow stream failed: .*the server went away[^\n]*$"):
        Table(pyarrow.RecordBatchReader.from_batches(schema, batches()), ["x"])


def test_missing_values_of_a_stream_are_named_by_row(archive):
    x = pyarrow.array([None if row == 700 else value for row, value in enumerate(archive["x"])])
    table = pyarrow.table({**archive, "x": pyarrow.chunked_array([x[:400], x[400:]])})
    with pytest.raises(ValueError, match="'x'.* row 701 "):
        accrue.fit(table, columns=["x"], prediction="f", observation="y", progress=False)


def test_times_of_arrow_are_utc():
    seconds, dates = times(Batch(COLUMNS["second"][0][:1]))
    assert dates and seconds.tolist() == [WHEN.replace(tzinfo=datetime.timezone.utc).timestamp()]
