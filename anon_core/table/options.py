"""How a file is read, and what its first line must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anon_core.errors import TableError


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read a file.

    ``quoted_missing=False`` keeps a quoted cell as text even if its content is a missing word; for Parquet, where
    every text is as good as quoted, missing words then do not apply at all. ``line_breaks=False`` refuses a CSV in
    which a cell holds a line break: where none is expected, a stray pair of quotes has swallowed rows. From
    ``headless_from`` rows on, a CSV is refused if several columns hold their own names as values: its first line was
    data. Few rows prove nothing, where nothing is published.
    """

    delimiter: str = "auto"
    encoding: str = "utf-8"
    missing_words: tuple[str, ...] = ("",)
    quoted_missing: bool = True
    line_breaks: bool = True
    headless_from: int = 50


RELEASED = ReadOptions(delimiter=",", quoted_missing=False)
"""How to reread what :mod:`anon_core.distribution` wrote: a bare empty cell is a gap, a quoted one an empty text."""


def check_names(path: Path, names: Sequence[str]) -> None:
    if not names:
        raise TableError(str(path), "has no header", "its first line must name the columns")
    unnamed = [str(at) for at, name in enumerate(names, 1) if not name.strip()]
    if unnamed:
        raise TableError(str(path), f"column {', '.join(unnamed)} has no name", "name every column in the first line")
    double = [str(at) for at, name in enumerate(names, 1) if names.index(name) < at - 1]
    if double:
        # By position: where the header is missing, the names are somebody's cells.
        raise TableError(
            str(path), f"column {', '.join(double)} is named like one before it", "give each column its own name"
        )
