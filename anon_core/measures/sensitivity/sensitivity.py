"""How much each column helps to single people out [Gong2020]_, from the minimal unique column combinations.

Gong, Zhao, Li, Wang: Instance-aware Evaluation of Sensitive Columns in Tabular Dataset, 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.detection.unique_columns import unique_column_combinations
from anon_core.frequency import FrequencyTable
from anon_core.measures.sensitivity.unique_sets import Family, Probabilities

_TINY = 1e-6
ROUNDING = 1e-12
"""By how much a sensitivity may exceed a limit: products of probabilities are not exact."""


def sensitivities(
    columns: Sequence[str],
    unique_sets: Sequence[Sequence[str]],
    reveal: Mapping[str, float],
    *,
    larger_exist: bool = False,
) -> dict[str, float] | None:
    """
    Return the sensitivity of every column, or None when there is no unique column combination at all.

    S(A) = p(A) * (1 - prod over U of (1 - prod of p(B), B in U without A))

    where: U runs over the minimal unique sets that contain A, and p(B) is the probability that an adversary knows B. It
    is an upper bound of the probability that the adversary knows A together with the rest of some such set, which
    :func:`~anon_core.measures.sensitivity.exposure.exposure` computes. Without any unique set (one pair of equal rows
    is enough) sensitivity is not defined: never read it as 0. If there are sets, a column in none of them has 0. All
    columns have 0 if there are sets, but none within the adversary's limit (``larger_exist``).

    >>> sensitivities(["id", "sex"], [["id"]], {"id": 0.5, "sex": 0.5})
    {'id': 0.5, 'sex': 0.0}

    :raises InvalidInputError: reveal probabilities that are missing or outside 0 to 1, all columns named.
    """
    family = Family.of(columns, unique_sets, reveal)
    if not unique_sets and not larger_exist:
        return None
    found = formula(family)
    return {name: float(found[at]) for at, name in enumerate(columns)}


def formula(family: Family) -> Probabilities:
    """Return S of every column of a family, by position."""
    none = np.ones(len(family.names))
    log_none = np.zeros(len(family.names))
    for sets in family.by_size:
        known = family.reveal[sets]
        for at in range(sets.shape[1]):
            rest = np.delete(known, at, axis=1).prod(axis=1)
            np.multiply.at(none, sets[:, at], 1 - rest)
            with np.errstate(divide="ignore"):
                np.add.at(log_none, sets[:, at], np.log1p(-rest))
    # The plain product is exact for the paper's examples. Below a millionth its difference from 1 is lost in rounding,
    # and a column in a large set would look as if it were in none.
    some = np.where(1 - none > _TINY, 1 - none, 0 - np.expm1(log_none))
    result: Probabilities = family.reveal * some
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityFigures:
    """The sensitivity of every column, and from how many unique column sets it was computed."""

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
        """The columns above the limit by more than rounding."""
        return tuple(name for name, found in self.by_column.items() if found > self.limit + ROUNDING)


def sensitivity_found(
    frequencies: FrequencyTable,
    *,
    limit: float,
    max_size: int,
    approximate: float,
    ignore_duplicates: bool,
    reveal: Mapping[str, float],
) -> SensitivityFigures | None:
    """
    Measure the sensitivity of all columns; None where it is not defined, which is never a pass.

    It is not defined without columns, and where no set of columns makes enough rows unique.

    :raises InvalidInputError: reveal probabilities that are missing or outside 0 to 1.
    """
    unique = unique_column_combinations(
        frequencies, max_size=max_size, approximate=approximate, ignore_duplicates=ignore_duplicates
    )
    found = sensitivities(frequencies.names, unique.sets, reveal, larger_exist=unique.exists)
    return SensitivityFigures(by_column=found, limit=limit, unique_sets=len(unique.sets)) if found else None
