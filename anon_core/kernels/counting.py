"""The distinct tuples of some columns of codes, and how many rows have each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from anon_core.kernels.effort import spend
from anon_core.kernels.grouping import AnyCodes, Integers, Words, bits_of, group, pack

MAX_CELLS = 1 << 24
"""With up to this many possible tuples a table of counters is faster than sorting."""
MAX_CELLS_IN_CACHE = 1 << 18
"""With more possible tuples than this it pays to look for columns that follow from another one."""
MAX_COLUMNS_COMPARED = 16
"""Among more columns, looking for pairs of which one follows from the other costs more than it saves."""
_SAMPLE = 1 << 14
_MIN_ROWS_PER_THREAD = 1 << 18
"""Fewer rows than this are not worth a thread of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinct:
    """Distinct tuples in the order of their codes: one array per column, and the weight of each tuple."""

    codes: tuple[AnyCodes, ...]
    weights: Integers


def distinct(codes: Sequence[AnyCodes], cardinalities: Sequence[int], weights: Integers | None = None) -> Distinct:
    """
    Return the distinct tuples and their weights (rows, when there are none); the order of the rows has no effect.

    Few possible tuples are counted by direct addressing, after leaving out the columns that follow from another one (a
    province from its municipality); more are packed into words and sorted.
    """
    rows = len(codes[0]) if codes else 0
    if not rows or not spend(rows * len(codes)):
        return _grouped(codes, cardinalities, weights)
    if weights is not None and int(weights.max()) == 1:
        weights = None
    codes = [np.ascontiguousarray(column, np.int32) for column in codes]
    counts_wanted = min(MAX_CELLS, 4 * rows)
    images: dict[int, tuple[int, AnyCodes]] = {}
    if len(codes) <= MAX_COLUMNS_COMPARED and prod(map(int, cardinalities)) > min(MAX_CELLS_IN_CACHE, counts_wanted):
        images = _followers(codes, cardinalities)
    free = [i for i in range(len(codes)) if i not in images]
    if prod(int(cardinalities[i]) for i in free) <= counts_wanted:
        found = _tallied([codes[i] for i in free], [cardinalities[i] for i in free], weights)
    elif weights is None and sum(bits_of(cardinalities[i]) for i in free) <= 64:
        found = _sorted([codes[i] for i in free], [cardinalities[i] for i in free])
    else:
        return _grouped(codes, cardinalities, weights)
    return _with_followers(found, free, images, cardinalities)


def _grouped(codes: Sequence[AnyCodes], cardinalities: Sequence[int], weights: Integers | None) -> Distinct:
    groups = group(codes, cardinalities, weights)
    return Distinct(codes=tuple(column[groups.first] for column in codes), weights=groups.weights)


def _tallied(codes: Sequence[AnyCodes], cardinalities: Sequence[int], weights: Integers | None) -> Distinct:
    """Count by direct addressing: a tuple's codes, read as one number, are its place in the table of counters."""
    from anon_core.kernels.compiled.counting import collect, last_digit, tally, tally_weights

    columns, sizes = _at_most_four(codes, [int(cardinality) for cardinality in cardinalities])
    rows, cells, width = len(codes[0]), prod(sizes), len(columns)
    four = [*columns, *columns[:1] * 3][:4]
    radix = (*sizes, 1, 1, 1)[:4]

    def count(start: int, stop: int) -> AnyCodes:
        counts: AnyCodes = np.zeros(cells, np.int32 if weights is None else np.int64)
        part = [column[start:stop] for column in four]
        if weights is None:
            tally(width, part[0], part[1], part[2], part[3], radix, counts)
        else:
            tally_weights(width, part[0], part[1], part[2], part[3], radix, weights[start:stop], counts)
        return counts

    counts, *others = in_threads(count, rows, most=max(1, rows // max(cells, 1)))
    for other in others:
        counts += other
    keys, found = np.empty(min(cells, rows), np.int32), np.empty(min(cells, rows), np.int64)
    tuples = collect(counts, keys, found)
    keys, digits = keys[:tuples], list[AnyCodes]()
    for cardinality in reversed(cardinalities):
        digits.append(np.empty(tuples, np.int32))
        last_digit(keys, int(cardinality), digits[-1])
    return Distinct(codes=tuple(reversed(digits)), weights=found[:tuples].copy())


def _at_most_four(codes: Sequence[AnyCodes], sizes: list[int]) -> tuple[list[AnyCodes], list[int]]:
    """Return the columns with the first ones folded into one, so that no more than four are left."""
    from anon_core.kernels.compiled.counting import fold

    folded = len(codes) - 3
    if folded < 2:
        return list(codes), sizes
    keys = codes[0].copy()
    for column, size in zip(codes[1:folded], sizes[1:folded], strict=True):
        fold(keys, column, size)
    return [keys, *codes[folded:]], [prod(sizes[:folded]), *sizes[folded:]]


def _sorted(codes: Sequence[AnyCodes], cardinalities: Sequence[int]) -> Distinct:
    """Sort packed words in place and measure the runs of equal ones."""
    from anon_core.kernels.compiled.counting import measure_runs, runs

    (words,) = pack(codes, cardinalities)
    words.sort()
    values: Words = np.empty(runs(words), np.uint64)
    lengths = np.empty(len(values), np.int64)
    measure_runs(words, values, lengths)
    columns: list[AnyCodes] = []
    for cardinality in reversed(cardinalities):
        bits = bits_of(cardinality)
        columns.append((values & np.uint64((1 << bits) - 1)).astype(np.int32))
        values = values >> np.uint64(bits)
    return Distinct(codes=tuple(reversed(columns)), weights=lengths)


def _followers(codes: Sequence[AnyCodes], cardinalities: Sequence[int]) -> dict[int, tuple[int, AnyCodes]]:
    """Return the columns that follow from another one, each with that one and the code it has for each of its codes.

    A column that does not follow shows it within a few rows, so looking costs next to nothing.
    """
    from anon_core.kernels.compiled.counting import follows

    found: dict[int, tuple[int, AnyCodes]] = {}
    rows = len(codes[0])
    # A domain much larger than the table would cost more to map than the table to count.
    by_size = sorted(
        (i for i in range(len(codes)) if int(cardinalities[i]) <= 4 * rows), key=lambda i: cardinalities[i]
    )
    for place, column in enumerate(by_size):
        for other in reversed(by_size[place + 1 :]):
            image = np.full(int(cardinalities[other]), -1, np.int32)
            part = slice(0, min(rows, _SAMPLE))
            if not follows(codes[other][part], codes[column][part], image):
                continue

            def check(start: int, stop: int, column: int = column, other: int = other) -> AnyCodes | None:
                image = np.full(int(cardinalities[other]), -1, np.int32)
                return image if follows(codes[other][start:stop], codes[column][start:stop], image) else None

            image_or_none = _agreed(in_threads(check, rows))
            if image_or_none is not None:
                found[column] = (other, image_or_none)
                break
    return found


def _agreed(images: Sequence[AnyCodes | None]) -> AnyCodes | None:
    """Return the image that all parts of the rows agree on, or None."""
    whole: AnyCodes | None = None
    for image in images:
        if image is None or (whole is not None and np.any((image != whole) & (image >= 0) & (whole >= 0))):
            return None
        whole = image if whole is None else np.maximum(whole, image)
    return whole


def _with_followers(
    found: Distinct, free: Sequence[int], images: dict[int, tuple[int, AnyCodes]], cardinalities: Sequence[int]
) -> Distinct:
    """Put the columns that were left out back in, and the tuples into the order of all columns."""
    if not images:
        return found
    columns: dict[int, AnyCodes] = dict(zip(free, found.codes, strict=True))

    def column_of(i: int) -> AnyCodes:
        if i not in columns:
            other, image = images[i]
            columns[i] = image[column_of(other)]
        return columns[i]

    codes = [column_of(i) for i in range(len(cardinalities))]
    if all(leader < follower for follower, (leader, _) in images.items()):
        return Distinct(codes=tuple(codes), weights=found.weights)
    # A follower that stands before its leader decides the order before it.
    order = np.lexsort(pack(codes, cardinalities)[::-1])
    return Distinct(codes=tuple(column[order] for column in codes), weights=found.weights[order])


def in_threads(work: Callable[[int, int], Any], rows: int, most: int = 8) -> list[Any]:
    """Do the work on equal parts of the rows, one per core (``most`` at most); the loops release the lock."""
    threads = max(1, min(cores(), most, rows // _MIN_ROWS_PER_THREAD))
    if threads == 1:
        return [work(0, rows)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda part: work(*part), _parts(rows, threads)))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parts(rows: int, parts: int) -> Iterator[tuple[int, int]]:
    for part in range(parts):
        yield rows * part // parts, rows * (part + 1) // parts
