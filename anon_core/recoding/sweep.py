"""The same table recoded for several k: how much information is left for each [Bampoulidis2019]_, Figure 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anon_core.errors import PolicyNotMetError
from anon_core.measures.utility.cells import RecodedCells
from anon_core.measures.utility.entropy import entropy
from anon_core.recoding.method import Progress
from anon_core.recoding.methods import recode
from anon_core.recoding.requirements import models_reached
from anon_core.recoding.task import Recoding, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptK:
    """The information left for one k. If that k cannot be reached, the figures are None, and ``reason`` says why."""

    k: int
    nue: float | None = None
    wnue: float | None = None
    rows_removed: int | None = None
    reason: str | None = None


def sweep_k(
    task: Task, sizes: Sequence[int], *, known: Recoding | None = None, progress: Progress | None = None
) -> tuple[SweptK, ...]:
    """
    Recode a table for every k of ``sizes``, the smallest first, and measure how much information is left.

    All else stays as the task says. ``known`` is the recoding for the task's own k, if the caller has it.
    """
    return tuple(_swept(task, k, known if k == task.k else None, progress) for k in sorted(set(sizes)))


def _swept(task: Task, k: int, known: Recoding | None, progress: Progress | None) -> SweptK:
    if k > task.frequencies.rows:
        return SweptK(k=k, reason=f"the table has only {task.frequencies.rows} rows")
    try:
        recoding = known or recode(_with_k(task, k), progress=_with_k_named(k, progress))
    except PolicyNotMetError as error:
        return SweptK(k=k, reason=str(error))
    left = entropy(RecodedCells.by(recoding.plan), task.by_name)
    return SweptK(k=k, nue=left.overall, wnue=left.weighted, rows_removed=recoding.plan.rows_removed)


def _with_k(task: Task, k: int) -> Task:
    """Return the same task for another k."""
    policy = task.policy.model_copy(update={"k": k})
    models = models_reached(policy, task.frequencies.names, task.publication)
    return replace(task, requirements=task.requirements.of_models(models), policy=policy)


def _with_k_named(k: int, progress: Progress | None) -> Progress | None:
    """Return a progress function that adds the k to what it reports."""
    if progress is None:
        return None
    return lambda what, done, most: progress(f"{what} for k = {k}", done, most)
