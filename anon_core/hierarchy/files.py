"""Hierarchy files as ARX writes them: one line per value, level 0 first, ``;`` or ``,``, no header."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anon_core.errors import HierarchyError, NotSupportedYetError
from anon_core.hierarchy.ladder import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLevels:
    """The path of every value in a file, from level 1 to the one below the root, and what the levels are called."""

    paths: dict[str | None, Sequence[str]]
    names: list[str]


def read_levels(path: Path) -> FileLevels:
    """
    Read a hierarchy file and check that it is one.

    Every line has the same number of levels; a value has one line; a label has one parent. A last level that is ``*``
    everywhere is the root, which every ladder has anyway. An empty first cell gives a gap its own path.

    :raises HierarchyError: listing everything wrong by line number.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")  # As it stands: a line break inside quotes is part of a value.
    except FileNotFoundError:
        raise HierarchyError(str(path), ["no such hierarchy file; paths start at the include folder"]) from None
    except (UnicodeDecodeError, OSError):
        raise HierarchyError(str(path), ["cannot be read as UTF-8 text"]) from None
    if "=>" in text:
        raise NotSupportedYetError(f"{path}: hierarchy rules of the form {{a,b}} => c", "write one line per value")
    try:
        lines = _rows(text)
    except csv.Error:
        raise HierarchyError(str(path), ["has a cell longer than any label; is a quote left open?"]) from None
    if not lines:
        raise HierarchyError(str(path), ["is empty; write one line per value, level 0 first"])
    problems = _problems(lines)
    if problems:
        raise HierarchyError(str(path), problems)
    depth = len(lines[0][1])
    if depth > 1 and all(row[-1] == ROOT for _, row in lines):
        depth -= 1
    return FileLevels(
        paths={row[0] or None: row[1:depth] for _, row in lines},
        names=[f"level {level} of {path.name}" for level in range(1, depth)],
    )


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Return the rows and their lines, split by the delimiter there is more of; by the other if only that one fits."""
    either = sorted(";,", key=text.count, reverse=True)
    readings = []
    for delimiter in either:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        line, rows = 1, []
        for row in reader:
            if any(row):
                rows.append((line, row))
            line = reader.line_num + 1
        readings.append(rows)
    fits = [len({len(row) for _, row in rows}) == 1 and len(rows[0][1]) > 1 for rows in readings]
    return readings[1] if fits[1] and not fits[0] else readings[0]


def _problems(lines: Sequence[tuple[int, list[str]]]) -> list[str]:
    """Return everything that keeps these lines from being a hierarchy."""
    depth = len(lines[0][1])
    problems = [
        f"line {n} has {len(row)} levels, line {lines[0][0]} has {depth}" for n, row in lines if len(row) != depth
    ]
    if problems:
        return problems
    seen: dict[str, int] = {}
    for n, row in lines:
        if row[0] in seen:
            problems.append(f"line {n} repeats the value of line {seen[row[0]]}")
        seen.setdefault(row[0], n)
        problems += [f"line {n} has an empty label at level {level}" for level in range(1, depth) if not row[level]]
    for level in range(1, depth):
        parents: dict[str, tuple[str, int]] = {}
        for n, row in lines:
            parent, first = parents.setdefault(row[level - 1], (row[level], n))
            if level > 1 and parent != row[level]:
                problems.append(
                    f"lines {first} and {n} give one label of level {level - 1} two parents at level {level}"
                )
    return problems
