"""Where published labels stand in a hierarchy, when the values as collected are gone.

Only a hierarchy file knows all labels there can be. Without one, every label but the root stands right below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from anon_core.errors import HierarchyError, InvalidInputError
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.files import read_levels
from anon_core.hierarchy.ladder import ROOT, Ladder
from anon_core.hierarchy.taxonomy import Taxonomy, taxonomy
from anon_core.kernels import Integers
from anon_core.spec import Hierarchy, PartialPublication
from anon_core.table import Column, Table

UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPlaces:
    """The tree of a column, and where each published label stands in it: ``UNKNOWN`` for one that has no place."""

    taxonomy: Taxonomy
    places: Integers


def placed_labels(
    name: str,
    labels: Sequence[str | None],
    hierarchy: Hierarchy | None,
    folder: Path,
    *,
    withheld: str | None = None,
) -> PublishedPlaces:
    """
    Place the published labels of a column; the label ``withheld`` is at the root, which may have another name.

    >>> found = placed_labels("sex", ["F", "any"], Hierarchy(root="any"), Path())
    >>> found.taxonomy.labels, found.places.tolist()
    (('F', 'any'), [0, 1])

    :raises HierarchyError: the hierarchy file is wrong, or knows numbers by intervals.
    :raises InvalidInputError: the hierarchy is of a kind that is made from values.
    """
    if hierarchy is None or hierarchy.root is not None:
        tree = _below_the_root(name, [label for label in labels if not _is(label, withheld)], root_of(hierarchy))
    elif hierarchy.file is not None:
        _refuse_numbers(hierarchy.file, folder)
        gap: list[str | None] = [None] if None in labels else []
        nothing = Column(name=name, codes=np.zeros(0, np.int32), domain=pa.array(gap, pa.string()))
        tree = taxonomy(nothing, hierarchy, folder)
    else:
        raise InvalidInputError(f"column {name!r} has a hierarchy made from its values, so labels cannot be placed")
    at = {label: place for place, label in enumerate(tree.labels)}
    places = [tree.root if _is(label, withheld) else at.get(label, UNKNOWN) for label in labels]
    return PublishedPlaces(taxonomy=tree, places=np.array(places, np.int64))


def ladder_of_labels(column: Column, hierarchy: Hierarchy | None, folder: Path) -> Ladder:
    """
    Build the ladder of a column whose cells may be generalised already: labels of a hierarchy file climb it too.

    A label stands for itself up to its own level, and from there on as the values below it do. What the hierarchy does
    not know is marked in ``unmapped``. Other hierarchies than files without intervals know values only.

    :raises HierarchyError: the hierarchy file is wrong.
    """
    if hierarchy is None or hierarchy.file is None or read_levels(folder / hierarchy.file).numbers:
        return ladder(column, hierarchy, folder)
    found = placed_labels(column.name, column.domain.to_pylist(), hierarchy, folder)
    tree = found.taxonomy
    unmapped = found.places == UNKNOWN
    maps = np.full((tree.depth + 1, len(found.places)), tree.root, np.int32)
    at = np.where(unmapped, tree.root, found.places)
    for level in range(tree.depth + 1):
        above = tree.parents[at]
        at = np.where(tree.levels[above] <= level, above, at)
        maps[level] = at
    return Ladder(
        column=column.name,
        labels=pa.array(tree.labels, pa.string()),
        maps=maps,
        level_names=tuple(f"level {level}" for level in range(tree.depth + 1)),
        unmapped=unmapped,
    )


def _is(label: str | None, withheld: str | None) -> bool:
    return label is not None and label == withheld


def root_of(hierarchy: Hierarchy | None) -> str:
    """Return what the root of a hierarchy is called."""
    return (hierarchy.root if hierarchy else None) or ROOT


def refuse_unplaceable(publication: PartialPublication, names: Sequence[str], table: Table) -> None:
    """
    Refuse columns whose labels could not be placed once they are published.

    :raises InvalidInputError: a value reads like the root of its column.
    :raises HierarchyError: a hierarchy file knows numbers by intervals.
    """
    alike = []
    for name in names:
        declared = publication.effective_columns[name]
        if declared.hierarchy is not None and declared.hierarchy.file is not None:
            _refuse_numbers(declared.hierarchy.file, publication.root)
        elif _unclear(set(table.column(name).domain.to_pylist()) - {declared.withheld}, root_of(declared.hierarchy)):
            alike.append(name)
    if alike:
        raise InvalidInputError(
            f"column {', '.join(map(repr, alike))}: there are values that read like the root, so the gate could not "
            "tell which cells say nothing; call the root otherwise: `hierarchy: {root: ...}`"
        )


def _unclear(values: Iterable[str | None], root: str) -> bool:
    return any(value == root or _carries_a_level(value, root) for value in values)


def _carries_a_level(label: str | None, root: str) -> bool:
    return label is not None and label.startswith(f"{root} (level ")


def _refuse_numbers(file: str, folder: Path) -> None:
    if read_levels(folder / file).numbers:
        problem = "knows numbers by intervals, so the values below a label cannot be counted; list them"
        raise HierarchyError(file, [f"{problem}: `anon hierarchy build` writes a line for each"])


def _below_the_root(name: str, labels: Sequence[str | None], root: str) -> Taxonomy:
    if any(_carries_a_level(label, root) for label in labels):
        raise InvalidInputError(f"column {name!r} has labels that read like its root at some level")
    leaves = [label for label in labels if label != root]
    below = len(leaves)
    return Taxonomy(
        column=name,
        labels=(*leaves, root),
        parents=np.full(below + 1, below, np.int64),
        levels=np.array([0] * below + [1], np.int64),
        leaves=np.array([True] * below + [False], np.bool_),
        leaf_rows=np.zeros(below + 1, np.int64),
        root=below,
    )
