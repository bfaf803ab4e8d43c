"""Prioritised local recoding [Bampoulidis2019]_: the paper's method, and two that promise more.

Bampoulidis, Markopoulos, Lupu: PrioPrivacy: a local recoding k-anonymity tool for prioritised quasi-identifiers, 2019.
"""

from __future__ import annotations

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.plan import RecodingPlan
from anon_core.recode.compliance import ALONE, K, Promise, error_of, shortfalls, unreached
from anon_core.recode.outcome import Candidate, Recoding
from anon_core.recode.prioritised.encoding import Encoded
from anon_core.recode.prioritised.link import lowered, repaired
from anon_core.recode.prioritised.paper import MOST_COLUMNS, recode_as_in_the_paper
from anon_core.recode.prioritised.prices import Objective
from anon_core.recode.prioritised.safe import SafeSearch, search_safe
from anon_core.recode.progress import Progress
from anon_core.recode.task import Task
from anon_core.spec import Mode


def recode_prioritised(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Recode locally: every distinct tuple gets levels of its own, cells of important columns change least.

    What is promised depends on ``mode``: ``safe`` exact k and all that the policy asks of sensitive columns, ``link``
    that link k and source k are at least k, ``paper`` source k alone. Same task and seed, same plan.

    :raises InvalidInputError: diversity is required in a mode that does not reach it; too many columns for ``paper``.
    :raises PolicyNotMetError: more rows would have to be suppressed than allowed, or no class is diverse enough.
    """
    mode = task.settings.mode
    if task.requirements.others and mode is not Mode.SAFE:
        raise InvalidInputError(
            f"`recode.mode: {mode.value}` reaches k only, not what the policy requires of sensitive columns; use safe"
        )
    if mode is Mode.PAPER and task.settings.improve not in ("auto", 0):
        raise InvalidInputError(
            "`recode.mode: paper` is the paper's method, without an improvement search: drop `improve`"
        )
    encoded = Encoded.of(task)
    objective = Objective.of(encoded, task.settings.nue_weight)
    if mode is Mode.PAPER:
        plan = encoded.plan(recode_as_in_the_paper(encoded, progress=progress))
        found = _recoding(task, "paper", plan, "Columns joined from the least important one, as the paper has it")
    else:
        search = search_safe(encoded, objective, progress=progress)
        found = _recoding(task, "safe", search.plan, _told(search))
        if mode is Mode.LINK:
            found = _linked(encoded, objective, search, progress)
    _refuse_shortfalls(task, found.plan)
    return found


def _refuse_shortfalls(task: Task, plan: RecodingPlan) -> None:
    """
    Raise where the search ended with something still broken that no search could mend.

    A k that is too small is none of these: that would be a fault of ours, and whoever called finds it.
    """
    found = shortfalls(task, plan, Promise.of_method(task))
    lacking = [one for one in found if one.model not in (*K, ALONE)]
    if lacking:
        advice = "publish fewer columns, add a level to a hierarchy, raise privacy.suppression_limit or lower privacy.k"
        raise error_of(task, max(lacking, key=lambda one: one.rows_at_risk), advice)


def _linked(encoded: Encoded, objective: Objective, search: SafeSearch, progress: Progress | None) -> Recoding:
    """
    Return the better of two ways to mode ``link``: of those that keep the policy the one that loses less.

    Ties go to the first. With more columns than the paper's method can try there is only one way.
    """
    task = encoded.task
    ways = {"safe classes": lowered(encoded, objective, search.plan)}
    if encoded.columns <= MOST_COLUMNS:
        paper = encoded.plan(recode_as_in_the_paper(encoded, progress=progress))
        random = np.random.default_rng(task.settings.seed)
        ways["the paper's rows"] = lowered(encoded, objective, repaired(encoded, objective, paper, random))
    lacking = {name: shortfalls(task, plan, Promise.LINK) for name, plan in ways.items()}

    def rank(name: str) -> tuple[bool, bool, float]:
        models = {one.model for one in lacking[name]}
        return not models.isdisjoint(K), bool(models), objective.cost(encoded, ways[name])

    best = min(ways, key=rank)
    many = " (not lowered: too many rows and people cover each other)" if ways["safe classes"] is search.plan else ""
    reasons = {name: "; ".join(map(unreached, lacking[name])) or "loses more" for name in ways}
    return Recoding(
        method="prioritised",
        plan=ways[best],
        why=f"Begun with {best}, the better of {len(ways)}. {_told(search)}{many}",
        candidates=tuple(
            _candidate(
                task, f"link from {name}", plan, elected=name == best, reason=None if name == best else reasons[name]
            )
            for name, plan in ways.items()
        ),
        optimal=None,
    )


def _told(search: SafeSearch) -> str:
    tried = len(search.nodes.levels)
    nodes = (
        f"a sample of {tried:,} of {search.nodes.total:,} level combinations, for there are too many"
        if search.nodes.sampled
        else f"{tried:,} level combinations"
    )
    improved = f", improved in {search.sweeps} sweeps" if search.sweeps else ""
    return f"Classes by the order of {nodes}{improved}"


def _recoding(task: Task, name: str, plan: RecodingPlan, why: str) -> Recoding:
    return Recoding(
        method="prioritised",
        plan=plan,
        why=why,
        candidates=(_candidate(task, name, plan, elected=True),),
        optimal=None,
    )


def _candidate(task: Task, name: str, plan: RecodingPlan, *, elected: bool, reason: str | None = None) -> Candidate:
    return Candidate.of(plan, method="prioritised", name=name, weights=task.by_name, elected=elected, reason=reason)
