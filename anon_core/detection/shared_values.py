"""How many people share a value, or a pair of values, with too few others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from anon_core import kernels
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable
from anon_core.kernels import AnyCodes, Integers
from anon_core.table import Mask

_MAX_CELLS_PER_ENTRY = 16
"""Pairs of values are counted in an array of at most so many cells for each entry; beyond that they are sorted."""
_FEW_CELLS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedValues:
    """
    Of ``rows`` people, how many have a value or a pair of values that fewer than k people share (``alone``).

    ``sets`` has the number of such people for each column and each pair of columns, if there are any. A pair counts
    only people whom neither of its columns counts already.
    """

    rows: int
    alone: int
    sets: dict[tuple[str, ...], int]

    def worst(self, most: int) -> list[tuple[tuple[str, ...], int]]:
        """Return up to ``most`` columns and pairs with most people alone, ties by their names."""
        return sorted(self.sets.items(), key=lambda one: (-one[1], len(one[0]), one[0]))[:most]


def shared_values(frequencies: FrequencyTable, columns: Sequence[str], *, k: int) -> SharedValues:
    """
    Find the people whose value in one column, or whose values in two, fewer than k people have; a gap is a value.

    A person with several rows is found if that holds for one row. Rows whose person is not known add no person to
    values that known people have. A value that only such rows have counts one person, and each of their tuples is
    another one.

    >>> import pyarrow as pa
    >>> codes = [np.array([0, 0, 0, 1]), np.array([0, 0, 1, 0])]
    >>> table = FrequencyTable.from_codes(["pay", "ill"], codes, [pa.array(["1", "2"]), pa.array(["a", "b"])])
    >>> shared_values(table, ["pay", "ill"], k=2)
    SharedValues(rows=4, alone=2, sets={('pay',): 1, ('ill',): 1})

    :raises UnknownColumnError: a column is not in the table.
    """
    table = frequencies if tuple(columns) == frequencies.names else frequencies.project(columns)
    search = _Search(table, k)
    alone: Mask = np.zeros(len(table.weights), np.bool_)
    sets: dict[tuple[str, ...], int] = {}
    for at, found in search.single():
        alone |= found
        sets[(table.names[at],)] = search.people(found)
    worth = kernels.compiled_is_worth(len(table.weights))
    for (one, other), people in search.pairs_compiled(alone) if worth else search.pairs(alone):
        sets[(table.names[one], table.names[other])] = people
    return SharedValues(
        rows=frequencies.rows, alone=search.people(alone), sets={names: count for names, count in sets.items() if count}
    )


class _Search:
    """The search over the entries of a table, by the values of one column and of pairs of columns."""

    def __init__(self, table: FrequencyTable, k: int) -> None:
        self.table, self.k, self.units = table, k, table.units
        self.strange = (
            None if table.units is None or (table.units > UNKNOWN_PERSON).all() else table.units == UNKNOWN_PERSON
        )
        self.most = 1 if table.units is None else int(np.bincount(table.units)[1:].max(initial=1))
        self.met = np.zeros(0 if table.units is None else int(table.units.max(initial=0)) + 1, np.bool_)
        self.common: list[tuple[AnyCodes, int]] = []

    def single(self) -> Iterator[tuple[int, Mask]]:
        """Yield for each column the entries with a rare value, and keep the other values under new numbers."""
        for at, (codes, domain) in enumerate(zip(self.table.codes, self.table.domains, strict=True)):
            cells = self._cells(codes, len(domain))
            number = np.where(cells.rare, 0, np.cumsum(~cells.rare)).astype(np.int32)
            self.common.append((number[codes], int(number.max(initial=0)) + 1))
            yield at, self._found(codes, cells)

    def pairs_compiled(self, alone: Mask) -> Iterator[tuple[tuple[int, int], int]]:
        """Do as :meth:`pairs` does, in compiled loops."""
        from anon_core.kernels.compiled.shared_pairs import Ordered, ordered, rare_pairs

        places = None if self.units is None else np.argsort(self.units, kind="stable")
        units = np.zeros(len(alone), np.int32) if places is None else np.asarray(self.units)[places]
        weights = self.table.weights
        common = [(codes if places is None else codes[places], values) for codes, values in self.common]
        found: Mask = np.zeros(len(alone), np.bool_)
        met, stamp = np.zeros(max(len(self.met), 1), np.int32), 0
        for one, (codes, values) in enumerate(common[:-1]):
            starts, order = ordered(codes, values)
            first = Ordered(starts, order, units[order], weights[order], places is not None)
            for other, (second, many) in enumerate(common[one + 1 :], one + 1):
                stamp += 1
                yield (one, other), int(rare_pairs(first, second, many, self.k, found, met, stamp))
        alone[np.arange(len(alone)) if places is None else places] |= found

    def pairs(self, alone: Mask) -> Iterator[tuple[tuple[int, int], int]]:
        """Yield how many people have a rare pair of values, neither of which is rare, and mark these people."""
        for one, other in combinations(range(len(self.common)), 2):
            (first, many), (second, more) = self.common[one], self.common[other]
            if many * more <= max(_FEW_CELLS, _MAX_CELLS_PER_ENTRY * len(first)):
                key = (first * np.int64(more) + second).astype(np.intp, copy=False)
                cells = self._cells(key, many * more)
                cells.leave_out(slice(0, more), slice(0, None, more))
                found = self._found(key, cells)
            else:
                key = kernels.group([first, second], [many, more]).member
                found = self._found(key, self._cells(key, int(key.max(initial=-1)) + 1)) & (first > 0) & (second > 0)
            alone |= found
            yield (one, other), self.people(found)

    def _cells(self, key: AnyCodes, cells: int) -> _Cells:
        """Count the people of every cell as far as needed; the figures of cells without entries have no meaning."""
        if self.units is None:
            return _Cells(rare=kernels.weigh(key, cells, self.table.weights) < self.k)
        known = key if self.strange is None else key[~self.strange]
        entries = np.bincount(known, minlength=cells)
        rare = entries < self.k
        # A person has at most so many entries: only counts between these numbers depend on whose entries they are.
        unsure = ~rare & (entries <= (self.k - 1) * self.most)
        if unsure.any():
            some = np.flatnonzero(unsure[key] if self.strange is None else unsure[key] & ~self.strange)
            rare |= unsure & (self._people_of(key[some], self.units[some], cells) < self.k)
        return _Cells(rare=rare, strange=None if self.strange is None else entries == 0)

    def _people_of(self, key: AnyCodes, units: AnyCodes, cells: int) -> Integers:
        first = kernels.group([key, units], [cells, len(self.met)]).first
        return np.bincount(key[first], minlength=cells)

    def _found(self, key: AnyCodes, cells: _Cells) -> Mask:
        """Return the entries in rare cells; those of unknown people only where no known person has the cell."""
        if self.strange is None or cells.strange is None:
            return np.asarray(cells.rare[key])
        return np.where(self.strange, cells.strange[key], cells.rare[key])

    def people(self, found: Mask) -> int:
        """Return to how many people some entries belong; each entry of an unknown person counts as one."""
        if self.units is None:
            return int(self.table.weights[found].sum())
        self.met[:] = False
        self.met[self.units[found]] = True
        strangers = 0 if self.strange is None else int(np.count_nonzero(found & self.strange))
        return int(np.count_nonzero(self.met[1:])) + strangers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """Which cells are ``rare``, with fewer than k people, and which have rows of unknown people only (``strange``)."""

    rare: Mask
    strange: Mask | None = None

    def leave_out(self, *places: slice) -> None:
        """Leave out cells whose value is rare by itself."""
        for place in places:
            self.rare[place] = False
            if self.strange is not None:
                self.strange[place] = False
