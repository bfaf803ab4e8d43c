"""The problem of a search for unique columns, reduced to the columns and rows that matter."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np

from anon_core.frequency import FrequencyTable
from anon_core.kernels import AnyCodes
from anon_core.table import Mask

Membership = Mask
"""Sets of columns as lines of a matrix, which says for each column of the problem whether the set has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueSetProblem:
    """
    Find the minimal sets of ``columns`` on which at most ``allowed`` light rows are not alone.

    ``columns`` are positions in the table, from the fewest distinct values to the most; ``codes`` has one line for
    each, below its cardinality. Constant columns are left out, and so are those in ``alone``, which are unique by
    themselves: neither is part of any other minimal set. A tuple that several rows share is heavy: its rows are not
    alone on any columns, so they are counted once, before the search. ``light`` says which tuples are not heavy (empty:
    all).
    """

    columns: tuple[int, ...]
    codes: AnyCodes
    cardinalities: tuple[int, ...]
    light: AnyCodes
    allowed: int
    max_size: int
    alone: tuple[int, ...]

    @property
    def exact(self) -> bool:
        """Whether every row must be alone, so that a set must have a column in which any two rows differ."""
        return self.allowed == 0 and not len(self.light)


def rows_to_spare(share: float, rows: int) -> int:
    """
    Return how many of the rows need not be alone, if this share of them need not.

    The rounding of floats is corrected: 0.29 of 100 rows are 29, although the float 0.29 * 100 is less, and a third of
    6 rows are 2.

    >>> rows_to_spare(0.29, 100), int(0.29 * 100), rows_to_spare(1 / 3, 6)
    (29, 28, 2)
    """
    exact = share * rows
    return floor(exact + max(1e-9, exact * 1e-12))


def reduced(frequencies: FrequencyTable, heavy: AnyCodes, allowed: int, max_size: int | None) -> UniqueSetProblem:
    """Reduce a table of at least two tuples; ``heavy`` says which tuples are never alone."""
    some_heavy = bool(heavy.any())
    light = (~heavy).astype(np.uint8) if some_heavy else np.zeros(0, np.uint8)
    searched: list[tuple[int, int]] = []
    alone: list[tuple[int, int]] = []
    for at, codes in enumerate(frequencies.codes):
        sizes = np.bincount(codes)
        distinct = int(np.count_nonzero(sizes))
        if distinct == 1:
            continue
        if distinct == frequencies.tuples:
            crowd = 0
        elif allowed:
            shared = sizes[codes] > 1
            crowd = int(np.count_nonzero(shared & ~heavy if some_heavy else shared))
        else:
            crowd = 1  # Some value is shared; the search finds out whether only heavy rows share it.
        (alone if crowd <= allowed else searched).append((distinct, at))
    # Columns with more values come later: the search tries them last, so they are at the start of its paths, where they
    # leave the fewest rows for the nodes below.
    searched.sort()
    columns = tuple(at for _, at in searched)
    matrix = np.empty((len(columns), frequencies.tuples), np.int32)
    for line, at in enumerate(columns):
        matrix[line] = frequencies.codes[at]
    limit = len(columns) if max_size is None else min(max_size, len(columns))
    return UniqueSetProblem(
        columns=columns,
        codes=matrix,
        cardinalities=tuple(len(frequencies.domains[at]) for at in columns),
        light=light,
        allowed=allowed,
        max_size=limit,
        alone=tuple(at for _, at in alone),
    )
