"""Lines of a hierarchy file cut into cells, each with its line number, and what cannot be cut."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from anon_core.hierarchy.files.texts import LINE_END

_OPEN = "begins a cell that has no end; is a quote left open?"
MAX_CELL_CHARACTERS = 100_000
"""Characters of a cell: no label is that long, but what a stray quote has swallowed is."""


class Row(NamedTuple):
    """One line; ``quoted`` says whether its first cell stands in quotes."""

    line: int
    cells: list[str]
    quoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows:
    """The rows of a file, without blank lines, and by line what is wrong with its quotes."""

    rows: list[Row]
    problems: list[str]

    @property
    def depth(self) -> int:
        """How many cells most rows have; on a tie the number that is met first."""
        return Counter(len(row.cells) for row in self.rows).most_common(1)[0][0] if self.rows else 0


def cut(text: str) -> FileRows:
    """
    FileRows a text at ``;`` or at ``,``, whichever gives more lines the same number of cells; at ``;`` if both do.

    >>> [row.cells for row in cut('500;[0, 1,000)\\n"a;b";c').rows]
    [['500', '[0, 1,000)'], ['a;b', 'c']]
    """
    by_semicolons = _cut_at(text, ";")
    if by_semicolons.depth > 1 and _regular(by_semicolons) == len(by_semicolons.rows) and not by_semicolons.problems:
        return by_semicolons
    by_commas = _cut_at(text, ",")
    return by_commas if _regular(by_commas) > _regular(by_semicolons) else by_semicolons


def _regular(found: FileRows) -> int:
    """Return how many rows have the number of cells that most have, not counting rows of one cell."""
    sizes = Counter(len(row.cells) for row in found.rows if len(row.cells) > 1)
    return max(sizes.values(), default=0)


def _cut_at(text: str, delimiter: str) -> FileRows:
    rows: list[Row] = []
    problems: list[str] = []
    lines = list(io.StringIO(text, newline=""))  # A lone carriage return ends a line, too.
    reader, line = csv.reader(lines, delimiter=delimiter), 1
    try:
        for cells in reader:
            written = lines[line - 1 : reader.line_num]
            problem = _quote_problem(written, cells, delimiter, line) if '"' in "".join(written) else None
            problems += [problem] if problem else []
            if problem and _OPEN in problem:
                break
            quoted = written[0].startswith('"')
            if (any(cells) and written[0].strip()) or quoted:
                rows.append(Row(line, cells, quoted))
                problems += [_too_long(line)] if max(map(len, cells)) > MAX_CELL_CHARACTERS else []
            line = reader.line_num + 1
    except csv.Error:  # The one thing that this reader refuses is a cell of more than 131,072 characters.
        problems.append(_too_long(line))
    return FileRows(rows=rows, problems=problems)


def _too_long(line: int) -> str:
    return f"line {line} has a cell of more than {MAX_CELL_CHARACTERS:,} characters; is a quote left open?"


def _quote_problem(written: list[str], cells: list[str], delimiter: str, line: int) -> str | None:
    """Return the first thing that is wrong with the quotes of a row that begins on a line."""
    strict = csv.reader(written, delimiter=delimiter, strict=True)
    try:
        next(strict)
    except csv.Error as error:
        if "unexpected end" not in str(error):
            at = line + strict.line_num - 1
            return f"line {at} goes on after a closing quote; write a quote inside as two"
        begun = line + sum(len(LINE_END.findall(cell)) for cell in cells[:-1])
        return f"line {begun} {_OPEN}"
    return None
