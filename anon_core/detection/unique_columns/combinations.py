"""Which sets of columns make every row unique, or nearly every row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anon_core import kernels
from anon_core.detection import Progress
from anon_core.detection.search_size import check_search_size
from anon_core.detection.unique_columns.interpreted import TooLongError, search_interpreted
from anon_core.detection.unique_columns.of_people import unique_columns_of_people
from anon_core.detection.unique_columns.problem import Membership, UniqueSetProblem, reduced, rows_to_spare
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable

MAX_INTERPRETED_STEPS = 100_000
"""After so many nodes and refinements (two seconds) a search in plain Python starts again in compiled loops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueColumns:
    """
    All minimal sets of columns on which enough rows are alone.

    ``rows`` is how many rows were searched: all, or every distinct row once if duplicates were ignored.
    ``duplicate_rows`` repeat an earlier row in every column. ``approximate`` is the share of rows that need not be
    alone; 0 is exact. ``sets`` have their columns in the order of the table; the smallest come first, then by the
    positions of their columns. ``exists``: there is such a set of some size, maybe above the limit; that is so if all
    columns together are such a set. Where people were ``counted``, ``rows`` are people, and ``duplicate_rows`` people
    who are alone on no set.
    """

    rows: int
    duplicate_rows: int
    max_size: int | None
    approximate: float
    sets: tuple[tuple[str, ...], ...]
    exists: bool
    counted: str = "rows"


def unique_column_combinations(
    frequencies: FrequencyTable,
    *,
    max_size: int | None = None,
    approximate: float = 0.0,
    ignore_duplicates: bool = False,
    progress: Progress | None = None,
) -> UniqueColumns:
    """
    Find all minimal unique column combinations: no two rows agree on all columns of one, and no column can be spared.

    With ``approximate`` a set is also unique if only that share of the rows is not alone: of ``n`` rows,
    ``floor(approximate * n)`` need not be alone, apart from the rounding of floats (0.29 of 100 rows are 29). A gap is
    a value like any other. If two rows are equal in every column, there is no exact set. An approximate search allows a
    few such rows, and with ``ignore_duplicates`` every distinct row is searched once. A constant column is in no
    minimal set. In a table of one row every single column is a set. Sets larger than ``max_size`` are not searched. The
    result does not depend on the order of the rows. ``progress`` is called from time to time with the number of nodes
    visited.

    Where the table counts people, a set is unique if all people are alone in at least one of their classes. With
    ``ignore_duplicates`` people who share all their rows with others are left out.

    >>> import pyarrow as pa
    >>> codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1, 2, 2])]
    >>> table = FrequencyTable.from_codes(["sex", "smoker", "town"], codes, [pa.array(range(n)) for n in (2, 2, 3)])
    >>> unique_column_combinations(table).sets
    (('sex', 'smoker'), ('smoker', 'town'))
    >>> unique_column_combinations(table, approximate=0.5).sets
    (('town',), ('sex', 'smoker'))

    :raises InvalidInputError: no columns, no rows, a size below 1, too many columns for sets of any size, or a share
        that is not in [0, 1).
    """
    _check(frequencies, max_size, approximate)
    if frequencies.units is not None:
        return _of_people(frequencies, max_size, approximate, ignore_duplicates=ignore_duplicates, progress=progress)
    rows = frequencies.tuples if ignore_duplicates else frequencies.rows
    heavy = np.zeros(frequencies.tuples, np.bool_) if ignore_duplicates else frequencies.weights > 1
    # Rows that share their whole tuple are never alone: they are subtracted from what is allowed.
    allowed = rows_to_spare(approximate, rows) - int(frequencies.weights[heavy].sum())
    if rows == 1:
        found: list[tuple[int, ...]] = [(at,) for at in range(len(frequencies.names))]
    elif allowed < 0:
        found = []
    else:
        problem = reduced(frequencies, heavy, allowed, max_size)
        found = _in_order(problem, _search(problem, progress))
    return UniqueColumns(
        rows=rows,
        duplicate_rows=frequencies.rows - frequencies.tuples,
        max_size=max_size,
        approximate=float(approximate),
        sets=tuple(tuple(map(frequencies.names.__getitem__, one)) for one in found),
        exists=rows == 1 or allowed >= 0,
    )


def _of_people(
    frequencies: FrequencyTable,
    max_size: int | None,
    approximate: float,
    *,
    ignore_duplicates: bool,
    progress: Progress | None,
) -> UniqueColumns:
    found = unique_columns_of_people(
        frequencies,
        max_size=max_size,
        approximate=approximate,
        ignore_duplicates=ignore_duplicates,
        progress=progress,
    )
    return UniqueColumns(
        rows=found.people,
        duplicate_rows=found.never_alone,
        max_size=max_size,
        approximate=float(approximate),
        sets=tuple(tuple(map(frequencies.names.__getitem__, one)) for one in found.sets),
        exists=found.exists,
        counted="people",
    )


def _check(frequencies: FrequencyTable, max_size: int | None, approximate: float) -> None:
    if not frequencies.names or not frequencies.rows:
        raise InvalidInputError("there is nothing to search: the table has no columns or no rows")
    check_search_size(len(frequencies.names), max_size)
    if not 0 <= approximate < 1:
        raise InvalidInputError(
            f"the share of rows that need not be unique must be at least 0 and below 1, not {approximate}"
        )


def _search(problem: UniqueSetProblem, progress: Progress | None) -> Membership:
    """Search in plain Python while the table and the search are small, else in compiled loops."""
    if not problem.columns:
        return np.zeros((0, 0), np.bool_)
    tell = progress or _ignore_progress
    if not kernels.compiled_is_worth(problem.codes.shape[1]):
        try:
            return search_interpreted(problem, MAX_INTERPRETED_STEPS, tell)
        except TooLongError as begun:
            nodes = begun.nodes
            return search_compiled(problem, lambda done: tell(nodes + done))
    return search_compiled(problem, tell)


def search_compiled(problem: UniqueSetProblem, progress: Progress) -> Membership:
    """Search in compiled loops."""
    from anon_core.kernels.compiled.unique_columns import minimal_unique_sets

    found = minimal_unique_sets(
        problem.codes,
        problem.light,
        max_size=problem.max_size,
        allowed=problem.allowed,
        exact=problem.exact,
        progress=progress,
    )
    octets = found.astype("<u8").view(np.uint8)  # Bytes of a word from the lowest, on any machine.
    return np.unpackbits(octets, axis=1, count=len(problem.columns), bitorder="little").view(np.bool_)


def _in_order(problem: UniqueSetProblem, found: Membership) -> list[tuple[int, ...]]:
    """Return the sets as positions in the table, those of one column included, in the order of the result."""
    by_position = np.argsort(problem.columns)
    lines, at = np.nonzero(found[:, by_position])
    positions = np.sort(problem.columns)[at].tolist()
    ends = np.searchsorted(lines, np.arange(len(found) + 1)).tolist()
    sets = [tuple(positions[begin:end]) for begin, end in pairwise(ends)]
    sets += [(position,) for position in problem.alone]
    sets.sort()
    sets.sort(key=len)
    return sets


def _ignore_progress(_: int) -> None:
    pass
