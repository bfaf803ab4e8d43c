"""What every recoding method returns."""

from __future__ import annotations

from dataclasses import dataclass

from anon_core.plan import RecodingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One recoding that was tried, in counts. ``name`` says what was generalised, and how far."""

    name: str
    singletons: int
    k: int | None
    rows_changed: int
    rows_removed: int
    distinct: int
    loss: float
    elected: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoding:
    """A plan that keeps what its method promises, why it was elected, and what else was tried."""

    method: str
    plan: RecodingPlan
    why: str
    candidates: tuple[Candidate, ...]
    optimal: bool | None
