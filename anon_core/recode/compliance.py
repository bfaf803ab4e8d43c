"""Whether a recoding keeps the policy, counted anew from what it would publish.

No search is taken at its word: every plan goes through here before anything is done with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from enum import StrEnum

import numpy as np

from anon_core.comparison import Comparison
from anon_core.errors import InternalError, PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.models import Asked, Measurement, PrivacyModel, Subject, required
from anon_core.models.freeform import NoFreeformBreach
from anon_core.models.suppression import RowsSuppressedAtMost
from anon_core.plan import RecodingPlan
from anon_core.policy import KMeans
from anon_core.recode.outcome import Recoding
from anon_core.recode.task import Task
from anon_core.spec import Method, Mode


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


K = ("k_anonymity", "k_beside_original")
"""The models of the four k's."""
ALONE = "no_singletons"
ROWS = "rows"
"""That something is published at all, which is no model's."""
FREEFORM = "no_freeform_breach"
SUPPRESSION = "rows_suppressed_at_most"
RISK = "max_risk"


def unreached(measurement: Measurement) -> str:
    """Return in a few words what was not reached, and how far a plan came."""
    return f"{measurement.goal} not reached: {measurement.reached}"


def error_of(task: Task, measurement: Measurement, advice: str) -> PolicyNotMetError:
    """Return it as an error; what helps against freeform attacks, and against a risk, is always the same."""
    return PolicyNotMetError(
        goal=measurement.goal,
        reached=measurement.reached,
        rows_at_risk=measurement.rows_at_risk,
        rows=task.frequencies.rows,
        advice={FREEFORM: _GENERALISE_THE_GUARDED, RISK: _REACH_CLASSES}.get(measurement.model, advice),
    )


def shortfalls(task: Task, plan: RecodingPlan, promise: Promise | None = None) -> list[Measurement]:
    """Return everything that a plan does not keep, none where it complies."""
    return [one for one in measurements(task, plan, promise) if not one.passed]


def measurements(task: Task, plan: RecodingPlan, promise: Promise | None = None) -> list[Measurement]:
    """
    Measure everything that the policy requires of what a plan would publish, by the models that the gate goes by.

    k is counted from the published classes, or as link and source k beside the originals where ``promise`` (by default
    what the policy says) means those. Diversity is that of the published rows only. All this is about the
    quasi-identifiers, whatever else the plan recodes; freeform attacks are about guarded columns too.

    :raises InternalError: something that is required could not be measured.
    """
    own, promise = plan.project(task.frequencies.names), promise or Promise.of_policy(task)
    comparison = Comparison.of_plan(own)
    if not comparison.after.rows:
        return [_nothing_left(task)]
    subject = _subject(task, plan, comparison)
    found = [model.measured(subject) for model in _required(task, promise)]
    if unmeasured := [one.sentence for one in found if not one.measured]:
        raise InternalError(f"recoding ({'; '.join(unmeasured)})", "recode.compliance")
    return found


def _nothing_left(task: Task) -> Measurement:
    return Measurement(
        model=ROWS,
        name=ROWS,
        columns=task.frequencies.names,
        passed=False,
        observed=0,
        required=1,
        sentence="every row is removed",
        rows_at_risk=task.frequencies.rows,
        goal="at least 1 row",
        reached="every row is removed",
    )


def _required(task: Task, promise: Promise) -> Iterator[PrivacyModel]:
    means = KMeans.EXACT if promise is Promise.EXACT else KMeans.LINK
    asked = Asked(
        policy=task.policy.model_copy(update={"k_means": means}),
        quasi_identifiers=task.frequencies.names,
        k=task.k,
        today=date.min,
        publication=task.publication,
    )
    found = [one.model for one in required(asked) if not one.model.of_release]
    for model in sorted(found, key=lambda one: one.key not in K):  # Of two that lack as much, k is told.
        covered = promise is Promise.EXACT and model.key == RISK  # That k is as large as the risk needs.
        if not covered and (promise is not Promise.SOURCE or model.name != "link_k"):
            yield model
    yield RowsSuppressedAtMost(
        columns=task.frequencies.names,
        roots=(),
        rows_before=task.frequencies.rows,
        limit=task.policy.suppression_limit,
    )
    if task.freeform is not None:
        yield NoFreeformBreach(
            columns=task.freeform.frequencies.names,
            hierarchies={},
            guards={name: {} for name in task.policy.freeform.columns} if task.policy.freeform else {},
            sigma_o=task.policy.freeform.sigma_o if task.policy.freeform else 1.0,
            sigma_t=task.freeform.sigma_t,
        )


def _subject(task: Task, plan: RecodingPlan, comparison: Comparison) -> Subject:
    """Return what a plan would publish, to be measured."""
    after, quasi = comparison.after, task.frequencies.names
    member = np.full(len(task.frequencies.weights), -1, np.int64)
    if comparison.pairs is not None:
        member[comparison.pairs.before] = comparison.pairs.after
    occurrences = task.requirements.occurrences

    def count(names: tuple[str, ...]) -> FrequencyTable:
        for name in names:
            if name not in quasi:
                return occurrences[name].by_class(after, member).project(names)
        return after.project(names)

    return Subject(
        names=(*quasi, *occurrences),
        rows=count,
        comparison=comparison,
        freeform=task.freeform.check(plan) if task.freeform else None,
        ladders=task.requirements.climbed,
        folder=task.publication.root if task.publication else None,
        rows_blanked=comparison.rows_blanked,
    )


def hold_to_promise(task: Task, recoding: Recoding) -> None:
    """
    Let a recoding pass that keeps what the method of the task promises, counted anew.

    The modes paper and link of prioritised recoding promise a k of their own, and look after nothing but that and the
    suppression limit; freeform recoding promises no k unless one is to follow. ``none`` and ``singletons`` promise less
    and do not come here. Methods that know nothing of freeform attacks may leave some without being at fault.

    :raises PolicyNotMetError: a freeform attack, or a risk, is left by a method that does not look for them.
    :raises InternalError: the search has returned what it must not.
    """
    found = shortfalls(task, recoding.plan, Promise.of_method(task))
    broken = [one for one in found if _promises(task, one.model)]
    if broken:
        raise InternalError(f"recoding ({'; '.join(map(unreached, broken))})", f"recode.{recoding.method}")
    for left in found:
        if left.model in (RISK, FREEFORM):
            raise error_of(task, left, "")


def _promises(task: Task, model: str) -> bool:
    """Tell whether the method of a task promises to look after a model."""
    settings = task.settings
    if settings.method is Method.BEST:
        return True
    if settings.method is Method.FREEFORM and settings.then is None:
        return model in (ROWS, FREEFORM)
    if settings.method is Method.FREEFORM:
        return model not in {one.key for one in task.requirements.others}
    if settings.method is Method.PRIORITISED and settings.mode is not Mode.SAFE:
        return model in (ROWS, *K, SUPPRESSION)
    return model != FREEFORM
