"""The method that a publication asks for, run on its distinct tuples, and its result counted anew."""

from __future__ import annotations

from anon_core.errors import PolicyNotMetError
from anon_core.recode.compliance import PlanMeasurements, hold_to_promise
from anon_core.recode.method import Progress, RecodingMethod
from anon_core.recode.task import Recoding, Task
from anon_core.wording import counted


def recode(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Recode the quasi-identifiers as ``task.settings.method`` says.

    What a method promises is counted again from the classes that would be published. ``none`` promises nothing, and
    ``singletons`` only what it says itself: whether such a table may go out is for whoever checks it.

    :raises PolicyNotMetError: the method cannot keep what it promises, or leaves a freeform attack that the policy
        forbids; nothing is returned.
    :raises InvalidInputError: no installed package brings the method, or the task lacks something that it needs.
    :raises InternalError: a search has returned what it must not; nothing is returned.
    """
    method: RecodingMethod = task.settings.member
    _refuse_k_above_rows(task)
    if method.needs_quasi_identifiers and not task.frequencies.names:
        return Recoding.unchanged(task, "There is no quasi-identifier")
    recoding = method.recode(task, progress=progress)
    if not method.checks_plans:
        hold_to_promise(method, PlanMeasurements(task, recoding.plan))
    return recoding


def _refuse_k_above_rows(task: Task) -> None:
    rows = task.frequencies.rows
    if task.k > rows:
        raise PolicyNotMetError(
            goal=f"k {task.k}",
            reached=rows,
            rows_at_risk=rows,
            rows=rows,
            advice=f"no class can be larger than the table, which has {counted(rows, 'row')}: lower privacy.k or "
            "publish this dataset less often",
        )
