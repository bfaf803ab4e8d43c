"""Hierarchy files: one line per value as ARX writes them, level 0 first; or rules, ``{a, b} => c``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from anon_core.errors import HierarchyError
from anon_core.hierarchy.files.cells import cut
from anon_core.hierarchy.files.faults import faults_of, look_like_a_table, problems_to_list
from anon_core.hierarchy.files.rule_levels import levels_of_rules
from anon_core.hierarchy.files.rules import are_rules, is_like_a_rule, parse_rules
from anon_core.hierarchy.files.texts import text_in, zeros_in
from anon_core.hierarchy.ladder import ROOT
from anon_core.hierarchy.levels import Levels, default_names

_WHAT = "hierarchy file"


class FileFormat(StrEnum):
    """The two ways to write a hierarchy file."""

    LINES = "lines"
    RULES = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFaults:
    """Everything that is wrong with a file, by line, and whether it rather looks like a table."""

    problems: list[str]
    like_a_table: bool


def read_levels(path: Path) -> Levels:
    """
    Read a hierarchy file in either format and check that it is one.

    Of lines, every one has the same number of levels; a value has one line; a label has one parent and never leads back
    to itself. A last level that is ``*`` everywhere is the root, which every ladder has anyway. An empty first cell
    gives a gap its own path, a quoted empty one the empty text. Of rules see :mod:`~anon_core.hierarchy.files.rules`.

    :raises HierarchyError: listing everything wrong by line number.
    """
    return levels_in(text_in(path, _WHAT), str(path), path.name)


def faults_in_file(path: Path) -> FileFaults:
    """
    Return everything that is wrong with the lines of a hierarchy file, however much it is.

    :raises HierarchyError: it cannot be read.
    """
    problems: list[str] = []
    text = text_in(path, _WHAT)
    _levels(text, path.name, problems)
    lines = sum(bool(line.strip()) for line in text.splitlines())
    written = not are_rules(text) and not zeros_in(text)
    return FileFaults(problems=problems, like_a_table=written and look_like_a_table(problems, lines))


def format_of(path: Path) -> FileFormat:
    """
    Return which format a hierarchy file has.

    :raises HierarchyError: it cannot be read.
    """
    return FileFormat.RULES if are_rules(text_in(path, _WHAT)) else FileFormat.LINES


def levels_in(text: str, where: str, name: str) -> Levels:
    """
    Read the text of a hierarchy file; ``where`` is for errors, ``name`` for what the levels are called.

    >>> levels_in("AOSTA;AO;*\\nTORINO;TO;*", "places.csv", "places.csv").paths
    {'AOSTA': ['AO'], 'TORINO': ['TO']}
    >>> levels_in("{AOSTA, COGNE} => AO", "places.txt", "places.txt").paths
    {'AOSTA': ['AO'], 'COGNE': ['AO']}

    :raises HierarchyError: listing everything wrong by line number.
    """
    problems: list[str] = []
    levels = _levels(text, name, problems)
    if problems:
        raise HierarchyError(where, problems_to_list(problems))
    return levels


def _levels(text: str, name: str, problems: list[str]) -> Levels:
    """Return what a text means; what is wrong is added to the problems, and the levels are of no use then."""
    problems += zeros_in(text)
    if not are_rules(text):
        return _levels_of_lines(text, problems, name)
    found = parse_rules(text)
    problems += found.problems
    return levels_of_rules(found, problems, name)


def _levels_of_lines(text: str, problems: list[str], name: str) -> Levels:
    found = cut(text)
    problems += found.problems
    rules = {row.line for row in found.rows if not row.quoted and is_like_a_rule(";".join(row.cells))}
    rows = [row for row in found.rows if row.line not in rules]
    problems += [
        f"line {line} is a rule; a file has rules or lines such as value;label, not both" for line in sorted(rules)
    ]
    if not rows:
        problems += [] if problems else ["is empty; write one line per value, level 0 first"]
        return Levels(paths={}, names=[])
    depth = replace(found, rows=rows).depth
    problems += faults_of(rows, depth)
    if depth > 1 and all(row.cells[-1] == ROOT for row in rows):
        depth -= 1
    return Levels(
        paths={row.cells[0] if row.cells[0] or row.quoted else None: row.cells[1:depth] for row in rows},
        names=default_names(name, depth - 1),
    )
