"""Which of some distinct tuples each row has: the join of rows with what is known of their tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from anon_core.kernels.counting import in_threads
from anon_core.kernels.effort import spend
from anon_core.kernels.grouping import AnyCodes, Integers, Mask, group

_BLOCK = 1 << 15
"""Rows whose keys stay in the cache between being made and being looked up."""
MAX_KEYS = 1 << 63
"""Where there are more possible tuples, a number of 64 bits does not tell them apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The tuple of every row, and the rows of every tuple."""

    member: AnyCodes
    rows: Integers


def join(codes: Sequence[AnyCodes], tuples: Sequence[AnyCodes], cardinalities: Sequence[int]) -> Joined | None:
    """
    Find the tuple of every row among distinct tuples in the order of their codes; None if some row has another one.

    Rows are looked up in a hash table of the tuples. Where they are few, or tuples do not fit into a word, they are
    grouped.
    """
    rows = len(codes[0])
    if rows and spend(rows * len(codes)) and prod(map(int, cardinalities)) < MAX_KEYS:
        return _looked_up(codes, tuples, cardinalities)
    together = [np.concatenate(pair) for pair in zip(tuples, codes, strict=True)]
    groups = group(together, cardinalities)
    count = len(tuples[0])
    if len(groups.weights) > count:
        return None
    return Joined(member=groups.member[count:], rows=groups.weights - 1)


def _looked_up(codes: Sequence[AnyCodes], tuples: Sequence[AnyCodes], cardinalities: Sequence[int]) -> Joined | None:
    from anon_core.kernels.compiled.joining import EMPTY, enter, find, tally_members

    bits = max(4, (2 * len(tuples[0])).bit_length())
    slots, entries = np.full(1 << bits, EMPTY, np.int64), np.zeros(1 << bits, np.int32)
    enter(_keys(tuples, cardinalities, 0, len(tuples[0])), 64 - bits, slots, entries)
    member = np.empty(len(codes[0]), np.int32)

    def look_up(start: int, stop: int) -> Integers | None:
        counts = np.zeros(len(tuples[0]), np.int64)
        for first in range(start, stop, _BLOCK):
            part = member[first : min(first + _BLOCK, stop)]
            if not find(_keys(codes, cardinalities, first, first + len(part)), 64 - bits, slots, entries, part):
                return None
            tally_members(part, counts)
        return counts

    counts = in_threads(look_up, len(member))
    return None if any(part is None for part in counts) else Joined(member=member, rows=np.sum(counts, axis=0))


def _keys(codes: Sequence[AnyCodes], cardinalities: Sequence[int], start: int, stop: int) -> Integers:
    """Return the codes of some rows, each tuple read as one number."""
    from anon_core.kernels.compiled.counting import fold

    keys = np.zeros(stop - start, np.int64)
    for column, cardinality in zip(codes, cardinalities, strict=True):
        fold(keys, column[start:stop], int(cardinality))
    return keys


def gather(values: AnyCodes, member: AnyCodes) -> AnyCodes:
    """Return ``values[member]``."""
    if not spend(len(member)):
        return values[member]
    from anon_core.kernels.compiled import joining

    out: AnyCodes = np.empty(len(member), values.dtype)
    in_threads(lambda start, stop: joining.gather(values, member[start:stop], out[start:stop]), len(member))
    return out


def add_up(parts: Sequence[tuple[Integers, AnyCodes]]) -> Integers:
    """Return the sum of ``values[member]`` over pairs of both."""
    rows = len(parts[0][1])
    out: Integers = np.zeros(rows, np.int64)
    if not spend(rows * len(parts)):
        for values, member in parts:
            out += values[member]
        return out
    from anon_core.kernels.compiled import joining

    def some(start: int, stop: int) -> None:
        for values, member in parts:
            joining.add(values, member[start:stop], out[start:stop])

    in_threads(some, rows)
    return out


def cut_out(keys: Integers, shift: int, bits: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return so many bits of each key, above the lowest ``shift`` ones."""
    mask = (1 << bits) - 1
    if not spend(len(keys)):
        return ((keys >> shift) & mask).astype(np.int32)
    from anon_core.kernels.compiled import joining

    out = np.empty(len(keys), np.int32)
    in_threads(lambda start, stop: joining.cut_out(keys[start:stop], shift, mask, out[start:stop]), len(keys))
    return out


def used_by(codes: AnyCodes, cardinality: int, kept: Mask | None, member: AnyCodes) -> Mask:
    """Return which codes occur; given ``kept``, in rows whose tuple it holds of."""
    used: Mask = np.zeros(cardinality, np.bool_)
    if not spend(len(codes)):
        used[codes if kept is None else codes[kept[member]]] = True
        return used
    from anon_core.kernels.compiled import encoding, joining

    if kept is None:
        encoding.mark_used(codes, used)
    else:
        joining.mark_kept(codes, member, kept, used)
    return used
