"""The text of a first publication file, with the reasons as comments."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import comb, prod
from pathlib import Path

from anon_core.detect.roles import ProposedRole, propose
from anon_core.detect.singletons import Detection, detect
from anon_core.engines.engine import engine_named
from anon_core.errors import InvalidInputError
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.suggest import suggested
from anon_core.registry import PORTALS
from anon_core.score.profile import ColumnProfile, profile
from anon_core.spec import Hierarchy, Role, Unmapped
from anon_core.table import Column, Table
from anon_core.table.reading import files_of, is_parquet
from anon_core.table.sniff import encoding_of
from anon_core.wording import counted

_LARGEST_SET = 4
_MAX_SETS = 200_000
_MAX_COMBINATIONS = 100_000
_MAX_SHOWN_COMBINATIONS = 10**15
_MAX_KEY_LENGTH = 1000
"""YAML reads a longer key only where a question mark announces it."""
_MAX_SHOWN = 10
"""Of a long list so many are named, the others are counted."""


def draft(
    table: Table,
    *,
    dataset: str,
    source: Path,
    delimiter: str,
    encoding: str,
    missing_words: Sequence[str],
    k: int,
    today: date,
    progress: Callable[[int], None] | None = None,
) -> str:
    """
    Return the publication file for a table; it holds names and counts, never a value.

    ``source`` is a file or a pattern; an ``encoding`` of "auto" is that of the first file, UTF-8 where it is Parquet.

    :raises InvalidInputError: every column is proposed as identifier or drop, so nothing would be published.
    """
    profiles = [profile(column) for column in table.columns]
    roles = [propose(c, f, table.rows, today=today) for c, f in zip(table.columns, profiles, strict=True)]
    searched = [
        f.name for f, role in zip(profiles, roles, strict=True) if role.role not in (Role.IDENTIFIER, Role.DROP)
    ]
    if not searched:
        raise InvalidInputError(_nothing_left(profiles, roles))
    size = largest_set(len(searched))
    found = detect(engine_named(source=source).of(table).count(searched), max_size=size, progress=progress)
    columns = [_drafted(c, f, role) for c, f, role in zip(table.columns, profiles, roles, strict=True)]
    lines = [
        f"# A first draft, made from {_rows(table.rows)}. Read every line:",
        "# roles are proposals from names, values and counts.",
        *_singled_out(found),
        f"dataset: {dataset}",
        f"title: {quoted(dataset.replace('-', ' ').capitalize())}",
        'schedule: null                     # such as "@monthly"',
        "source:",
        f"  file: {quoted(str(source))}",
        f"  delimiter: {quoted(delimiter)}",
        f"  encoding: {quoted(_encoding(source) if encoding == 'auto' else encoding)}",
        f"  missing_words: [{', '.join(map(quoted, missing_words))}]",
        "columns:                           # identifier and drop are never published",
        *[column.line for column in columns],
        f"detect: {{max_size: {size}}}               # the largest column set that is searched",
        "privacy:",
        f"  k: {k}",
        "  suppression_limit: 0.01          # share of rows that may be removed",
        "  published_uniqueness: {max_size: 3, max_share: 0.0}",
        _recode([column.levels for column in columns if column.levels]),
        f"portal: {next(portal.draft for portal in PORTALS.members().values() if portal.draft)}",
    ]
    return "\n".join(lines) + "\n"


def largest_set(columns: int) -> int:
    """
    Return up to which size sets of so many columns are searched for a draft, which nobody wants to wait for.

    >>> largest_set(2), largest_set(14), largest_set(100), largest_set(1000)
    (2, 4, 3, 1)
    """
    sizes = range(1, min(_LARGEST_SET, columns) + 1)
    return max((s for s in sizes if sum(comb(columns, size) for size in range(1, s + 1)) <= _MAX_SETS), default=1)


def quoted(text: str) -> str:
    r"""
    Return a text as YAML reads it back, in one line.

    JSON's quotes do but for signs that YAML takes for line breaks or refuses, such as U+2028: these are escaped.

    >>> quoted("a\u2028# b"), quoted('"Größe"')
    ('"a\\u2028# b"', '"\\"Größe\\""')
    """
    return "".join(sign if sign.isprintable() else _escaped(sign) for sign in json.dumps(text, ensure_ascii=False))


def _encoding(source: Path) -> str:
    first = files_of(source)[0]
    return "utf-8" if is_parquet(first) else encoding_of(first)


def _rows(number: int) -> str:
    return f"{number:,} row{'s' if number != 1 else ''}"


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def _nothing_left(profiles: Sequence[ColumnProfile], roles: Sequence[ProposedRole]) -> str:
    told = "; ".join(f"{quoted(f.name)}: {role.reason}" for f, role in zip(profiles[:_MAX_SHOWN], roles, strict=False))
    more = f"; and {len(profiles) - _MAX_SHOWN} more" if len(profiles) > _MAX_SHOWN else ""
    return f"no column would be left to publish, each seems to identify people or to be of no use: {told}{more}"


def _singled_out(found: Detection) -> list[str]:
    """Return what singles people out, as comments: the best set of every size, the elected one, the identifiers."""
    elected, more = found.best, len(found.identifiers) - _MAX_SHOWN
    return [
        "# What singles people out in the data as it is, apart from columns that are not published anyway:",
        *[f"#   {_names(s.columns)}: {s.share:.1%} of the rows are alone" for s in found.best_by_size],
        *([f"# Elected quasi-identifier: {_names(elected.columns)}: {_rows(elected.singletons)} alone, "
           f"{elected.distinct:,} distinct"] if elected else []),
        *[f"# Identifies every row: {_names(columns)}" for columns in found.identifiers[:_MAX_SHOWN]],
        *([f"# Sets that identify every row beside these: {more:,}"] if more > 0 else []),
    ]  # fmt: skip


def _names(columns: Sequence[str]) -> str:
    return " + ".join(map(quoted, columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drafted:
    """A column's line, and how many levels its values can stand at; none unless it is a quasi-identifier."""

    line: str
    levels: int


def _drafted(column: Column, figures: ColumnProfile, role: ProposedRole) -> _Drafted:
    parts, levels, unfit = [f"role: {role.role}"], 0, ""
    if role.role is Role.QUASI:
        hierarchy = suggested(column, kind=role.kind, type_of_values=figures.type)
        levels = 2 + len(hierarchy.intervals or hierarchy.prefix or hierarchy.date or ())
        parts.append(f"hierarchy: {_written(hierarchy)}")
        unfit = _suppressed(column, hierarchy)
    counts = f"{figures.distinct:,} distinct" + (f", {figures.missing:,} missing" if figures.missing else "")
    key = quoted(figures.name)
    value = f"{{{', '.join(parts)}}}  # {role.reason}; {counts}{unfit}"
    line = f"  {key}: {value}" if len(key) < _MAX_KEY_LENGTH else f"  ? {key}\n  : {value}"
    return _Drafted(line=line, levels=levels)


def _suppressed(column: Column, hierarchy: Hierarchy) -> str:
    """Return in words how many values a hierarchy leaves out that was made for nearly all of them."""
    if hierarchy.unmapped is not Unmapped.SUPPRESS:
        return ""
    unmapped = ladder(column, hierarchy, Path()).unmapped
    if not unmapped.any():
        return ""
    values, rows = counted(int(unmapped.sum()), "value"), _rows(int(unmapped[column.codes].sum()))
    what = "dates in the form of most" if hierarchy.date else "numbers"
    return f"; not {what}: {values} in {rows}, to be published as *: repair them if you can"


def _recode(levels: Sequence[int]) -> str:
    """Return how to recode; where that may take long, why."""
    if not levels:
        return "recode: {method: none}"
    slow = prod(levels) > _MAX_COMBINATIONS
    # Of a wide table the number has hundreds of digits.
    most = f"up to {prod(levels):,}" if prod(levels) < _MAX_SHOWN_COMBINATIONS else "very many"
    why = f"  # {most} combinations of levels: with fewer quasi columns it is faster" if slow else ""
    return f"recode: {{method: global}}{why}"


def _written(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as it stands in the file; widths never in powers of ten, which YAML takes for text."""
    rest = ", unmapped: suppress" if hierarchy.unmapped is Unmapped.SUPPRESS else ""
    if hierarchy.intervals:
        return f"{{intervals: [{', '.join(f'{Decimal(repr(width)):f}' for width in hierarchy.intervals)}]{rest}}}"
    if hierarchy.prefix:
        return f"{{prefix: [{', '.join(map(str, hierarchy.prefix))}]}}"
    if hierarchy.date:
        return f"{{date: [{', '.join(hierarchy.date)}]{rest}}}"
    return f"{{root: {quoted(hierarchy.root or '*')}}}"
