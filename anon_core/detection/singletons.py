"""Quasi-identifiers by singletons [Pastore2020]_: which column sets leave the most rows alone in their class.

Pastore, Pellegrino, Scarano: Detecting and Generalizing Quasi-Identifiers by Affecting Singletons, 2020. The two ratios
are those of Motwani and Xu: Efficient Algorithms for Masking and Finding Quasi-Identifiers, 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from anon_core.detection import Progress
from anon_core.detection.partition import Partition, separation
from anon_core.detection.search_size import check_search_size
from anon_core.detection.unique_columns import UniqueColumns, unique_column_combinations
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSet:
    """
    A set of columns and how far it tells rows apart.

    ``distinct_ratio`` is the number of distinct tuples divided by the number of rows, ``separation_ratio`` the share of
    all pairs of rows that differ in some column of the set (1 where there is no pair; None where units are counted).
    """

    columns: tuple[str, ...]
    singletons: int
    share: float
    distinct: int
    distinct_ratio: float
    separation_ratio: float | None

    @classmethod
    def of(cls, partition: Partition, columns: Sequence[int]) -> ColumnSet:
        """Measure a set by its partition; the columns are named in the order of the table."""
        frequencies = partition.frequencies
        names, rows = tuple(frequencies.names[i] for i in sorted(columns)), partition.rows
        if frequencies.units is not None:  # A partition does not have the tuples of a unit that is alone.
            return cls.counted(frequencies, names)
        singletons, distinct = partition.singletons, partition.classes
        return cls(
            columns=names,
            singletons=singletons,
            share=singletons / rows,
            distinct=distinct,
            distinct_ratio=distinct / rows,
            separation_ratio=separation(partition.sizes, rows),
        )

    @classmethod
    def counted(cls, frequencies: FrequencyTable, columns: Sequence[str]) -> ColumnSet:
        """Measure a set by counting it."""
        projected = frequencies.project(columns)
        rows, singletons, sizes = projected.people, projected.singletons, projected.class_sizes()
        return cls(
            columns=tuple(columns),
            singletons=singletons,
            share=singletons / rows,
            distinct=len(sizes),
            distinct_ratio=len(sizes) / rows,
            separation_ratio=separation(sizes, rows) if frequencies.units is None else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """
    What a search for singletons found.

    ``identifiers`` are the minimal sets (up to the size limit) on which every row is alone. ``best_by_size`` has for
    every size the set with most singletons. ``best`` is the set that the paper chooses: the one with most singletons,
    then fewest columns, among sets on which some row is not alone (identifiers and sets that contain one are excluded);
    None if there is no such set. ``counted`` says whether ``rows`` are "rows" or "people".
    """

    counted: str
    rows: int
    max_size: int
    identifiers: tuple[tuple[str, ...], ...]
    best: ColumnSet | None
    best_by_size: tuple[ColumnSet, ...]
    all_columns: ColumnSet
    sets_examined: int


def detect(
    frequencies: FrequencyTable,
    *,
    max_size: int | None = None,
    unique: UniqueColumns | None = None,
    progress: Progress | None = None,
) -> Detection:
    """
    Find the column sets that single out the most rows, exactly, by depth-first search over stripped partitions.

    A gap is a category of its own. Of sets with equally many singletons, the first in the order of the search is
    reported: columns with more distinct values come first, then by name. If a size has no more singletons than the size
    below (because of a constant column, or one that depends on another), the smaller set is reported with the first
    unused column by name added. In a table of one row every single column is an identifier. If all rows are equal,
    there is no identifier, and no best set has singletons.

    Where the table counts people, a person is alone who is alone in one class; a class of rows whose person is not
    known is alone, too. A set is an identifier if it singles out all known people. ``unique`` are the exact unique sets
    up to ``max_size``, if the caller has them.

    :raises InvalidInputError: there are no columns or no rows, the size is below 1, or there are too many columns for
        sets of any size.
    """
    names = frequencies.names
    if not names or not frequencies.rows:
        raise InvalidInputError("there is nothing to search: the table has no columns or no rows")
    check_search_size(len(names), max_size)
    size = min(max_size or len(names), len(names))
    search = _Search(frequencies, size, progress)
    search.run()
    identifiers = _identifiers(frequencies, size, search, unique)
    elected = min(search.best.items(), key=lambda item: (-item[1].singletons, item[0]), default=None)
    return Detection(
        counted="rows" if frequencies.units is None else "people",
        rows=frequencies.rows,
        max_size=size,
        identifiers=tuple(tuple(names[i] for i in found) for found in identifiers),
        best=elected[1] if elected else None,
        best_by_size=_every_size(frequencies, search, identifiers, size),
        all_columns=ColumnSet.counted(frequencies, names),
        sets_examined=search.examined,
    )


@dataclass(slots=True)
class _Search:
    """The depth-first search over column sets, in a fixed order of columns, so that each set is visited once."""

    frequencies: FrequencyTable
    max_size: int
    progress: Progress | None
    order: list[int] = field(default_factory=list)
    cardinalities: list[int] = field(default_factory=list)
    best: dict[int, ColumnSet] = field(default_factory=dict)
    unique: list[tuple[int, ...]] = field(default_factory=list)
    rows: int = 0
    unknown: int = 0
    examined: int = 0

    def run(self) -> None:
        columns = range(len(self.frequencies.names))
        self.cardinalities = [int(np.count_nonzero(np.bincount(self.frequencies.codes[i]))) for i in columns]
        # The columns that split most come first: good sets found early let the bound exclude more.
        self.order = sorted(columns, key=lambda i: (-self.cardinalities[i], self.frequencies.names[i]))
        whole = Partition.whole(self.frequencies)
        self.unknown = self.frequencies.classes_of_unknown
        self.rows = self.frequencies.people - self.unknown
        self._visit((), whole, whole.singletons, 0)

    def _visit(self, chosen: tuple[int, ...], partition: Partition, alone: int, start: int) -> None:
        bound = _Bound(partition, alone)
        for at in range(start, len(self.order)):
            if not self._promising(len(chosen), bound, at):
                return  # Later columns split even less.
            found = (*chosen, self.order[at])
            self.examined += 1
            if self.progress:
                self.progress(self.examined)
            if len(found) == self.max_size:
                singletons = partition.singletons_with(self.order[at])
                self._note(found, singletons, lambda: partition.refine(self.order[at]))  # noqa: B023 - called at once
                continue
            refined = partition.refine(self.order[at])
            if chosen and not self.unknown and refined.classes == partition.classes:
                continue  # The column splits no class: every set below is as good as the set without it.
            singletons = refined.singletons
            if self._note(found, singletons, lambda: refined):  # noqa: B023 - called at once
                self._visit(found, refined, singletons, at + 1)

    def _note(self, found: tuple[int, ...], singletons: int, partition: Callable[[], Partition]) -> bool:
        """Remember a set if it is the best of its size; return whether the search should go on below it.

        ``partition`` is called only then: on the last level the partition is not made yet.
        """
        if singletons == self.rows:
            self.unique.append(found)
            return False
        best = self.best.get(len(found))
        if best is None or singletons + self._of_unknown(found) > best.singletons:
            self.best[len(found)] = ColumnSet.of(partition(), found)
        return True

    def _of_unknown(self, found: tuple[int, ...]) -> int:
        """Return how many classes of a set have only rows whose person is not known; partitions lack these rows."""
        if not self.unknown:
            return 0
        return self.frequencies.project([self.frequencies.names[i] for i in found]).classes_of_unknown

    def _promising(self, size: int, bound: _Bound, at: int) -> bool:
        """Whether adding columns from ``at`` on could still beat the best set of some size and of all smaller ones."""
        capacity = 1
        for more in range(1, min(self.max_size - size, len(self.order) - at) + 1):
            capacity *= self.cardinalities[self.order[at + more - 1]]  # The largest first: `order` is descending.
            best = max((found.singletons for width, found in self.best.items() if width <= size + more), default=-1)
            # Each further column tells more rows of unknown people apart.
            if bound.singletons_within(capacity) + self.unknown > best:
                return True
        return False


class _Bound:
    """How many singletons a partition can have at most if each of its classes is split into so many cells.

    A class of z rows gives at most as many singletons as there are cells. If it has more rows than cells, one cell has
    several rows, and at least one cell is lost. Several rows of one unit can share a cell, so there all cells count.
    """

    def __init__(self, partition: Partition, alone: int) -> None:
        self._alone = alone
        by_unit = partition.frequencies.units is not None
        self._spared = 0 if by_unit else 1
        # Sets on which all rows are alone are searched elsewhere: on all other sets at least two rows are not alone.
        self._most = partition.rows - (0 if by_unit else 2)
        self._sizes: Integers = np.sort(partition.sizes)
        self._up_to: Integers = np.concatenate([[0], np.cumsum(self._sizes)])

    def singletons_within(self, cells: int) -> int:
        small = int(np.searchsorted(self._sizes, min(cells, int(self._sizes[-1]) if len(self._sizes) else 0), "right"))
        within = self._alone + int(self._up_to[small]) + (len(self._sizes) - small) * (cells - self._spared)
        return min(within, self._most)


def _identifiers(
    frequencies: FrequencyTable, size: int, search: _Search, unique: UniqueColumns | None
) -> list[tuple[int, ...]]:
    """Return the minimal sets on which every row is alone; where units are counted, the search has visited them all."""
    if frequencies.units is not None:
        return _minimal([tuple(sorted(found)) for found in search.unique])
    tell = search.progress
    found = unique or unique_column_combinations(
        frequencies, max_size=size, progress=tell and (lambda done: tell(search.examined + done))
    )
    return [tuple(frequencies.positions(columns)) for columns in found.sets]


def _minimal(sets: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the sets that contain no other one, smallest first."""
    minimal: list[frozenset[int]] = []
    for found in map(frozenset, sorted(set(sets), key=lambda s: (len(s), s))):
        if not any(smaller <= found for smaller in minimal):
            minimal.append(found)
    return [tuple(sorted(found)) for found in minimal]


def _every_size(
    frequencies: FrequencyTable, search: _Search, identifiers: Sequence[tuple[int, ...]], size: int
) -> tuple[ColumnSet, ...]:
    """Return the best set of every size; for a size that the search skipped, the smaller set with a column added."""
    names = frequencies.names
    found: list[ColumnSet] = []
    for width in range(1, size + 1):
        whole = next((i for i in identifiers if len(i) == width), None)
        best = search.best.get(width)
        if whole is not None:
            best = ColumnSet.counted(frequencies, [names[i] for i in whole])
        if found and (best is None or best.singletons <= found[-1].singletons):
            kept = found[-1].columns
            padding = min(name for name in names if name not in kept)
            best = ColumnSet.counted(frequencies, [name for name in names if name in kept or name == padding])
        if best is not None:
            found.append(best)
    return tuple(found)
