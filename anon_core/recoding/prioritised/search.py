"""Prioritised local recoding [Bampoulidis2019]_: the paper's method, and two that promise more.

Bampoulidis, Markopoulos, Lupu: PrioPrivacy: a local recoding k-anonymity tool for prioritised quasi-identifiers, 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.plan import RecodingPlan
from anon_core.recoding.compliance import shortfalls, unreached
from anon_core.recoding.lattice.search import levels_for_all
from anon_core.recoding.method import K, Progress, Promise
from anon_core.recoding.prioritised.diverse import diversified
from anon_core.recoding.prioritised.encoding import Encoded
from anon_core.recoding.prioritised.link import lowered, repaired
from anon_core.recoding.prioritised.paper import MAX_COLUMNS, recode_as_in_the_paper
from anon_core.recoding.prioritised.prices import Objective
from anon_core.recoding.prioritised.safe import SafeSearch, search_safe
from anon_core.recoding.task import Candidate, Recoding, Task
from anon_core.spec import Mode


class Begun:
    """The start of modes ``safe`` and ``link``: the encoded table and its safe classes, each computed once."""

    def __init__(self, task: Task, before: Mapping[str, Recoding | None] | None = None) -> None:
        self.task, self._before = task, before or {}
        self._safe: SafeSearch | None = None

    @cached_property
    def encoded(self) -> Encoded:
        """The table with k as its only requirement."""
        return Encoded.of(self.task.by_k_alone)

    @cached_property
    def objective(self) -> Objective:
        return Objective.of(self.encoded, self.task.settings.nue_weight)

    def safe(self, progress: Progress | None) -> SafeSearch:
        """Return safe classes: first by k alone, then merged if the policy requires more of them."""
        if self._safe is None:
            found = search_safe(self.encoded, self.objective, globally=self._by_k, progress=progress)
            self._safe = replace(found, plan=self._diverse(found.plan, progress)) if self._diverse_needed else found
        return self._safe

    @property
    def _diverse_needed(self) -> bool:
        return bool(self.task.requirements.required_beyond_k)

    def _diverse(self, by_k_alone: RecodingPlan, progress: Progress | None) -> RecodingPlan:
        def by(k: int) -> RecodingPlan:
            if k == self.task.k:
                return by_k_alone
            own = replace(self.encoded.task, requirements=replace(self.encoded.task.requirements, k=k))
            return search_safe(Encoded.of(own), self.objective, progress=progress).plan

        return diversified(self.task, self.encoded, self.objective, by, self._globally())

    def _by_k(self) -> RecodingPlan | None:
        return levels_for_all(self.encoded.task) if self._diverse_needed else self._globally()

    def _globally(self) -> RecodingPlan | None:
        if "global" not in self._before:
            return levels_for_all(self.task)
        found = self._before["global"]
        return found.plan if found else None


def recode_prioritised(task: Task, *, progress: Progress | None = None, begun: Begun | None = None) -> Recoding:
    """
    Recode locally: every distinct tuple gets levels of its own, cells of important columns change least.

    The promise depends on ``mode``: ``safe`` promises exact k and all that the policy requires of sensitive columns,
    ``link`` that link k and source k are at least k, ``paper`` source k alone. The same task and seed give the same
    plan. If more rows are suppressed than allowed, or no class is diverse enough, the caller finds that when it counts
    the plan anew.

    :raises InvalidInputError: diversity is required in a mode that does not reach it; too many columns for ``paper``.
    """
    mode = task.settings.mode
    if task.requirements.required_beyond_k and mode is not Mode.SAFE:
        raise InvalidInputError(
            f"`recode.mode: {mode.value}` reaches k only, not what the policy requires of sensitive columns; use safe"
        )
    if mode is Mode.PAPER and task.settings.improve not in ("auto", 0):
        raise InvalidInputError(
            "`recode.mode: paper` is the paper's method, without an improvement search: drop `improve`"
        )
    begun = begun or Begun(task)
    if mode is Mode.PAPER:
        plan = begun.encoded.plan(recode_as_in_the_paper(begun.encoded, progress=progress))
        return _recoding(task, "paper", plan, "Columns joined from the least important one, as the paper has it")
    if mode is Mode.LINK:
        return _linked(begun, progress)
    search = begun.safe(progress)
    return _recoding(task, "safe", search.plan, _described(search))


def _linked(begun: Begun, progress: Progress | None) -> Recoding:
    """
    Return the better of two results for mode ``link``: of those that keep the policy, the one that loses less.

    Of equal ones it is the first. With more columns than the paper's method can take, there is only one.
    """
    task, encoded, objective, search = begun.task, begun.encoded, begun.objective, begun.safe(progress)
    ways = {"safe classes": lowered(encoded, objective, search.plan)}
    if encoded.columns <= MAX_COLUMNS:
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
        why=f"Begun with {best}, the better of {len(ways)}. {_described(search)}{many}",
        candidates=tuple(
            _candidate(
                task, f"link from {name}", plan, elected=name == best, reason=None if name == best else reasons[name]
            )
            for name, plan in ways.items()
        ),
        optimal=None,
    )


def _described(search: SafeSearch) -> str:
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
    return Candidate.of(
        plan,
        method="prioritised",
        name=name,
        weights=task.by_name,
        elected=elected,
        reason=reason,
        people=task.people,
    )
