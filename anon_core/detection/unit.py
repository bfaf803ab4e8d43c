"""Whether columns that tell people apart contradict the unit of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.detection.groups import MAX_FEW_VALUES, MAX_GROUP_ROWS, ValueGroups
from anon_core.detection.roles.personal_codes import (
    is_of_something_else,
    is_shared,
    may_number_people,
    numbers_records,
    personal_code,
)
from anon_core.frequency import UNKNOWN_PERSON, unit_codes
from anon_core.kernels import AnyCodes, Integers
from anon_core.role import Role
from anon_core.table import Column, Mask, Table
from anon_core.table.people import one_spelling

MOST_AGREE = 0.95
"""Of the values in several rows; a person may have moved between two of theirs, or be written down wrong."""
MOST_ALIKE = 0.8
MOST_ALIKE_TOGETHER = 0.5
"""Rows that agree by chance more often, in one column or in all that agree, say nothing of whose they are."""
FREE_OF_EACH_OTHER = 1.5
"""So many times as many pairs of town and sex there are as towns; of town and province there are no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanningColumn:
    """A column with a value in rows of several units; ``people`` is the number of its distinct values."""

    column: str
    rows: int
    people: int


def spanning_columns(table: Table, roles: Mapping[str, Role], unit: Column | None) -> tuple[SpanningColumn, ...]:
    """
    Return the columns that contradict a unit: one of their values is in rows of several people by that unit.

    With ``unit`` None every row is another person. Rows without a value, and rows without a unit, contradict nothing.
    ``roles`` are those of the publication file; a column that it lacks counts as dropped. A column contradicts if it is

    - an identifier: by any value. But names and addresses, recognised by the header and by values that are no numbers,
      may be shared by two people: they contradict only where groups are small, and most values that repeat span units;
    - a recognised personal code, in any role: by any value;
    - another dropped column: by any value, where groups are small: there is at least one value for every 20 rows, and
      most rows share theirs with at most 19 others. Points in time, and columns named after a place or the like, do not
      contradict;
    - another published column that is named after a person, a case or a number of no other thing, as `customer` and
      `case_no` are: by any value, where groups are small, half of the rows have a digit, and most values occur in
      several rows;
    - a published column of any name: by any value, where groups are small, most values occur in several rows, and these
      rows agree in two quasi-identifiers that do not follow from each other, such as town and sex. So a pseudonym
      contradicts, and no postcode does.

    A column of a composite unit is compared with the whole unit like any other column. Two spellings of one value are
    one, see :func:`~anon_core.table.people.one_spelling`.

    >>> from anon_core.table import from_arrow
    >>> import pyarrow as pa
    >>> table = from_arrow(pa.table({"id": ["a", "a", "b"], "sex": ["F", "F", "M"]}))
    >>> spanning_columns(table, {"id": Role.IDENTIFIER, "sex": Role.QUASI}, None)
    (SpanningColumn(column='id', rows=3, people=2),)
    """
    units = None if unit is None else unit_codes(unit)
    known = [column for column in table.columns if roles.get(column.name) is Role.QUASI]
    return tuple(
        SpanningColumn(column=column.name, rows=groups.rows, people=groups.values)
        for column in map(one_spelling, table.columns)
        if (groups := ValueGroups.of(column)).repeat
        and _contradicts(column, groups, roles.get(column.name), units, known)
    )


def is_verifiable(table: Table, roles: Mapping[str, Role]) -> bool:
    """
    Return whether some column would contradict that every row is another person, if its values repeated.

    Such a column is an identifier or a recognised personal code with a value in at least half of the rows. Names and
    addresses need a value for every 20 rows, since people share them. The number of a case or a record differs from row
    to row also for one person, and a dropped column that is not recognised may do so: they confirm nothing.
    """
    return any(_could_contradict(one_spelling(column), roles.get(column.name)) for column in table.columns)


def _could_contradict(column: Column, role: Role | None) -> bool:
    groups = ValueGroups.of(column)
    if not groups.values or groups.rows * 2 < len(column.codes):
        return False
    if role is not Role.IDENTIFIER or numbers_records(column):
        return personal_code(column) is not None
    many = groups.values > MAX_FEW_VALUES and groups.values * MAX_GROUP_ROWS >= groups.rows
    return many or not is_shared(column)


def _contradicts(
    column: Column, groups: ValueGroups, role: Role | None, units: AnyCodes | None, known: Sequence[Column]
) -> bool:
    per_value = _units_of_values(column, units)
    if not (per_value > 1).any():
        return False
    if role is Role.IDENTIFIER:
        return not is_shared(column) or (groups.are_small and _most_span(column, per_value))
    if role in (Role.DROP, None) and groups.are_small and not is_of_something_else(column):
        return True
    if personal_code(column) is not None:
        return True
    if not groups.are_even:
        return False
    return may_number_people(column) or (
        _most_span(column, per_value) and _agree_as_rows_of_people(column, per_value > 1, known)
    )


def _agree_as_rows_of_people(column: Column, several: Mask, known: Sequence[Column]) -> bool:
    """
    Whether the rows of ``several`` values agree in two quasi-identifiers, as the rows of one person do in town and sex.

    Of columns that follow from each other, as a province does from its town, agreement says nothing: the value may be a
    place. Nor does it of columns that hold nearly always the same.
    """
    agreeing = [one for one in known if one.name != column.name and _varies([one], MOST_ALIKE)]
    agreeing = [one for one in agreeing if _agree(column, several, one)]
    if len(agreeing) < 2 or not _varies(agreeing, MOST_ALIKE_TOGETHER):
        return False
    together = kernels.group([one.codes for one in agreeing], [len(one.domain) for one in agreeing])
    return len(together.first) >= FREE_OF_EACH_OTHER * max(len(one.domain) for one in agreeing)


def _agree(column: Column, several: Mask, other: Column) -> bool:
    """Whether nearly all of ``several`` values stand beside one value of another column."""
    pairs = kernels.distinct([column.codes, other.codes], [len(column.domain), len(other.domain)])
    beside = np.bincount(pairs.codes[0], minlength=len(column.domain))
    return int(np.count_nonzero(beside[several] == 1)) >= MOST_AGREE * int(np.count_nonzero(several))


def _varies(columns: Sequence[Column], most: float) -> bool:
    """Whether two rows, taken by chance, agree in all of some columns no more often than so."""
    found = kernels.group([one.codes for one in columns], [len(one.domain) for one in columns])
    sizes = np.bincount(found.member).astype(np.float64)
    return bool((sizes**2).sum() <= most * sizes.sum() ** 2)


def _units_of_values(column: Column, units: AnyCodes | None) -> Integers:
    """Return how many known units each value has rows of; a gap has none."""
    if units is None:
        found = np.bincount(column.codes, minlength=len(column.domain))
    else:
        known = units != UNKNOWN_PERSON
        pairs = kernels.distinct(
            [column.codes[known], units[known]], [len(column.domain), int(units.max(initial=0)) + 1]
        )
        found = np.bincount(pairs.codes[0], minlength=len(column.domain))
    if column.has_gaps:
        found[-1] = 0
    return found.astype(np.int64)


def _most_span(column: Column, per_value: Integers) -> bool:
    rows = np.bincount(column.codes, minlength=len(column.domain))
    if column.has_gaps:
        rows[-1] = 0
    return int(np.count_nonzero(per_value > 1)) * 2 >= int(np.count_nonzero(rows > 1))
