"""Whether a recoding keeps the policy, counted anew from what it would publish.

No search is taken at its word: every plan goes through here before anything is done with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from anon_core.check_names import Requirement
from anon_core.comparison import Comparison
from anon_core.errors import InternalError, PolicyNotMetError
from anon_core.plan import RecodingPlan
from anon_core.policy import Alpha, KMeans, LDiversity
from anon_core.recode.outcome import Recoding
from anon_core.recode.requirements import rows_for_risk
from anon_core.recode.task import Task
from anon_core.score.linkage import four_k
from anon_core.spec import Method, Mode
from anon_core.wording import counted


class Promise(StrEnum):
    """Which of the four k's is to be reached: that of the classes, link and source, or source alone."""

    EXACT = "exact"
    LINK = "link"
    SOURCE = "source"

    @classmethod
    def of_policy(cls, task: Task) -> Promise:
        return cls.LINK if task.policy.k_means is KMeans.LINK else cls.EXACT

    @classmethod
    def of_method(cls, task: Task) -> Promise:
        """Return what the method of a task promises: its mode says it, `best` keeps what the policy means."""
        if task.settings.method is Method.BEST:
            return cls.of_policy(task)
        if task.settings.method is not Method.PRIORITISED:
            return cls.EXACT
        return {Mode.SAFE: cls.EXACT, Mode.LINK: cls.LINK, Mode.PAPER: cls.SOURCE}[task.settings.mode]


_GENERALISE_THE_GUARDED = (
    "generalising the quasi-identifiers for k is not enough: set `recode.method: freeform` (with `then: prioritised` "
    "it reaches k too), raise privacy.freeform.sigma_t, or guard fewer values"
)


_REACH_CLASSES = (
    "the risk is that of classes, which modes paper and link do not make large: set `recode.mode: safe` or "
    "`recode.method: best`, or take privacy.max_risk out"
)


class Subject(StrEnum):
    """What a shortfall is about."""

    ROWS = "rows"
    K = "k"
    RISK = "risk"
    SINGLETONS = "singletons"
    DIVERSITY = "diversity"
    FREEFORM = "freeform"
    SUPPRESSION = "suppression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """One requirement that a plan does not keep: what was wanted, what was reached, and the rows that it concerns."""

    subject: Subject
    measure: str
    wanted: str
    reached: str
    rows_at_risk: int

    def __str__(self) -> str:
        return f"{self.measure} {self.wanted} not reached: {self.reached}"

    def as_error(self, task: Task, advice: str) -> PolicyNotMetError:
        """Return it as an error; what helps against freeform attacks, and against a risk, is always the same."""
        advice = {Subject.FREEFORM: _GENERALISE_THE_GUARDED, Subject.RISK: _REACH_CLASSES}.get(self.subject, advice)
        return PolicyNotMetError(
            measure=self.measure,
            wanted=self.wanted,
            reached=self.reached,
            rows_at_risk=self.rows_at_risk,
            rows=task.frequencies.rows,
            advice=advice,
        )


def shortfalls(task: Task, plan: RecodingPlan, promise: Promise | None = None) -> list[Shortfall]:
    """
    Return everything that a plan does not keep, none where it complies.

    k is counted from the published classes, or as link and source k beside the originals where ``promise`` (by default
    what the policy says) means those. Rows alone in their class are no fault by themselves there, unless the policy
    names a number of them. Diversity is that of the published rows only. Rows that stand at the root in every column
    count as suppressed. All this is about the quasi-identifiers, whatever else the plan recodes; freeform attacks are
    about guarded columns too.
    """
    own, promise = plan.project(task.frequencies.names), promise or Promise.of_policy(task)
    comparison = Comparison.of_plan(own)
    rows = task.frequencies.rows
    if not comparison.after.rows:
        nothing = Shortfall(
            subject=Subject.ROWS, measure="at least", wanted="1 row", reached="every row is removed", rows_at_risk=rows
        )
        return [nothing]
    return [
        *_k(task, comparison, promise),
        *_risk(task, comparison, promise),
        *_diversity(task, comparison),
        *_freeform(task, plan),
        *_rows(task, own),
    ]


def hold_to_promise(task: Task, recoding: Recoding) -> None:
    """
    Let a recoding pass that keeps what the method of the task promises, counted anew.

    The modes paper and link of prioritised recoding promise a k of their own, and look after nothing but that and the
    suppression limit; freeform recoding promises no k unless one is to follow. ``none`` and ``singletons`` promise less
    and do not come here. Methods that know nothing of freeform attacks may leave some without being at fault.

    :raises PolicyNotMetError: a freeform attack, or a risk, is left by a method that does not look for them.
    :raises InternalError: the search has returned what it must not.
    """
    promised = _promised(task)
    broken = [one for one in shortfalls(task, recoding.plan, Promise.of_method(task)) if one.subject in promised]
    if broken:
        raise InternalError(f"recoding ({'; '.join(map(str, broken))})", f"recode.{recoding.method}")
    own = Comparison.of_plan(recoding.plan.project(task.frequencies.names))
    for left in (*_risk(task, own, Promise.of_method(task)), *_freeform(task, recoding.plan)):
        raise left.as_error(task, "")


def _promised(task: Task) -> set[Subject]:
    """Return what the method of a task promises to look after."""
    settings = task.settings
    if settings.method is Method.BEST:
        return set(Subject)
    if settings.method is Method.FREEFORM and settings.then is None:
        return {Subject.ROWS, Subject.FREEFORM}
    if settings.method is Method.FREEFORM:
        return set(Subject) - {Subject.DIVERSITY}
    if settings.method is Method.PRIORITISED and settings.mode is not Mode.SAFE:
        return {Subject.ROWS, Subject.K, Subject.SUPPRESSION}
    return set(Subject) - {Subject.FREEFORM}


def _k(task: Task, comparison: Comparison, promise: Promise) -> Iterator[Shortfall]:
    sizes = comparison.after.class_sizes()
    if promise is Promise.EXACT:
        k, below = int(sizes.min()), int(sizes[sizes < task.k].sum())
        reached = [("k", k, below)]
    else:
        four = four_k(comparison, k=task.k)
        linked = [("link k", four.link or 0, four.rows_below["link"] or 0)] if promise is Promise.LINK else []
        reached = [*linked, ("source k", four.source or 0, four.rows_below["source"] or 0)]
    for measure, k, below in reached:
        if k < task.k:
            yield Shortfall(subject=Subject.K, measure=measure, wanted=str(task.k), reached=str(k), rows_at_risk=below)
    alone = comparison.after.singletons
    counted = promise is Promise.EXACT or "singletons" in task.policy.model_fields_set
    if counted and alone > task.policy.singletons:
        yield Shortfall(
            subject=Subject.SINGLETONS,
            measure="at most",
            wanted=f"{task.policy.singletons} singletons",
            reached=str(alone),
            rows_at_risk=alone,
        )


def _risk(task: Task, comparison: Comparison, promise: Promise) -> Iterator[Shortfall]:
    """
    Yield the highest risk where it is above what the policy allows: that of a class, whatever k means.

    Where exact k is promised, it is as large as the risk needs.
    """
    limit = task.policy.max_risk
    if limit is None or promise is Promise.EXACT:
        return
    sizes = comparison.after.class_sizes()
    needed = rows_for_risk(limit)
    if below := int(sizes[sizes < needed].sum()):
        yield Shortfall(
            subject=Subject.RISK,
            measure="risk of at most",
            wanted=f"{limit:g}",
            reached=f"{1 / int(sizes.min()):.4g} (smallest class: {counted(int(sizes.min()), 'row')})",
            rows_at_risk=below,
        )


def _diversity(task: Task, comparison: Comparison) -> Iterator[Shortfall]:
    if not task.requirements.others or comparison.pairs is None:
        return
    member = np.full(len(task.frequencies.weights), -1, np.int64)
    member[comparison.pairs.before] = comparison.pairs.after
    published = task.requirements.without(member < 0)
    for required, measured in published.measured(member, len(comparison.after.weights)):
        if not measured.holds:
            yield Shortfall(
                subject=Subject.DIVERSITY,
                measure=f"{_named(required)} of column {required.column!r}",
                wanted=str(measured.required),
                reached="no class" if measured.observed is None else f"{measured.observed:g}",
                rows_at_risk=measured.rows_failing,
            )


def _named(required: Requirement) -> str:
    if isinstance(required, LDiversity):
        return (
            f"{required.kind.value} l-diversity (l={required.l:g})"
            if required.c
            else f"{required.kind.value} l-diversity"
        )
    return "alpha" if isinstance(required, Alpha) else "t-closeness"


def _freeform(task: Task, plan: RecodingPlan) -> Iterator[Shortfall]:
    """Yield the freeform attack of largest threat, if it is a breach by the extended Definition 3.4."""
    if task.freeform is None:
        return
    check = task.freeform.check(plan)
    if not check.holds and (worst := check.worst):
        yield Shortfall(
            subject=Subject.FREEFORM,
            measure=f"freeform threat to column {worst.column!r} of at most",
            wanted=f"{check.sigma_t:g}",
            reached=f"{worst.threat:g} ({counted(check.breaches, 'attack')} above it)",
            rows_at_risk=max(one.rows for one in check.columns),
        )


def _rows(task: Task, plan: RecodingPlan) -> Iterator[Shortfall]:
    suppressed = plan.rows_removed + plan.rows_blanked
    if suppressed > task.allowed:
        yield Shortfall(
            subject=Subject.SUPPRESSION,
            measure="suppression of at most",
            wanted=f"{task.allowed} rows",
            reached=str(suppressed),
            rows_at_risk=suppressed,
        )
