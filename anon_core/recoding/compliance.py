"""Whether a recoding keeps the policy, counted anew from the rows that it would publish.

No result of a search is trusted: every plan is checked here before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import cached_property

import numpy as np

from anon_core.comparison import Comparison
from anon_core.errors import InternalError, PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.measures.removal import Kept, kept_of
from anon_core.models import Measurement, PolicyContext, PrivacyModel, Subject, required
from anon_core.models.freeform import NoFreeformBreach
from anon_core.models.half_of_class import HalfOfClass
from anon_core.models.removal import Removal
from anon_core.models.subject import Pairing
from anon_core.models.suppression import RowsSuppressedAtMost
from anon_core.plan import RecodingPlan
from anon_core.policy import KMeans, PartialPolicy
from anon_core.recoding.method import FREEFORM, RISK, ROWS, K, Promise, RecodingMethod
from anon_core.recoding.task import Task
from anon_core.registry import METHODS
from anon_core.spec import PartialPublication

_GENERALISE_THE_GUARDED = (
    "generalising the quasi-identifiers for k is not enough: set `recode.method: freeform` (with `then: prioritised` "
    "it reaches k too), raise privacy.freeform.sigma_t, or guard fewer values"
)


_LESS_DETAIL = "publish fewer columns, add a level to a hierarchy, raise privacy.suppression_limit or lower privacy.k"

_REACH_CLASSES = (
    "the risk is that of classes, which modes paper and link do not make large: set `recode.mode: safe` or "
    "`recode.method: best`, or take privacy.max_risk out"
)


def unreached(measurement: Measurement) -> str:
    """Return in a few words what a plan did not reach, and what it reached."""
    return f"{measurement.goal} not reached: {measurement.reached}"


def error_of(task: Task, measurement: Measurement, advice: str) -> PolicyNotMetError:
    """Return a measurement as an error; for freeform attacks and risk the advice is always the same."""
    return PolicyNotMetError(
        goal=measurement.goal,
        reached=measurement.reached,
        rows_at_risk=measurement.rows_at_risk,
        rows=task.frequencies.rows,
        advice={FREEFORM: _GENERALISE_THE_GUARDED, RISK: _REACH_CLASSES}.get(measurement.model, advice),
    )


def shortfalls(task: Task, plan: RecodingPlan, promise: Promise | None = None) -> list[Measurement]:
    """Return every requirement that a plan does not keep; none if it keeps the policy."""
    return [one for one in measurements(task, plan, promise) if not one.passed]


def measurements(task: Task, plan: RecodingPlan, promise: Promise | None = None) -> list[Measurement]:
    """Measure everything that the policy requires of what a plan would publish; see :class:`PlanMeasurements`."""
    return PlanMeasurements(task, plan).of(promise or Promise.of_policy(task.policy))


class PlanMeasurements:
    """
    The rows that a plan would publish, measured by the models that the gate uses, each of them once.

    All figures are over the quasi-identifiers, even if the plan recodes other columns; freeform attacks are about
    guarded columns too. Diversity is that of the published rows only.
    """

    def __init__(self, task: Task, plan: RecodingPlan) -> None:
        self.task, self.plan = task, plan
        self._found: list[tuple[PrivacyModel, Measurement]] = []

    @cached_property
    def _subject(self) -> Subject | None:
        comparison = Comparison.of_plan(self.plan.project(self.task.frequencies.names))
        return _subject(self.task, self.plan, comparison) if comparison.after.rows else None

    def of(self, promise: Promise, wanted: Callable[[str], bool] = lambda model: True) -> list[Measurement]:
        """
        Measure what the policy requires; ``promise`` says which k is meant: that of classes, or beside the originals.

        Only models whose keys are ``wanted`` are measured, and that there are rows.

        :raises InternalError: a required model could not be measured.
        """
        models = [model for model in _required(self.task, promise) if wanted(model.key)]
        if not models and not wanted(ROWS):
            return []
        if self._subject is None:
            return [_nothing_left(self.task)]
        found = [self._measured(model, self._subject) for model in models]
        if unmeasured := [one.sentence for one in found if not one.measured]:
            raise InternalError(f"recoding ({'; '.join(unmeasured)})", "recode.compliance")
        return found

    def _measured(self, model: PrivacyModel, subject: Subject) -> Measurement:
        for one, known in self._found:
            if one == model:
                return known
        self._found.append((model, model.measured(subject)))
        return self._found[-1][1]


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


def models_of_classes(
    policy: PartialPolicy,
    quasi_identifiers: tuple[str, ...],
    k: int,
    promise: Promise,
    publication: PartialPublication | None = None,
) -> Iterator[PrivacyModel]:
    """Yield the models that a policy requires of classes, with the k that ``promise`` means; k is the first."""
    means = KMeans.EXACT if promise is Promise.EXACT else KMeans.LINK
    context = PolicyContext(
        policy=policy.model_copy(update={"k_means": means}),
        quasi_identifiers=quasi_identifiers,
        k=k,
        today=date.min,
        publication=publication,
    )
    found = [one.model for one in required(context) if not one.model.of_release]
    for model in sorted(found, key=lambda one: one.key not in K):
        if promise is not Promise.SOURCE or model.name != "link_k":
            yield model


def _required(task: Task, promise: Promise) -> Iterator[PrivacyModel]:
    for model in models_of_classes(task.policy, task.frequencies.names, task.k, promise, task.publication):
        if promise is not Promise.EXACT or model.key != RISK:  # The exact k is already as large as the risk needs.
            yield model
    if task.people is not None:
        yield HalfOfClass(columns=task.frequencies.names)
    yield Removal(columns=task.frequencies.names, k=task.k)
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
    """Return what models measure of a plan: the rows that it would publish, and their people where these are known."""
    after, quasi, behind = comparison.after, task.frequencies.names, task.people
    member = np.full(len(task.frequencies.weights), -1, np.int64)
    if comparison.pairs is not None:
        member[comparison.pairs.before] = comparison.pairs.after
    occurrences = task.requirements.occurrences

    def count(names: tuple[str, ...]) -> FrequencyTable:
        for name in names:
            if name not in quasi:
                return occurrences[name].by_class(after, member).project(names)
        return after.project(names)

    by_people = None if behind is None else behind.plan(plan.project(quasi))
    people = None if by_people is None else by_people.released()

    def count_people(names: tuple[str, ...]) -> FrequencyTable:
        if people is None:
            raise InternalError("people that were not counted", "recode.compliance")
        for name in names:
            if name not in quasi:
                return task.requirements.sensitive_people[name].by_class(after, member).project(names)
        return people.project(names)

    def kept(_: tuple[str, ...]) -> Kept:
        every = np.arange(len(comparison.before.weights))
        return kept_of(comparison, task.requirements.sizes(every, every, len(every)))

    return Subject(
        names=(*quasi, *occurrences),
        paired=Pairing(paired=lambda name: None, kept=kept),
        rows=count,
        people=None if people is None else count_people,
        comparison=comparison if by_people is None else Comparison.of_plan(by_people),
        freeform=task.freeform.check(plan) if task.freeform else None,
        ladders=task.requirements.climbed,
        folder=task.publication.root if task.publication else None,
        rows_blanked=comparison.rows_blanked,
    )


def broken(task: Task, method: RecodingMethod, measured: Iterable[Measurement]) -> list[Measurement]:
    """Return the measurements that break what a method promises."""
    return [one for one in measured if not one.passed and method.promises(task, one.model)]


def hold_to_promise(method: RecodingMethod, measured: PlanMeasurements) -> None:
    """
    Check that a plan keeps what its method promises, counted anew.

    Nothing else is measured, except risk and freeform attacks where k is promised: a method that does not look for
    these may leave some, and that is no bug.

    :raises PolicyNotMetError: the data do not allow what is promised, or the method leaves a risk or an attack that it
        does not look for.
    :raises InternalError: the search has returned a plan that it must not return.
    """
    task = measured.task
    tables = (task.frequencies, task.freeform.frequencies if task.freeform else None)
    if not any(measured.plan.frequencies is one for one in tables):
        raise _bug(method, "of another table")
    also = (RISK, FREEFORM) if method.promises(task, K[0]) else ()
    promise = method.promised_k(task.settings, task.policy)
    found = measured.of(promise, lambda model: model in also or method.promises(task, model))
    lacking = broken(task, method, found)
    missed = [one for one in lacking if method.may_miss(one.model)]
    if lacking and not missed:
        raise _bug(method, "; ".join(map(unreached, lacking)))
    left = [one for one in found if one in missed or (not one.passed and one.model in also)]
    if left:
        raise error_of(task, max(left, key=lambda one: one.rows_at_risk), _LESS_DETAIL)


def _bug(method: RecodingMethod, what: str) -> InternalError:
    """Return the error for a plan that breaks the promise of its method: a bug of the package that brings it."""
    return InternalError(f"recoding ({what})", f"recode.{method.key}", METHODS.provider(method.key).package)
