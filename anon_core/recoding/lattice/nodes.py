"""Nodes of the lattice: their classes, their costs, and what follows from one node for all nodes below or above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from anon_core import kernels
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Floats, Integers
from anon_core.measures.utility.cells import covered
from anon_core.measures.utility.entropy import bits_within, most_bits
from anon_core.recoding.people import distinct_people
from anon_core.recoding.task import Task
from anon_core.spec import UtilityMeasure
from anon_core.table import Mask

Node = tuple[int, ...]
"""A level per column."""

MAX_CLASSES_HELD = 1 << 24
"""So many classes, of all nodes together, are kept to count other nodes from them: a quarter of a gigabyte."""

MAX_NODES_HELD = 4_000
"""So many nodes are kept; to search through more costs more than it saves."""

MAX_SHARE_HELD = 0.8
"""A node is kept if it has at most this share of the classes from which it was counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassPeople:
    """The pairs of person and class: person ``units[i]`` is in class ``member[i]``."""

    member: Integers
    units: AnyCodes


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClasses:
    """
    For each class the number of one of its tuples, its rows and its people.

    Where every row is another person, people are rows, and ``crowd`` is None.
    """

    first: Integers
    sizes: Integers
    people: Integers
    crowd: ClassPeople | None = None

    @property
    def held(self) -> int:
        """How many numbers must be kept to count other classes from these."""
        return len(self.sizes) + (0 if self.crowd is None else len(self.crowd.member))


class ClassCounter:
    """
    Counts classes, each time from the kept node below that has the fewest classes.

    On the way up classes only merge, so one tuple of a class shows where the whole class goes.
    """

    def __init__(self, task: Task) -> None:
        frequencies = task.frequencies
        self._codes = frequencies.codes
        # Labels numbered per level need few bits on upper levels, and codes of few bits are counted without sorting.
        self._labels: list[list[AnyCodes]] = []
        self._cardinalities: list[list[int]] = []
        for ladder in task.ladders:
            numbered = [np.unique(labels, return_inverse=True) for labels in ladder.maps]
            self._labels.append([own.astype(np.int32) for _, own in numbered])
            self._cardinalities.append([len(labels) for labels, _ in numbered])
        tuples, behind = len(frequencies.weights), task.people
        crowd = None if behind is None else ClassPeople(member=behind.member, units=behind.units)
        every = np.arange(tuples)
        people = task.requirements.sizes(every, every, tuples)
        bottom = NodeClasses(first=every, sizes=frequencies.weights, people=people, crowd=crowd)
        self._nodes = np.zeros((MAX_NODES_HELD + 1, len(task.ladders)), np.int8)
        self._tuples = np.zeros(MAX_NODES_HELD + 1, np.int64)
        self._tuples[0] = tuples
        self._known: list[NodeClasses] = [bottom]
        self._held = 0

    def count(self, node: Node) -> NodeClasses:
        known = len(self._known)
        below = (self._nodes[:known] <= np.array(node, np.int8)).all(axis=1)
        at = int(np.where(below, self._tuples[:known], np.iinfo(np.int64).max).argmin())
        base = self._known[at]
        groups = self._grouped(node, [codes[base.first] for codes in self._codes], base.sizes)
        found = _merged(base, groups)
        if len(found.sizes) <= MAX_SHARE_HELD * len(base.sizes):
            self._remember(node, found)
        return found

    def members(self, node: Node) -> Integers:
        """Return the class of every tuple; classes have the numbers that :meth:`count` gives them."""
        return self._grouped(node, self._codes).member

    def _grouped(self, node: Node, codes: Sequence[AnyCodes], sizes: Integers | None = None) -> kernels.Groups:
        labels = [own[level][code] for own, level, code in zip(self._labels, node, codes, strict=True)]
        cardinalities = [own[level] for own, level in zip(self._cardinalities, node, strict=True)]
        return kernels.group(labels, cardinalities, sizes)

    def _remember(self, node: Node, classes: NodeClasses) -> None:
        known = len(self._known)
        if known <= MAX_NODES_HELD and self._held + classes.held <= MAX_CLASSES_HELD:
            self._nodes[known], self._tuples[known] = node, len(classes.sizes)
            self._known.append(classes)
            self._held += classes.held


def _merged(base: NodeClasses, groups: kernels.Groups) -> NodeClasses:
    """Return classes merged into groups; a person in several classes of a group counts once."""
    first = base.first[groups.first]
    if base.crowd is None:
        return NodeClasses(first=first, sizes=groups.weights, people=groups.weights)
    member, units = groups.member[base.crowd.member], base.crowd.units
    pairs = kernels.group([member, units], [len(first), int(units.max(initial=0)) + 1]).first
    crowd = ClassPeople(member=member[pairs], units=units[pairs])
    people = distinct_people(crowd.member, crowd.units, len(first))
    return NodeClasses(first=first, sizes=groups.weights, people=people, crowd=crowd)


class NodeCosts:
    """
    The cost of nodes in one measure: 0 is the table as collected, 1 is nothing left.

    In a full-domain recoding all rows of a class have one label per column, and the cost of a row depends on its labels
    and on whether it is removed. So costs are computed from one tuple of each class, and not from rows.

    ``bound`` is a lower bound for the cost of a node and all nodes above it. Without removals every measure only grows
    on the way up: labels cover more, entropy is lost, and no changed row becomes unchanged. (A label on a higher level
    may be the value itself again, if it covers no other value; so the cheapest level from its own on counts.) Removed
    rows are at the root, which only adds to the cost.
    """

    def __init__(self, task: Task) -> None:
        self._codes = task.frequencies.codes
        self._columns = _columns(task)
        bounds = [np.minimum.accumulate(column.unremoved[::-1])[::-1].tolist() for column in self._columns]
        self._bounds: list[list[float]] = bounds
        self._rows = _ChangedRows(task) if task.settings.utility is UtilityMeasure.ROWS else None

    def bound(self, node: Node) -> float:
        if self._rows is not None:
            return self._rows.bound(node)
        return self.detail(node)

    def detail(self, node: Node) -> float:
        """Return how much detail a node loses without removals: quick in every measure, so it directs the search."""
        return sum(bound[level] for bound, level in zip(self._bounds, node, strict=True))

    def cost(self, node: Node, classes: NodeClasses, removed: Mask) -> float:
        """Return the cost of a node; ``removed`` says which of its classes are removed."""
        if self._rows is not None:
            return self._rows.cost(node, classes, removed)
        gone = np.flatnonzero(removed)
        sizes, first = classes.sizes[gone], classes.first[gone]
        total = 0.0
        for column, codes, level in zip(self._columns, self._codes, node, strict=True):
            total += column.cost(level, codes[first], sizes)
        return total


def _columns(task: Task) -> Sequence[_Column]:
    """Return what the columns lose by level: by the utility measure entropy, or else the share of values covered."""
    measure = task.settings.utility
    if measure in (UtilityMeasure.LOSS, UtilityMeasure.ROWS):
        total = sum(task.weights) or 1.0
        return [
            _LossColumn(ladder, task.rows_by_value(i), weight / total)
            for i, (ladder, weight) in enumerate(zip(task.ladders, task.weights, strict=True))
        ]
    weights = task.weights if measure is UtilityMeasure.WNUE else [1.0] * len(task.weights)
    every = [task.rows_by_value(i) for i in range(len(task.ladders))]
    total = sum(weight * most_bits(rows) for weight, rows in zip(weights, every, strict=True))
    return [
        _EntropyColumn(ladder, rows, weight / total if total > 0 else 0.0)
        for ladder, rows, weight in zip(task.ladders, every, weights, strict=True)
    ]


class _Column(Protocol):
    """What one column adds to the cost: per level without removals, and with rows of given values removed."""

    unremoved: Floats

    def cost(self, level: int, values: AnyCodes, rows: Integers) -> float: ...


class _LossColumn:
    """The part of one column in the weighted iLoss: a removed row is fully lost."""

    def __init__(self, ladder: Ladder, rows: Integers, share: float) -> None:
        self._ladder = ladder
        values = ladder.maps.shape[1]
        self._kept: Floats = 1 - (covered(ladder) - 1) / max(values - 1, 1)
        self._factor = share / max(int(rows.sum()), 1)
        self.unremoved: Floats = share - self._factor * (self._kept[ladder.maps] @ rows)

    def cost(self, level: int, values: AnyCodes, rows: Integers) -> float:
        labels = self._ladder.maps[level, values]
        return float(self.unremoved[level] + self._factor * (self._kept[labels] @ rows))


class _EntropyColumn:
    """
    The part of one column in non-uniform entropy, as :mod:`anon_core.measures.utility.entropy` defines it.

    With all rows of a column at one level the formula becomes simpler: up to that level each row loses
    log2(f(label) / f(value)). Removed rows, and values that the hierarchy does not know, are at the root, and lose
    log2(f(root) / f(label)) more, with f counted among these rows only.
    """

    def __init__(self, ladder: Ladder, rows: Integers, factor: float) -> None:
        self._ladder, self._factor = ladder, factor
        unknown = rows[ladder.unmapped]
        self._unknown = int(unknown.sum())
        self._apart = bits_within(unknown)
        self._root = int(ladder.maps[-1, 0]) if ladder.maps.shape[1] else 0
        groups = [np.arange(ladder.maps.shape[1]), *ladder.maps[1:]]
        as_collected = bits_within(rows)
        self._whole = [bits_within(np.bincount(group, rows)) - as_collected for group in groups]
        no_rows, nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.unremoved: Floats = np.array([self.cost(level, no_rows, nothing) for level in range(len(groups))])

    def cost(self, level: int, values: AnyCodes, rows: Integers) -> float:
        lost = self._whole[level]
        inside = np.bincount(self._ladder.maps[level, values], rows, minlength=self._root + 1)
        inside[self._root] = 0  # Rows at the root are counted below, or have nothing more to lose.
        if level < self._ladder.height:
            total = float(inside.sum()) + self._unknown
            # At level 0, a value that the hierarchy does not know is still itself.
            unknown = bits_within(self._unknown) if level else self._apart
            lost += bits_within(total) - bits_within(inside) - unknown
        return self._factor * lost


class _ChangedRows:
    """The cost as the share of the rows that are changed or removed."""

    def __init__(self, task: Task) -> None:
        self._ladders, self._frequencies = task.ladders, task.frequencies
        self._rows = max(task.frequencies.rows, 1)
        # A label that a value has as collected stands for that value alone, on every level.
        self._own: list[Mask] = []
        # Per column and level: which values may be unchanged there or above.
        self._unchanged: list[Mask] = []
        for ladder in task.ladders:
            own = np.zeros(len(ladder.labels), np.bool_)
            own[ladder.maps[0, ~ladder.unmapped]] = True
            self._own.append(own)
            self._unchanged.append(np.logical_or.accumulate(own[ladder.maps][::-1])[::-1])

    def bound(self, node: Node) -> float:
        kept = self._frequencies.weights
        may: Sequence[Mask] = [own[level] for own, level in zip(self._unchanged, node, strict=True)]
        unchanged = np.ones(len(kept), np.bool_)
        for own, codes in zip(may, self._frequencies.codes, strict=True):
            if not own.any():
                return 1.0
            unchanged &= own[codes]
        return 1 - int(kept[unchanged].sum()) / self._rows

    def cost(self, node: Node, classes: NodeClasses, removed: Mask) -> float:
        unchanged = ~removed
        for own, ladder, codes, level in zip(self._own, self._ladders, self._frequencies.codes, node, strict=True):
            unchanged &= own[ladder.maps[level, codes[classes.first]]]
        return 1 - int(classes.sizes[unchanged].sum()) / self._rows


class Frontier:
    """
    A set of nodes with a property that also holds for all nodes below them (with ``below``), or for all nodes above.

    Only the outermost nodes are kept.

    >>> hopeless = Frontier(2, below=True)
    >>> hopeless.add((1, 2))
    >>> hopeless.covers((0, 2)), hopeless.covers((2, 0))
    (True, False)
    """

    def __init__(self, width: int, *, below: bool) -> None:
        self._below = below
        self._nodes = np.zeros((0, width), np.int8)

    def add(self, node: Node) -> None:
        if not self.covers(node):
            own = np.array([node], np.int8)
            inside = (self._nodes <= own) if self._below else (self._nodes >= own)
            self._nodes = np.concatenate([self._nodes[~inside.all(axis=1)], own])

    def covers(self, node: Node) -> bool:
        own = np.array(node, np.int8)
        found: Mask = (self._nodes >= own) if self._below else (self._nodes <= own)
        return bool(found.all(axis=1).any())
