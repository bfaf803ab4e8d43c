"""A recoding, before any row is touched: which distinct tuple becomes which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder, Levels
from anon_core.kernels import AnyCodes
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodingPlan:
    """
    For every distinct tuple of the quasi-identifiers: the level of each cell, or that its rows are removed.

    ``levels[i, j]`` is the level of column ``i`` of tuple ``j`` of ``frequencies``. Since a plan speaks of tuples, any
    engine applies it by a join, at any size.
    """

    frequencies: FrequencyTable
    ladders: tuple[Ladder, ...]
    levels: Levels
    removed: Mask

    @classmethod
    def unchanged(cls, frequencies: FrequencyTable, ladders: Sequence[Ladder]) -> RecodingPlan:
        """Return the plan that leaves every cell as collected (values the hierarchy does not know are suppressed)."""
        return cls(
            frequencies=frequencies,
            ladders=tuple(ladders),
            levels=np.zeros((len(ladders), len(frequencies.weights)), np.int8),
            removed=np.zeros(len(frequencies.weights), np.bool_),
        )

    def project(self, columns: Sequence[str]) -> RecodingPlan:
        """
        Return what the plan does to some columns, where that depends on these alone.

        :raises InternalError: tuples that are equal in them are treated differently.
        """
        if tuple(columns) == self.frequencies.names:
            return self
        at = self.frequencies.positions(columns)
        sizes = [len(self.frequencies.domains[i]) for i in at]
        found = kernels.group([self.frequencies.codes[i] for i in at], sizes, self.frequencies.weights)
        levels, removed = self.levels[at][:, found.first], self.removed[found.first]
        if (levels[:, found.member] != self.levels[at]).any() or (removed[found.member] != self.removed).any():
            raise InternalError("plan that cannot be told by some of its columns", "plan.project")
        return RecodingPlan(
            frequencies=self.frequencies.project(columns),
            ladders=tuple(self.ladders[i] for i in at),
            levels=levels,
            removed=removed,
        )

    @property
    def recoded(self) -> tuple[str, ...]:
        """The columns that it may change; the others are published as collected."""
        return tuple(ladder.column for ladder in self.ladders if ladder.height)

    def released_codes(self, column: int) -> AnyCodes:
        """Return the label code of every tuple in one column."""
        return np.asarray(self.ladders[column].maps[self.levels[column], self.frequencies.codes[column]])

    def classes(self) -> kernels.Groups:
        """Return the tuples that have the same labels in every column, as classes; removed ones are not left out."""
        codes = [self.released_codes(i) for i in range(len(self.ladders))]
        return kernels.group(codes, [len(ladder.labels) for ladder in self.ladders], self.frequencies.weights)

    def released(self) -> FrequencyTable:
        """Return the distinct tuples that will be published, without the removed rows; people, if these are counted."""
        keep, before = ~self.removed, self.frequencies
        rows = before.weights if before.unit_rows is None else before.unit_rows
        return FrequencyTable.from_codes(
            before.names,
            [self.released_codes(i)[keep] for i in range(len(self.ladders))],
            [ladder.labels for ladder in self.ladders],
            rows[keep],
            None if before.units is None else before.units[keep],
        )

    def changed(self, column: int) -> Mask:
        """Which tuples have another label in this column than the value as collected (removed ones are not counted)."""
        ladder = self.ladders[column]
        raw = ladder.maps[0, self.frequencies.codes[column]]
        suppressed = ladder.unmapped[self.frequencies.codes[column]]
        return np.asarray(((self.released_codes(column) != raw) | suppressed) & ~self.removed)

    @property
    def cells_changed(self) -> dict[str, int]:
        """How many published rows have a changed cell, per column."""
        weights = self.frequencies.weights
        return {name: int(weights[self.changed(i)].sum()) for i, name in enumerate(self.frequencies.names)}

    @property
    def rows_changed(self) -> int:
        """How many published rows have at least one changed cell."""
        some = np.zeros(len(self.frequencies.weights), np.bool_)
        for i in range(len(self.ladders)):
            some |= self.changed(i)
        return int(self.frequencies.weights[some].sum())

    @property
    def rows_removed(self) -> int:
        return int(self.frequencies.weights[self.removed].sum())

    @property
    def rows_blanked(self) -> int:
        """How many published rows say nothing in any column: published in name only, they count as suppressed."""
        blank = ~self.removed & bool(self.ladders)
        for i, ladder in enumerate(self.ladders):
            blank &= ladder.empty[self.released_codes(i)]
        return int(self.frequencies.weights[blank].sum())

    def rows_by_level(self, column: int) -> dict[int, int]:
        """How many published rows stand at each level of one column; an unmapped value stands at the root."""
        ladder, keep = self.ladders[column], ~self.removed
        unmapped = ladder.unmapped[self.frequencies.codes[column]]
        counts = np.zeros(ladder.height + 1, np.int64)
        levels = np.where(unmapped, ladder.height, self.levels[column])
        np.add.at(counts, levels[keep], self.frequencies.weights[keep])
        return {level: int(rows) for level, rows in enumerate(counts) if rows}
