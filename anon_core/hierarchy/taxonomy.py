"""A column's hierarchy as a tree of labels, with every leaf that the hierarchy knows, seen in the data or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from anon_core.errors import UnmappedValuesError
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.files import read_levels
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers
from anon_core.spec import Hierarchy
from anon_core.table import Column, Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Taxonomy:
    """
    The labels of one column as a tree.

    ``labels`` has every label of every level once, ``parents`` the label above each (the root is its own), ``leaves``
    those of the values, and ``leaf_rows`` how many rows have each label as collected. ``levels`` is the lowest level of
    each label. A gap is a leaf right below the root, unless the hierarchy has a place for it; only then
    (``gap_counts``) does it count where leaves are counted: a release does not tell of gaps that were generalised.
    """

    column: str
    labels: tuple[str | None, ...]
    parents: Integers
    levels: Integers
    leaves: Mask
    leaf_rows: Integers
    root: int
    gap_counts: bool = False

    @property
    def depth(self) -> int:
        """How many steps it takes at most from a leaf to the root."""
        return int(self.levels[self.root])

    @property
    def counted(self) -> Mask:
        """The leaves that count."""
        return self.leaves & np.array([self.gap_counts or label is not None for label in self.labels], np.bool_)

    def add_up(self, values: AnyCodes) -> AnyCodes:
        """Return for every label the sum of what its leaves have; ``values`` are zero but for leaves."""
        totals = values.copy()
        for label in np.argsort(self.levels, kind="stable").tolist():
            if label != self.root:
                totals[self.parents[label]] += totals[label]
        return totals

    def path(self, label: int) -> list[int]:
        """Return a label and all above it, up to the root."""
        path = [label]
        while path[-1] != self.root:
            path.append(int(self.parents[path[-1]]))
        return path

    def below(self, label: int) -> Mask:
        """Return which labels are this one or below it."""
        found = np.zeros(len(self.labels), np.bool_)
        found[label] = True
        for one in np.argsort(-self.levels, kind="stable").tolist():
            found[one] |= found[self.parents[one]]
        return found

    def position(self, text: str | None) -> int | None:
        """Return where a label stands, None if there is no such label."""
        return self.labels.index(text) if text in self.labels else None

    def is_ambiguous(self, text: str) -> bool:
        """Whether a word stands at several levels with several meanings: a value and a label above others."""
        return any(label is not None and label.startswith(f"{text} (level ") for label in self.labels)


def taxonomy(column: Column, hierarchy: Hierarchy | None, folder: Path) -> Taxonomy:
    """
    Build the tree of a column: of the values of its hierarchy file, or of its own where no file knows more.

    :raises UnmappedValuesError: the column has values that are not in the hierarchy.
    :raises HierarchyError: the hierarchy file is wrong.
    """
    extended = _with_values_of_file(column, hierarchy, folder)
    built = ladder(extended, hierarchy, folder)
    if built.unmapped.any():
        rows = int(np.count_nonzero(built.unmapped[column.codes]))
        raise UnmappedValuesError({column.name: (int(built.unmapped.sum()), rows)})
    rows_of_values = np.bincount(column.codes, minlength=len(extended.domain))
    return tree_of(built, rows_of_values, gap_counts=knows_gaps(hierarchy, folder))


def knows_gaps(hierarchy: Hierarchy | None, folder: Path) -> bool:
    """Whether a hierarchy file has a place for gaps."""
    return bool(hierarchy and hierarchy.file) and None in read_levels(folder / str(hierarchy and hierarchy.file)).paths


def tree_of(built: Ladder, rows: Integers, *, gap_counts: bool = False) -> Taxonomy:
    """Return the tree of a ladder; ``rows`` says how many rows have each value."""
    count = len(built.labels)
    root = int(built.maps[-1, 0]) if built.maps.shape[1] else 0
    parents = np.full(count, root, np.int64)
    for below, above in zip(built.maps[:-1], built.maps[1:], strict=True):
        parents[below] = np.where(above != below, above, parents[below])
    leaves = np.zeros(count, np.bool_)
    leaves[built.maps[0]] = True
    leaf_rows = np.zeros(count, np.int64)
    np.add.at(leaf_rows, built.maps[0], rows)
    levels = built.lowest.astype(np.int64)
    levels[root] = built.height
    parents[root] = root
    return Taxonomy(
        column=built.column,
        labels=tuple(built.labels.to_pylist()),
        parents=parents,
        levels=levels,
        leaves=leaves,
        leaf_rows=leaf_rows,
        root=root,
        gap_counts=gap_counts,
    )


def _with_values_of_file(column: Column, hierarchy: Hierarchy | None, folder: Path) -> Column:
    """Return the column with all that its hierarchy file has a path for in the domain, be it in a row or not."""
    if hierarchy is None or hierarchy.file is None:
        return column
    own = column.domain.to_pylist()
    others = sorted(
        set(read_levels(folder / hierarchy.file).paths) - set(own), key=lambda one: (one is None, one or "")
    )
    return Column(name=column.name, codes=column.codes, domain=pa.array([*own, *others], pa.string()))
