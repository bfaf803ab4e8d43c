"""Ladders made from the values themselves: intervals, prefixes, dates, a root; or read from a file."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

from anon_core.errors import UnmappedValuesError
from anon_core.hierarchy import files
from anon_core.hierarchy.ladder import ROOT, Ladder, climb
from anon_core.hierarchy.numbers import is_whole, number_in, written
from anon_core.spec import Hierarchy, Publication
from anon_core.table import Column, Table

_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?", re.DOTALL)

Paths = dict[str | None, Sequence[str]]


def ladders(publication: Publication, table: Table, columns: Sequence[str]) -> dict[str, Ladder]:
    """
    Build the ladder of every named column; one without a declared hierarchy has only the root above it.

    :raises UnmappedValuesError: hierarchies do not cover all values and the spec does not say ``unmapped: suppress``;
        every such column is named, with counts.
    :raises HierarchyError: a hierarchy file is wrong.
    """
    built: dict[str, Ladder] = {}
    unmapped: dict[str, tuple[int, int]] = {}
    for name in columns:
        hierarchy = publication.columns[name].hierarchy
        column = table.column(name)
        built[name] = ladder(column, hierarchy, publication.root)
        missing = built[name].unmapped
        if missing.any() and (hierarchy is None or hierarchy.unmapped != "suppress"):
            unmapped[name] = (int(missing.sum()), int(np.count_nonzero(missing[column.codes])))
    if unmapped:
        raise UnmappedValuesError(unmapped, {name: _wanted(publication.columns[name].hierarchy) for name in unmapped})
    return built


def _wanted(hierarchy: Hierarchy | None) -> str:
    if hierarchy and hierarchy.file:
        return f", have no line in {hierarchy.file}"
    if hierarchy and hierarchy.intervals:
        return ", are not numbers such as 1957 or 3.5"
    return ", are not dates such as 1949-01-21"


def ladder(column: Column, hierarchy: Hierarchy | None, folder: Path) -> Ladder:
    """Build one column's ladder. Values that the hierarchy does not cover are marked in ``unmapped``."""
    values = [value for value in column.domain.to_pylist() if value is not None]
    root = ROOT
    if hierarchy is None or hierarchy.root is not None:
        root = (hierarchy.root if hierarchy else None) or ROOT
        paths: Paths = {value: [] for value in values}
        names: list[str] = []
    elif hierarchy.file is not None:
        levels = files.read_levels(folder / hierarchy.file)
        paths, names = levels.paths, levels.names
    elif hierarchy.intervals is not None:
        widths = [Decimal(str(width)) for width in hierarchy.intervals]
        numbers = [number for value in values if (number := number_in(value)) is not None]
        # One fraction in the column and every interval is written [low, high): else 5 and 5.5 would be kept apart.
        whole = all(map(is_whole, [*numbers, *widths]))
        paths = {value: path for value in values if (path := interval_path(value, widths, whole=whole)) is not None}
        names = [f"intervals of {width}" for width in widths]
    elif hierarchy.prefix is not None:
        paths = {value: [prefix_label(value, length) for length in hierarchy.prefix] for value in values}
        names = [f"first {length} characters" for length in hierarchy.prefix]
    else:
        parts = [str(part.value) for part in hierarchy.date or ()]
        paths = {value: path for value in values if (path := date_path(value, parts)) is not None}
        names = parts
    return climb(column.name, column.domain, paths, [*names, root if root != ROOT else "suppressed"], root)


def interval_path(value: str, widths: Sequence[Decimal], *, whole: bool | None = None) -> list[str] | None:
    """
    Return the intervals a number lies in, or None for what is not a number. Intervals start at multiples of the width.

    With ``whole`` an interval is named by its first and last whole number; by default, if this number and the widths
    are whole. A caller with a column of numbers decides once for all of them, so that one interval has one name.

    >>> interval_path("1957", [Decimal(5), Decimal(10)])
    ['1955-1959', '1950-1959']
    >>> interval_path("1957", [Decimal(5), Decimal(10)], whole=False)
    ['[1955, 1960)', '[1950, 1960)']
    >>> interval_path("-0.5", [Decimal("0.5")])
    ['[-0.5, 0.0)']
    """
    number = number_in(value)
    if number is None:
        return None
    if whole is None:
        whole = all(map(is_whole, [number, *widths]))
    path = []
    for width in widths:
        # In units of the last digit of the width everything is an integer, and no division is rounded.
        places = max(0, -int(width.as_tuple().exponent))
        units = int(Fraction(width) * 10**places)
        low = int(Fraction(number) * 10**places // units) * units
        if whole and low >= 0:
            path.append(f"{low}-{low + units - 1}")
        else:
            path.append(f"[{written(low, places)}, {written(low + units, places)})")
    return path


def prefix_label(value: str, length: int) -> str:
    """
    Return the first characters and a star; what is not longer stays as it is.

    >>> prefix_label("12345", 3), prefix_label("12", 3)
    ('123*', '12')
    """
    return value if len(value) <= length else value[:length] + ROOT


def date_path(value: str, parts: Sequence[str]) -> list[str] | None:
    """
    Return the parts of an ISO date (a time of day is ignored), or None for what is not one.

    >>> date_path("2019-05-15 00:00:00", ["month", "quarter", "year", "decade"])
    ['2019-05', '2019-Q2', '2019', '2010s']
    """
    match = _ISO_DATE.fullmatch(value)
    if not match:
        return None
    year, month, day = map(int, match.groups())
    try:
        datetime.date(year, month, day)
    except ValueError:
        return None
    labels = {
        "day": f"{year:04}-{month:02}-{day:02}",
        "month": f"{year:04}-{month:02}",
        "quarter": f"{year:04}-Q{(month + 2) // 3}",
        "year": f"{year:04}",
        "decade": f"{year // 10:03}0s",
    }
    return [labels[part] for part in parts]
