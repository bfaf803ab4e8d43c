"""The best of all methods: each that applies is run, those that keep the policy stay, the utility measure elects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from anon_core.errors import InternalError, PolicyNotMetError
from anon_core.models import Measurement
from anon_core.plan import RecodingPlan
from anon_core.policy import KMeans
from anon_core.recode.compliance import error_of, hold_to_promise, shortfalls, unreached
from anon_core.recode.freeform.search import measured_over_all, recode_freeform
from anon_core.recode.lattice.search import recode_globally
from anon_core.recode.outcome import Candidate, Recoding
from anon_core.recode.prioritised.search import recode_prioritised
from anon_core.recode.progress import Progress
from anon_core.recode.singletons.search import recode_singletons
from anon_core.recode.task import Task
from anon_core.spec import Method, Mode, SingletonRecoding, UtilityMeasure

MOST_COLUMNS = 3
"""Without `recode.singletons` so many columns take part in recoding singletons: 26 combinations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """What one method came to: a recoding and what it lacks, or the error that ended it."""

    method: str
    recoding: Recoding | None
    lacking: tuple[Measurement, ...]
    error: PolicyNotMetError | None

    @property
    def reason(self) -> str | None:
        """Why it cannot be elected; None where it can."""
        return str(self.error) if self.error else "; ".join(map(unreached, self.lacking)) or None


def recode_best(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Run singletons, global and prioritised recoding, and elect the cheapest result that keeps every requirement.

    Singletons are recoded in the columns that ``recode.singletons`` names, or else in the few least important ones that
    have a hierarchy. Prioritised recoding runs in mode safe, and where the policy means the link k, and nothing of
    sensitive columns, in mode link too. Where values are guarded against freeform attacks, freeform recoding that
    prioritised recoding follows is tried as well, and utility is measured over the guarded columns too.
    Ties go to fewer rows removed, then to the order of trying. All candidates of all methods are reported.

    :raises PolicyNotMetError: no method keeps the policy, with the numbers of the one that comes closest.
    """
    attempts = [_attempt(method, run, own, progress) for method, run, own in _methods(task)]
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
    """Return what a candidate costs in the measure that elects; nothing is cheaper than 0."""
    if measure is UtilityMeasure.ROWS:
        return float(candidate.rows_changed + candidate.rows_removed)
    if measure is UtilityMeasure.LOSS:
        return float("inf") if candidate.loss is None else candidate.loss
    left = candidate.nue if measure is UtilityMeasure.NUE else candidate.wnue
    return float("inf") if left is None else 1 - left


_Run = Callable[..., Recoding]


def _methods(task: Task) -> Iterator[tuple[str, _Run, Task]]:
    """Yield the methods that apply, in the order of trying, each with the task as it wants it."""
    settings = task.settings
    columns = settings.singletons or SingletonRecoding(columns=_least_important(task))
    if columns.columns or columns.years:
        yield "singletons", recode_singletons, _set(task, method=Method.SINGLETONS, singletons=columns)
    yield "global", recode_globally, _set(task, method=Method.GLOBAL)
    yield "prioritised", recode_prioritised, _set(task, method=Method.PRIORITISED, mode=Mode.SAFE)
    if task.policy.k_means is KMeans.LINK and not task.requirements.others:  # That mode reaches k only.
        linked = _set(task, method=Method.PRIORITISED, mode=Mode.LINK)
        yield "prioritised (mode link)", recode_prioritised, linked
    if task.freeform and not task.requirements.others:
        yield "freeform", recode_freeform, _set(task, method=Method.FREEFORM, then="prioritised", mode=Mode.SAFE)


def _set(task: Task, **settings: object) -> Task:
    return replace(task, settings=task.settings.model_copy(update=settings))


def _least_important(task: Task) -> tuple[str, ...]:
    """Return the columns with a level below the root, the least important ones, in the order of the table."""
    names = task.frequencies.names
    climbing = [i for i, ladder in enumerate(task.ladders) if ladder.height > 1]
    chosen = sorted(climbing, key=lambda i: (task.weights[i], i))[:MOST_COLUMNS]
    return tuple(names[i] for i in sorted(chosen))


def _attempt(method: str, run: _Run, task: Task, progress: Progress | None) -> _Attempt:
    """Run one method; what it promises is held against it, and the policy may ask for more."""
    try:
        recoding = run(task, progress=progress)
        if task.settings.method is not Method.SINGLETONS:
            hold_to_promise(task, recoding)
    except PolicyNotMetError as error:
        return _Attempt(method=method, recoding=None, lacking=(), error=error)
    return _Attempt(method=method, recoding=recoding, lacking=tuple(shortfalls(task, recoding.plan)), error=None)


def _measured(task: Task, attempt: _Attempt) -> Candidate:
    """
    Return what a method came to as one candidate.

    Where it found nothing the counts are those of the table as it is, and there is no measure of what would be left.
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
    """Yield the result of every method, then what else the methods tried."""
    for at, found in measured.items():
        beaten = f"costs more than {attempts[best].method}, or as much and was tried later"
        yield replace(found, elected=at == best, reason=None if at == best else found.reason or beaten)
    for attempt in attempts:
        for one in attempt.recoding.candidates if attempt.recoding else ():
            if not one.elected:
                yield replace(one, reason=one.reason or f"not the one that {attempt.method} elects")


def _closest(task: Task, attempts: list[_Attempt]) -> PolicyNotMetError:
    """Return the error with the numbers of the method that leaves fewest rows at risk."""

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
