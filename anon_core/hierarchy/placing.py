"""Where the cells of a table, as collected or generalised already, stand in the taxonomies of its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.files import read_levels
from anon_core.hierarchy.ladder import ROOT, Ladder
from anon_core.hierarchy.taxonomy import Taxonomy, tree_of
from anon_core.kernels import Integers
from anon_core.spec import Hierarchy, Unmapped
from anon_core.table import Column, Mask

_NO_VALUE = "\0none"
"""Stands for the values of a column that is generalised altogether."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCells:
    """
    A column's taxonomy, and for every code of its domain where that cell stands in it, -1 where it does not.

    ``from_values`` says that the taxonomy is made from the values of the column: no file knows more of them.
    """

    column: Column
    taxonomy: Taxonomy
    places: Integers
    from_values: bool

    @property
    def unplaced(self) -> Mask:
        """Which entries of the domain have no place."""
        return np.asarray(self.places < 0)

    @property
    def generalised(self) -> Mask:
        """Which entries of the domain are labels above values."""
        return np.asarray(~self.unplaced & ~self.taxonomy.leaves[self.places])

    @property
    def counts(self) -> tuple[int, int]:
        """How many distinct values and rows have no place."""
        return int(self.unplaced.sum()), int(np.count_nonzero(self.unplaced[self.column.codes]))


def placed_column(
    column: Column, hierarchy: Hierarchy | None, folder: Path, *, withheld: str | None = None, guarded: bool = False
) -> PlacedCells:
    """
    Place the cells of a column: values as leaves, labels where the hierarchy has them.

    A hierarchy file has its values and labels, for any table. A hierarchy that is made from values (intervals, also
    those of rules, a prefix, a date, only a root) has the root, and labels above values that the table still has. For a
    ``guarded`` column all leaves must be known, so labels of such a hierarchy have no place. Values that the hierarchy
    does not cover are at the root with ``unmapped: suppress``, but not in a guarded column.

    :raises HierarchyError: the hierarchy file is wrong.
    """
    file = read_levels(folder / hierarchy.file) if hierarchy and hierarchy.file else None
    from_values = file is None or bool(file.numbers)
    known = column.domain.to_pylist()
    root = (hierarchy.root if hierarchy else None) or ROOT
    roots = {root, withheld} - {None} if from_values else {withheld} - {None}
    above = [value in roots or _is_prefix(value, hierarchy) for value in known]
    values = [value for value, label in zip(known, above, strict=True) if not label]
    if file is not None:
        values += sorted(set(file.paths) - {*values}, key=lambda value: (value is None, value or ""))
    bare = Column(name=column.name, codes=column.codes[:0], domain=pa.array(values or [_NO_VALUE], pa.string()))
    built = ladder(bare, hierarchy, folder, withheld=withheld)
    rows = dict(zip(known, np.bincount(column.codes, minlength=len(known)).tolist(), strict=True))
    tree = _tree(built, rows, gap_counts=file is not None and None in file.paths)
    at = {label: place for place, label in enumerate(tree.labels)}
    suppressed = hierarchy is not None and hierarchy.unmapped is Unmapped.SUPPRESS and not guarded
    otherwise = tree.root if suppressed else -1
    places = np.array([tree.root if value in roots else at.get(value, otherwise) for value in known], np.int64)
    if guarded and from_values:
        places[(places >= 0) & ~tree.leaves[places]] = -1
    return PlacedCells(column=column, taxonomy=tree, places=places, from_values=from_values)


def _is_prefix(value: str | None, hierarchy: Hierarchy | None) -> bool:
    """Whether a cell is written as the first characters of codes: any text could be a code as well."""
    lengths = hierarchy.prefix if hierarchy and hierarchy.prefix else ()
    return value is not None and value.endswith(ROOT) and len(value) - 1 in lengths


def _tree(built: Ladder, rows: dict[str | None, int], *, gap_counts: bool) -> Taxonomy:
    """Return the tree of the values that a ladder covers."""
    covered = replace(
        built, maps=built.maps[:, ~built.unmapped], unmapped=np.zeros(int((~built.unmapped).sum()), np.bool_)
    )
    leaves = [built.labels[int(label)].as_py() for label in covered.maps[0]]
    return tree_of(covered, np.array([rows.get(leaf, 0) for leaf in leaves], np.int64), gap_counts=gap_counts)
