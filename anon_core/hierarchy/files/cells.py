"""Lines of a hierarchy file cut into cells, each with its line number, and what cannot be cut."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from anon_core.hierarchy.files.texts import LINE_END

_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"')
LONGEST = 100_000
"""Characters of a cell: no label is that long, but what a stray quote has swallowed is."""


class Row(NamedTuple):
    """One line; ``quoted`` says whether its first cell stands in quotes."""

    line: int
    cells: list[str]
    quoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The rows of a file, without blank lines, and by line what is wrong with its quotes."""

    rows: list[Row]
    problems: list[str]

    @property
    def depth(self) -> int:
        """How many cells most rows have; on a tie the number that is met first."""
        return Counter(len(row.cells) for row in self.rows).most_common(1)[0][0] if self.rows else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A row, where the next one begins, and on how many lines it stands."""

    row: Row
    end: int
    lines: int


def cut(text: str) -> Cut:
    """
    Cut a text at ``;`` or at ``,``, whichever gives more lines the same number of cells; at ``;`` if both do.

    >>> [row.cells for row in cut('500;[0, 1,000)\\n"a;b";c').rows]
    [['500', '[0, 1,000)'], ['a;b', 'c']]
    """
    by_semicolons = _cut_at(text, ";")
    if by_semicolons.depth > 1 and _regular(by_semicolons) == len(by_semicolons.rows) and not by_semicolons.problems:
        return by_semicolons
    by_commas = _cut_at(text, ",")
    return by_commas if _regular(by_commas) > _regular(by_semicolons) else by_semicolons


def _regular(found: Cut) -> int:
    """Return how many rows have the number of cells that most have, not counting rows of one cell."""
    sizes = Counter(len(row.cells) for row in found.rows if len(row.cells) > 1)
    return max(sizes.values(), default=0)


def _cut_at(text: str, delimiter: str) -> Cut:
    rows: list[Row] = []
    problems: list[str] = []
    at, line = 0, 1
    while at < len(text):
        end = LINE_END.search(text, at)
        stop = end.start() if end else len(text)
        if '"' not in (written := text[at:stop]):
            cells = written.split(delimiter) if written.strip() else [""]
            row, at, lines = Row(line, cells, False), end.end() if end else len(text), 1
        else:
            found = _quoted_row(text, at, delimiter, line, problems)
            if found is None:
                break
            row, at, lines = found.row, found.end, found.lines
        if any(row.cells) or row.quoted:
            rows.append(row)
            if max(map(len, row.cells)) > LONGEST:
                problems.append(f"line {line} has a cell of more than {LONGEST:,} characters; is a quote left open?")
        line += lines
    return Cut(rows=rows, problems=problems)


def _quoted_row(text: str, at: int, delimiter: str, line: int, problems: list[str]) -> _Read | None:
    """Return the row that begins here; None if it has no end."""
    quoted, lines, cells = text[at] == '"', 1, []
    plain = re.compile(rf"[^{delimiter}\r\n]*")
    while True:
        rest = ""
        if text.startswith('"', at):
            match = _QUOTED.match(text, at)
            if match is None:
                problems.append(f"line {line + lines - 1} begins a cell that has no end; is a quote left open?")
                return None
            cell, at = match[1].replace('""', '"'), match.end()
            lines += len(LINE_END.findall(match[1]))
            rest = _found(plain, text, at)
        else:
            cell = _found(plain, text, at)
            at += len(cell)
        at += len(rest)
        if rest:
            problems.append(f"line {line + lines - 1} goes on after a closing quote; write a quote inside as two")
        cells.append(cell + rest)
        if not text.startswith(delimiter, at):
            end = LINE_END.match(text, at)
            return _Read(row=Row(line, cells, quoted), end=end.end() if end else at, lines=lines)
        at += 1


def _found(pattern: re.Pattern[str], text: str, at: int) -> str:
    match = pattern.match(text, at)
    return match[0] if match else ""
