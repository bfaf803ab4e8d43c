"""Top-down specialisation: from the roots down, one value into its children everywhere, as long as nothing is breached.

A specialisation that breaches once breaches for ever (the paper's Corollary 3.1), so it is dropped for good, and when
none is left every further one would breach: the table is minimally generalised.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anon_core import kernels
from anon_core.kernels import AnyCodes, Integers
from anon_core.recode.freeform_problem import FreeformProblem
from anon_core.recode.method import Progress
from anon_core.score.freeform.breaches import is_breached


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The level of every value of every column, and how many specialisations were tried."""

    levels: tuple[Integers, ...]
    tried: int
    kept: int


def specialise(
    problem: FreeformProblem, *, quasi: Sequence[str] = (), k: int = 1, progress: Progress | None = None
) -> Cut:
    """
    Specialise the table of all roots, which has no breach, until every further specialisation has one.

    With ``quasi`` and ``k`` a specialisation is also dropped if it makes a class over these columns smaller than k:
    that too lasts for ever. Candidates come by the information they give back, weighted by priority; ties by column and
    label.
    """
    search = _Search(problem, problem.frequencies.positions(quasi), k)
    return search.run(progress)


class _Search:
    def __init__(self, problem: FreeformProblem, quasi: list[int], k: int) -> None:
        self.problem, self.quasi, self.k = problem, quasi, k
        codes, weights = problem.frequencies.codes, problem.frequencies.weights
        self.rows = [
            np.bincount(own, weights, minlength=ladder.maps.shape[1])
            for own, ladder in zip(codes, problem.ladders, strict=True)
        ]
        self.levels = [np.full(ladder.maps.shape[1], ladder.height, np.int64) for ladder in problem.ladders]
        self.labels: list[AnyCodes] = [self._labels_of(at, own) for at, own in enumerate(self.levels)]
        self.heap: list[tuple[float, str, str, int, int]] = []

    def run(self, progress: Progress | None) -> Cut:
        for at in range(len(self.levels)):
            self._offer(at, np.unique(self.problem.ladders[at].maps[-1]))
        most = sum(len(ladder.labels) - len(np.unique(ladder.maps[0])) for ladder in self.problem.ladders)
        tried = kept = 0
        while self.heap:
            *_, at, label = heapq.heappop(self.heap)
            lower = self._specialised(at, label)
            labels = [*self.labels]
            labels[at] = self._labels_of(at, lower)
            tried += 1
            if not self._breaks(labels):
                below = np.unique(self._values(at, lower)[self._values(at, self.levels[at]) == label])
                self.levels[at], self.labels = lower, labels
                self._offer(at, below)
                kept += 1
            if progress:
                progress("specialisations", tried, max(most, tried))
        return Cut(levels=tuple(self.levels), tried=tried, kept=kept)

    def _breaks(self, labels: list[AnyCodes]) -> bool:
        problem = self.problem
        if self.quasi and self.k > 1:
            sizes = [len(problem.ladders[at].labels) for at in self.quasi]
            groups = kernels.group([labels[at] for at in self.quasi], sizes, problem.frequencies.weights)
            if int(groups.weights.min(initial=self.k)) < self.k:
                return True
        return is_breached(problem.published(labels), problem.columns, problem.sigma_t)

    def _values(self, at: int, levels: Integers) -> AnyCodes:
        """Return the label of every value at some levels."""
        maps = self.problem.ladders[at].maps
        return np.asarray(maps[levels, np.arange(maps.shape[1])])

    def _labels_of(self, at: int, levels: Integers) -> AnyCodes:
        return np.asarray(self._values(at, levels)[self.problem.frequencies.codes[at]])

    def _specialised(self, at: int, label: int) -> Integers:
        """Return the levels with one label replaced by those below it: the next level at which a value differs."""
        ladder, levels = self.problem.ladders[at], self.levels[at].copy()
        for code in np.flatnonzero(self._values(at, levels) == label).tolist():
            while levels[code] > 0 and ladder.maps[levels[code], code] == label:
                levels[code] -= 1
        return levels

    def _offer(self, at: int, labels: Any) -> None:
        """Put the labels that can be specialised into the queue, those that give back most information first."""
        ladder = self.problem.ladders[at]
        values = self._values(at, self.levels[at])
        for label in labels.tolist():
            below = self._specialised(at, label)
            children = self._values(at, below)[values == label]
            if (children == label).all():  # a leaf, or a value that stands at the root from the beginning
                continue
            rows = np.bincount(children, self.rows[at][values == label])
            rows = rows[rows > 0]
            bits = float((rows * np.log2(rows.sum() / rows)).sum()) if len(rows) else 0.0
            gain = round(bits * self.problem.weights[at], 6)
            heapq.heappush(self.heap, (-gain, ladder.column, str(ladder.labels[label].as_py()), at, label))
