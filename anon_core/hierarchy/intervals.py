"""Groups of a numeric column made from its own values: at least so many rows each, or so many distinct values."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import numpy as np

from anon_core.errors import UnmappedValuesError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.spec import Intervals, Replace, Years


def group_numbers(frequencies: FrequencyTable, years: Years) -> Ladder:
    """
    Build a ladder whose first level is groups of neighbouring values [Pastore2020]_.

    ``rows``: values are taken in order until a group has at least ``size`` rows; equal values are never split; what is
    left at the end joins the last group. ``distinct``: chunks of ``size`` distinct values, as the authors' program
    does. A range is closed: ``1950-1953``. A mean is marked with ``~``, for no such value was collected.

    :raises UnmappedValuesError: some values are not numbers.
    """
    (at,) = frequencies.positions([years.column])
    domain = frequencies.domains[at].to_pylist()
    rows = np.zeros(len(domain), np.int64)
    np.add.at(rows, frequencies.codes[at], frequencies.weights)
    present = [
        (number, code) for code, text in enumerate(domain) if (number := _number(text)) is not None and rows[code]
    ]
    missing = [code for code, text in enumerate(domain) if text is not None and _number(text) is None and rows[code]]
    if missing:
        raise UnmappedValuesError({years.column: (len(missing), int(rows[missing].sum()))})
    present.sort()
    values = sorted({number for number, _ in present})
    counts = {value: sum(int(rows[code]) for number, code in present if number == value) for value in values}
    paths: dict[str | None, list[str]] = {}
    for members in _chunks(values, counts, years):
        label = _label(members, counts, years.replace)
        paths |= {domain[code]: [label] for number, code in present if number in members}
    return climb(years.column, frequencies.domains[at], dict(paths), [_described(years), "suppressed"])


def _described(years: Years) -> str:
    groups = (
        f"groups of at least {years.size} rows" if years.intervals is Intervals.ROWS else f"{years.size} values each"
    )
    return groups if years.replace is Replace.RANGE else f"{groups}, replaced by their mean (an invented value)"


def _chunks(values: list[Decimal], counts: dict[Decimal, int], years: Years) -> list[set[Decimal]]:
    if years.intervals is Intervals.DISTINCT:
        return [set(values[at : at + years.size]) for at in range(0, len(values), years.size)]
    chunks: list[set[Decimal]] = [set()]
    filled = 0
    for value in values:
        if filled >= years.size:
            chunks.append(set())
            filled = 0
        chunks[-1].add(value)
        filled += counts[value]
    if len(chunks) > 1 and filled < years.size:
        last = chunks.pop()
        chunks[-1] |= last
    return chunks


def _label(members: set[Decimal], counts: dict[Decimal, int], replace: Replace) -> str:
    low, high = min(members), max(members)
    if replace is Replace.MEAN:
        rows = sum(counts[value] for value in members)
        return f"~{round(sum(value * counts[value] for value in members) / rows, 1)}"
    return f"{low}-{high}" if low >= 0 else f"[{low}, {high}]"


def _number(text: str | None) -> Decimal | None:
    try:
        number = Decimal((text or "").strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
