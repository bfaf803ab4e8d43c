"""A ladder as the text of a hierarchy file: one line per value, level 0 first, the root last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_core.errors import InternalError, InvalidInputError
from anon_core.hierarchy.columns import ladder_of
from anon_core.hierarchy.files import levels_in
from anon_core.hierarchy.files.texts import zeros_in
from anon_core.hierarchy.ladder import ROOT, Ladder
from anon_core.hierarchy.levels import Levels
from anon_core.hierarchy.ranges import is_piece
from anon_core.table import Column
from anon_core.table.arrays import integers
from anon_core.wording import counted

_SIGNS = (";", ",", '"', "\n", "\r", "=>")
_BEGINNINGS = ("#", "-", "level", "\ufeff")
"""What a line of a file of rules may begin with; the last one is the mark that a file of UTF-8 may begin with."""


def lines_of(ladder: Ladder) -> str:
    """
    Return the file that reads back as this ladder, apart from what its levels and its root are called.

    Labels stand in it as they would be published: kept apart where two levels use the same word for different things.
    What the hierarchy does not cover has no line, nor has a gap, which stays one up to the root.

    >>> import pyarrow as pa
    >>> from anon_core.hierarchy.ladder import climb
    >>> paths = {"AOSTA": ["AOSTA"], "COGNE": ["AOSTA"]}
    >>> print(lines_of(climb("town", pa.array(["AOSTA", "COGNE"]), paths, ["province", "root"])), end="")
    AOSTA;AOSTA (level 1);*
    COGNE;AOSTA (level 1);*
    """
    labels = ladder.labels.to_pylist()
    cells = ["" if label is None else _cell(label) for label in labels]
    lines = []
    for path, unmapped in zip(ladder.maps.T.tolist(), ladder.unmapped.tolist(), strict=True):
        if not unmapped and labels[path[0]] is not None:
            above = (ROOT if at == path[-1] else cells[at] for at in path[1:])
            lines.append(";".join([cells[path[0]], *above]) + "\n")
    return "".join(lines)


def text_of(ladder: Ladder, column: Column) -> str:
    """
    Return the file of a column's ladder, after it was read back and compared.

    :raises InvalidInputError: not one value is covered, so there is nothing to write; or a value holds a zero byte.
    :raises InternalError: it does not read back as it was.
    """
    text = lines_of(ladder)
    if not text:
        raise InvalidInputError(f"the hierarchy covers no value of column {column.name!r}; there is nothing to write")
    if zeros := zeros_in(text):
        raise InvalidInputError(
            f"column {column.name!r}: {counted(len(zeros), 'value')} with a zero byte (NUL), which no hierarchy file "
            "may hold; take it out of the table first"
        )
    again = ladder_of(column, levels_in(text, "the file to be written", "it"), where="the file to be written")
    if not same_ladder(ladder, again):
        raise InternalError("UnsoundFile", f"hierarchy file of column {column.name!r}")
    return text


def same_ladder(one: Ladder, other: Ladder) -> bool:
    """Whether two ladders publish the same labels on every level below the root, and suppress the same values."""
    if one.maps.shape != other.maps.shape or (one.unmapped != other.unmapped).any():
        return False
    known = ~one.unmapped
    here, there = (ladder.labels.take(integers(ladder.maps[:-1, known].ravel())) for ladder in (one, other))
    return bool(here.equals(there))


def _cell(text: str) -> str:
    plain = text and not any(sign in text for sign in _SIGNS) and not text.lower().startswith(_BEGINNINGS)
    return text if plain else '"' + text.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFigures:
    """One level: what it is called and how many labels it has. A gap is no label, but may meet others at the root."""

    level: int
    name: str
    labels: int


def figures_of(ladder: Ladder) -> list[LevelFigures]:
    """Count the labels of every level, for values that the hierarchy covers."""
    counts = [label is not None and not is_piece(label) for label in ladder.labels.to_pylist()]
    return [
        LevelFigures(level=level, name=name, labels=sum(counts[at] for at in np.unique(codes).tolist()))
        for level, (name, codes) in enumerate(zip(ladder.level_names, ladder.maps[:, ~ladder.unmapped], strict=True))
    ]


def whole_ladder(levels: Levels, where: str) -> Ladder:
    """
    Build the ladder of everything that a hierarchy file knows, whether a table has it or not.

    A piece of the numbers is one value in it, without being counted as a label.

    :raises HierarchyError: it is not sound.
    """
    known = sorted(value for value in levels.covering([]) if value is not None)
    column = Column(name="all", codes=np.arange(len(known), dtype=np.int32), domain=pa.array(known, pa.string()))
    return ladder_of(column, levels, where=where)


def kept_apart(ladder: Ladder, paths: Mapping[str | None, Sequence[str]], root: str = ROOT) -> list[tuple[int, str]]:
    """
    Return the labels, with their level, that are published under another name than the hierarchy gives them.

    They stand for something else than the same word does on a level below. Labels are cell values as often as not:
    for a terminal, not for a log.
    """
    labels = ladder.labels.to_pylist()
    found = set()
    for spoken in ladder.maps[:, ~ladder.unmapped].T.tolist():
        value = labels[spoken[0]]
        for level, label in enumerate([*paths.get(value, ()), root], 1):
            if label is not None and labels[spoken[level]] not in (label, None):
                found.add((level, label))
    return sorted(found)
