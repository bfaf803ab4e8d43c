"""Lookup files: what the codes of a part are called. Two columns, code and name, ``;`` or ``,``, no header."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anon_core.errors import HierarchyError
from anon_core.hierarchy.files.cells import Row, cut
from anon_core.hierarchy.files.faults import told
from anon_core.hierarchy.files.texts import text_in, zeros_in
from anon_core.wording import counted


def read_lookup(path: Path) -> dict[str, str]:
    """
    Read a lookup file: the name of every code. Several codes may have one name.

    :raises HierarchyError: listing everything wrong by line number.
    """
    text = text_in(path, "lookup file")
    found = cut(text)
    problems = [*zeros_in(text), *found.problems, *_problems(found.rows)]
    if problems:
        raise HierarchyError(str(path), told(problems))
    return {row.cells[0]: row.cells[1] for row in found.rows}


def _problems(rows: Sequence[Row]) -> list[str]:
    """Return everything that keeps these lines from being a lookup."""
    if not rows:
        return ["is empty; write one line per code: code;name"]
    problems = []
    seen: dict[str, int] = {}
    for row in rows:
        if len(row.cells) != 2:
            problems.append(f"line {row.line} has {counted(len(row.cells), 'cell')}, not 2: code;name")
            continue
        code, name = row.cells
        problems += [f"line {row.line} has no {what}" for what, cell in (("code", code), ("name", name)) if not cell]
        if code in seen:
            problems.append(f"line {row.line} repeats the code of line {seen[code]}")
        seen.setdefault(code, row.line)
    return problems
