"""The classes of a node, counted from those of a node below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.kernels import AnyCodes, Integers
from anon_core.recode.task import Task

Node = tuple[int, ...]
"""A level per column."""

HELD = 1 << 24
"""Classes remembered for counting other nodes from them, of all nodes together: a quarter of a gigabyte."""

MOST_HELD = 4_000
"""Nodes remembered; looking through more of them costs more than it saves."""

LARGEST_SHARE_HELD = 0.8
"""A node is remembered if it has at most this share of the classes that it was counted from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """One tuple of each class, by its number, and the rows of each class."""

    first: Integers
    sizes: Integers


class ClassCounter:
    """
    Counts classes, each time from the node below with fewest classes of those that it remembers.

    Going up, classes only merge, so one tuple of each class tells where the whole class goes.
    """

    def __init__(self, task: Task) -> None:
        frequencies = task.frequencies
        self._codes = frequencies.codes
        # Labels that are numbered per level need few bits on upper levels, and few bits are counted without sorting.
        self._labels: list[list[AnyCodes]] = []
        self._cardinalities: list[list[int]] = []
        for ladder in task.ladders:
            numbered = [np.unique(labels, return_inverse=True) for labels in ladder.maps]
            self._labels.append([own.astype(np.int32) for _, own in numbered])
            self._cardinalities.append([len(labels) for labels, _ in numbered])
        tuples = len(frequencies.weights)
        bottom = Classes(first=np.arange(tuples), sizes=frequencies.weights)
        self._nodes = np.zeros((MOST_HELD + 1, len(task.ladders)), np.int8)
        self._tuples = np.zeros(MOST_HELD + 1, np.int64)
        self._tuples[0] = tuples
        self._known: list[Classes] = [bottom]
        self._held = 0

    def count(self, node: Node) -> Classes:
        known = len(self._known)
        below = (self._nodes[:known] <= np.array(node, np.int8)).all(axis=1)
        at = int(np.where(below, self._tuples[:known], np.iinfo(np.int64).max).argmin())
        base = self._known[at]
        groups = self._grouped(node, [codes[base.first] for codes in self._codes], base.sizes)
        found = Classes(first=base.first[groups.first], sizes=groups.weights)
        if len(found.sizes) <= LARGEST_SHARE_HELD * len(base.sizes):
            self._remember(node, found)
        return found

    def members(self, node: Node) -> Integers:
        """Return the class of every tuple; classes have the numbers that :meth:`count` gives them."""
        return self._grouped(node, self._codes).member

    def _grouped(self, node: Node, codes: Sequence[AnyCodes], sizes: Integers | None = None) -> kernels.Groups:
        labels = [own[level][code] for own, level, code in zip(self._labels, node, codes, strict=True)]
        cardinalities = [own[level] for own, level in zip(self._cardinalities, node, strict=True)]
        return kernels.group(labels, cardinalities, sizes)

    def _remember(self, node: Node, classes: Classes) -> None:
        known = len(self._known)
        if known <= MOST_HELD and self._held + len(classes.sizes) <= HELD:
            self._nodes[known], self._tuples[known] = node, len(classes.sizes)
            self._known.append(classes)
            self._held += len(classes.sizes)
