"""The cells of a table after and before recoding: the input of loss, entropy and the shares of changed cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.comparison import Comparison, Pairs
from anon_core.frequency import people_weights
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers
from anon_core.plan import RecodingPlan
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """
    The rows after recoding: one entry for all rows that became equal, and how many they are.

    ``labels[i][j]`` is the label of entry ``j`` in column ``i``, a code into the labels of ladder ``i``. A ``removed``
    entry has the root in every column.
    """

    ladders: tuple[Ladder, ...]
    labels: tuple[AnyCodes, ...]
    weights: Integers
    removed: Mask

    @property
    def rows(self) -> int:
        """How many rows there were, removed ones included."""
        return int(self.weights.sum())

    @property
    def rows_removed(self) -> int:
        return int(self.weights[self.removed].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodedCells(Released):
    """
    The rows before and after recoding: one entry for all rows that were one tuple and became one tuple.

    ``values[i][j]`` is the code of the value as collected. Where people are counted, a person counts once for each pair
    of an original tuple and a published one; rows whose person is not known count only for pairs without known people.
    """

    values: tuple[AnyCodes, ...]

    @classmethod
    def by(cls, plan: RecodingPlan) -> RecodedCells:
        """
        Return what a plan makes of each tuple, without counting the published rows.

        Columns that the plan always publishes as collected lose nothing, and are left out.
        """
        labels = []
        some = bool(plan.removed.any())
        recoded = [at for at, ladder in enumerate(plan.ladders) if ladder.height]
        ladders = tuple(plan.ladders[at] for at in recoded)
        values = tuple(plan.frequencies.codes[at] for at in recoded)
        for ladder, levels, codes in zip(ladders, plan.levels[recoded], values, strict=True):
            labels.append(ladder.maps[np.where(plan.removed, ladder.height, levels) if some else levels, codes])
        return cls(
            ladders=ladders,
            values=values,
            labels=tuple(labels),
            weights=plan.frequencies.weights,
            removed=plan.removed,
        )


def released(comparison: Comparison) -> Released:
    """Return the cells of a comparison, as :class:`RecodedCells` where it is known which row became which."""
    if comparison.pairs is not None:
        return _recoded(comparison, comparison.pairs)
    after, removed = comparison.after, comparison.rows_removed
    gone = 1 if removed else 0  # All removed rows are one entry: it is not known which rows they are.
    return Released(
        ladders=comparison.ladders,
        labels=tuple(
            np.concatenate([codes, ladder.maps[-1, :gone]])
            for ladder, codes in zip(comparison.ladders, after.codes, strict=True)
        ),
        weights=np.concatenate([after.weights, np.full(gone, removed)]),
        removed=np.arange(len(after.weights) + gone) >= len(after.weights),
    )


def _recoded(comparison: Comparison, pairs: Pairs) -> RecodedCells:
    before, after, published = comparison.before, comparison.after, comparison.published
    left = before.weights - published if before.units is None else (published == 0).astype(np.int64)
    gone = np.flatnonzero(left)
    values = tuple(np.concatenate([codes[pairs.before], codes[gone]]) for codes in before.codes)
    labels = tuple(
        np.concatenate([after.codes[i][pairs.after], ladder.maps[-1, before.codes[i][gone]]])
        for i, ladder in enumerate(comparison.ladders)
    )
    removed = np.arange(len(pairs.before) + len(gone)) >= len(pairs.before)
    if before.units is None:
        weights = np.concatenate([pairs.weights, left[gone]])
    else:
        sizes = [*map(len, before.domains), *(len(ladder.labels) for ladder in comparison.ladders), 2]
        units = np.concatenate([before.units[pairs.before], before.units[gone]])
        weights = people_weights([*values, *labels, removed.astype(np.int64)], sizes, units)
    return RecodedCells(ladders=comparison.ladders, values=values, labels=labels, weights=weights, removed=removed)


def covered(ladder: Ladder) -> Integers:
    """Return how many values of the column each label may stand for; the root stands for all of them."""
    # A value that the hierarchy does not know has the label of the root on every level: only the top counts all values.
    most = np.zeros(len(ladder.labels), np.int64)
    for labels in ladder.maps:
        np.maximum(most, np.bincount(labels, minlength=len(most)), out=most)
    return most


def strays(cells: RecodedCells) -> int:
    """Return how many published cells have a label that does not cover the value that they were made from."""
    found = 0
    for ladder, values, labels in zip(cells.ladders, cells.values, cells.labels, strict=True):
        astray = ladder.maps[ladder.lowest[labels], values] != labels
        found += int(cells.weights[astray].sum())
    return found
