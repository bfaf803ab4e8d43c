"""How a file is read, and what its first line must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from anon_core.errors import InvalidInputError, TableError
from anon_core.files.name_rules import BAD_CHARACTERS, has_bad_characters, is_too_long
from anon_core.limits import CELL, COLUMNS, NAME, missing_words_problem
from anon_core.wording import counted

_MAX_POSITIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read a file.

    ``quoted_missing=False`` keeps a quoted cell as text even if its content is a missing word; for Parquet, where
    every text is as good as quoted, missing words then do not apply at all. ``line_breaks=False`` refuses a CSV in
    which a cell holds a line break: where none is expected, a stray pair of quotes has swallowed rows. From
    ``headless_from`` rows on, a CSV is refused if several columns hold their own names as values: its first line was
    data. Few rows prove nothing, where nothing is published. ``any_expansion=True`` is for files that this product
    wrote: a table that was in memory may unpack to many times the size of its file.
    """

    delimiter: str = "auto"
    encoding: str = "utf-8"
    missing_words: tuple[str, ...] = ("",)
    quoted_missing: bool = True
    line_breaks: bool = True
    headless_from: int = 50
    any_expansion: bool = False

    def __post_init__(self) -> None:
        if problem := missing_words_problem(self.missing_words):
            raise InvalidInputError(f"the missing words: {problem}")


RELEASED = ReadOptions(delimiter=",", quoted_missing=False, any_expansion=True)
"""How to reread what :mod:`anon_core.publishing.distribution` wrote: a bare empty cell is a gap, a quoted one none."""


def check_names(path: Path, names: Sequence[str]) -> None:
    """
    Refuse what cannot be the names of columns, by position: where the header is missing, the names are cells.

    :raises TableError: there are none, more than allowed, or some are empty, doubled, too long or not one line of text.
    """
    if not names:
        raise TableError(str(path), "has no header", "its first line must name the columns")
    if len(names) > COLUMNS.value():
        raise TableError(str(path), f"has {counted(len(names), 'column')}, beyond {COLUMNS.words()}", COLUMNS.advice)
    _check_readable(path, names)
    unnamed = [at for at, name in enumerate(names, 1) if not name.strip()]
    if unnamed:
        raise TableError(str(path), f"{columns_at(unnamed)} has no name", "name every column in the first line")
    first: dict[str, int] = {}
    double = [at for at, name in enumerate(names, 1) if first.setdefault(name, at) != at]
    if double:
        raise TableError(
            str(path), f"{columns_at(double)} is named like one before it", "give each column its own name"
        )


def _check_readable(path: Path, names: Sequence[str]) -> None:
    """:raises TableError: some names are too long or not one line of text."""
    long = [at for at, name in enumerate(names, 1) if is_too_long(name)]
    odd = [at for at, name in enumerate(names, 1) if has_bad_characters(name)]
    what = [f"the name of {columns_at(long)} is longer than {NAME.words()}"] if long else []
    what += [f"the name of {columns_at(odd)} has {BAD_CHARACTERS}"] if odd else []
    if what:
        raise TableError(
            str(path),
            "; ".join(what),
            "a stray quote in the first line may have swallowed rows: repair the export, or rename the column"
            + (f" ({NAME.setting} allows longer names)" if long else ""),
        )


def columns_at(positions: Sequence[int]) -> str:
    """
    Return the positions of columns in words, of very many the first.

    >>> columns_at([2, 5]), columns_at(range(1, 100))[-18:]
    ('column 2, 5', '19, 20 and 79 more')
    """
    more = f" and {len(positions) - _MAX_POSITIONS:,} more" if len(positions) > _MAX_POSITIONS else ""
    return f"column {', '.join(map(str, positions[:_MAX_POSITIONS]))}{more}"


def check_lengths(path: Path, columns: Sequence[pa.Array]) -> None:
    """:raises TableError: a cell is longer than a cell may be; the message gives the positions of the columns."""
    most = CELL.value()
    long = [at for at, cells in enumerate(columns, 1) if (pc.max(pc.binary_length(cells)).as_py() or 0) > most]
    if long:
        raise TableError(
            str(path), f"{columns_at(long)} has a cell beyond {CELL.words()}; is every quote closed?", CELL.advice
        )
