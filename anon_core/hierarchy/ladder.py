"""One column's generalisation hierarchy, over codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from anon_core.kernels import Floats
from anon_core.table import Codes, Column, Mask

ROOT = "*"
_ANYTHING = "\0anything"

Levels = np.ndarray[Any, np.dtype[np.int8]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """
    What each value of one column becomes at each level.

    ``maps[level, code]`` is an index into ``labels``, which holds the labels of all levels once. Two levels share a
    label only where it stands for the same set of values; otherwise the upper one carries its level, because the
    province AOSTA is not the municipality AOSTA. A gap (a null label) stays a gap up to the root, where everything
    meets. ``level_names`` describes the levels in words.

    ``unmapped`` marks the codes that the hierarchy does not know; they stand at the root on every level. The last
    ``empty_levels`` say nothing: the root, and levels below it on which everything has one label.

    A column that is published as collected has a ladder of height 0: no root, only its values. The other columns decide
    whether a row says nothing any more.
    """

    column: str
    labels: pa.Array
    maps: Codes
    level_names: tuple[str, ...]
    unmapped: Mask
    empty_levels: int = 1

    @classmethod
    def as_collected(cls, column: Column) -> Ladder:
        """Return the ladder of a column whose cells are never changed."""
        return cls(
            column=column.name,
            labels=column.domain.cast(pa.string()),
            maps=np.arange(len(column.domain), dtype=np.int32)[None, :],
            level_names=("as collected",),
            unmapped=np.zeros(len(column.domain), np.bool_),
        )

    @property
    def height(self) -> int:
        """The level of the root."""
        return len(self.maps) - 1

    @property
    def lowest(self) -> Levels:
        """The lowest level at which each label occurs; values that the hierarchy does not know stand at the root."""
        levels: Levels = np.full(len(self.labels), self.height, np.int8)
        for level in range(self.height, -1, -1):
            levels[self.maps[level, ~self.unmapped]] = level
        return levels

    @property
    def empty(self) -> Mask:
        """Which labels say nothing; a gap says that there is one."""
        if not self.height:
            return np.ones(len(self.labels), np.bool_)
        found = np.zeros(len(self.labels), np.bool_)
        found[self.maps[-self.empty_levels :]] = True
        return np.asarray(found & np.asarray(self.labels.is_valid()))

    def loss(self) -> Floats:
        """
        Return per level and code the share of the column's other values that the label covers (iLoss).

        0 for a value that stands for itself, 1 at the root; a column with a single value loses nothing.
        """
        values = self.maps.shape[1]
        covered = np.zeros(self.maps.shape, np.float64)
        for level, codes in enumerate(self.maps):
            covered[level] = np.bincount(codes, minlength=len(self.labels))[codes] - 1
        covered[:, self.unmapped] = values - 1
        return np.asarray(covered / max(values - 1, 1))


def climb(
    column: str, domain: pa.Array, paths: dict[str | None, Sequence[str]], level_names: Sequence[str], root: str = ROOT
) -> Ladder:
    """
    Build a ladder from the path of every known value: its labels from level 1 to the one below the root.

    ``paths`` may know values that the domain does not have: they take part in keeping labels of different levels
    apart, so that a label does not change from month to month with the data. A gap may have a path of its own.

    >>> climb("sex", pa.array(["F", "M"]), {"F": [], "M": []}, ["root"], root="any gender").labels.to_pylist()
    ['F', 'any gender', 'M']
    """
    domain_values = domain.to_pylist()
    depth = len(level_names) - 1
    if None in domain_values and None not in paths:
        paths = {**paths, None: [None] * depth}  # type: ignore[list-item]
    spoken = _labels_apart(paths, depth, root)
    index: dict[str | None, int] = {}
    maps = np.zeros((depth + 2, len(domain_values)), np.int32)
    unmapped = np.zeros(len(domain_values), np.bool_)
    for code, value in enumerate(domain_values):
        own = spoken.get(value)
        unmapped[code] = own is None
        for level in range(depth + 2):
            label = own[level] if own is not None else spoken_root(spoken, root)
            maps[level, code] = index.setdefault(label, len(index))
    return Ladder(
        column=column,
        labels=pa.array(list(index), pa.string()),
        maps=maps,
        level_names=("as collected", *level_names),
        unmapped=unmapped,
    )


def spoken_root(spoken: dict[str | None, list[str | None]], root: str) -> str:
    """Return what the root is called once labels are kept apart."""
    for path in spoken.values():
        return path[-1] or root
    return root


def _labels_apart(paths: dict[str | None, Sequence[str]], depth: int, root: str) -> dict[str | None, list[str | None]]:
    """Return each value's labels for all levels, an upper one tagged where a lower one has another meaning."""
    whole: dict[str | None, list[str | None]] = {
        value: [value, *list(path)[:depth], root] for value, path in paths.items()
    }
    meaning: dict[str, frozenset[str | None]] = {}
    tagged: dict[tuple[str, frozenset[str | None]], str] = {}
    for level in range(depth + 2):
        groups: dict[str, set[str | None]] = {}
        for value, path in whole.items():
            if path[level] is not None:
                groups.setdefault(str(path[level]), set()).add(value)
        members = {label: frozenset(values) for label, values in groups.items()}
        if level and all(above == root for path in whole.values() for above in path[level:]):
            # The root covers values that are not known as well, so it is never the only value that is.
            members = {label: values | {_ANYTHING} for label, values in members.items()}
        # First the labels that need no tag, so that a tag made up for another one keeps clear of them.
        spoken = {label: label for label, values in members.items() if meaning.setdefault(label, values) == values}
        for label, values in members.items():
            if label not in spoken:
                name = tagged.get((label, values), f"{label} (level {level})")
                while meaning.setdefault(name, values) != values:
                    name += "'"
                spoken[label] = tagged[label, values] = name
        for path in whole.values():
            if path[level] is not None:
                path[level] = spoken[str(path[level])]
    return whole
