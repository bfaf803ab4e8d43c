"""Distinct tuples with weights: the table of counts from which all figures are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.errors import UnknownColumnError
from anon_core.kernels import AnyCodes, Integers
from anon_core.table import Column, Mask, Table

UNKNOWN_PERSON = kernels.UNKNOWN_PERSON
"""The unit of rows whose person is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyTable:
    """
    The distinct tuples of some columns, and how many rows have each.

    ``codes[i][j]`` is the code of tuple ``j`` in column ``i``, an index into ``domains[i]``; a gap is a null entry of
    the domain, so it is a category like any other. Tuples are in the order of their codes.

    With ``units`` people are counted, who may have several rows each. There is one entry for each pair of tuple and
    person: ``units[j]`` is the person, from 1 on, and ``unit_rows[j]`` how many rows of that person have the tuple. The
    size of a class is the number of its people. Rows whose person is not known have unit 0. In a tuple with known
    people they are left out, or have the weight 0; in a tuple without, they count as one person.

    >>> table = FrequencyTable.from_codes(["sex"], [np.array([0, 1, 0])], [pa.array(["F", "M"])])
    >>> table.weights.tolist(), table.rows
    ([2, 1], 3)
    """

    names: tuple[str, ...]
    codes: tuple[AnyCodes, ...]
    domains: tuple[pa.Array, ...]
    weights: Integers
    units: AnyCodes | None = None
    unit_rows: Integers | None = None

    @classmethod
    def from_codes(
        cls,
        names: Sequence[str],
        codes: Sequence[AnyCodes],
        domains: Sequence[pa.Array],
        weights: Integers | None = None,
        units: AnyCodes | None = None,
    ) -> FrequencyTable:
        """
        Group equal tuples and add up their weights, 1 each when there are none.

        With ``units`` the weights are the rows of each pair, and people are counted.
        """
        cardinalities = [len(domain) for domain in domains]
        if units is None:
            found = kernels.distinct(codes, cardinalities, weights)
            return cls(names=tuple(names), codes=found.codes, domains=tuple(domains), weights=found.weights)
        pairs = kernels.people_of_tuples(codes, cardinalities, units, weights)
        return cls(
            names=tuple(names),
            codes=pairs.codes,
            domains=tuple(domains),
            weights=np.ones(len(pairs.units), np.int64),
            units=pairs.units,
            unit_rows=pairs.rows,
        )

    @classmethod
    def of(cls, table: Table, columns: Sequence[str] | None = None, *, unit: str | None = None) -> FrequencyTable:
        """Count a table over some of its columns, by default all but the unit."""
        names = [name for name in table.names if name != unit] if columns is None else columns
        chosen = table.select(names).columns
        units = None if unit is None else unit_codes(table.column(unit))
        if not chosen and units is None:
            return cls(names=(), codes=(), domains=(), weights=np.full(min(table.rows, 1), table.rows, np.int64))
        return cls.from_codes(
            [c.name for c in chosen], [c.codes for c in chosen], [c.domain for c in chosen], units=units
        )

    @property
    def rows(self) -> int:
        """How many rows there are; where people are counted, how many people: one if no person is known."""
        if self.units is None:
            return int(self.weights.sum())
        return different(self.units) or min(len(self.units), 1)

    @property
    def classes_of_unknown(self) -> int:
        """How many classes have only rows whose person is not known; each of them is one person."""
        return 0 if self.units is None else int(self.weights[self.units == UNKNOWN_PERSON].sum())

    @property
    def people(self) -> int:
        """How many rows there are; of people, the known ones, and one for each class without known people."""
        if self.units is None:
            return self.rows
        return different(self.units) + self.classes_of_unknown

    @property
    def tuples(self) -> int:
        """How many distinct tuples there are."""
        return len(self.class_sizes())

    def positions(self, columns: Sequence[str]) -> list[int]:
        """:raises UnknownColumnError: some are not columns of this table."""
        unknown = [name for name in columns if name not in self.names]
        if unknown:
            raise UnknownColumnError(unknown, self.names)
        return [self.names.index(name) for name in columns]

    def project(self, columns: Sequence[str]) -> FrequencyTable:
        """Count over fewer columns. Over none at all, every row is the same tuple."""
        at = self.positions(columns)
        if tuple(columns) == self.names and (self.units is None or self.weights.all()):
            return self
        return FrequencyTable.from_codes(
            columns, [self.codes[i] for i in at], [self.domains[i] for i in at], self._rows_of_entries, self.units
        )

    def lift(self, column: str, code_map: AnyCodes, domain: pa.Array) -> FrequencyTable:
        """Replace each code of one column by ``code_map[code]``, an index into ``domain``, and count again."""
        (at,) = self.positions([column])
        codes = [code_map[old] if i == at else old for i, old in enumerate(self.codes)]
        domains = [domain if i == at else old for i, old in enumerate(self.domains)]
        return FrequencyTable.from_codes(self.names, codes, domains, self._rows_of_entries, self.units)

    @property
    def _rows_of_entries(self) -> Integers | None:
        return self.weights if self.units is None else self.unit_rows

    def class_sizes(self) -> Integers:
        """Return the number of rows of each class; where people are counted, the number of people."""
        if self.units is None:
            return self.weights
        starts = np.flatnonzero(self._opens())
        if self.weights.all():
            return np.diff(starts, append=len(self.weights))
        return np.add.reduceat(self.weights, starts)

    def class_starts(self) -> Integers:
        """Return the first entry of each class: where people are counted, a class has one for each of its people."""
        return np.flatnonzero(self._opens())

    def _opens(self) -> Mask:
        """Return which entries begin a class; they stand in the order of their codes."""
        entries = len(self.weights)
        opens = np.zeros(entries, np.bool_)
        opens[:1] = True
        for column in self.codes:
            opens[1:] |= column[1:] != column[:-1]
        return opens

    def of_entries(self, of_classes: AnyCodes) -> AnyCodes:
        """Return for each entry what is given of its class."""
        return np.asarray(of_classes[np.cumsum(self._opens()) - 1])

    @property
    def singletons(self) -> int:
        """
        How many rows are alone in their class; of people, how many are alone in at least one of their classes.

        A class of rows whose person is not known counts as one person, who is alone.
        """
        if self.units is None:
            return int(np.count_nonzero(self.weights == 1))
        alone = self.units[self.of_entries(self.class_sizes() == 1) & (self.weights > 0)]
        return different(alone) + int(np.count_nonzero(alone == UNKNOWN_PERSON))


def different(units: AnyCodes) -> int:
    """
    Return how many different people some units are; unknown people do not count.

    >>> different(np.array([3, UNKNOWN_PERSON, 3, 1]))
    2
    """
    return int(np.count_nonzero(np.bincount(units)[UNKNOWN_PERSON + 1 :]))


def unit_codes(column: Column) -> AnyCodes:
    """
    Return the person of each row, from 1 on; 0 where there is a gap.

    >>> unit_codes(Column(name="id", codes=np.array([1, 0, 2]), domain=pa.array(["a", "b", None]))).tolist()
    [2, 1, 0]
    """
    return np.asarray((column.codes + 1) % len(column.domain) if column.has_gaps else column.codes + 1)


def people_weights(codes: Sequence[AnyCodes], cardinalities: Sequence[int], units: AnyCodes) -> Integers:
    """
    Return the weight of each pair of tuple and unit: 1, but 0 for unknown people in a tuple with known people.

    >>> people_weights([np.array([0, 0, 1])], [2], np.array([UNKNOWN_PERSON, 7, UNKNOWN_PERSON])).tolist()
    [0, 1, 1]
    """
    known = units > UNKNOWN_PERSON
    if known.all():
        return np.ones(len(units), np.int64)
    found = kernels.group(codes, cardinalities, np.ones(len(units), np.int64))
    has_people = np.zeros(len(found.first), np.bool_)
    has_people[found.member[known]] = True
    return (known | ~has_people[found.member]).astype(np.int64)
