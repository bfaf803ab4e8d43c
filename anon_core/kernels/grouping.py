"""Pack codes into machine words and group equal words: a handful of vectorised passes, no loop over rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Words = np.ndarray[Any, np.dtype[np.uint64]]
AnyCodes = np.ndarray[Any, np.dtype[Any]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

MAX_DIRECT_BITS = 24
"""Up to this many bits a table of counters is smaller and faster than sorting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Rows with equal tuples: where each group first occurs, how heavy it is, and which one a row is in.

    Groups are numbered in the order of their tuples.
    """

    first: Integers
    weights: Integers
    member: Integers


def bits_of(cardinality: int) -> int:
    """Return how many bits the codes of a column need."""
    return max(int(cardinality) - 1, 0).bit_length()


def pack(codes: Sequence[AnyCodes], cardinalities: Sequence[int]) -> list[Words]:
    """
    Pack one code per column into as few 64-bit words as they need, most significant column first.

    A column takes as many bits as its cardinality needs, and never straddles two words. The order of the packed words
    is the lexicographic order of the tuples.
    """
    words: list[Words] = []
    free = 0
    for column, cardinality in zip(codes, cardinalities, strict=True):
        bits = bits_of(cardinality)
        if not words or bits > free:
            words.append(np.zeros(len(column), np.uint64))
            free = 64
        words[-1] = (words[-1] << np.uint64(bits)) | column.astype(np.uint64)
        free -= bits
    return words


def group(codes: Sequence[AnyCodes], cardinalities: Sequence[int], weights: Integers | None = None) -> Groups:
    """Group equal tuples: by direct addressing when they fit into few bits, else by sorting packed words."""
    rows = len(codes[0]) if codes else (0 if weights is None else len(weights))
    if not codes or not rows:
        total = rows if weights is None else int(weights.sum())
        some = 1 if rows else 0
        return Groups(
            first=np.zeros(some, np.int64), weights=np.full(some, total, np.int64), member=np.zeros(rows, np.int64)
        )
    words = pack(codes, cardinalities)
    bits = sum(map(bits_of, cardinalities))
    if bits <= MAX_DIRECT_BITS and (1 << bits) <= max(16 * rows, 1 << 12):
        return _group_direct(words[0].astype(np.int64), 1 << bits, weights)
    return _group_sorted(words, weights)


def _group_direct(keys: Integers, size: int, weights: Integers | None) -> Groups:
    present = np.zeros(size, np.bool_)
    present[keys] = True
    used = np.flatnonzero(present)
    number = np.zeros(size, np.int64)
    number[used] = np.arange(len(used))
    member = number[keys]
    first = np.zeros(len(used), np.int64)
    first[member[::-1]] = np.arange(len(keys) - 1, -1, -1)
    return Groups(first=first, weights=weigh(member, len(used), weights), member=member)


def _group_sorted(words: list[Words], weights: Integers | None) -> Groups:
    order = np.argsort(words[0], kind="stable") if len(words) == 1 else np.lexsort(words[::-1])
    starts = np.zeros(len(order), np.bool_)
    starts[0] = True
    for word in words:
        ordered = word[order]
        starts[1:] |= ordered[1:] != ordered[:-1]
    member = np.empty(len(order), np.int64)
    member[order] = np.cumsum(starts) - 1
    first = order[starts]
    return Groups(first=first, weights=weigh(member, len(first), weights), member=member)


def weigh(member: Integers, groups: int, weights: Integers | None) -> Integers:
    """Return the total weight of each group (its number of rows when there are no weights), exactly."""
    if weights is None:
        return np.bincount(member, minlength=groups).astype(np.int64)
    total = np.zeros(groups, np.int64)
    np.add.at(total, member, weights)
    return total
