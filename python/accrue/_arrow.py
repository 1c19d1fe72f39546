"""Columns of anything with the Arrow PyCapsule interface, without pyarrow: the C data interface is three structures.

https://arrow.apache.org/docs/format/CDataInterface.html is their definition. Memory stays where its owner has it as long as
NumPy can see it there; docs/decisions/0014-arrow.md says why no other library is used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _ArrayStream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
# CFUNCTYPE gives up the GIL during a call: a query may wait for threads that need it.
_ArrayStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_ArrayStream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_ArrayStream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_ArrayStream))),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _from_capsule(capsule: Any, structure: Any, name: bytes) -> Any:
    return structure.from_address(_pointer_of(capsule, name))


class _Owned:
    """A structure that was moved here, released when nobody uses it any more."""

    def __init__(self, value: Any):
        self.value = type(value).from_buffer_copy(value)
        value.release = None  # it was moved: its former owner has nothing to release

    def __del__(self) -> None:
        if self.value.release:
            _release(self.value.release)(ctypes.addressof(self.value))


class _Memory:
    """Part of a buffer as NumPy sees it, which keeps the owner alive."""

    def __init__(self, address: int, count: int, kind: str, owner: _Owned):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": kind, "data": (address, True)}


_NUMBERS = {"c": "|i1", "C": "|u1", "s": "<i2", "S": "<u2", "i": "<i4", "I": "<u4", "l": "<i8", "L": "<u8"}
_NUMBERS |= {"e": "<f2", "f": "<f4", "g": "<f8"}
_TIMES = {"tss": "s", "tsm": "ms", "tsu": "us", "tsn": "ns"}


def _kind(schema: _Schema) -> str:
    format = (schema.dictionary.contents if schema.dictionary else schema).format.decode()
    if format in _NUMBERS or format == "b" or format.startswith("d:") and not format.endswith(",256"):
        return "number"
    if format in ("u", "U", "vu", "n"):
        return "text"
    return "time" if format[:3] in _TIMES or format in ("tdD", "tdm") else "other"


class _Piece:
    """Rows of one column: what lies behind one array structure."""

    def __init__(self, schema: _Schema, array: _Array, owner: _Owned, start: int = 0, count: int | None = None):
        self.schema = schema
        self.array = array
        self.owner = owner
        self.start = start + array.offset
        self.count = array.length if count is None else count

    def _buffer(self, place: int, kind: str, start: int, count: int) -> NDArray[Any]:
        address = self.array.buffers[place] if count else None
        if not address:
            return np.empty(0, kind)
        return np.asarray(_Memory(address + start * np.dtype(kind).itemsize, count, kind, self.owner))

    def _bits(self, place: int) -> NDArray[np.bool_]:
        first = self.start // 8
        packed = self._buffer(place, "|u1", first, (self.start + self.count + 7) // 8 - first)
        return np.unpackbits(packed, bitorder="little")[self.start - 8 * first :][: self.count].astype(bool)

    def _missing(self) -> NDArray[np.bool_] | None:
        """Where a value is missing; None where none is."""
        if self.array.null_count == 0 or not self.array.n_buffers or not self.array.buffers[0] or not self.count:
            return None
        missing = ~self._bits(0)
        return missing if missing.any() else None

    def values(self) -> NDArray[Any]:
        """Numbers as they are, with NaN as float64 where one is missing; dates; texts as objects with None."""
        format = self.schema.format.decode()
        missing = self._missing()
        if self.schema.dictionary:
            return self._decoded(self._fixed(_NUMBERS[format]), missing)
        if format == "n":
            return np.full(self.count, None, object)
        if format in ("u", "U", "vu"):
            texts = self._viewed() if format == "vu" else self._texts("<i4" if format == "u" else "<i8")
            values = np.array([*texts, None], object)[:-1]  # NumPy would make something else of an empty list
            if missing is not None:
                values[missing] = None
            return values
        if format[:2] in ("ts", "td"):
            unit = _TIMES.get(format[:3], "D" if format == "tdD" else "ms")
            days = self._fixed("<i4").astype("<i8") if unit == "D" else self._fixed("<i8")
            values = days.view(f"<M8[{unit}]")
            return values if missing is None else np.where(missing, np.datetime64("NaT"), values)
        if format == "b":
            values = self._bits(1) if self.count else np.empty(0, bool)
        elif format.startswith("d:"):
            values = self._decimals(*map(int, format[2:].split(",")[1:]))
        else:
            values = self._fixed(_NUMBERS[format])
        return values if missing is None else np.where(missing, np.nan, values.astype(np.float64))

    def _fixed(self, kind: str) -> NDArray[Any]:
        values = self._buffer(1, kind, self.start, self.count)
        return values if values.flags.aligned else values.copy()  # a file that is mapped may have them anywhere

    def _decoded(self, codes: NDArray[Any], missing: NDArray[np.bool_] | None) -> NDArray[Any]:
        values = _Piece(self.schema.dictionary.contents, self.array.dictionary.contents, self.owner).values()
        if missing is None:
            return values[codes] if len(codes) else values[:0]
        gone = {"O": None, "M": np.datetime64("NaT")}.get(values.dtype.kind, np.nan)
        return np.append(values, gone)[np.where(missing, -1, codes.astype(np.intp))]

    def _decimals(self, scale: int, bits: int = 128) -> NDArray[np.float64]:
        if bits <= 64:
            return self._fixed(f"<i{bits // 8}") / 10.0**scale
        low, high = self._buffer(1, "<u8", 2 * self.start, 2 * self.count).reshape(-1, 2).T
        # Without their signs, since a small negative number is the difference of two large ones.
        negative = high >> np.uint64(63) == 1
        low = np.where(negative, ~low + np.uint64(1), low)
        high = np.where(negative, ~high + (low == 0), high)
        return np.where(negative, -1.0, 1.0) * (high * 2.0**64 + low) / 10.0**scale

    def _texts(self, kind: str) -> list[str]:
        ends = self._buffer(1, kind, self.start, self.count + 1 if self.count else 0).tolist()
        if not ends:
            return []
        data = self._buffer(2, "|u1", ends[0], ends[-1] - ends[0]).tobytes()
        first = ends[0]
        return [data[a - first : b - first].decode() for a, b in zip(ends, ends[1:])]

    def _viewed(self) -> list[str]:
        """Texts of up to 12 bytes stand in their view, others in one of the buffers behind it."""
        views = self._buffer(1, "|u1", 16 * self.start, 16 * self.count)
        raw = views.tobytes()
        lengths, _, buffers, offsets = views.view("<i4").reshape(-1, 4).T.tolist() if self.count else ([],) * 4
        texts = []
        for row, (length, buffer, offset) in enumerate(zip(lengths, buffers, offsets)):
            if length <= 12:
                texts.append(raw[16 * row + 4 : 16 * row + 4 + length].decode())
            else:
                texts.append(ctypes.string_at(self.array.buffers[2 + buffer] + offset, length).decode())
        return texts


def is_arrow(values: Any) -> bool:
    return hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")


class Stream:
    """A table, or a single column, that is read once. `kinds` has its columns: "number", "text", "time" or "other".

    `categories` are its columns of a type for categories: those with a dictionary of texts, such as Categorical and Enum of
    polars, dictionaries of pyarrow and ENUM of DuckDB. A dictionary of numbers is only a way to store them.
    """

    def __init__(self, values: Any):
        self._stream: Any = None
        self._next: Callable[[], _Owned | None]
        if hasattr(values, "__arrow_c_stream__"):
            self._capsule = values.__arrow_c_stream__()
            self._stream = _from_capsule(self._capsule, _ArrayStream, b"arrow_array_stream")
            schema = _Schema()
            self._check(self._stream.get_schema(ctypes.byref(self._stream), ctypes.byref(schema)))
            self._schema = _Owned(schema)
            self._next = self._next_of_stream
        else:
            described, array = values.__arrow_c_array__()
            self._schema = _Owned(_from_capsule(described, _Schema, b"arrow_schema"))
            arrays = [_Owned(_from_capsule(array, _Array, b"arrow_array"))]
            self._next = lambda: arrays.pop() if arrays else None
        root = self._schema.value
        self.is_table = root.format == b"+s"
        fields = [root.children[k].contents for k in range(root.n_children)] if self.is_table else [root]
        self.names = [(field.name or b"").decode() for field in fields]
        self.kinds = dict(zip(self.names, map(_kind, fields)))
        self.categories = {
            name for name, field in zip(self.names, fields) if field.dictionary and self.kinds[name] == "text"
        }
        self._fields = fields

    def _check(self, status: int) -> None:
        if status:
            message = self._stream.get_last_error(ctypes.byref(self._stream))
            reason = (message or b"").decode(errors="replace").partition("\n")[0]
            raise ValueError(f"the Arrow stream failed: {reason or 'no reason was given'}")

    def _next_of_stream(self) -> _Owned | None:
        array = _Array()
        self._check(self._stream.get_next(ctypes.byref(self._stream), ctypes.byref(array)))
        return _Owned(array) if array.release else None

    def read(self, wanted: Collection[str]) -> tuple[dict[str, NDArray[Any]], int]:
        """The columns of these names, and the number of rows. Of each chunk nothing else is kept."""
        places = [k for k, name in enumerate(self.names) if name in wanted]
        for k in places:
            if self.kinds[self.names[k]] == "other":
                raise ValueError(
                    f"column '{self.names[k]}' is of Arrow's type '{self._fields[k].format.decode()}', "
                    "but must hold numbers, texts or times"
                )
        pieces: dict[str, list[NDArray[Any]]] = {self.names[k]: [] for k in places}
        rows = 0
        while (chunk := self._next()) is not None:
            array = chunk.value
            rows += array.length
            for k in places:
                if self.is_table:
                    # The rest of the chunk can go while this column stays.
                    own = _Owned(array.children[k].contents)
                    piece = _Piece(self._fields[k], own.value, own, array.offset, array.length)
                else:
                    piece = _Piece(self._fields[k], array, chunk)
                pieces[self.names[k]].append(piece.values())
        return {name: _joined(parts) for name, parts in pieces.items()}, rows


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0)


def array_of(values: Any) -> NDArray[Any]:
    """A single column."""
    stream = Stream(values)
    if stream.is_table:
        raise ValueError(f"a value of type {type(values).__name__} is a table, but must be one column")
    return stream.read(stream.names)[0][stream.names[0]]
