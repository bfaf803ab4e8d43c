"""Mode ``paper``: prioritised recoding as Bampoulidis et al. print and programmed it, with the wildcard rule.

Columns join from the least important one on. With each, rows are generalised with as few columns changed as possible,
the largest group first; then single cells are suppressed. A recoded row covers at least k originals (source k). But an
adversary who knows a person may find fewer than k rows.

Bampoulidis, Markopoulos, Lupu: PrioPrivacy: a local recoding k-anonymity tool for prioritised quasi-identifiers, 2019.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.kernels import Integers
from anon_core.recoding.method import Progress
from anon_core.recoding.prioritised.encoding import Encoded
from anon_core.table import Mask

MAX_COLUMNS = 16
"""The method tries every set of columns: 16 columns have 65,535."""

_UNKNOWN = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """Tuples grouped by some slots: ``order`` has them group by group, ``starts`` has where groups begin."""

    order: Integers
    starts: Integers
    people: Integers
    tuples: Integers

    def members(self, group: int) -> Integers:
        return self.order[self.starts[group] : self.starts[group] + self.tuples[group]]


def recode_as_in_the_paper(encoded: Encoded, *, progress: Progress | None = None) -> Integers:
    """
    Return the level of every cell, ``levels[tuple, column]``.

    Of equally important columns the first joins first. Rules of one level are combined, but not those of the root: a
    cell at the root is suppressed. The largest group wins, then the first set of columns in the order of joining, then
    the first group in the order of labels. Rows that are unsafe at the end are ``*`` in every column; beside a column
    that is published as collected they have no level.

    :raises InvalidInputError: there are too many columns to try all sets of them.
    """
    if encoded.columns > MAX_COLUMNS:
        raise InvalidInputError(
            f"mode paper tries every set of quasi-identifiers, so it takes at most {MAX_COLUMNS} of them, not "
            f"{encoded.columns}; use `mode: safe`"
        )
    run = _Run(encoded)
    joining = [at for at in np.argsort(encoded.task.weights, kind="stable").tolist() if encoded.heights[at]]
    for number in range(1, len(joining) + 1):
        if not run.unsafe.any():
            break
        run.generalise(joining[:number])
        run.suppress(joining[:number])
        if progress:
            progress("columns", number, len(joining))
    run.levels[run.unsafe] = encoded.tops
    return run.levels


class _Run:
    """The levels so far, and which tuples are still unsafe."""

    def __init__(self, encoded: Encoded) -> None:
        self.encoded = encoded
        self.k = encoded.task.k
        self.unsafe: Mask = ~encoded.settled
        self.levels = np.zeros((len(encoded.weights), encoded.columns), np.int64)
        every = np.arange(len(encoded.weights))
        self.own = encoded.task.requirements.sizes(every, every, len(every))
        self.values = [int(ladder.maps.shape[1]) for ladder in encoded.task.ladders]

    def generalise(self, joined: Sequence[int]) -> None:
        """Generalise level by level, with sets of few columns first; each set has the newest column."""
        heights = self.encoded.heights
        for level in range(1, int(heights.max())):
            able = [column for column in joined if level < heights[column]]
            if joined[-1] in able:
                for size in range(1, len(able) + 1):
                    self._largest_first([own for own in combinations(able, size) if joined[-1] in own], level)

    def _largest_first(self, sets: Sequence[tuple[int, ...]], level: int) -> None:
        """Take the largest group of any set until none has k people; sets are counted anew only when needed."""
        heap = [(-_UNKNOWN, number) for number in range(len(sets))]
        while heap and self.unsafe.any():
            bound, number = heapq.heappop(heap)
            if -bound < self.k:
                return
            own = sets[number]
            slots = [
                base + (level if column in own else 0) for column, base in enumerate(self.encoded.base[:-1].tolist())
            ]
            groups = self._grouped(np.flatnonzero(self.unsafe), slots)
            after = heap[0] if heap else (0, len(sets))
            ranked = np.argsort(-groups.people, kind="stable")
            taken = 0
            for group in ranked.tolist():
                people = int(groups.people[group])
                if people < self.k or (-people, number) > after:
                    break
                members = groups.members(group)
                self.levels[members[:, None], own] = level
                self.unsafe[members] = False
                taken += 1
            if taken < len(ranked):
                heapq.heappush(heap, (-int(groups.people[ranked[taken]]), number))

    def suppress(self, joined: Sequence[int]) -> None:
        """
        Suppress as few cells as possible: a row is safe if it then covers k originals, and enough values are possible.

        Let D be the number of combinations of values of the suppressed columns. D must be above k, and k combinations
        must not belong to other originals that the row covers; otherwise its own values could be inferred.
        """
        encoded = self.encoded
        for own in self._sets_with_newest(joined):
            if not self.unsafe.any():
                return
            combined = float(np.prod([float(self.values[column]) for column in own]))
            if combined <= self.k:
                continue
            slots = [int(encoded.base[column]) for column in range(encoded.columns) if column not in own]
            groups = self._grouped(np.arange(len(self.unsafe)), slots)
            member = np.empty(len(self.unsafe), np.int64)
            member[groups.order] = np.repeat(np.arange(len(groups.people)), groups.tuples)
            others = groups.tuples[member] - (self.own == 1)
            safe = self.unsafe & (groups.people[member] >= self.k) & (combined - others >= self.k)
            self.levels[np.flatnonzero(safe)[:, None], own] = encoded.heights[list(own)]
            self.unsafe &= ~safe

    def _sets_with_newest(self, joined: Sequence[int]) -> Iterator[tuple[int, ...]]:
        for size in range(1, len(joined) + 1):
            yield from (own for own in combinations(joined, size) if joined[-1] in own)

    def _grouped(self, tuples: Integers, slots: Sequence[int]) -> _Groups:
        own = self.encoded.keys[tuples[:, None], np.array(slots, np.int64)]
        keys = np.bitwise_xor.reduce(own, axis=1, initial=0)
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] ^ np.uint64(1)))
        sizes = np.diff(starts, append=len(order))
        group = np.repeat(np.arange(len(starts)), sizes)
        return _Groups(
            order=tuples[order],
            starts=starts,
            people=self.encoded.task.requirements.sizes(tuples[order], group, len(starts)),
            tuples=sizes,
        )
