"""What every recoding method returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anon_core.plan import RecodingPlan
from anon_core.score.utility.cells import Recoded
from anon_core.score.utility.entropy import entropy
from anon_core.score.utility.loss import loss

if TYPE_CHECKING:
    from anon_core.recode.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """
    One recoding that was tried, in counts. ``name`` says what was generalised, and how far.

    ``loss`` and ``wnue`` heed the priorities. ``reason`` says why it could not be elected; None where it could.
    """

    method: str
    name: str
    singletons: int
    k: int | None
    rows_changed: int
    rows_removed: int
    distinct: int
    loss: float | None
    nue: float | None
    wnue: float | None
    elected: bool
    reason: str | None = None

    @classmethod
    def of(
        cls,
        plan: RecodingPlan,
        *,
        method: str,
        name: str,
        weights: Mapping[str, float],
        elected: bool,
        reason: str | None = None,
    ) -> Candidate:
        """Measure a plan."""
        released, cells = plan.released(), Recoded.by(plan)
        left = entropy(cells, weights)
        return cls(
            method=method,
            name=name,
            singletons=released.singletons,
            k=int(released.weights.min()) if released.tuples else None,
            rows_changed=plan.rows_changed,
            rows_removed=plan.rows_removed,
            distinct=released.tuples,
            loss=loss(cells, weights).weighted,
            nue=left.overall,
            wnue=left.weighted,
            elected=elected,
            reason=reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoding:
    """A plan that keeps what its method promises, why it was elected, and what else was tried."""

    method: str
    plan: RecodingPlan
    why: str
    candidates: tuple[Candidate, ...]
    optimal: bool | None

    @classmethod
    def unchanged(cls, task: Task, why: str) -> Recoding:
        """Return the table as it was collected."""
        plan = RecodingPlan.unchanged(task.frequencies, task.ladders)
        return cls(method="none", plan=plan, why=why, candidates=(), optimal=None)
