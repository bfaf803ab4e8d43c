"""How sensitivity changes with the number of rows, and with how much the adversary knows [Gong2020]_, Figure 4."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import numpy as np

from anon_core.engines.engine import Engine
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Integers
from anon_core.measures.sensitivity.scores import UniqueSets
from anon_core.measures.sensitivity.sensitivity import sensitivities

MIN_SAMPLE_ROWS = 10
"""The size of the first sample of a sweep over rows, as in the paper."""


class UniqueSearch(Protocol):
    """A search for unique column combinations, passed as an argument: measures do not import detection."""

    def __call__(
        self, frequencies: FrequencyTable, /, *, max_size: int | None, approximate: float, ignore_duplicates: bool
    ) -> UniqueSets: ...


class Axis(StrEnum):
    """What grows along a sweep: the sample of rows, or the number of columns that the adversary knows."""

    ROWS = "rows"
    COLUMNS = "columns"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """The sensitivities at one step; None (with the average) where there is no unique set."""

    at: int
    sensitivities: dict[str, float] | None
    average: float | None
    unique_sets: int
    duplicate_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Sensitivities over a growing ``axis``; there is a ``seed`` where rows are sampled."""

    axis: Axis
    columns: tuple[str, ...]
    points: tuple[SweepPoint, ...]
    seed: int | None


def sweep_rows(
    engine: Engine,
    reveal: Mapping[str, float],
    *,
    search: UniqueSearch,
    max_size: int | None = None,
    approximate: float = 0.0,
    ignore_duplicates: bool = False,
    steps: int | Sequence[int] = 8,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Sweep:
    """
    Score growing random samples of the rows, each contained in the next one; the last is the whole table (Figure 4a).

    ``steps`` is the number of samples, spaced evenly on a logarithmic scale from 10 rows on, or the sample sizes. Rows
    are sorted by their values before the draw, so the order of rows and columns does not change the result.
    ``progress`` is called with the number of samples that are done.

    :raises InvalidInputError: no rows, no step, or a sample size below 1 or above the number of rows.
    """
    sizes = _sizes(steps, engine.rows)
    whole = engine.count(sorted(engine.names))
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(whole.tuples), whole.weights))
    points = []
    for done, size in enumerate(sizes, start=1):
        part = _drawn(whole, order[:size])
        found = search(part, max_size=max_size, approximate=approximate, ignore_duplicates=ignore_duplicates)
        points.append(_point(size, engine.names, found.sets, found, reveal))
        if progress:
            progress(done)
    return Sweep(axis=Axis.ROWS, columns=engine.names, points=tuple(points), seed=seed)


def sweep_adversary(
    columns: Sequence[str], unique: UniqueSets, reveal: Mapping[str, float], *, max_size: int | None = None
) -> Sweep:
    """
    Score with an adversary who knows at most 1, 2, ... ``max_size`` columns (Figure 4b).

    ``unique`` is one search up to the largest limit: a smaller limit only leaves out larger sets. By default the sweep
    ends with the size of the largest set found. Below the size of the smallest set every column has 0.

    :raises InvalidInputError: a limit below 1, or above the one that the sets were searched with.
    """
    if max_size is not None and (max_size < 1 or (unique.max_size is not None and max_size > unique.max_size)):
        raise InvalidInputError(
            f"the adversary's columns must be between 1 and the limit of the search ({unique.max_size}), not {max_size}"
        )
    last = max_size or max((len(one) for one in unique.sets), default=1)
    points = [
        _point(limit, columns, [one for one in unique.sets if len(one) <= limit], unique, reveal)
        for limit in range(1, last + 1)
    ]
    return Sweep(axis=Axis.COLUMNS, columns=tuple(columns), points=tuple(points), seed=None)


def _sizes(steps: int | Sequence[int], rows: int) -> list[int]:
    if not rows:
        raise InvalidInputError("there is nothing to sample: the table has no rows")
    if not isinstance(steps, int):
        wrong = sorted({size for size in steps if not 1 <= size <= rows})
        if wrong or not steps:
            of = "row" if rows == 1 else "rows"
            raise InvalidInputError(f"sample sizes must be between 1 and the {rows} {of} of the table, not {wrong}")
        return sorted(set(steps))
    if steps < 1:
        raise InvalidInputError(f"a sweep needs at least 1 step, not {steps}")
    spaced = np.geomspace(rows, min(MIN_SAMPLE_ROWS, rows), steps).round().astype(int)
    return sorted(set(spaced.tolist()))


def _drawn(whole: FrequencyTable, tuples: Integers) -> FrequencyTable:
    """Return the distinct tuples of a sample, in the order of the whole table."""
    weights = np.bincount(tuples, minlength=whole.tuples).astype(np.int64)
    kept = np.flatnonzero(weights)
    return replace(whole, codes=tuple(column[kept] for column in whole.codes), weights=weights[kept])


def _point(
    at: int, columns: Sequence[str], sets: Sequence[Sequence[str]], unique: UniqueSets, reveal: Mapping[str, float]
) -> SweepPoint:
    found = sensitivities(columns, sets, reveal, larger_exist=unique.exists)
    return SweepPoint(
        at=at,
        sensitivities=found,
        average=sum(found.values()) / len(found) if found else None,
        unique_sets=len(sets),
        duplicate_rows=unique.duplicate_rows,
    )
