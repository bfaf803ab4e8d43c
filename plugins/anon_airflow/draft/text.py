"""The text of a draft publication file, with the reasons as comments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import comb, prod
from pathlib import Path

from anon_airflow.draft.policy import priority, proposed_policy, roles_by_name
from anon_core.detection.proposed_unit import ProposedUnit, proposed_unit
from anon_core.detection.roles import ProposedRole, propose_all
from anon_core.detection.singletons import Detection, detect
from anon_core.engines.engine import engine_named
from anon_core.errors import InvalidInputError
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.suggest import suggested
from anon_core.measures.profile import ColumnProfile, profile
from anon_core.registry import PORTALS
from anon_core.spec import Hierarchy, Role, Unmapped
from anon_core.spec.templates import is_template
from anon_core.table import Column, Table
from anon_core.table.people import fresh_name, person_column
from anon_core.table.reading import files_of, is_parquet
from anon_core.table.sniff import encoding_of
from anon_core.wording import counted

_LARGEST_SET = 4
_MAX_SETS = 200_000
_MAX_COMBINATIONS = 100_000
_MAX_SHOWN_COMBINATIONS = 10**15
_MAX_KEY_LENGTH = 1000
"""YAML reads a longer key only after a question mark."""
_STATED = 0.25
"""A starting value for ``max_share_with_sensitive``: the steward has to decide how many people may be alone."""
_MAX_SHOWN = 10
"""At most this many entries of a list are named; the others are counted."""
_DATED = re.compile(
    r"(?<![0-9])(19|20)[0-9]{2}(-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])|(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01]))(?![0-9])"
)

_ROLES = (
    "# What a role means; docs/publication-file.md explains it, and every other key:",
    "#   identifier  identifies a person by itself, such as a name or a record number: never published",
    "#   drop        not needed, or cannot be made safe, such as remarks: never published",
    "#   quasi       others may know it about a person, such as birth year or town: published after recoding",
    "#   sensitive   others must not learn it about a person, such as income: published as collected, or coarser with",
    "#               `coarsen`",
    "#   other       does not tell people apart: published as collected, and the gate checks this claim",
)


def draft(
    table: Table,
    *,
    dataset: str,
    source: Path,
    delimiter: str,
    encoding: str,
    missing_words: Sequence[str],
    k: int | None = None,
    today: date,
    progress: Callable[[int], None] | None = None,
) -> str:
    """
    Return a draft publication file for a table; it holds names and counts, never a value.

    ``source`` is a file or a pattern; an ``encoding`` of "auto" is that of the first file, UTF-8 for Parquet. Without
    ``k`` it is 5, or 11 if a column looks like a special category of personal data.

    :raises InvalidInputError: every column is proposed as identifier or drop, so nothing would be published.
    """
    profiles = [profile(column) for column in table.columns]
    roles = propose_all(table, profiles, today=today)
    searched = [
        f.name for f, role in zip(profiles, roles, strict=True) if role.role not in (Role.IDENTIFIER, Role.DROP)
    ]
    if not searched:
        raise InvalidInputError(_nothing_left(profiles, roles))
    size = largest_set(len(searched))
    unit = proposed_unit(table, roles_by_name(table.columns, roles))
    found = _detected(table, source, searched, unit, size, progress)
    policy = proposed_policy(table.columns, roles, [quoted(f.name) for f in profiles], k)
    people = "people" if unit.columns else "rows"
    columns = [_drafted(c, f, role) for c, f, role in zip(table.columns, profiles, roles, strict=True)]
    lines = [
        f"# A draft, made from {_rows(table.rows)}. Read every line: roles are proposals, made from names, values and",
        "# counts.",
        *_ROLES,
        *_singled_out(found, people),
        f"dataset: {dataset}",
        f"title: {quoted(dataset.replace('-', ' ').capitalize())}",
        'schedule: null                     # such as "@monthly"',
        "source:",
        _file_line(source),
        f"  delimiter: {quoted(delimiter)}",
        f"  encoding: {quoted(_encoding(source) if encoding == 'auto' else encoding)}",
        f"  missing_words: [{', '.join(map(quoted, missing_words))}]",
        *_unit_lines(unit),
        "reviewed: false                    # nothing is published before a person has read this file and writes",
        f"                                   # reviewed: {{by: YOUR NAME, on: {today.isoformat()}}}",
        "columns:                           # identifier and drop are never published",
        *[column.line for column in columns],
        f"detect: {{max_size: {size}}}               # the largest column set that is searched",
        "privacy:",
        f"  k: {policy.k}" + (f"                            # {policy.why_k}" if policy.why_k else ""),
        "  suppression_limit: 0.01          # share of rows that may be removed",
        *_uniqueness([role.role for role in roles]),
        *policy.lines,
        _recode([column.levels for column in columns if column.levels]),
        f"portal: {next(portal.draft for portal in PORTALS.members().values() if portal.draft)}",
        "metadata:                          # fill in what readers of the catalogue should know",
        *[f"  {key}: null" for key in ("description", "publisher", "licence", "contact", "frequency", "theme")],
        "  keywords: []",
    ]
    return "\n".join(lines) + "\n"


def largest_set(columns: int) -> int:
    """
    Return the largest size of column sets that a draft searches: a draft should not take long.

    >>> largest_set(2), largest_set(14), largest_set(100), largest_set(1000)
    (2, 4, 3, 1)
    """
    sizes = range(1, min(_LARGEST_SET, columns) + 1)
    return max((s for s in sizes if sum(comb(columns, size) for size in range(1, s + 1)) <= _MAX_SETS), default=1)


def quoted(text: str) -> str:
    r"""
    Return a text as YAML reads it back, in one line.

    JSON's quoting works, except for characters that YAML reads as line breaks or rejects, such as U+2028: these are
    escaped.

    >>> quoted("a\u2028# b"), quoted('"Größe"')
    ('"a\\u2028# b"', '"\\"Größe\\""')
    """
    return "".join(sign if sign.isprintable() else _escaped(sign) for sign in json.dumps(text, ensure_ascii=False))


def _encoding(source: Path) -> str:
    first = files_of(source)[0]
    return "utf-8" if is_parquet(first) else encoding_of(first)


def _rows(number: int) -> str:
    return f"{number:,} row{'s' if number != 1 else ''}"


def counted_as(number: int, people: str) -> str:
    """
    Return how many people, or rows, there are.

    >>> counted_as(1, "people"), counted_as(2, "rows")
    ('1 person', '2 rows')
    """
    return _rows(number) if people == "rows" else f"{number:,} {'person' if number == 1 else 'people'}"


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def _nothing_left(profiles: Sequence[ColumnProfile], roles: Sequence[ProposedRole]) -> str:
    shown = zip(profiles[:_MAX_SHOWN], roles, strict=False)
    reasons = "; ".join(f"{quoted(figures.name)}: {role.reason}" for figures, role in shown)
    more = f"; and {len(profiles) - _MAX_SHOWN} more" if len(profiles) > _MAX_SHOWN else ""
    return f"no column would be left to publish: each seems to identify people or to be of no use: {reasons}{more}"


def _detected(
    table: Table,
    source: Path,
    searched: Sequence[str],
    unit: ProposedUnit,
    size: int,
    progress: Callable[[int], None] | None,
) -> Detection:
    """Search for sets that single people out; the proposed unit tells people apart."""
    if not unit.columns:
        return detect(engine_named(source=source).of(table).count(searched), max_size=size, progress=progress)
    person = fresh_name("person", table.names)
    counted_by = Table(columns=(*table.columns, person_column(table, unit.columns, person)), rows=table.rows)
    engine = engine_named(source=source).of(counted_by, unit=person)
    return detect(engine.people(searched), max_size=size, progress=progress)


def _uniqueness(roles: Sequence[Role]) -> list[str]:
    """Return the limits for sets of columns; with sensitive columns, also the limit over all published columns."""
    if Role.SENSITIVE not in roles:
        return ["  published_uniqueness: {max_size: 3, max_share: 0.0}"]
    return [
        "  published_uniqueness:",
        "    max_size: 3",
        "    max_share: 0.0",
        f"    max_share_with_sensitive: {_STATED}  # share of people who may stand alone over all published columns,",
        "                                    # sensitive ones included: decide how many; `anon check` measures it",
    ]


def _unit_lines(unit: ProposedUnit) -> list[str]:
    """Return the proposed unit, the reason, and the columns that contradict it."""
    names = [quoted(name) for name in unit.columns]
    one = names[0] if len(names) == 1 and unit.columns[0] != "row" else f"[{', '.join(names)}]"
    line = f"unit: {one if names else 'row'}  # {unit.reason}" + ("" if names else ": every row is another person")
    return [
        line,
        *[
            f"# {quoted(each.column)} contradicts this unit ({_rows(each.rows)}, {each.people:,} values), so a run is "
            "refused. Correct the unit; or its role, if it does not tell people apart; or, if people share it, name it "
            "in unit.may_span"
            for each in unit.spanning[:_MAX_SHOWN]
        ],
    ]


def _file_line(source: Path) -> str:
    """Return the source; a date in its file name is replaced by the template for the period."""
    name = _DATED.sub(lambda found: "{{ ds }}" if "-" in found[0] else "{{ ds_nodash }}", source.name, count=1)
    if name == source.name or is_template(str(source)):
        return f"  file: {quoted(str(source))}"
    path = quoted(str(source.with_name(name)))
    return f"  file: {path}  # the date is that of the period: by hand, `anon run --period YEAR-MONTH-DAY`"


def without_date(name: str) -> str:
    """
    Return a file name without the first date in it, which belongs to a period and not to the dataset.

    >>> without_date("visits_2026-11-01.csv"), without_date("visits.csv")
    ('visits_.csv', 'visits.csv')
    """
    return _DATED.sub("", name, count=1)


def _singled_out(found: Detection, people: str) -> list[str]:
    """
    Return what singles people out, as comments: the best set of each size, the chosen set, the identifiers.

    A size without a set that singles out more than the best smaller one is left out.
    """
    chosen, more, most = found.best, len(found.identifiers) - _MAX_SHOWN, -1
    best = []
    for one in found.best_by_size:
        if one.singletons > most:
            best.append(one)
            most = one.singletons
    return [
        "# What singles people out in the data as collected, without columns that are never published:",
        *[f"#   {_names(s.columns)}: {s.share:.1%} of the {people} stand alone" for s in best],
        *([f"# Chosen as quasi-identifiers, because most {people} stand alone on this set, apart from sets that "
           f"identify everyone: {_names(chosen.columns)}: {counted_as(chosen.singletons, people)} alone, "
           f"{chosen.distinct:,} distinct"] if chosen else []),
        *[f"# Identifies every row: {_names(columns)}" for columns in found.identifiers[:_MAX_SHOWN]],
        *([f"# Further sets that identify every row: {more:,}"] if more > 0 else []),
    ]  # fmt: skip


def _names(columns: Sequence[str]) -> str:
    return " + ".join(map(quoted, columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drafted:
    """A column's line, and the number of levels of its hierarchy; 0 if it is not a quasi-identifier."""

    line: str
    levels: int


def _drafted(column: Column, figures: ColumnProfile, role: ProposedRole) -> _Drafted:
    parts, levels, unfit = [f"role: {role.role}"], 0, ""
    if role.role is Role.QUASI:
        hierarchy = suggested(column, kind=role.kind, type_of_values=figures.type)
        levels = 2 + len(hierarchy.intervals or hierarchy.prefix or hierarchy.date or ())
        parts.append(f"priority: {priority(role)}")
        parts.append(f"hierarchy: {_written(hierarchy)}")
        unfit = _suppressed(column, hierarchy)
    counts = f"{figures.distinct:,} distinct" + (f", {figures.missing:,} missing" if figures.missing else "")
    key = quoted(figures.name)
    value = f"{{{', '.join(parts)}}}  # {role.reason}; {counts}{unfit}"
    line = f"  {key}: {value}" if len(key) < _MAX_KEY_LENGTH else f"  ? {key}\n  : {value}"
    return _Drafted(line=line, levels=levels)


def _suppressed(column: Column, hierarchy: Hierarchy) -> str:
    """Return in words how many values the proposed hierarchy does not cover."""
    if hierarchy.unmapped is not Unmapped.SUPPRESS:
        return ""
    unmapped = ladder(column, hierarchy, Path()).unmapped
    if not unmapped.any():
        return ""
    values, rows = counted(int(unmapped.sum()), "value"), _rows(int(unmapped[column.codes].sum()))
    what = "dates in the form of most" if hierarchy.date else "numbers"
    return f"; not {what}: {values} in {rows}, published as *: correct them in the source if you can"


def _recode(levels: Sequence[int]) -> str:
    """Return the line for `recode`; with a comment if it may take long."""
    if not levels:
        return "recode: {method: none}"
    slow = prod(levels) > _MAX_COMBINATIONS
    # For a wide table the number has hundreds of digits.
    most = f"up to {prod(levels):,}" if prod(levels) < _MAX_SHOWN_COMBINATIONS else "very many"
    why = f"  # {most} combinations of levels: with fewer quasi columns recoding is faster" if slow else ""
    return f"recode: {{method: best}}{why}"


def _written(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as YAML; widths never with an exponent, which YAML reads as text."""
    rest = ", unmapped: suppress" if hierarchy.unmapped is Unmapped.SUPPRESS else ""
    if hierarchy.intervals:
        return f"{{intervals: [{', '.join(f'{Decimal(repr(width)):f}' for width in hierarchy.intervals)}]{rest}}}"
    if hierarchy.prefix:
        return f"{{prefix: [{', '.join(map(str, hierarchy.prefix))}]}}"
    if hierarchy.date:
        return f"{{date: [{', '.join(hierarchy.date)}]{rest}}}"
    return f"{{root: {quoted(hierarchy.root or '*')}}}"
