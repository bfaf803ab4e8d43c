"""Quasi-identifiers by singletons [Pastore2020]_: which column sets leave most rows alone in their class.

Pastore, Pellegrino, Scarano: Detecting and Generalizing Quasi-Identifiers by Affecting Singletons, 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from anon_core.detect.partition import Partition
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.table import Mask

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSet:
    """A set of columns and how far it tells rows apart."""

    columns: tuple[str, ...]
    singletons: int
    share: float
    distinct: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """
    What a search for singletons found.

    ``identifiers`` are the minimal sets (up to the size limit) on which every row is alone. ``best_by_size`` is the set
    with most singletons of every size. ``best`` is the paper's election: most singletons, then fewest columns, among
    sets on which some row is not alone (an identifier and whatever contains it is excluded); None if there is no such
    set.
    """

    rows: int
    max_size: int
    identifiers: tuple[tuple[str, ...], ...]
    best: ColumnSet | None
    best_by_size: tuple[ColumnSet, ...]
    all_columns: ColumnSet
    sets_examined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueSet:
    """A minimal column set that singles out more rows than allowed."""

    columns: tuple[str, ...]
    singletons: int
    share: float


@dataclass(slots=True)
class _Search:
    """The depth-first walk over column sets, in one order of columns, so that each set is met once."""

    frequencies: FrequencyTable
    max_size: int
    progress: Progress | None
    order: list[int] = field(default_factory=list)
    cardinalities: list[int] = field(default_factory=list)
    best: dict[int, tuple[int, int, tuple[int, ...]]] = field(default_factory=dict)
    unique: list[tuple[int, ...]] = field(default_factory=list)
    examined: int = 0

    def run(self) -> None:
        columns = range(len(self.frequencies.names))
        self.cardinalities = [len(np.unique(self.frequencies.codes[i])) for i in columns]
        # The columns that split most come first: good sets early make the bound bite.
        self.order = sorted(columns, key=lambda i: (-self.cardinalities[i], self.frequencies.names[i]))
        self._visit((), Partition.whole(self.frequencies), 0)

    def _visit(self, chosen: tuple[int, ...], partition: Partition, start: int) -> None:
        for at in range(start, len(self.order)):
            if not self._promising(len(chosen), partition, at):
                return  # What comes later in the order splits even less.
            column = self.order[at]
            refined = partition.refine(
                self.frequencies.codes[column], len(self.frequencies.domains[column]), self.frequencies.weights
            )
            self.examined += 1
            if self.progress:
                self.progress(self.examined)
            if chosen and len(refined.sizes) == len(partition.sizes) and refined.rows == partition.rows:
                continue  # Nothing is split: every set below equals a smaller one without this column.
            found = (*chosen, column)
            if not refined.rows:
                self.unique.append(found)
                continue
            self._note(found, refined)
            if len(found) < self.max_size:
                self._visit(found, refined, at + 1)

    def _note(self, found: tuple[int, ...], partition: Partition) -> None:
        singletons = self.frequencies.rows - partition.rows
        best = self.best.get(len(found))
        if best is None or singletons > best[0]:
            self.best[len(found)] = (singletons, singletons + len(partition.sizes), found)

    def _promising(self, size: int, partition: Partition, at: int) -> bool:
        """Whether adding columns from ``at`` on could still beat the best set of some size."""
        alone = self.frequencies.rows - partition.rows
        capacity = 1
        for more in range(1, min(self.max_size - size, len(self.order) - at) + 1):
            # `order` falls by cardinality, so these are the largest that remain. A class of z rows cannot give more
            # singletons than there are cells to put them in; if it has more rows than cells, one cell holds a crowd.
            capacity *= self.cardinalities[self.order[at + more - 1]]
            sizes = partition.sizes
            bound = alone + int(np.where(sizes <= capacity, sizes, capacity - 1).sum())
            best = self.best.get(size + more)
            if best is None or bound > best[0]:
                return True
        return False


def detect(frequencies: FrequencyTable, *, max_size: int | None = None, progress: Progress | None = None) -> Detection:
    """
    Find the column sets that single out most rows, exactly, by depth-first search over stripped partitions.

    A gap is a category of its own. Ties go to the set met first: columns with more distinct values first, then by name.
    A set that no added column refines is reported padded with the first unused columns by name. Of one row, every
    single column is an identifier.

    :raises InvalidInputError: no columns, no rows, or a size below 1.
    """
    names = frequencies.names
    if not names or not frequencies.rows:
        raise InvalidInputError("there is nothing to search: the table has no columns or no rows")
    if max_size is not None and max_size < 1:
        raise InvalidInputError(f"the largest set must have at least 1 column, not {max_size}")
    size = min(max_size or len(names), len(names))
    search = _Search(frequencies, size, progress)
    search.run()
    identifiers = _minimal([tuple(sorted(found)) for found in search.unique])
    elected = min(search.best.items(), key=lambda item: (-item[1][0], item[0]), default=None)
    whole = _column_set(frequencies, names)
    return Detection(
        rows=frequencies.rows,
        max_size=size,
        identifiers=tuple(tuple(names[i] for i in found) for found in identifiers),
        best=_named(frequencies, elected[1]) if elected else None,
        best_by_size=_every_size(frequencies, search, identifiers, size),
        all_columns=whole,
        sets_examined=search.examined,
    )


def unaccepted_uniqueness(
    frequencies: FrequencyTable,
    *,
    max_size: int,
    max_share: float,
    accepted: Sequence[Sequence[str]] = (),
    together: Sequence[Sequence[str]] = (),
) -> list[UniqueSet]:
    """
    Return the minimal column sets up to a size that single out a larger share of rows than allowed.

    The sets in ``together`` are looked at as well, whatever their size. An accepted set covers itself and its subsets.
    Of a larger set that contains it, only those rows count that the accepted set does not single out already: the
    acceptance was for them, not for whatever is added. Sets with columns that the table lacks are passed over.
    """
    rows, names = frequencies.rows, frequencies.names
    covers = _indices(accepted, names)
    alone = {cover: _alone(frequencies, cover) for cover in covers}
    found: dict[frozenset[int], int] = {}

    def breaks(members: frozenset[int], single: Mask) -> bool:
        """Note a set that singles out too many rows which nobody answers for."""
        if any(members <= cover for cover in covers):
            return False
        for cover in covers:
            if cover < members:
                single = single & ~alone[cover]
        count = int(np.count_nonzero(single))
        if count / rows > max_share:  # Not `max_share * rows`: 0.29 * 100 is below 29.
            found[members] = count
        return members in found

    def visit(chosen: tuple[int, ...], partition: Partition, start: int) -> None:
        for column in range(start, len(names)):
            members = frozenset((*chosen, column))
            if any(smaller <= members for smaller in found):
                continue
            refined = partition.refine(frequencies.codes[column], len(frequencies.domains[column]), frequencies.weights)
            if not breaks(members, _left_out(frequencies, refined)) and len(members) < max_size:
                visit((*chosen, column), refined, column + 1)

    if rows:
        visit((), Partition.whole(frequencies), 0)
        for members in _indices(together, names):
            breaks(members, _alone(frequencies, members))
    minimal = [members for members in found if not any(other < members for other in found)]
    sets = [
        UniqueSet(columns=tuple(names[i] for i in sorted(m)), singletons=found[m], share=found[m] / rows)
        for m in minimal
    ]
    return sorted(sets, key=lambda s: (len(s.columns), -s.singletons, s.columns))


def _indices(sets: Sequence[Sequence[str]], names: Sequence[str]) -> list[frozenset[int]]:
    return [frozenset(names.index(c) for c in columns) for columns in sets if set(columns) <= set(names)]


def _alone(frequencies: FrequencyTable, columns: frozenset[int]) -> Mask:
    """Return which tuples are alone under these columns."""
    partition = Partition.whole(frequencies)
    for column in sorted(columns):
        partition = partition.refine(frequencies.codes[column], len(frequencies.domains[column]), frequencies.weights)
    return _left_out(frequencies, partition)


def _left_out(frequencies: FrequencyTable, partition: Partition) -> Mask:
    """Return which tuples a stripped partition has left out: those that are alone."""
    single = np.ones(frequencies.tuples, np.bool_)
    single[partition.tuples] = False
    return single


def _minimal(sets: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the sets that contain no other one, smallest first."""
    minimal: list[tuple[int, ...]] = []
    for found in sorted(set(sets), key=lambda s: (len(s), s)):
        if not any(set(smaller) <= set(found) for smaller in minimal):
            minimal.append(found)
    return minimal


def _column_set(frequencies: FrequencyTable, columns: Sequence[str]) -> ColumnSet:
    projected = frequencies.project(columns)
    return ColumnSet(
        columns=tuple(columns),
        singletons=projected.singletons,
        share=projected.singletons / frequencies.rows,
        distinct=projected.tuples,
    )


def _named(frequencies: FrequencyTable, best: tuple[int, int, tuple[int, ...]]) -> ColumnSet:
    singletons, distinct, columns = best
    return ColumnSet(
        columns=tuple(frequencies.names[i] for i in sorted(columns)),
        singletons=singletons,
        share=singletons / frequencies.rows,
        distinct=distinct,
    )


def _every_size(
    frequencies: FrequencyTable, search: _Search, identifiers: Sequence[tuple[int, ...]], size: int
) -> tuple[ColumnSet, ...]:
    """Return the best set of every size; one that the search skipped inherits the smaller one, padded."""
    names = frequencies.names
    found: list[ColumnSet] = []
    for width in range(1, size + 1):
        whole = next((i for i in identifiers if len(i) == width), None)
        own = search.best.get(width)
        best = _named(frequencies, own) if own else None
        if whole is not None:
            best = _column_set(frequencies, [names[i] for i in whole])
        if found and (best is None or best.singletons <= found[-1].singletons):
            kept = found[-1].columns
            padding = min(name for name in names if name not in kept)
            best = _column_set(frequencies, [n for n in names if n in kept or n == padding])
        if best is not None:
            found.append(best)
    return tuple(found)
