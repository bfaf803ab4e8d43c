"""The best of all methods: runs each method that applies, and keeps the cheapest result that keeps the policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from anon_core.errors import InternalError, PolicyNotMetError
from anon_core.models import Measurement
from anon_core.plan import RecodingPlan
from anon_core.recoding.compliance import PlanMeasurements, error_of, hold_to_promise, unreached
from anon_core.recoding.freeform.search import measured_over_all
from anon_core.recoding.method import Progress, Promise
from anon_core.recoding.task import Candidate, Recoding, Task
from anon_core.registry import METHODS
from anon_core.spec import UtilityMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """The result of one method: a recoding and what it does not keep, or the error that ended it."""

    method: str
    recoding: Recoding | None
    lacking: tuple[Measurement, ...] = ()
    error: PolicyNotMetError | None = None

    @property
    def reason(self) -> str | None:
        """Why it cannot be chosen; None if it can."""
        return str(self.error) if self.error else "; ".join(map(unreached, self.lacking)) or None


def recode_best(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Run every method that yields attempts, and choose the cheapest result that keeps every requirement.

    Where values are guarded against freeform attacks, utility is measured over the guarded columns too. Of equally
    cheap results it is the one with fewer rows removed, then the one tried first. All candidates of all methods are
    reported.

    :raises PolicyNotMetError: no method keeps the policy; it has the numbers of the method that comes closest.
    """
    attempts = list(_tried(task, progress))
    measured = {at: _measured(task, one) for at, one in enumerate(attempts)}
    passed = [at for at, one in enumerate(attempts) if one.reason is None]
    if not passed:
        raise _closest(task, attempts)
    measure = task.settings.utility
    best = min(passed, key=lambda at: (round(cost_of(measured[at], measure), 12), measured[at].rows_removed, at))
    elected = attempts[best].recoding
    if elected is None:
        raise InternalError("elected method without a recoding", "recode.best")
    return Recoding(
        method="best",
        plan=elected.plan,
        why=f"{attempts[best].method} costs least by {measure.value} of what keeps the policy "
        f"({', '.join(attempts[at].method for at in passed)}; {len(attempts)} methods were tried). {elected.why}",
        candidates=tuple(_candidates(attempts, measured, best)),
        optimal=None,
    )


def cost_of(candidate: Candidate, measure: UtilityMeasure) -> float:
    """Return what a candidate costs in the utility measure, at least 0."""
    if measure is UtilityMeasure.ROWS:
        return float(candidate.rows_changed + candidate.rows_removed)
    if measure is UtilityMeasure.LOSS:
        return float("inf") if candidate.loss is None else candidate.loss
    left = candidate.nue if measure is UtilityMeasure.NUE else candidate.wnue
    return float("inf") if left is None else 1 - left


def _tried(task: Task, progress: Progress | None) -> Iterator[_Attempt]:
    """Yield the result of each method; every plan is measured once, by the promise of its method and by the policy."""
    before: dict[str, Recoding | None] = {}
    for method in (member() for member in METHODS.members().values()):
        for attempt in method.attempts(task, before):
            own, before[attempt.name] = task.with_settings(**attempt.settings), None
            try:
                found = before[attempt.name] = attempt.run(own, progress=progress)
                measured = PlanMeasurements(own, found.plan)
                hold_to_promise(method, measured)
                lacking = [one for one in measured.of(Promise.of_policy(task.policy)) if not one.passed]
            except PolicyNotMetError as caught:
                yield _Attempt(method=attempt.name, recoding=None, error=caught)
            else:
                yield _Attempt(method=attempt.name, recoding=found, lacking=tuple(lacking))


def _measured(task: Task, attempt: _Attempt) -> Candidate:
    """
    Return the result of a method as one candidate.

    Where it found nothing, the counts are those of the table as collected, and there is no utility.
    """
    own = [one for one in attempt.recoding.candidates if one.elected] if attempt.recoding else []
    plan = attempt.recoding.plan if attempt.recoding else RecodingPlan.unchanged(task.frequencies, task.ladders)
    found = measured_over_all(
        task,
        plan,
        method=attempt.method,
        name=own[0].name if own else "as collected" if attempt.recoding else "nothing found",
        elected=False,
        reason=attempt.reason,
    )
    return found if attempt.recoding else replace(found, loss=None, nue=None, wnue=None)


def _candidates(attempts: list[_Attempt], measured: dict[int, Candidate], best: int) -> Iterator[Candidate]:
    """Yield the result of every method, then the other candidates of the methods."""
    for at, found in measured.items():
        beaten = f"costs more than {attempts[best].method}, or as much and was tried later"
        yield replace(found, elected=at == best, reason=None if at == best else found.reason or beaten)
    for attempt in attempts:
        for one in attempt.recoding.candidates if attempt.recoding else ():
            if not one.elected:
                yield replace(one, reason=one.reason or f"not the one that {attempt.method} elects")


def _closest(task: Task, attempts: list[_Attempt]) -> PolicyNotMetError:
    """Return the error with the numbers of the method that leaves the fewest rows at risk."""

    def at_risk(attempt: _Attempt) -> int:
        return attempt.error.rows_at_risk if attempt.error else max(one.rows_at_risk for one in attempt.lacking)

    closest = min(attempts, key=at_risk)
    others = [f"{one.method}: {one.reason}" for one in attempts if one is not closest]
    error = closest.error
    if error is None:
        worst = max(closest.lacking, key=lambda one: one.rows_at_risk)
        advice = "raise privacy.suppression_limit, add a level to a hierarchy, or publish fewer columns"
        error = error_of(task, worst, advice)
    return PolicyNotMetError(
        goal=f"{closest.method}, the closest of {len(attempts)} methods: {error.goal}",
        reached=error.reached,
        rows_at_risk=error.rows_at_risk,
        rows=task.frequencies.rows,
        advice="; ".join([error.advice, *others]),
    )
