"""The method that a publication asks for, run on its distinct tuples, and its result counted anew."""

from __future__ import annotations

from anon_core.errors import InternalError, PolicyNotMetError
from anon_core.plan import RecodingPlan
from anon_core.recode.best.election import recode_best
from anon_core.recode.compliance import hold_to_promise
from anon_core.recode.freeform.search import recode_freeform
from anon_core.recode.lattice.search import recode_globally
from anon_core.recode.outcome import Recoding
from anon_core.recode.prioritised.search import recode_prioritised
from anon_core.recode.progress import Progress
from anon_core.recode.singletons.search import recode_singletons
from anon_core.recode.task import Task
from anon_core.spec import Method
from anon_core.wording import counted

_METHODS = {
    Method.SINGLETONS: recode_singletons,
    Method.GLOBAL: recode_globally,
    Method.PRIORITISED: recode_prioritised,
    Method.BEST: recode_best,
    Method.FREEFORM: recode_freeform,
}


def recode(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Recode the quasi-identifiers as ``task.settings.method`` says.

    What a method promises is counted again from the classes that would be published. ``none`` promises nothing, and
    ``singletons`` only what it says itself: whether such a table may go out is for whoever checks it.

    :raises PolicyNotMetError: the method cannot keep what it promises, or leaves a freeform attack that the policy
        forbids; nothing is returned.
    :raises InternalError: a search has returned what it must not; nothing is returned.
    """
    method, rows = task.settings.method, task.frequencies.rows
    if task.k > rows:
        raise PolicyNotMetError(
            goal=f"k {task.k}",
            reached=rows,
            rows_at_risk=rows,
            rows=rows,
            advice=f"no class can be larger than the table, which has {counted(rows, 'row')}: lower privacy.k or "
            "publish this dataset less often",
        )
    if method is Method.NONE or not (task.frequencies.names or method is Method.FREEFORM):
        return _unchanged(task)
    search = _METHODS.get(method)
    if search is None:
        raise InternalError("unchecked recoding method", f"recode.methods ({method})")
    recoding = search(task, progress=progress)
    if method is not Method.SINGLETONS:
        hold_to_promise(task, recoding)
    return recoding


def _unchanged(task: Task) -> Recoding:
    asked = task.settings.method is Method.NONE
    return Recoding(
        method=str(Method.NONE.value),
        plan=RecodingPlan.unchanged(task.frequencies, task.ladders),
        why="The publication file asks for no recoding" if asked else "There is no quasi-identifier",
        candidates=(),
        optimal=None,
    )
