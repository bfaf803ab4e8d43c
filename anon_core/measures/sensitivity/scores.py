"""The score of every column [Gong2020]_: sensitivity, what it bounds, the paper's three baselines, and the ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from anon_core.engines.engine import Engine
from anon_core.measures.profile import ColumnProfile, profile
from anon_core.measures.sensitivity.exposure import Exposure, Method, exposure
from anon_core.measures.sensitivity.sensitivity import sensitivities

MEASURES = ("sensitivity", "cardinality", "unique_share", "entropy")
"""Columns are ranked by sensitivity and the baselines. Not by ``exact``: where it is sampled, ranks would be noise."""


class UniqueSets(Protocol):
    """The result of a search for unique column combinations, as far as scoring needs it."""

    @property
    def rows(self) -> int: ...
    @property
    def duplicate_rows(self) -> int: ...
    @property
    def max_size(self) -> int | None: ...
    @property
    def approximate(self) -> float: ...
    @property
    def exists(self) -> bool: ...
    @property
    def sets(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def counted(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredColumn:
    """
    The figures of one column.

    ``exact`` is the probability of which ``sensitivity`` is an upper bound; both are None when there is no unique set.
    ``cardinality`` counts the gap as a value, as unique sets, ``unique_share`` and ``entropy`` (bits) do; ``distinct``
    does not, and ``missing`` is the number of gaps. Rank 1 is the most sensitive column; equal figures share the better
    rank, and the next rank is skipped (1, 2, 2, 4). Where people are counted, ``unique_share`` and ``entropy`` count
    people, and ``missing`` counts rows.
    """

    name: str
    type: str
    distinct: int
    missing: int
    sensitivity: float | None
    exact: float | None
    cardinality: int
    unique_share: float
    entropy: float
    ranks: dict[str, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """
    The scores of a table, columns in its order. ``average`` is the mean sensitivity of all columns.

    ``reason`` says why there is no unique set, and what to do; None when there is one. ``exact_error`` is 0 where
    ``exact_method`` is exact; for "monte carlo", with 99 % confidence, no column is further off than this. ``seed`` and
    ``samples`` are None unless some column was sampled.
    """

    columns: tuple[ScoredColumn, ...]
    average: float | None
    reason: str | None
    rows: int
    unique_sets: int
    duplicate_rows: int
    max_size: int | None
    approximate: float
    exact_method: Method | None
    exact_error: float | None
    seed: int | None
    samples: int | None


def score_columns(engine: Engine, unique: UniqueSets, reveal: Mapping[str, float], *, seed: int = 0) -> Scores:
    """
    Score every column of a table from its minimal unique column combinations; with the same ``seed``, samples are
    equal.

    :raises InvalidInputError: reveal probabilities that are missing or outside 0 to 1, all columns named.
    """
    found = sensitivities(engine.names, unique.sets, reveal, larger_exist=unique.exists)
    generator = np.random.default_rng(seed)
    exact = exposure(engine.names, unique.sets, reveal, generator=generator, larger_exist=unique.exists)
    return Scores(
        columns=_scored([_profile(engine, name) for name in engine.names], found, exact),
        average=sum(found.values()) / len(found) if found else None,
        reason=None if unique.sets else _reason(unique, engine.rows),
        rows=unique.rows,
        unique_sets=len(unique.sets),
        duplicate_rows=unique.duplicate_rows,
        max_size=unique.max_size,
        approximate=unique.approximate,
        exact_method=exact.method if exact else None,
        exact_error=exact.error if exact else None,
        seed=seed if exact and exact.samples else None,
        samples=exact.samples if exact else None,
    )


def _profile(engine: Engine, name: str) -> ColumnProfile:
    """Return the figures of a column; a person with several rows counts once for each value."""
    found = profile(engine.column(name))
    if engine.unit is None:
        return found
    people = engine.people([name])
    shares = people.class_sizes() / people.class_sizes().sum()
    known = shares[shares > 0]
    entropy = max(0.0, -float((known * np.log2(known)).sum()))
    return replace(found, entropy=entropy, unique_share=people.singletons / people.people)


def _scored(
    profiles: Sequence[ColumnProfile], found: Mapping[str, float] | None, exact: Exposure | None
) -> tuple[ScoredColumn, ...]:
    figures: dict[str, list[float]] = {
        "sensitivity": [] if found is None else [found[one.name] for one in profiles],
        "cardinality": [one.distinct + (one.missing > 0) for one in profiles],
        "unique_share": [one.unique_share for one in profiles],
        "entropy": [one.entropy for one in profiles],
    }
    ranked = {measure: ranks(figures[measure]) for measure in MEASURES}
    return tuple(
        ScoredColumn(
            name=one.name,
            type=one.type,
            distinct=one.distinct,
            missing=one.missing,
            sensitivity=None if found is None else found[one.name],
            exact=None if exact is None else exact.probabilities[one.name],
            cardinality=one.distinct + (one.missing > 0),
            unique_share=one.unique_share,
            entropy=one.entropy,
            ranks={measure: ranked[measure][at] if ranked[measure] else None for measure in MEASURES},
        )
        for at, one in enumerate(profiles)
    )


def ranks(figures: Sequence[float]) -> list[int]:
    """
    Rank figures, the largest first; equal figures share the better rank.

    Figures that agree to twelve decimals are equal: further decimals are rounding.

    >>> ranks([0.25, 0.5, 0.1, 0.25])
    [2, 1, 4, 2]
    """
    rounded = [round(figure, 12) for figure in figures]
    first: dict[float, int] = {}
    for place, figure in enumerate(sorted(rounded, reverse=True), start=1):
        first.setdefault(figure, place)
    return [first[figure] for figure in rounded]


def _reason(unique: UniqueSets, rows: int) -> str:
    """Return why there is no unique set, and what to change."""
    if unique.exists:
        most = f"{unique.max_size} column{'' if unique.max_size == 1 else 's'}"
        return f"every unique set has more than {most}: an adversary who knows no more identifies no person for sure"
    within = "columns" if unique.max_size is None else f"up to {unique.max_size} column{'s' * (unique.max_size > 1)}"
    if unique.counted == "people":
        return _reason_by_people(unique, within)
    wanted = f"at least {1 - unique.approximate:.6g} of the rows" if unique.approximate else "every row"
    why = f"no set of {within} makes {wanted} unique, so sensitivity is not defined"
    advice = [f"allow {'more' if unique.approximate else 'some'} rows that are not unique (approximate)"]
    if unique.duplicate_rows and unique.rows == rows:  # With fewer rows, duplicates were ignored already.
        repeat = "repeats" if unique.duplicate_rows == 1 else "repeat"
        why += f" ({unique.duplicate_rows} of {rows} rows {repeat} an earlier one)"
        advice.insert(0, "count equal rows once (ignore_duplicates)")
    if unique.max_size is not None:
        advice.append("allow larger sets (max_size)")
    return f"{why}; {' or '.join(advice)}"


def _reason_by_people(unique: UniqueSets, within: str) -> str:
    wanted = f"at least {1 - unique.approximate:.6g} of the people" if unique.approximate else "all people"
    why = f"no set of {within} leaves {wanted} alone, so sensitivity is not defined"
    advice = [f"allow {'more' if unique.approximate else 'some'} people who are not alone (approximate)"]
    if unique.duplicate_rows:
        why += f" ({unique.duplicate_rows:,} of {unique.rows:,} people share all their rows with others)"
        advice.insert(0, "leave them out (ignore_duplicates)")
    return f"{why}; {' or '.join(advice)}"
