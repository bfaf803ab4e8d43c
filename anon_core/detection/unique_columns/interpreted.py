"""The search for unique columns in plain Python, for small tables: there loading the compiled loops takes longer.

It is the search of :mod:`anon_core.kernels.compiled.unique_search`, with whole integers as bit sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from anon_core.detection.unique_columns.problem import Membership, UniqueSetProblem
from anon_core.kernels import AnyCodes, Integers

MAX_PAIRS = 1024
"""At most so many pairs of rows are compared at a time, ..."""

MAX_EDGES_ADDED = 64
"""... and at most so many of their minimal difference sets become edges."""

MAX_EDGES_COMPARED = 32
"""The search branches on the smallest of at most so many uncovered edges: to compare all takes longer than it saves."""
MAX_KEYS_PER_ROW = 8
"""Keys up to so many times their number are counted in an array, larger ones are sorted."""


@dataclass(frozen=True, slots=True)
class SharedRows:
    """The rows that are not alone, in their order, and the number of the class of each (from 0, below ``count``)."""

    rows: Integers
    numbers: Integers
    count: int

    def refine(self, codes: AnyCodes, cardinality: int) -> SharedRows:
        """Split every class by one more column, and leave out the rows that are now alone."""
        if not self.count:
            return self
        keys = self.numbers * cardinality + codes[self.rows]
        if self.count * cardinality > MAX_KEYS_PER_ROW * len(keys) + 1024:
            keys = np.unique(keys, return_inverse=True)[1]
        several = np.bincount(keys) > 1
        stay = several[keys]
        number = several.cumsum()
        return SharedRows(self.rows[stay], number[keys[stay]] - 1, int(number[-1]))

    def crowd(self, light: AnyCodes) -> int:
        """Return how many light rows are not alone; with ``light`` empty, all rows are light."""
        return int(light[self.rows].sum()) if len(light) else len(self.rows)

    def pairs(self, limit: int) -> AnyCodes:
        """Return pairs of neighbours in the classes, as two lines of rows; beyond the limit, pairs at equal steps."""
        order = self.numbers.argsort(kind="stable")
        rows, numbers = self.rows[order], self.numbers[order]
        left = np.flatnonzero(numbers[1:] == numbers[:-1])
        left = left[:: max(1, -(-len(left) // limit))]
        return np.stack([rows[left], rows[left + 1]])


def one_class(problem: UniqueSetProblem) -> SharedRows:
    """Return all rows as one class."""
    rows = problem.codes.shape[1]
    return SharedRows(np.arange(rows), np.zeros(rows, np.int64), 1)


def pairs_by_column(problem: UniqueSetProblem, limit: int) -> AnyCodes:
    """Return pairs of rows that agree in some column, equally many for every column."""
    share = max(1, limit // len(problem.columns))
    whole = one_class(problem)
    refined = [whole.refine(codes, size) for codes, size in zip(problem.codes, problem.cardinalities, strict=True)]
    return np.concatenate([classes.pairs(share) for classes in refined], axis=1)


def differences(problem: UniqueSetProblem, pairs: AnyCodes) -> list[int]:
    """Return the columns in which each pair of rows differs, as bit sets."""
    differ = problem.codes[:, pairs[0]] != problem.codes[:, pairs[1]]
    packed = np.packbits(differ, axis=0, bitorder="little").T
    return [int.from_bytes(line.tobytes(), "little") for line in np.unique(packed, axis=0)]


def minimal(sets: list[int]) -> list[int]:
    """
    Return the bit sets that contain no other, smallest first.

    >>> minimal([0b110, 0b010, 0b101, 0b010])
    [2, 5]
    """
    kept: list[int] = []
    for one in sorted(set(sets), key=lambda bits: (bits.bit_count(), bits)):
        if not any(other & one == other for other in kept):
            kept.append(one)
    return kept


class TooLongError(Exception):
    """The search has taken so many steps that it pays to load the compiled loops."""

    def __init__(self, nodes: int) -> None:
        super().__init__(nodes)
        self.nodes = nodes


@dataclass(slots=True)
class Interpreted:
    """
    A depth-first search for minimal hitting sets of edges; the edges come from sets that were not unique.

    ``hit_by[column]`` has a bit for every edge with that column. For every depth: no chosen column hits the
    ``uncovered`` edges, and exactly one hits the edges in ``once``. ``candidates`` may still be chosen. ``untried`` are
    the remaining members of the edge on which the search branches. ``classes`` are computed only for the first columns
    of the path, as far as needed.
    """

    problem: UniqueSetProblem
    edges: list[int] = field(default_factory=list)
    hit_by: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    uncovered: list[int] = field(default_factory=list)
    once: list[int] = field(default_factory=list)
    candidates: list[int] = field(default_factory=list)
    untried: list[int] = field(default_factory=list)
    classes: list[SharedRows] = field(default_factory=list)
    nodes: int = 0
    effort: int = 0

    def run(self, max_steps: int, progress: Callable[[int], None]) -> list[list[int]]:
        """
        Return the minimal unique sets.

        :raises TooLongError: there were more nodes and refinements than ``max_steps``.
        """
        columns = len(self.problem.columns)
        self.hit_by = [0] * columns
        self.uncovered, self.once, self.untried = [0], [0], [0]
        self.candidates = [(1 << columns) - 1]
        self.classes = [one_class(self.problem)]
        found = []
        entered = True
        while self.uncovered:
            if entered and not self.uncovered[-1] and self._is_unique():
                found.append(list(self.chosen))
            elif entered:
                self._choose()
            nodes = self.nodes
            entered = self._go_next()
            if self.nodes > nodes and self.nodes % 1000 == 0:
                progress(self.nodes)
            if self.effort > max_steps:
                raise TooLongError(self.nodes)
        return found

    def _go_next(self) -> bool:
        """Go down to the next untried member, or up if there is none; return whether there is a new node."""
        rest = self.untried[-1]
        if rest:
            column = (rest & -rest).bit_length() - 1
            self.untried[-1] = rest & (rest - 1)
            self.nodes += 1
            self.effort += 1
            return self._step_down(column)
        for stack in (self.uncovered, self.once, self.candidates, self.untried):
            stack.pop()
        if self.chosen:
            self.chosen.pop()
        del self.classes[len(self.chosen) + 1 :]
        return False

    def _step_down(self, column: int) -> bool:
        """Choose a column if then each chosen column still alone hits some edge, and all other edges can be hit."""
        hits, uncovered = self.hit_by[column], self.uncovered[-1]
        once = (self.once[-1] & ~hits) | (uncovered & hits)
        uncovered &= ~hits
        if uncovered and len(self.chosen) + 1 == self.problem.max_size:
            return False
        if not all(once & self.hit_by[earlier] for earlier in self.chosen):
            return False
        self.chosen.append(column)
        self.uncovered.append(uncovered)
        self.once.append(once)
        self.candidates.append(self.candidates[-1])
        self.candidates[-2] |= 1 << column
        self.untried.append(0)
        return True

    def _choose(self) -> None:
        """Choose an uncovered edge with few candidates to branch on; without candidates there is nothing to try."""
        if len(self.chosen) == self.problem.max_size:
            return
        candidates = self.candidates[-1]
        best, smallest = 0, len(self.hit_by) + 1
        for _, number in zip(range(MAX_EDGES_COMPARED), members(self.uncovered[-1]), strict=False):
            here = self.edges[number] & candidates
            if not here:
                return
            if here.bit_count() < smallest:
                best, smallest = here, here.bit_count()
        self.untried[-1] = best
        self.candidates[-1] = candidates & ~best

    def _is_unique(self) -> bool:
        """Test the chosen columns on the table; if they are not unique, add edges that they do not hit."""
        problem = self.problem
        for column in self.chosen[len(self.classes) - 1 :]:
            self.classes.append(self._refined(self.classes[-1], column))
        classes = self.classes[-1]
        if classes.crowd(problem.light) <= problem.allowed:
            return True
        if not problem.exact:
            if len(self.chosen) == problem.max_size:
                return False  # No column can be added, so the search needs no edge from this set.
            self._add(self._outside_of_grown(classes))
            return False
        pairs = classes.pairs(MAX_PAIRS) if self.chosen else pairs_by_column(problem, MAX_PAIRS)
        new = minimal(differences(problem, pairs))
        for edge in new[:MAX_EDGES_ADDED] if self.chosen else new:
            self._add(edge)
        return False

    def _outside_of_grown(self, classes: SharedRows) -> int:
        """
        Add columns to a set while it stays not unique, and return the columns outside.

        A column that would make it unique would do so for every larger set too, so one pass gives a maximal set.
        """
        problem = self.problem
        outside = 0
        for column in range(len(problem.columns)):
            if column in self.chosen:
                continue
            larger = self._refined(classes, column)
            if larger.crowd(problem.light) > problem.allowed:
                classes = larger
            else:
                outside |= 1 << column
        return outside

    def _refined(self, classes: SharedRows, column: int) -> SharedRows:
        self.effort += 1
        return classes.refine(self.problem.codes[column], self.problem.cardinalities[column])

    def _add(self, edge: int) -> None:
        """Add an edge that no chosen column hits."""
        bit = 1 << len(self.edges)
        self.edges.append(edge)
        for column in members(edge):
            self.hit_by[column] |= bit
        for depth in range(len(self.uncovered)):
            self.uncovered[depth] |= bit


def search_interpreted(problem: UniqueSetProblem, max_steps: int, progress: Callable[[int], None]) -> Membership:
    """
    Search in plain Python.

    :raises TooLongError: there were more nodes and refinements than ``max_steps``.
    """
    search = Interpreted(problem)
    found = search.run(max_steps, progress)
    membership = np.zeros((len(found), len(problem.columns)), np.bool_)
    for line, chosen in enumerate(found):
        membership[line, chosen] = True
    return membership


def members(bits: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, from the lowest."""
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1
