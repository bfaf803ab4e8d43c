"""Unique column combinations by brute force: what scoring is tested with, whatever the real search does."""

from __future__ import annotations

from dataclasses import dataclass

from anon_core.frequency import FrequencyTable
from tests.properties.tables import subsets


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The outcome of a search by brute force."""

    rows: int
    duplicate_rows: int
    max_size: int | None
    approximate: float
    sets: tuple[tuple[str, ...], ...]


def brute_search(
    frequencies: FrequencyTable,
    /,
    *,
    max_size: int | None = None,
    approximate: float = 0.0,
    ignore_duplicates: bool = False,
) -> Found:
    del ignore_duplicates
    names, found = frequencies.names, []
    for chosen in subsets(names, max_size or len(names)):
        if any(set(one) <= set(chosen) for one in found):
            continue
        if frequencies.project(chosen).singletons >= (1 - approximate) * frequencies.rows:
            found.append(chosen)
    repeated = frequencies.rows - frequencies.tuples
    return Found(
        rows=frequencies.rows,
        duplicate_rows=repeated,
        max_size=max_size,
        approximate=approximate,
        sets=tuple(found),
    )
