"""Selective [Omer2016]_: how far every subset of nominated columns tells rows apart, and which subset is chosen.

Omer, Mohamad: Simple and effective method for selecting quasi-identifier, 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.detection import Progress
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable

MAX_COLUMNS = 20
"""The number of subsets doubles with each column; with 20 there are a million."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """One subset of the nominated columns: its distinct tuples, and the rows that are alone on it."""

    columns: tuple[str, ...]
    distinct: int
    singletons: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Every subset, smallest first, and the chosen one: most distinct tuples, then fewest columns, then the first."""

    rows: int
    subsets: tuple[Subset, ...]
    elected: tuple[str, ...]


def select(frequencies: FrequencyTable, *, progress: Progress | None = None) -> Selection:
    """
    Count the distinct tuples and singletons of every subset of the columns, without the empty one.

    A gap is a category of its own. Each subset is counted from the distinct tuples of a larger one, never from rows.

    :raises InvalidInputError: there are no columns, no rows, or more columns than the method can take.
    """
    names = frequencies.names
    if not names or not frequencies.rows:
        raise InvalidInputError("there is nothing to select from: no columns or no rows")
    if len(names) > MAX_COLUMNS:
        raise InvalidInputError(
            f"{len(names)} nominated columns have {2 ** len(names) - 1:,} subsets; nominate at most {MAX_COLUMNS}, "
            "or let `anon detect` search among many"
        )
    found: list[Subset] = []
    # Columns with many values are left out first, so that most subsets are counted from small tables.
    order = sorted(names, key=lambda name: (-_cardinality(frequencies, name), name))

    def visit(counted: FrequencyTable, start: int) -> None:
        columns = tuple(name for name in names if name in counted.names)
        found.append(Subset(columns=columns, distinct=counted.tuples, singletons=counted.singletons))
        if progress:
            progress(len(found))
        for at in range(start, len(order)):
            rest = [name for name in counted.names if name != order[at]]
            if rest:
                visit(counted.project(rest), at + 1)

    visit(frequencies, 0)
    place = {name: i for i, name in enumerate(names)}
    found.sort(key=lambda subset: (len(subset.columns), [place[name] for name in subset.columns]))
    elected = max(found, key=lambda subset: (subset.distinct, -len(subset.columns)))
    return Selection(rows=frequencies.rows, subsets=tuple(found), elected=elected.columns)


def _cardinality(frequencies: FrequencyTable, name: str) -> int:
    return int(np.count_nonzero(np.bincount(frequencies.codes[frequencies.names.index(name)])))
