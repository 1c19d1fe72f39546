"""From what people have (NumPy, pandas, polars, xarray, DLPack) to what the library takes: columns of float64."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core

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
    """A NumPy array of anything with `__array__`, `__dlpack__`, or that NumPy itself understands; masked numbers are NaN."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(np.float64), np.nan) if values.dtype.kind in "fiub" else np.asarray(values)
    if not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    return np.asarray(values)


def numbers(values: Any) -> Any:
    """Contiguous float64, or a float where there are no dimensions. The extension calls it for what it cannot see in place."""
    array = as_array(values)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: a forecast is of real numbers")
    try:
        if array.dtype.kind not in "fiubO":  # neither texts nor dates, though NumPy would convert them
            raise TypeError
        # A copy only where it is needed.
        array = np.ascontiguousarray(array, dtype=np.float64) if array.ndim else array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"values of type {array.dtype} are not numbers") from None
    return array if array.ndim else float(array)


def broadcast(*values: Any) -> tuple[Array, ...]:
    """Contiguous float64 arrays of one shape."""
    return tuple(np.ascontiguousarray(a) for a in np.broadcast_arrays(*(numbers(v) for v in values)))


def column(values: Any, what: str, rows: int | None = None) -> Array:
    """One number a row. A single number stands for all rows where their count is known."""
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
    """Named columns: a mapping, a data frame, an xarray Dataset, or a 2-d array, whose columns are x1, x2, ...

    `named` tells whether the names came from the user.
    """

    def __init__(self, values: Any):
        self.named = True
        self.names: list[str]
        self._source: Mapping[str, Any]
        if hasattr(values, "to_dataframe") and hasattr(
            values, "data_vars"
        ):  # xarray: one row for every point of the grid
            self._source = dict(values.to_dataframe().reset_index())
            self.names = [str(name) for name in self._source]
        elif isinstance(values, Mapping):
            self._source = {str(name): column for name, column in values.items()}
            self.names = list(self._source)
        elif hasattr(values, "columns") and hasattr(values, "__getitem__"):  # pandas, polars
            names = list(values.columns)
            self.names = [str(name) for name in names]
            self._source = {str(name): values[name] for name in names}
        else:
            array = as_array(values)
            if array.ndim == 1:
                array = array[:, np.newaxis]
            if array.ndim != 2:
                raise ValueError(f"inputs have {array.ndim} dimensions; give rows and columns, or named columns")
            self.named = False
            self.names = [f"x{k + 1}" for k in range(array.shape[1])]
            self._source = {name: array[:, k] for k, name in enumerate(self.names)}
        if len(set(self.names)) != len(self.names):
            raise ValueError("two columns of the inputs have the same name")

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def raw(self, name: str) -> Any:
        if name not in self.names:
            raise ValueError(f"there is no column '{name}'; columns: {', '.join(self.names)}")
        return self._source[name]

    def column(self, name: str, rows: int | None = None) -> Array:
        return column(self.raw(name), f"column '{name}'", rows)

    def is_numeric(self, name: str) -> bool:
        try:
            numbers(self.raw(name))
        except ValueError:
            return False
        return True

    def rows(self) -> int | None:
        """The rows of the first column that is no single number."""
        for name in self.names:
            array = as_array(self._source[name])
            if array.ndim:
                return len(array)
        return None


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas.NA is neither
        return True


def codes(values: Any) -> tuple[bytes, list[str]]:
    """Groups as codes into labels, which are in the order of their first row, as the command has them."""
    array = as_array(values)
    if array.ndim != 1:
        raise ValueError(f"groups have the shape {array.shape}, but have to have one label for every row")
    if array.dtype.kind in "fO" and any(map(_is_missing, array)):
        row = next(i for i, label in enumerate(array) if _is_missing(label))
        raise ValueError(f"the group of row {row + 1} is missing; leave such rows out")
    if array.dtype.kind == "O":
        array = array.astype(str)
    unique, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    # Whole numbers as the command writes them.
    labels = [str(label).removesuffix(".0") if array.dtype.kind == "f" else str(label) for label in unique[order]]
    return place[inverse.ravel()].tobytes(), labels


def times(values: Any) -> tuple[Array, bool]:
    """Seconds since 1970 for dates, and whether they are dates."""
    array = as_array(values)
    if array.dtype.kind == "O":  # datetime objects
        with contextlib.suppress(TypeError, ValueError):
            array = array.astype("datetime64[us]")
    if array.dtype.kind == "M":
        if np.isnat(array).any():
            raise ValueError("a time is missing")
        return array.astype("datetime64[us]").astype(np.int64) / 1e6, True
    return column(array, "times"), False
