"""What is known of all nodes below, or above, some nodes that were judged."""

from __future__ import annotations

import numpy as np

from anon_core.recode.lattice.node_classes import Node
from anon_core.table import Mask


class Frontier:
    """
    A set of nodes that speaks for everything below each of them (or above, as ``below`` says), themselves included.

    Only the outermost ones are kept.

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
