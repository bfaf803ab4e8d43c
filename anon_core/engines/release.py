"""The rows to publish, made from a plan and the tuple of every row.

A row is never sorted as a row: its published codes are one number, most of which its tuple determines. The numbers are
sorted and taken apart again. Where only columns of the plan are published, there is a number for every tuple only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.kernels import AnyCodes, Integers, Joined
from anon_core.plan import RecodingPlan
from anon_core.table import Codes, Column, Mask, Table, number_used

KEY_BITS = 62
"""Bits of a row's number; the next one marks a removed row, which is then sorted last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """
    A published column.

    Its code is ``numbers[at]``, where ``at`` is the row's tuple if the plan has the column (``codes`` is None), else
    the row's code in the source. ``domain`` has what some published row says, and nothing else.
    """

    name: str
    codes: Codes | None
    numbers: Codes
    domain: pa.Array

    @property
    def bits(self) -> int:
        return kernels.bits_of(len(self.domain))

    def of_rows(self, member: AnyCodes) -> AnyCodes:
        """Return what selects the number of every row."""
        return member if self.codes is None else self.codes


def release_in_order(table: Table, plan: RecodingPlan, joined: Joined) -> Table:
    """Return the published rows as they stand in the source."""
    shown = [_shown(column, plan, joined) for column in table.columns]
    kept = None if not plan.removed.any() else ~kernels.gather(plan.removed, joined.member)
    columns = []
    for one in shown:
        codes = kernels.gather(one.numbers, one.of_rows(joined.member))
        columns.append(Column(name=one.name, codes=codes if kept is None else codes[kept], domain=one.domain))
    return Table(columns=tuple(columns), rows=_rows_kept(plan, joined))


def release_sorted(table: Table, plan: RecodingPlan, joined: Joined) -> Table:
    """Return the published rows in the order of their values, first column first, gaps last."""
    shown = [_shown(column, plan, joined) for column in table.columns]
    bits = [one.bits for one in shown]
    if sum(bits) > KEY_BITS:
        return sort_rows(release_in_order(table, plan, joined))
    shifts = [sum(bits[at + 1 :]) for at in range(len(bits))]
    rows = _rows_kept(plan, joined)
    keys = _sorted_keys(shown, shifts, plan.removed, joined)[:rows]
    codes = (kernels.cut_out(keys, shift, one.bits) for one, shift in zip(shown, shifts, strict=True))
    columns = (Column(name=one.name, codes=own, domain=one.domain) for one, own in zip(shown, codes, strict=True))
    return Table(columns=tuple(columns), rows=rows)


def _shown(column: Column, plan: RecodingPlan, joined: Joined) -> _Shown:
    there: Mask = (joined.rows > 0) & ~plan.removed
    if column.name not in plan.frequencies.names:
        used = kernels.used_by(column.codes, len(column.domain), None if there.all() else there, joined.member)
        numbering = number_used(column.domain, used)
        return _Shown(name=column.name, codes=column.codes, numbers=numbering.numbers, domain=numbering.domain)
    at = plan.frequencies.names.index(column.name)
    labels, released = plan.ladders[at].labels, plan.released_codes(at)
    used = np.zeros(len(labels), np.bool_)
    used[released[there]] = True
    numbering = number_used(labels, used)
    return _Shown(name=column.name, codes=None, numbers=numbering.numbers[released], domain=numbering.domain)


def _sorted_keys(shown: Sequence[_Shown], shifts: Sequence[int], removed: Mask, joined: Joined) -> Integers:
    """Return the number of every row in order, those of removed rows last."""
    parts = [one.numbers.astype(np.int64) << shift for one, shift in zip(shown, shifts, strict=True)]
    of_tuples: Integers = np.where(removed, 1 << KEY_BITS, 0)
    for one, part in zip(shown, parts, strict=True):
        if one.codes is None:
            of_tuples = of_tuples + part
    if all(one.codes is None for one in shown):
        order = np.argsort(of_tuples, kind="stable")
        return np.repeat(of_tuples[order], joined.rows[order])
    others = [(part, one.codes) for one, part in zip(shown, parts, strict=True) if one.codes is not None]
    keys = kernels.add_up([(of_tuples, joined.member), *others])
    keys.sort()
    return keys


def _rows_kept(plan: RecodingPlan, joined: Joined) -> int:
    return int(joined.rows[~plan.removed].sum())


def sort_rows(table: Table) -> Table:
    """Return the rows in the order of their values, first column first, gaps last, however long a row is."""
    words = kernels.pack([c.codes for c in table.columns], [len(c.domain) for c in table.columns])
    order: Integers = np.lexsort(words[::-1])
    columns = tuple(Column(name=c.name, codes=c.codes[order], domain=c.domain) for c in table.columns)
    return Table(columns=columns, rows=table.rows)
