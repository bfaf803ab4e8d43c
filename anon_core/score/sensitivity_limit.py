"""Whether a column helps too much to single people out: the sensitivity of each, held against a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anon_core.detect.unique_columns import unique_column_combinations
from anon_core.frequency import FrequencyTable
from anon_core.score.sensitivity import ROUNDING, sensitivities


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityFound:
    """The sensitivity of every column, and how many unique column sets it rests on."""

    by_column: dict[str, float]
    limit: float
    unique_sets: int

    @property
    def worst(self) -> str:
        """The column with the highest sensitivity, the first of several."""
        return max(self.by_column, key=lambda name: self.by_column[name])

    @property
    def highest(self) -> float:
        return self.by_column[self.worst]

    @property
    def above(self) -> tuple[str, ...]:
        """The columns above the limit, beyond rounding."""
        return tuple(name for name, found in self.by_column.items() if found > self.limit + ROUNDING)


def sensitivity_found(
    frequencies: FrequencyTable,
    *,
    limit: float,
    max_size: int,
    approximate: float,
    ignore_duplicates: bool,
    reveal: Mapping[str, float],
) -> SensitivityFound | None:
    """
    Measure the sensitivity of all columns; None where it is not defined, which is never a pass.

    That is so where there is no column, and where no set of columns makes enough rows unique.

    :raises InvalidInputError: reveal probabilities that are missing or outside 0 to 1.
    """
    unique = unique_column_combinations(
        frequencies, max_size=max_size, approximate=approximate, ignore_duplicates=ignore_duplicates
    )
    found = sensitivities(frequencies.names, unique.sets, reveal, larger_exist=unique.exists)
    return SensitivityFound(by_column=found, limit=limit, unique_sets=len(unique.sets)) if found else None
