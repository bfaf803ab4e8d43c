"""How many rows are in classes of each size: the input of the risk and of its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable
from anon_core.kernels import Integers


class RowsOrPeople(StrEnum):
    """What figures called rows count: rows, or people."""

    ROWS = "rows"
    PEOPLE = "people"

    @property
    def singular(self) -> str:
        return "row" if self is RowsOrPeople.ROWS else "person"

    @classmethod
    def of(cls, frequencies: FrequencyTable) -> RowsOrPeople:
        """Return what a table counts."""
        return cls.ROWS if frequencies.units is None else cls.PEOPLE


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsBySize:
    """
    The sizes that classes have, ascending, and how many rows are in classes of each.

    ``counted`` says whether ``rows`` are rows or people. A person in several classes counts once, in the smallest one,
    where they are found most easily. A class of rows whose person is not known is one person.
    """

    sizes: Integers
    rows: Integers
    classes: int
    counted: RowsOrPeople

    @property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.rows.sum())

    def below(self, size: int) -> int:
        """Return how many rows are in classes smaller than this."""
        return int(self.rows[self.sizes < size].sum())


def rows_by_size(frequencies: FrequencyTable, quasi_identifiers: Sequence[str] | None = None) -> RowsBySize:
    """
    Count the rows by the size of their class over some columns, by default all; a gap is a value like any other.

    >>> import pyarrow as pa
    >>> table = FrequencyTable.from_codes(["sex"], [np.array([0, 1, 0])], [pa.array(["F", "M"])])
    >>> found = rows_by_size(table)
    >>> found.sizes.tolist(), found.rows.tolist(), found.below(2)
    ([1, 2], [1, 2], 1)

    :raises UnknownColumnError: a quasi-identifier is not in the table.
    """
    classes = frequencies if quasi_identifiers is None else frequencies.project(quasi_identifiers)
    smallest = smallest_classes(classes)
    if classes.units is None:
        sizes, times = np.unique(smallest, return_counts=True)
        return RowsBySize(sizes=sizes, rows=sizes * times, classes=len(smallest), counted=RowsOrPeople.ROWS)
    of_people = np.zeros(int(classes.units.max(initial=UNKNOWN_PERSON)) + 1, np.int64)
    of_people[classes.units] = smallest
    times = np.bincount(of_people[UNKNOWN_PERSON + 1 :], minlength=2)
    times[1] += classes.classes_of_unknown
    sizes = np.flatnonzero(times[1:]) + 1
    return RowsBySize(sizes=sizes, rows=times[sizes], classes=classes.tuples, counted=RowsOrPeople.PEOPLE)


def smallest_classes(classes: FrequencyTable) -> Integers:
    """Return for each tuple the size of its class; for each pair of tuple and unit, the unit's smallest class."""
    if classes.units is None:
        return classes.weights
    smallest = np.full(int(classes.units.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(smallest, classes.units, classes.of_entries(classes.class_sizes()))
    return np.asarray(smallest[classes.units])
