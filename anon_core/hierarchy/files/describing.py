"""What a hierarchy is like, in counts: labels per level, and labels that had to be kept apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_core.hierarchy.columns import ladder_of
from anon_core.hierarchy.ladder import ROOT, Ladder
from anon_core.hierarchy.levels import Levels
from anon_core.hierarchy.ranges import is_piece
from anon_core.table import Column


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
