"""Between Arrow and numpy by their buffers: the conversions of pyarrow import pandas, a third of a second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from anon_core.kernels import AnyCodes

_KINDS: dict[np.dtype[Any], pa.DataType] = {
    np.dtype(np.int32): pa.int32(),
    np.dtype(np.int64): pa.int64(),
    np.dtype(np.uint64): pa.uint64(),
    np.dtype(np.float64): pa.float64(),
}


def integers(values: AnyCodes) -> pa.Array:
    """
    Return integers as an Arrow array, without a copy.

    >>> integers(np.array([2, 1], np.int32))[0].as_py()
    2
    """
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(_KINDS[values.dtype], len(values), [None, pa.py_buffer(values)])


def numbers(values: pa.Array) -> AnyCodes:
    """Return Arrow integers as numpy, without a copy; what stands where one is null is arbitrary."""
    kind = next(kind for kind, arrow in _KINDS.items() if arrow == values.type)
    buffer = values.buffers()[1]
    if buffer is None or not len(values):
        return np.empty(0, kind)
    whole: AnyCodes = np.frombuffer(buffer, kind, count=values.offset + len(values))
    return whole[values.offset :]


def nulls(values: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return where an array is null."""
    bits = values.buffers()[0]
    if not values.null_count or bits is None:
        return np.full(len(values), bool(values.null_count), np.bool_)
    return ~_unpacked(bits, values)


def flags(values: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return Arrow booleans, none of them null."""
    return _unpacked(values.buffers()[1], values)


def _unpacked(bits: pa.Buffer, values: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    all_bits = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return all_bits[values.offset : values.offset + len(values)].view(np.bool_)


def texts(words: Sequence[str]) -> pa.Array:
    """
    Return texts as an Arrow array.

    >>> texts(["é", ""]).to_pylist()
    ['é', '']
    """
    encoded = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(words), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))])
