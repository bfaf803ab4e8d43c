"""Unique column combinations by brute force: what scoring is tested with, whatever the real search does."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from anon_core.detection.unique_columns import UniqueColumns
from anon_core.frequency import FrequencyTable
from tests.properties.tables import subsets


def brute_search(
    frequencies: FrequencyTable,
    /,
    *,
    max_size: int | None = None,
    approximate: float = 0.0,
    ignore_duplicates: bool = False,
) -> UniqueColumns:
    """Write every row out and count, for every set of columns, the rows that are alone on it."""
    names = frequencies.names
    tuples = list(zip(*(codes.tolist() for codes in frequencies.codes), strict=True))
    times = [1] * len(tuples) if ignore_duplicates else frequencies.weights.tolist()
    rows = [row for row, often in zip(tuples, times, strict=True) for _ in range(often)]
    found: list[tuple[str, ...]] = []
    for chosen in subsets(names, max_size or len(names)):
        if any(set(one) <= set(chosen) for one in found):
            continue
        at = [names.index(name) for name in chosen]
        if _alone([tuple(row[i] for i in at) for row in rows]) >= (1 - Fraction(str(approximate))) * len(rows):
            found.append(chosen)
    return UniqueColumns(
        rows=len(rows),
        duplicate_rows=sum(frequencies.weights.tolist()) - len(set(tuples)),
        max_size=max_size,
        approximate=approximate,
        sets=tuple(found),
        exists=_alone(rows) >= (1 - Fraction(str(approximate))) * len(rows),
    )


def _alone(rows: list[tuple[int, ...]]) -> int:
    return sum(often == 1 for often in Counter(rows).values())
