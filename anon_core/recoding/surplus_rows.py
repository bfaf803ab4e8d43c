"""Leaves out the rows of a person beyond `privacy.max_rows_per_person`, before any other step counts the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.frequency import UNKNOWN_PERSON, unit_codes
from anon_core.recoding.people import distinct_people
from anon_core.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Capped:
    """The rows that stay, those that are ``left_out``, and how many ``people`` have more rows than allowed."""

    kept: Table
    left_out: Table
    people: int


def cap_rows(table: Table, columns: Sequence[str], quasi_identifiers: Sequence[str], *, unit: str, most: int) -> Capped:
    """
    Keep at most ``most`` rows of each person.

    Of a person with more, the rows stay whose quasi-identifiers most people share, because recoding changes these
    least; then rows are compared by the cells of ``columns``, the first column first, so that rows that are still tied
    are equal. Neither the order of the rows nor the number of a person matters. Rows whose person is not known all
    stay.

    >>> from anon_core.table import from_arrow
    >>> import pyarrow as pa
    >>> table = from_arrow(pa.table({"town": ["Alba", "Elva", "Elva", "Elva"], "id": ["1", "1", "1", "2"]}))
    >>> cap_rows(table, ["town"], ["town"], unit="id", most=1).kept.to_arrow().column("town").to_pylist()
    ['Elva', 'Elva']

    :raises UnknownColumnError: a column is not in the table.
    """
    units = unit_codes(table.column(unit))
    rows_of = np.bincount(units, minlength=1)
    rows_of[UNKNOWN_PERSON] = 0
    above = int(np.count_nonzero(rows_of > most))
    if not above:
        return Capped(kept=table, left_out=table.keep(np.zeros(table.rows, np.bool_)), people=0)
    at = np.flatnonzero(rows_of[units] > most)
    order = at[np.lexsort((_tuples(table, columns)[at], -_sharing(table, quasi_identifiers, units)[at], units[at]))]
    first = np.flatnonzero(np.diff(units[order], prepend=UNKNOWN_PERSON))
    place = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
    stays = np.ones(table.rows, np.bool_)
    stays[order[place >= most]] = False
    return Capped(kept=table.keep(stays), left_out=table.keep(~stays), people=above)


def _tuples(table: Table, columns: Sequence[str]) -> kernels.Integers:
    """Return the position of each row's tuple among all tuples; domains are sorted, so cells decide the order."""
    return _grouped(table, columns).member


def _sharing(table: Table, columns: Sequence[str], units: kernels.AnyCodes) -> kernels.Integers:
    """Return how many people have the tuple of each row over some columns."""
    groups = _grouped(table, columns)
    return distinct_people(groups.member, units, len(groups.first))[groups.member]


def _grouped(table: Table, columns: Sequence[str]) -> kernels.Groups:
    chosen = table.select(columns).columns
    if not chosen:
        return kernels.group([np.zeros(table.rows, np.int32)], [1])
    return kernels.group([one.codes for one in chosen], [len(one.domain) for one in chosen])
