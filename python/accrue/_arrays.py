"""From what people have (NumPy, pandas, Arrow, xarray, DLPack) to what the library takes: columns of float64."""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrow import Stream, array_of, is_arrow

Array = NDArray[np.float64]


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Use at most `count` threads inside the block; 0 is all of them. Results do not depend on it.

    It holds for the whole process.

    >>> import accrue
    >>> with accrue.threads(1):
    ...     score = accrue.scores.crps(0.0, 1.0)
    """
    before = _core.threads()
    _core.set_threads(count)
    try:
        yield
    finally:
        _core.set_threads(before)


def as_array(values: Any) -> NDArray[Any]:
    """A NumPy array of a column of Arrow, of anything with `__array__` or `__dlpack__`, or that NumPy itself understands; masked
    numbers are NaN."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(np.float64), np.nan) if values.dtype.kind in "fiub" else np.asarray(values)
    if not hasattr(values, "__array__"):
        if hasattr(values, "__dlpack__"):
            return np.from_dlpack(values)
        if is_arrow(values):
            return array_of(values)
    return np.asarray(values)


def numbers(values: Any) -> Any:
    """Contiguous float64, or a float where there are no dimensions. The extension calls it for what it cannot see in place."""
    array = as_array(values)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: a forecast is of real numbers")
    try:
        if array.dtype.kind == "O":
            array = _objects(array)
        if array.dtype.kind not in "fiub":  # neither texts nor dates, though NumPy would convert them
            raise TypeError
        # A copy only where it is needed.
        array = np.ascontiguousarray(array, dtype=np.float64) if array.ndim else array.astype(np.float64)
    except (TypeError, ValueError):
        if array.dtype.kind == "O" and not array.ndim:  # NumPy knows nothing of it
            raise ValueError(f"a value of type {type(values).__name__} is not a number") from None
        raise ValueError(f"values of type {array.dtype} are not numbers") from None
    return array if array.ndim else float(array)


def _objects(array: NDArray[Any]) -> Array:
    """Objects as numbers; None and pandas.NA among numbers are NaN. A TypeError where one is neither."""
    missing = [_is_missing(value) for value in array.flat]
    if all(missing) or any(isinstance(value, (str, bytes, np.ndarray)) for value in array.flat):
        raise TypeError
    values = [np.nan if gone else float(value) for value, gone in zip(array.flat, missing)]
    return np.array(values, np.float64).reshape(array.shape)


def broadcast(*values: Any) -> tuple[Array, ...]:
    """Contiguous float64 arrays of one shape."""
    return tuple(np.ascontiguousarray(a) for a in np.broadcast_arrays(*(numbers(v) for v in values)))


def column(values: Any, what: str, rows: int | None = None) -> Array:
    """One number per row. A single number stands for all rows where their count is known."""
    try:
        array = numbers(values)
    except ValueError as problem:
        raise ValueError(f"{what}: {problem}") from None
    if isinstance(array, float):
        if rows is None:
            raise ValueError(f"{what} is a single number, but has to have one for every row")
        return np.full(rows, array)
    if array.ndim != 1:
        raise ValueError(f"{what} has the shape {array.shape}, but has to have one number for every row")
    if rows is not None and len(array) != rows:
        raise ValueError(f"{what} has {len(array)} rows, but there are {rows}")
    return array


def no_column(name: str, names: Iterable[str], where: str = "", what: str = "column") -> ValueError:
    """The error of a name that is not there, with the one that was probably meant."""
    listed = list(names)
    nearest = _core.nearest_name(name, listed)
    meant = f"; did you mean '{nearest}'?" if nearest else "."
    return ValueError(f"there is no {what} '{name}'{where}{meant} {what.capitalize()}s: {_core.name_list(listed)}")


def some_rows(values: Any, rows: Any) -> Any:
    """Some rows of a column. pandas keeps time zones, which NumPy has none of."""
    return (values if type(values).__module__.startswith("pandas") else as_array(values))[rows]


def row_number(row: int) -> str:
    return f"row {row + 1}"


def missing_rows(values: Any) -> NDArray[np.bool_] | None:
    """Where a value is missing; None for a single value, and for what cannot tell."""
    array = as_array(values)
    if array.ndim != 1:
        return None
    if array.dtype.kind in "fc":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind == "O":
        return np.fromiter(map(_is_missing, array), bool, len(array))
    return np.zeros(len(array), bool)


def require_rows(good: NDArray[np.bool_], what: str, values: Array, rule: str) -> None:
    """Refuses the first row that is not good."""
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        raise ValueError(f"{what} of row {row + 1} is {values.flat[row]}, but must be {rule}")


def name_of(values: Any, otherwise: str) -> str:
    """What a pandas or polars Series, or an xarray DataArray, is called."""
    name = getattr(values, "name", None)
    return name if isinstance(name, str) and name else otherwise


class Table:
    """Named columns: a mapping, a data frame, anything with the Arrow PyCapsule interface, an xarray Dataset, or a 2-d array,
    whose columns are x1, x2, ...

    `named` tells whether the names came from the user. `needed` are names that will be asked for; `numeric` and `categorical`
    tell that all columns of numbers, and all of a type for categories, will be: of a query (polars LazyFrame) or a stream
    nothing else is kept, and it is read once, because a query need not give its rows in the same order again. `missing_value`
    are numbers that mean a missing one, in all columns of numbers or, as a mapping, in some.
    """

    def __init__(
        self,
        values: Any,
        needed: Iterable[Any] = (),
        numeric: bool = False,
        missing_value: Any = None,
        categorical: bool = False,
    ):
        self.named = True
        self._missing_value = missing_value
        self.names: list[str]
        self._source: Mapping[str, Any]
        self._times: set[str] = set()  # columns of numbers that are times
        self._rows: int | None = None
        self._grid: list[str] = []  # columns that say where on a grid a row is
        self._counters: set[str] = set()  # of these, dimensions without a variable
        self._kinds: dict[str, str] = {}  # of columns whose attributes tell
        self._repeated: set[str] = set()  # texts that lie along some dimensions of a grid only, such as names of stations
        self._texts: set[str] = set()  # columns of text that were not read
        self._categories: set[str] = set()  # columns of a stream that are of a type for categories
        asked = {name for name in needed if isinstance(name, str)}
        if hasattr(values, "to_dataframe") and hasattr(
            values, "data_vars"
        ):  # xarray: one row for every point of the grid
            # What is not decoded is a number whose unit tells that it is a time.
            self._times = {str(name) for name, v in values.variables.items() if " since " in str(v.attrs.get("units", ""))}
            self._set_columns(values.to_dataframe().reset_index())
            self._grid = [str(name) for name in values.sizes]
            self._counters = {str(name) for name in values.sizes if name not in values.variables}
            self._describe(values)
        elif isinstance(values, Mapping):
            self._set_columns(values)
        elif hasattr(values, "collect") and hasattr(values, "lazy"):  # polars LazyFrame
            schema = values.collect_schema() if hasattr(values, "collect_schema") else values.schema
            self.names = list(schema)
            asked = self._with_operands(asked)
            if numeric:
                asked.update(name for name, kind in schema.items() if kind.is_numeric() or str(kind) == "Boolean")
            if categorical:
                asked.update(name for name, kind in schema.items() if _is_for_categories(kind))
            # One column at least, to count the rows by.
            wanted = [name for name in schema if name in asked] or list(schema)[:1]
            self._set_columns(values.select(wanted).collect())
            self.names = list(schema)
            texts = {name for name, kind in schema.items() if str(kind) in ("String", "Utf8") or _is_for_categories(kind)}
            self._texts = texts - {*wanted}
        elif hasattr(values, "iloc"):  # pandas, whose own way to Arrow needs pyarrow
            self._set_columns(values)
        elif is_arrow(values) and (stream := Stream(values)).is_table:
            self.names = stream.names
            self._require_unique()
            asked = self._with_operands(asked)
            if numeric:
                asked.update(name for name, kind in stream.kinds.items() if kind == "number")
            if categorical:
                asked.update(stream.categories)
            self._categories = stream.categories
            self._source, self._rows = stream.read(asked)
            self._texts = {name for name, kind in stream.kinds.items() if kind == "text"} - {*self._source}
        elif hasattr(values, "columns") and hasattr(values, "__getitem__"):  # data frames that do not know Arrow
            self._set_columns(values)
        else:
            array = _as_table(values)
            self.named = False
            self.names = [f"x{k + 1}" for k in range(array.shape[1])]
            self._source = {name: array[:, k] for k, name in enumerate(self.names)}
        self._require_unique()

    def _describe(self, dataset: Any) -> None:
        """What the variables of a Dataset are, by the CF conventions and their types, as in NetCDF files."""
        for name, variable in dataset.variables.items():
            attributes = [str(variable.attrs.get(key, "")) for key in ("units", "standard_name", "long_name")]
            if variable.dtype.kind in "fiu" and _core.is_direction(*attributes):
                self._kinds[str(name)] = "cyclic(360)"
            # A label with fewer than ten rows has no effect of its own.
            others = [size for dimension, size in dataset.sizes.items() if dimension not in variable.dims]
            if variable.ndim and np.prod(others) >= 10 and self.kind(str(name)) == "category":
                self._repeated.add(str(name))

    def _set_columns(self, values: Any) -> None:
        names = list(values) if isinstance(values, Mapping) else list(values.columns)
        self.names = [str(name) for name in names]
        self._source = {str(name): values[name] for name in names}

    def _require_unique(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise ValueError("two columns of the inputs have the same name")
        if isinstance(self._missing_value, Mapping):
            for name in self._missing_value:
                if name not in self.names:
                    raise no_column(name, self.names, ", which missing_value names")

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def expression(self, name: str) -> _core.Expression | None:
        """How a column that the table lacks is computed from others (docs/columns.md); None where it is only a name."""
        return None if name in self.names else _core.computed_column(name, self.names)

    def _with_operands(self, names: set[str]) -> set[str]:
        """With the columns that patterns among them stand for, and those that others are computed from."""
        wanted = set(names)
        for name in names - set(self.names):
            expression = None
            matched = self.matching(name)
            if matched is None:
                expression = self.expression(name)
            wanted.update(matched if matched is not None else [] if expression is None else expression.columns)
        return wanted

    def matching(self, pattern: str) -> list[str] | None:
        """The columns that a pattern such as P* stands for; None where it is no pattern."""
        return None if pattern in self.names else _core.matching_columns(pattern, self.names)

    def written_out(self, name: str) -> str:
        """The name of a column, or the expression that computes it without patterns: the same columns in other tables."""
        expression = self.expression(name)
        if expression is None:
            return name
        return expression.columns[0] if expression.is_column else expression.text

    def raw(self, name: str) -> Any:
        if name in self.names:
            return without(self._source[name], name, self._missing_value)
        expression = self.expression(name)
        if expression is None:
            raise no_column(name, self.names)
        return expression.values([self.column(operand, self.rows()) for operand in expression.columns])

    @property
    def on_grid(self) -> bool:
        return bool(self._grid)

    def place(self, row: int) -> str:
        """What messages call a row: its number, or on a grid its coordinates."""
        if not self._grid:
            return row_number(row)
        return ", ".join(f"{name}={_coordinate(as_array(self._source[name])[row])}" for name in self._grid)

    def column(self, name: str, rows: int | None = None) -> Array:
        return column(self.raw(name), f"column '{name}'", rows)

    def is_numeric(self, name: str) -> bool:
        if name not in self._source:  # not collected, because it has no numbers
            return False
        try:
            numbers(self.raw(name))
        except ValueError:
            return False
        return True

    def is_free(self, name: str) -> bool:
        """Whether it can be an input where none are named: it holds numbers that are neither times nor mere places along a
        dimension."""
        return self.is_numeric(name) and not self.is_time(name) and name not in self._counters

    def is_categorical(self, name: str) -> bool:
        """Whether it is a category by itself: its type is one for categories, of pandas, polars or Arrow, or it has the labels
        along some dimensions of a Dataset."""
        if name in self._repeated or name in self._categories:
            return True
        values = self._source.get(name)
        return _is_for_categories(getattr(values, "dtype", getattr(values, "type", "")))

    def kind(self, name: str) -> str:
        """What an input of this name is by its type and attributes: texts and categories are categories, a direction is
        cyclic, all else is a number."""
        if name in self._kinds:
            return self._kinds[name]
        if name not in self._source:
            return "number"
        return self._kind_of(as_array(self._source[name]), name)

    def _kind_of(self, array: NDArray[Any], name: str) -> str:
        is_text = array.dtype.kind in "US" or (
            array.dtype.kind == "O" and any(isinstance(value, (str, bytes)) for value in array.flat)
        )
        return "category" if is_text or self.is_categorical(name) else "number"

    def is_time(self, name: str) -> bool:
        """Whether it is known to hold times: dates, or numbers that a Dataset calls so many hours since a date."""
        return name in self._times or as_array(self._source[name]).dtype.kind == "M"

    def offers(self, taken: Collection[str]) -> list[str]:
        """What the columns offer beside those that are taken, in sentences: texts as categories, dates as season and hour."""
        offers = []
        looked_at = 10_000  # rows
        for name in self.names:
            if name in taken or len(offers) == 10:
                continue
            if name in self._texts:
                offers.append(_core.category_offer(name, 0, 0))
                continue
            values = self._source.get(name)
            if values is None or not getattr(values, "__len__", None):
                continue
            array = as_array(getattr(values, "iloc", values)[:looked_at])
            if array.dtype.kind == "M":
                hours = (array[~np.isnat(array)] - array[~np.isnat(array)].astype("datetime64[D]")).tolist()
                offers.append(_core.time_offer(name, len(set(hours)) > 1))
            elif self._kind_of(array, name) == "category":
                places, labels = category(array)
                if 1 < len(labels) <= len(array) / 2:
                    offers.append(_core.category_offer(name, len(labels), looked_at if len(values) > looked_at else 0))
        return offers

    def rows(self) -> int | None:
        """The rows of the first column that is not a single number."""
        if self._rows is not None:
            return self._rows
        for values in self._source.values():
            array = as_array(values)
            if array.ndim:
                return len(array)
        return None


def _is_for_categories(kind: Any) -> bool:
    """Whether the type of a column, of pandas, polars or pyarrow, is one for categories."""
    dictionaries = ("dictionary<values=string", "dictionary<values=large_string")  # one of numbers is a way to store them
    return str(kind) == "category" or str(kind).startswith(("Categorical", "Enum", *dictionaries))


def _coordinate(value: Any) -> str:
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]"))
        return text.removesuffix("T00:00:00").removesuffix(":00")
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def without(values: Any, name: str, missing_value: Any) -> Any:
    """The values of a column, NaN where they are a number that means a missing one; texts are left alone."""
    if isinstance(missing_value, Mapping):
        missing_value = missing_value.get(name)
    if missing_value is None:
        return values
    marks = np.atleast_1d(np.asarray(missing_value, np.float64))
    array = as_array(values)
    if array.dtype.kind not in "fiu":
        return values
    # -99.9 in a column of float32 is the nearest of these.
    kind = array.dtype if array.dtype.kind == "f" else np.float64
    return np.where(np.isin(array, marks.astype(kind)), np.nan, array)


def _as_table(values: Any) -> NDArray[Any]:
    """Rows and columns of an array without names, or the rule for tables."""
    found = f"is of type {type(values).__name__}"
    try:
        array = as_array(values)
        if array.ndim == 1 and array.dtype.kind == "O":
            numbers(array)
        if array.ndim > 2:
            found = f"has the shape {array.shape}"
        if array.ndim in (1, 2):
            return array if array.ndim == 2 else array[:, np.newaxis]
    except (TypeError, ValueError):
        pass
    file = "; read the file first" if isinstance(values, (str, os.PathLike)) else ""
    raise ValueError(
        f"inputs {found}, but must be a table: a mapping of names to columns, a pandas or polars data frame, anything with the "
        f"Arrow PyCapsule interface (pyarrow, DuckDB), an xarray Dataset, or an array of (rows, columns){file}"
    )


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas.NA is neither
        return True
    except ValueError:  # an array
        return False


def codes(values: Any, place: Callable[[int], str] = row_number) -> tuple[bytes, list[str]]:
    """Groups as codes into labels, which are in the order of their first row, as the command has them."""
    array = as_array(values)
    if array.ndim != 1:
        raise ValueError(f"groups have the shape {array.shape}, but have to have one label for every row")
    if array.dtype.kind in "fO" and any(map(_is_missing, array)):
        row = next(i for i, label in enumerate(array) if _is_missing(label))
        raise ValueError(f"the group of {place(row)} is missing; leave such rows out")
    array = _texts(array)
    unique, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    code_of = np.empty(len(order), np.uint32)
    code_of[order] = np.arange(len(order), dtype=np.uint32)
    # Whole numbers as the command writes them.
    labels = [str(label).removesuffix(".0") if array.dtype.kind == "f" else str(label) for label in unique[order]]
    return code_of[inverse.ravel()].tobytes(), labels


def _texts(array: NDArray[Any]) -> NDArray[Any]:
    """Objects and bytes as texts, numbers and dates as they are."""
    if array.dtype.kind == "S":  # characters of NetCDF
        return np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind != "O":
        return array
    return np.array([v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in array], str)


def category(values: Any) -> tuple[Array, list[str]]:
    """The values of a category as places in its labels, NaN where one is missing. An empty text is missing, as in files."""
    array = as_array(values)
    gaps = missing_rows(array)
    if gaps is None:
        raise ValueError(f"a category has the shape {array.shape}, but has to have one value for every row")
    if array.dtype.kind in "OSU":
        gaps = gaps | (array == "") | (array == b"")
    places, labels = codes(array[~gaps])
    result = np.full(len(array), np.nan)
    result[~gaps] = np.frombuffer(places, np.uint32)
    return result, labels


def times(values: Any, place: Callable[[int], str] = row_number, gaps: bool = False) -> tuple[Array, bool]:
    """Seconds since 1970 for dates, and whether they are dates. Where a date has no time zone, it is of UTC.

    gaps: a date that is missing is NaN; else it is refused.
    """
    kind = getattr(values, "dtype", None)
    if getattr(kind, "tz", None) is not None:  # pandas, which gives UTC where it is asked for NumPy's type
        array = np.asarray(values, f"datetime64[{kind.unit}]")
    else:
        array = as_array(values)
    if array.ndim == 1 and array.dtype.kind in "OU":
        array = _dates(array, place, gaps)
    if array.dtype.kind == "M":
        missing = np.isnat(array)
        if not gaps:
            _require_times(missing, place)
        seconds = array.astype("datetime64[us]").astype(np.int64) / 1e6
        return np.where(missing, np.nan, seconds), True
    return column(array, "times"), False


def _require_times(missing: Any, place: Callable[[int], str]) -> None:
    if np.any(missing):
        raise ValueError(f"the time of {place(int(np.argmax(missing)))} is missing; leave such rows out")


def _dates(array: NDArray[Any], place: Callable[[int], str], gaps: bool) -> NDArray[Any]:
    """Objects and texts as UTC, where they are dates. NumPy itself would take them too, but warns of time zones."""
    dates = []
    zones = set()
    for row, value in enumerate(array):
        if isinstance(value, str):
            try:  # Python 3.10 does not know the Z of ISO 8601
                value = datetime.datetime.fromisoformat(value[:-1] + "+00:00" if value.endswith("Z") else value)
            except ValueError:
                raise ValueError(
                    f"the time of {place(row)} is '{value}', but must be a number or a date such as 2024-01-31T06:00Z"
                ) from None
        if isinstance(value, datetime.datetime) and not _is_missing(value):
            zones.add(value.utcoffset() is not None)
            if value.utcoffset() is not None:
                value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        dates.append(value)
    if len(zones) > 1:
        raise ValueError("times must all have a time zone, or none of them")
    if not any(isinstance(value, (datetime.date, np.datetime64)) for value in dates):
        return array
    missing = [_is_missing(value) for value in dates]
    if not gaps:
        _require_times(missing, place)
    try:
        return np.array([None if gone else value for value, gone in zip(dates, missing)], "datetime64[us]")
    except (TypeError, ValueError):
        return array
