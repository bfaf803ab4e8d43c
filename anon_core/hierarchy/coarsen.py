"""Values made coarser before anything else sees them: rounded numbers, parts of dates, levels of a hierarchy file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa

from anon_core.errors import CoarsenError, HierarchyError
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.declared import level_name_problems, levels_of
from anon_core.hierarchy.kinds.dates import by_date, form_of
from anon_core.hierarchy.ladder import ROOT
from anon_core.hierarchy.numbers import may_be_thousands, reading_of, written
from anon_core.spec import Coarsen, Hierarchy, PartialPublication, Unmapped
from anon_core.spec.columns import DeclaredColumn as Declared
from anon_core.table import Column, Mask, Table
from anon_core.table.assembling import Piece, assemble
from anon_core.wording import counted

Label = Callable[[str], str | None]
"""Returns what is published for a value, None where it cannot be read."""

_DATE_LABELS = {
    "month": r"[0-9]{4}-(0[1-9]|1[0-2])",
    "quarter": r"[0-9]{4}-Q[1-4]",
    "year": r"[0-9]{4}",
    "decade": r"[0-9]{3}0s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarsened:
    """A coarser column; ``unread`` marks the values of ``source`` that could not be read: they are ``*``."""

    source: Column
    column: Column
    unread: Mask
    wanted: str

    @property
    def unread_values(self) -> list[str]:
        """These values themselves: for a terminal, not for a log."""
        return list(self.source.domain.filter(pa.array(self.unread)).to_pylist())


def coarsen(table: Table, publication: PartialPublication) -> Table:
    """
    Return the table with every column coarser that its publication file coarsens.

    :raises CoarsenError: values that cannot be read where that is not allowed; all columns, with counts.
    :raises HierarchyError: a hierarchy file is wrong, or does not have the level.
    """
    check_levels(publication)
    found = {
        name: coarsened(table.column(name), declared, publication.root)
        for name, declared in publication.columns.items()
        if declared.coarsen and name in table.names
    }
    refused = {name: one for name, one in found.items() if one.unread.any() and not _suppressed(publication, name)}
    if refused:
        raise CoarsenError(
            {
                name: (int(one.unread.sum()), int(np.count_nonzero(one.unread[one.source.codes])))
                for name, one in refused.items()
            },
            {name: one.wanted for name, one in refused.items()},
        )
    columns = (found[column.name].column if column.name in found else column for column in table.columns)
    return Table(columns=tuple(columns), rows=table.rows)


def finer(column: Column, declared: Declared, folder: Path) -> tuple[Column, ...]:
    """
    Return a column that is to be coarser at every level below the one that is published, as it is collected first.

    What cannot be read is a gap. Numbers that are rounded have no level between.
    """
    rule = declared.coarsen or Coarsen()
    found: list[Label] = []
    if rule.date is not None:
        values = [value for value in column.domain.to_pylist() if value is not None]
        parts = list(_DATE_LABELS)
        found = [_dates(values, part)[0] for part in parts[: parts.index(rule.date)]]
    elif rule.level is not None and declared.hierarchy is not None:
        names = levels_of(declared.hierarchy, folder).names
        height = _height(rule.level, names) or 1
        found = [_labels(column, declared.hierarchy, folder, level).get for level in range(1, height)]
    columns = [column]
    for label in found:
        words = [None if value is None else label(value) for value in column.domain.to_pylist()]
        columns.append(assemble(column.name, [Piece(codes=column.codes, words=pa.array(words, pa.string()))]))
    return tuple(columns)


def check_levels(publication: PartialPublication) -> None:
    """
    Check that hierarchy files have the levels that the publication file names, and those that columns are published at.

    :raises HierarchyError: a file cannot be read, has another number of levels than names, or does not have the level.
    """
    problems = level_name_problems(publication)
    if problems:
        raise HierarchyError(publication.file.name, problems)
    for name, declared in publication.columns.items():
        if declared.coarsen is None or declared.coarsen.level is None or declared.hierarchy is None:
            continue
        names = levels_of(declared.hierarchy, publication.root).names
        if _height(declared.coarsen.level, names) is None:
            has = f"{counted(len(names), 'level')} above the values: {', '.join(names)}" if names else "no level"
            problems.append(f"columns.{name}.coarsen.level: `{declared.hierarchy.file}` has {has}")
    if problems:
        raise HierarchyError(publication.file.name, problems)


def _height(level: int | str, names: Sequence[str]) -> int | None:
    """Return which level is meant by its number or name, or None; the root would say nothing."""
    if isinstance(level, str):
        return names.index(level) + 1 if level in names else None
    return level if level <= len(names) else None


def _suppressed(publication: PartialPublication, name: str) -> bool:
    rule, hierarchy = publication.columns[name].coarsen, publication.columns[name].hierarchy
    by_hierarchy = hierarchy is not None and hierarchy.unmapped is Unmapped.SUPPRESS
    return rule is not None and (rule.unmapped == "suppress" or (rule.level is not None and by_hierarchy))


def coarsened(column: Column, declared: Declared, folder: Path) -> Coarsened:
    """
    Make one column coarser. A gap stays a gap; a value that cannot be read becomes ``*``, and is marked.

    A cell that reads already as it would be published stays as it is, so doing it twice changes nothing.

    :raises HierarchyError: the hierarchy file is wrong, or does not have the level.
    """
    rule = declared.coarsen or Coarsen()
    values = [value for value in column.domain.to_pylist() if value is not None]
    if rule.round is not None:
        label, wanted = _rounding(values, rule, labelled=declared.labels_ends)
    elif rule.date is not None:
        label, wanted = _dates(values, rule.date)
    else:
        label, wanted = _climbing(column, declared, folder)
    found = [None if value is None else label(value) for value in column.domain.to_pylist()]
    unread = np.array([value is not None and one is None for value, one in _beside(column, found)], np.bool_)
    words = [ROOT if lost else one for one, lost in zip(found, unread, strict=True)]
    coarser = assemble(column.name, [Piece(codes=column.codes, words=pa.array(words, pa.string()))])
    return Coarsened(source=column, column=coarser, unread=unread, wanted=wanted)


def _beside(column: Column, found: Sequence[str | None]) -> zip[tuple[str | None, str | None]]:
    return zip(column.domain.to_pylist(), found, strict=True)


def _rounding(values: Sequence[str], rule: Coarsen, *, labelled: bool) -> tuple[Label, str]:
    width = Decimal(str(rule.round))
    places = max(0, -int(width.normalize().as_tuple().exponent))
    units = int(Fraction(width) * 10**places)
    low, high = (None if end is None else int(Fraction(str(end)) * 10**places) for end in (rule.bottom, rule.top))
    ends = {} if not labelled else {low: " or less", high: " or more"}
    own = {written(end, places) + words for end, words in ends.items() if end is not None}
    others = [value for value in values if value not in own]
    read = reading_of(others)
    unsure = sum(may_be_thousands(others, sign) for sign in ".,") if places == 0 else 0

    def label(value: str) -> str | None:
        if value in own:
            return value
        number = read(value)
        if number is None or (unsure and ("." in value or "," in value)):
            return None
        at = rounded(number, units, places)
        at = at if low is None else max(at, low)
        at = at if high is None else min(at, high)
        return written(at, places) + (ends.get(at, "") if at in (low, high) else "")

    if unsure:
        sign = "a point or comma may divide thousands or begin decimals: write numbers without thousands"
        return label, f"of which the column does not tell what they are ({sign})"
    return label, "not numbers such as 1957 or 3.5"


def rounded(number: Decimal, units: int, places: int) -> int:
    """
    Return the nearest multiple of ``units``, both in units of a decimal place; a half goes away from zero.

    >>> [rounded(Decimal(text), 10, 0) for text in ("14.9", "15", "-15", "-14", "0.5")]
    [10, 20, -20, -10, 0]
    """
    above, below = number.as_integer_ratio()
    steps: int = (2 * abs(above) * 10**places + below * units) // (2 * below * units)
    return steps * units if above >= 0 else -steps * units


def _dates(values: Sequence[str], part: str) -> tuple[Label, str]:
    own = re.compile(_DATE_LABELS[part])
    others = [value for value in values if not own.fullmatch(value)]
    paths = by_date(others, [part]).paths

    def label(value: str) -> str | None:
        if own.fullmatch(value):
            return value
        return paths[value][0] if value in paths else None

    return label, form_of(others).wanted


def _climbing(column: Column, declared: Declared, folder: Path) -> tuple[Label, str]:
    rule, hierarchy = declared.coarsen, declared.hierarchy
    if rule is None or rule.level is None or hierarchy is None or hierarchy.file is None:
        raise HierarchyError(f"column {column.name!r}", ["`coarsen: level` needs a hierarchy file"])
    levels = levels_of(hierarchy, folder)
    level = _height(rule.level, levels.names)
    if level is None:
        raise HierarchyError(f"column {column.name!r}", [f"`{hierarchy.file}` does not have the level"])
    known = sorted(value for value in levels.paths if value is not None)
    whole = Column(name=column.name, codes=column.codes[:0], domain=pa.array(known, pa.string()))
    published = {*_labels(whole, hierarchy, folder, level).values()}
    labels = _labels(column, hierarchy, folder, level)

    def label(value: str) -> str | None:
        return labels.get(value, value if value in published else None)

    return label, f"without a line or rule in {hierarchy.file}"


def _labels(column: Column, hierarchy: Hierarchy, folder: Path, level: int) -> dict[str | None, str | None]:
    """Return what stands on a level for each value of a column that its hierarchy knows."""
    built = ladder(column, hierarchy, folder)
    labels, values = built.labels.to_pylist(), column.domain.to_pylist()
    return {values[code]: labels[built.maps[level, code]] for code in np.flatnonzero(~built.unmapped).tolist()}
