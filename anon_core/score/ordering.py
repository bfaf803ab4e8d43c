"""The order of the values of a column: by number where all are numbers, else by text."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_core.hierarchy.numbers import number_in
from anon_core.kernels import Integers
from anon_core.table import Mask
from anon_core.table.arrays import integers, nulls, numbers


def places(domain: pa.Array, present: Mask) -> Integers:
    """
    Return the place of each code in the order of those values that are present; -1 for the others.

    Spellings of one number (``1`` and ``1.0``) stand at one place. A gap is no number, and stands last.

    >>> places(pa.array(["10", "9", None, "x"]), np.array([True, True, True, False])).tolist()
    [1, 0, 2, -1]
    """
    at = np.flatnonzero(present)
    values = domain.take(integers(at))
    gaps = nulls(values)
    known = values.drop_null()
    rank = _whole(known) if _are_whole(known) else _spelled(known.to_pylist())
    found = np.full(len(domain), -1, np.int64)
    found[at[gaps]] = int(rank.max(initial=-1)) + 1
    found[at[~gaps]] = rank
    return found


def _are_whole(values: pa.Array) -> bool:
    """Whether every value is a plain whole number: then a million of them are ordered at once."""
    return bool(pc.all(pc.match_substring_regex(values, "^-?[0-9]{1,18}$"), min_count=0).as_py())


def _whole(values: pa.Array) -> Integers:
    return np.unique(numbers(values.cast(pa.int64())), return_inverse=True)[1].astype(np.int64)


def _spelled(values: list[str]) -> Integers:
    found = []
    for value in values:
        number = number_in(value)
        if number is None:
            return _ranked(values)
        found.append(number)
    return _ranked(found)


def _ranked(values: list[str] | list[Decimal]) -> Integers:
    rank = {value: at for at, value in enumerate(sorted(set(values)))}  # type: ignore[type-var]
    return np.array([rank[value] for value in values], np.int64)
