"""The text of a first publication file, with the reasons as comments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from anon_core.detect.roles import ProposedRole, propose
from anon_core.detect.singletons import Detection, detect
from anon_core.frequency import FrequencyTable
from anon_core.score.profile import ColumnProfile, profile
from anon_core.table import Table
from anon_core.table.sniff import encoding_of

_HIERARCHIES = {
    "integer": "{intervals: [5, 10, 20]}",
    "decimal": "{intervals: [5, 10, 20]}",
    "date": "{date: [month, year, decade]}",
    "timestamp": "{date: [month, year, decade]}",
}
_ROOT_ONLY = '{root: "*"}'  # As it is or not at all, until someone writes a hierarchy file.


def draft(
    table: Table,
    *,
    dataset: str,
    source: Path,
    delimiter: str,
    encoding: str,
    missing_words: Sequence[str],
    k: int,
    progress: Callable[[int], None] | None = None,
) -> str:
    """Return the publication file for a table; it holds names and counts, never a value."""
    profiles = [profile(column) for column in table.columns]
    roles = [propose(figures, table.rows) for figures in profiles]
    searched = [f.name for f, role in zip(profiles, roles, strict=True) if role.role not in ("identifier", "drop")]
    found = (
        detect(FrequencyTable.of(table, searched), max_size=min(4, len(searched)), progress=progress)
        if searched
        else None
    )
    encoding = encoding_of(source) if encoding == "auto" and source.suffix != ".parquet" else encoding
    lines = [
        f"# A first draft, made from {table.rows:,} rows. Read every line: roles are proposals from names and counts.",
        *_singled_out(found),
        f"dataset: {dataset}",
        f"title: {_quoted(dataset.replace('-', ' ').capitalize())}",
        'schedule: null                     # such as "@monthly"',
        "source:",
        f"  file: {_quoted(str(source))}",
        f"  delimiter: {_quoted(delimiter)}",
        f"  encoding: {_quoted('utf-8' if encoding == 'auto' else encoding)}",
        f"  missing_words: [{', '.join(map(_quoted, missing_words))}]",
        "columns:                           # identifier and drop are never published",
        *[_column(figures, role) for figures, role in zip(profiles, roles, strict=True)],
        f"detect: {{max_size: {min(4, max(len(searched), 1))}}}",
        "privacy:",
        f"  k: {k}",
        "  suppression_limit: 0.01          # share of rows that may be removed",
        "  published_uniqueness: {max_size: 3, max_share: 0.0}",
        "recode: {method: global}" if any(r.role == "quasi" for r in roles) else "recode: {method: none}",
        "portal: {folder: portal}",
    ]
    return "\n".join(lines) + "\n"


def _singled_out(found: Detection | None) -> list[str]:
    if found is None:
        return []
    lines = [
        f"#   {s.share:.1%} of the rows are alone on: {', '.join(s.columns)}"
        for s in found.best_by_size
    ]  # fmt: skip
    return ["# What singles people out in the data as it is:", *lines] if lines else []


def _column(figures: ColumnProfile, role: ProposedRole) -> str:
    parts = [f"role: {role.role}"]
    if role.role == "quasi":
        parts.append(f"hierarchy: {_hierarchy(figures)}")
    counts = f"{figures.distinct:,} distinct" + (f", {figures.missing:,} missing" if figures.missing else "")
    return f"  {_quoted(figures.name)}: {{{', '.join(parts)}}}  # {role.reason}; {counts}"


def _hierarchy(figures: ColumnProfile) -> str:
    """Return a first hierarchy by what the values look like; a postcode is not a number, it loses its last digits."""
    if re.search(r"(^|_)(zip|zipcode|postcode|postal|plz|cap|cp)($|_)", figures.name.lower()):
        return "{prefix: [3, 2, 1]}"
    return _HIERARCHIES.get(figures.type, _ROOT_ONLY)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
