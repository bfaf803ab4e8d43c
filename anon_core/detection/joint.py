"""The k over all columns that others may know, and which columns declared other make it too small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from anon_core.frequency import FrequencyTable
from anon_core.measures.linkage.four_ks import k_anonymity

MAX_SETS_TRIED = 200
"""So many sets of columns are counted to find the smallest; with more, columns are left out one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """
    The classes over some columns, and the k ``without`` each of the others, and without each pair of them.

    ``smallest`` is a set of columns without which k is reached, and surely the smallest where that is ``proven``. It is
    None where k is not reached even without all of them. Where k is reached, no set is tried.
    """

    k: int
    classes: int
    rows: int
    rows_below: int
    alone: int
    without: dict[tuple[str, ...], int] = field(default_factory=dict)
    smallest: tuple[str, ...] | None = None
    proven: bool = True
    k_without_any: int = 0


def joint(frequencies: FrequencyTable, others: Sequence[str], *, k: int) -> Joint:
    """
    Measure the classes over all columns of a table; where they are too small, try which of ``others`` to leave out.

    >>> import numpy as np, pyarrow as pa
    >>> codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    >>> table = FrequencyTable.from_codes(["sex", "ring"], codes, [pa.array(["F", "M"]), pa.array(["1", "2"])])
    >>> found = joint(table, ["ring"], k=2)
    >>> found.k, found.smallest, found.without
    (1, ('ring',), {('ring',): 2})

    :raises InvalidInputError: there are no rows, so every k would hold.
    """
    found = k_anonymity(frequencies, frequencies.names, k=k)
    told = Joint(k=found.k, classes=found.classes, rows=found.rows, rows_below=found.rows_below, alone=found.singletons)
    if found.k >= k:
        return told
    trial = _Trial(frequencies, {})
    trial.all_of(combinations(others, 1))
    if len(others) * (len(others) - 1) // 2 <= MAX_SETS_TRIED:
        trial.all_of(combinations(others, 2))
    without = {names: reached for names, reached in trial.found.items() if len(names) <= 2}
    k_without_any = trial.k_without(tuple(others))
    if k_without_any < k:
        return replace(told, without=without, k_without_any=k_without_any)
    smallest, proven = trial.smallest(tuple(others), k)
    return replace(told, without=without, smallest=smallest, proven=proven, k_without_any=k_without_any)


@dataclass(frozen=True, slots=True)
class _Trial:
    """Counts a table without some of its columns, each set once; ``found`` has the results."""

    frequencies: FrequencyTable
    found: dict[tuple[str, ...], int]

    def all_of(self, sets: Iterable[tuple[str, ...]]) -> None:
        for names in sets:
            self.k_without(names)

    def k_without(self, names: tuple[str, ...]) -> int:
        if names not in self.found:
            left = [name for name in self.frequencies.names if name not in names]
            self.found[names] = int(self.frequencies.project(left).class_sizes().min())
        return self.found[names]

    def smallest(self, others: tuple[str, ...], k: int) -> tuple[tuple[str, ...], bool]:
        """Return a set without which k is reached (of several, with the largest k), and whether it is the smallest."""
        tried = 0
        for size in range(1, len(others) + 1):
            sets = list(combinations(others, size))
            tried += len(sets)
            if tried > MAX_SETS_TRIED:
                break
            if (best := max(sets, key=self.k_without)) and self.k_without(best) >= k:
                return best, True
        left_out: tuple[str, ...] = ()
        while self.k_without(left_out) < k:
            more = [tuple(name for name in others if name in (*left_out, one)) for one in others if one not in left_out]
            left_out = max(more, key=self._safe_people)
        return left_out, False

    def _safe_people(self, names: tuple[str, ...]) -> tuple[int, int]:
        left = [name for name in self.frequencies.names if name not in names]
        sizes = self.frequencies.project(left).class_sizes()
        return self.k_without(names), -len(sizes)
