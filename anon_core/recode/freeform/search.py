"""Freeform anonymity reached [Wang2009]_: the table that is generalised least, among those without a breach.

Wang, Xu, Fu, Wong: FF-anonymity: when quasi-identifiers are missing, 2009. It keeps people from being told something,
not from being found: ``then: prioritised`` reaches k as well.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anon_core.errors import InternalError, InvalidInputError, PolicyNotMetError
from anon_core.kernels import Integers
from anon_core.plan import RecodingPlan
from anon_core.recode.freeform.cuts import Cut, specialise
from anon_core.recode.freeform.upwards import recode_upwards
from anon_core.recode.freeform_problem import FreeformProblem
from anon_core.recode.method import Progress
from anon_core.recode.task import Candidate, Recoding, Task
from anon_core.score.freeform import FreeformCheck


def recode_freeform(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Generalise values, each the same in all rows, until no freeform attack is a breach; then reach k, if that is asked.

    Local recoding for k can raise a threat, so breaches are looked for again. If there is one, k is reached another
    way: a specialisation is kept only if classes keep k rows too.

    :raises PolicyNotMetError: even the table of all roots has a breach, naming the column; or k cannot be reached.
    :raises InvalidInputError: nothing is guarded, or diversity is required too.
    """
    problem = task.freeform
    if problem is None:
        raise InvalidInputError("`recode.method: freeform` needs `privacy.freeform`, which says what is guarded")
    if task.requirements.others:
        raise InvalidInputError(
            "`recode.method: freeform` does not reach l_diversity, t_closeness or alpha yet; remove them, or use "
            "another method"
        )
    _refuse_infeasible(problem)
    cut = specialise(problem, progress=progress)
    plan, why = _plan(problem, cut), _told(cut)
    if task.settings.then is not None:
        plan, why = _then(task, problem, plan, why, progress)
    check = problem.check(plan)
    if not check.holds:
        raise InternalError(f"freeform recoding with {check.breaches} breaches", "recode.freeform")
    return Recoding(
        method="freeform",
        plan=plan,
        why=why,
        candidates=(
            measured_over_all(task, plan, method="freeform", name="minimal generalisation", elected=True),
            _suppressed(task, problem),
        ),
        optimal=None,
    )


def _then(
    task: Task, problem: FreeformProblem, plan: RecodingPlan, why: str, progress: Progress | None
) -> tuple[RecodingPlan, str]:
    """Reach k as well: locally if that raises no threat above the limit, else by specialising less."""
    local = recode_upwards(task, problem, plan, progress=progress)
    raised = problem.check(local)
    if raised.holds:
        return local, f"{why}; then prioritised recoding for k"
    cut = specialise(problem, quasi=task.frequencies.names, k=task.k, progress=progress)
    both = _plan(problem, cut)
    blanked = both.project(task.frequencies.names).rows_blanked
    if blanked > task.allowed:
        worst = raised.worst
        raise PolicyNotMetError(
            goal=f"k {task.k} with a freeform threat of at most {problem.sigma_t:g}",
            reached=f"{worst.threat:g} after prioritised recoding" if worst else "none",
            rows_at_risk=max(blanked, worst.rows if worst else 0),
            rows=task.frequencies.rows,
            advice="generalising all rows alike instead leaves nothing of the quasi-identifiers: raise "
            "privacy.freeform.sigma_t or privacy.suppression_limit, lower privacy.k, or publish fewer columns",
        )
    worst_threat = raised.worst.threat if raised.worst else 0.0
    return both, (
        f"{_told(cut)}, so that classes have {task.k} rows too: prioritised recoding would have raised a threat to "
        f"{worst_threat:.2g}"
    )


def _refuse_infeasible(problem: FreeformProblem) -> None:
    """:raises PolicyNotMetError: the table of all roots has a breach already."""
    roots = Cut(
        levels=tuple(np.full(ladder.maps.shape[1], ladder.height, np.int64) for ladder in problem.ladders),
        tried=0,
        kept=0,
    )
    check = problem.check(_plan(problem, roots))
    if check.holds:
        return
    columns = [one.column for one in check.columns if one.breaches]
    worst = max(one.threat for one in check.columns)
    raise PolicyNotMetError(
        goal=f"freeform threat of at most {problem.sigma_t:g}",
        reached=f"{worst:g}",
        rows_at_risk=problem.frequencies.rows,
        rows=problem.frequencies.rows,
        advice=f"infeasible: even with `*` in every cell {', '.join(columns)} gives a sensitive value away; guard "
        "fewer values, say by belief what can be observed, raise privacy.freeform.sigma_t, or do not publish it",
    )


def _plan(problem: FreeformProblem, cut: Cut) -> RecodingPlan:
    codes = problem.frequencies.codes
    return RecodingPlan(
        frequencies=problem.frequencies,
        ladders=problem.ladders,
        levels=np.stack([own[code] for own, code in zip(cut.levels, codes, strict=True)]).astype(np.int8),
        removed=np.zeros(len(problem.frequencies.weights), np.bool_),
    )


def _told(cut: Cut) -> str:
    return (
        f"Of {cut.tried} specialisations from the roots down {cut.kept} were kept; every further one would let a "
        "guarded value be inferred"
    )


def _suppressed(task: Task, problem: FreeformProblem) -> Candidate:
    """Return what suppressing every sensitive value would leave, as the paper's T2: for comparison only."""
    levels = []
    for ladder, column, places, codes in zip(
        problem.ladders, problem.columns, problem.places, problem.frequencies.codes, strict=True
    ):
        leaf: Integers = places[ladder.maps[0]]
        secret = column.hidden[leaf] | (column.sensitivity[leaf] > 0)
        levels.append(np.where(secret, ladder.height, 0)[codes])
    plan = RecodingPlan(
        frequencies=problem.frequencies,
        ladders=problem.ladders,
        levels=np.stack(levels).astype(np.int8),
        removed=np.zeros(len(problem.frequencies.weights), np.bool_),
    )
    check: FreeformCheck = problem.check(plan)
    left = f"; {check.breaches} breaches would be left" if check.breaches else ""
    return measured_over_all(
        task,
        plan,
        method="freeform",
        name="every sensitive value suppressed",
        elected=False,
        reason=f"for comparison: the paper's T2 keeps what is not sensitive as it is{left}",
    )


def measured_over_all(
    task: Task, plan: RecodingPlan, *, method: str, name: str, elected: bool, reason: str | None = None
) -> Candidate:
    """Return a candidate: k and singletons are over the quasi-identifiers, utility over guarded columns too."""
    whole = task.freeform.whole(plan) if task.freeform else plan
    weights = task.freeform.by_name if task.freeform else task.by_name
    found = Candidate.of(whole, method=method, name=name, weights=weights, elected=elected, reason=reason)
    released = plan.project(task.frequencies.names).released()
    return replace(found, singletons=released.singletons, k=int(released.weights.min()) if released.tuples else None)
