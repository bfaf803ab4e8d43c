"""Recoding for freeform anonymity [Wang2009]_: the least generalised table without a breach.

Wang, Xu, Fu, Wong: FF-anonymity: when quasi-identifiers are missing, 2009. It keeps adversaries from inferring values,
but not from finding people: ``then: prioritised`` reaches k as well.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anon_core import kernels
from anon_core.errors import InternalError, InvalidInputError, PolicyNotMetError
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.freeform.breaches import is_breached
from anon_core.plan import RecodingPlan
from anon_core.recoding.compliance import PlanMeasurements, hold_to_promise
from anon_core.recoding.freeform_problem import FreeformProblem
from anon_core.recoding.method import Progress
from anon_core.recoding.prioritised import PrioritisedRecoding
from anon_core.recoding.requirements import Requirements
from anon_core.recoding.task import Candidate, Recoding, Task
from anon_core.spec import Mode


def recode_freeform(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Generalise values, each the same in all rows, until no freeform attack is a breach; then reach k, with `then`.

    Local recoding for k can raise a threat, so breaches are searched again. If there is one, k is reached another way:
    a specialisation is kept only if classes keep k rows too.

    :raises PolicyNotMetError: even the table of all roots has a breach, naming the column; or k cannot be reached.
    :raises InvalidInputError: nothing is guarded, or diversity is required too.
    """
    problem = task.freeform
    if problem is None:
        raise InvalidInputError("`recode.method: freeform` needs `privacy.freeform`, which says what is guarded")
    if task.requirements.required_beyond_k:
        raise InvalidInputError(
            "`recode.method: freeform` does not reach l_diversity, t_closeness or alpha yet; remove these keys, or use "
            "another method"
        )
    _refuse_infeasible(problem)
    cut = specialise(problem, progress=progress)
    plan, why = _plan(problem, cut.levels), _described(cut)
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
    """Reach k as well: by local recoding if that raises no threat above the limit, else by specialising less."""
    local = recode_upwards(task, problem, plan, progress=progress)
    raised = problem.check(local)
    if raised.holds:
        return local, f"{why}; then prioritised recoding for k"
    cut = specialise(problem, quasi=task.frequencies.names, k=task.k, progress=progress)
    both = _plan(problem, cut.levels)
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
        f"{_described(cut)}, so that classes have {task.k} rows too: prioritised recoding would have raised a threat "
        f"to {worst_threat:.2g}"
    )


def _refuse_infeasible(problem: FreeformProblem) -> None:
    """:raises PolicyNotMetError: the table of all roots has a breach already."""
    roots = [np.full(ladder.maps.shape[1], ladder.height, np.int64) for ladder in problem.ladders]
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


def _plan(problem: FreeformProblem, levels: Sequence[Integers]) -> RecodingPlan:
    """Return the plan that gives every value of every column its level in all rows."""
    codes = problem.frequencies.codes
    return RecodingPlan(
        frequencies=problem.frequencies,
        ladders=problem.ladders,
        levels=np.stack([own[code] for own, code in zip(levels, codes, strict=True)]).astype(np.int8),
        removed=np.zeros(len(problem.frequencies.weights), np.bool_),
    )


def _described(cut: LevelCut) -> str:
    return (
        f"Of {cut.tried} specialisations from the roots down {cut.kept} were kept; every further one would let a "
        "guarded value be inferred"
    )


def _suppressed(task: Task, problem: FreeformProblem) -> Candidate:
    """Return the table with every sensitive value suppressed, the paper's T2: for comparison only."""
    levels = []
    for ladder, column, places in zip(problem.ladders, problem.columns, problem.places, strict=False):
        leaf: Integers = places[ladder.maps[0]]
        secret = column.hidden[leaf] | (column.sensitivity[leaf] > 0)
        levels.append(np.where(secret, ladder.height, 0))
    levels += [np.zeros(ladder.maps.shape[1], np.int64) for ladder in problem.ladders[len(levels) :]]
    plan = _plan(problem, levels)
    breaches = problem.check(plan).breaches
    left = f"; {breaches} breaches would be left" if breaches else ""
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
    own = plan.project(task.frequencies.names)
    released = (own if task.people is None else task.people.plan(own)).released()
    smallest = int(released.class_sizes().min()) if released.tuples else None
    return replace(found, singletons=released.singletons, k=smallest)


def recode_upwards(
    task: Task, problem: FreeformProblem, plan: RecodingPlan, *, progress: Progress | None = None
) -> RecodingPlan:
    """
    Return the plan with its quasi-identifiers raised further, tuple by tuple, until they are k-anonymous.

    :raises PolicyNotMetError: k cannot be reached.
    """
    own = plan.project(task.frequencies.names)
    released = own.released()
    method = PrioritisedRecoding()
    begun = replace(
        task.with_settings(method=method.key, mode=Mode.SAFE),
        frequencies=released,
        ladders=tuple(_above(own, column) for column in range(len(own.ladders))),
        requirements=Requirements(k=task.k, frequencies=released),
        freeform=None,
    )
    raised = method.recode(begun, progress=progress).plan
    hold_to_promise(method, PlanMeasurements(begun, raised))
    codes = [own.released_codes(column) for column in range(len(own.ladders))]
    member = kernels.group(codes, [len(ladder.labels) for ladder in own.ladders]).member
    levels = np.maximum(own.levels, raised.levels[:, member])
    at = problem.member(task.frequencies)
    whole = plan.levels.copy()
    for column, name in enumerate(task.frequencies.names):
        whole[plan.frequencies.positions([name])[0]] = levels[column][at]
    return replace(plan, levels=whole, removed=raised.removed[member][at])


def _above(plan: RecodingPlan, column: int) -> Ladder:
    """Return the ladder of the labels that a plan publishes: up to its own level a label is itself."""
    ladder = plan.ladders[column]
    base = np.full(len(ladder.labels), ladder.height, np.int64)
    example: Integers = np.zeros(len(ladder.labels), np.int64)
    labels = plan.released_codes(column)
    base[labels], example[labels] = plan.levels[column], plan.frequencies.codes[column]
    levels = np.maximum(np.arange(ladder.height + 1)[:, None], base[None, :])
    return replace(ladder, maps=ladder.maps[levels, example[None, :]], unmapped=np.zeros(len(ladder.labels), np.bool_))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCut:
    """The level of every value of every column, and how many specialisations were tried."""

    levels: tuple[Integers, ...]
    tried: int
    kept: int


def specialise(
    problem: FreeformProblem, *, quasi: Sequence[str] = (), k: int = 1, progress: Progress | None = None
) -> LevelCut:
    """
    Specialise the table of all roots, which has no breach, until every further specialisation has one.

    A specialisation replaces one label by its children in all rows. One that leads to a breach always will (the paper's
    Corollary 3.1), so it is not tried again; when none is left, the table is minimally generalised.

    With ``quasi`` and ``k`` a specialisation is also dropped if it makes a class over these columns smaller than k,
    which it always will. Candidates are sorted by the information that they give back, weighted by priority, then by
    column and label.
    """
    return _Search(problem, problem.frequencies.positions(quasi), k).run(progress)


class _Search:
    def __init__(self, problem: FreeformProblem, quasi: list[int], k: int) -> None:
        self.problem, self.quasi, self.k = problem, quasi, k
        codes, weights = problem.frequencies.codes, problem.frequencies.weights
        self.rows = [
            np.bincount(own, weights, minlength=ladder.maps.shape[1])
            for own, ladder in zip(codes, problem.ladders, strict=True)
        ]
        self.levels = [np.full(ladder.maps.shape[1], ladder.height, np.int64) for ladder in problem.ladders]
        self.labels: list[AnyCodes] = [self._labels_of(at, own) for at, own in enumerate(self.levels)]
        self.heap: list[tuple[float, str, str, int, int]] = []

    def run(self, progress: Progress | None) -> LevelCut:
        for at in range(len(self.levels)):
            self._offer(at, np.unique(self.problem.ladders[at].maps[-1]))
        most = sum(len(ladder.labels) - len(np.unique(ladder.maps[0])) for ladder in self.problem.ladders)
        tried = kept = 0
        while self.heap:
            *_, at, label = heapq.heappop(self.heap)
            lower = self._specialised(at, label)
            labels = [*self.labels]
            labels[at] = self._labels_of(at, lower)
            tried += 1
            if not self._breaks(labels):
                below = np.unique(self._values(at, lower)[self._values(at, self.levels[at]) == label])
                self.levels[at], self.labels = lower, labels
                self._offer(at, below)
                kept += 1
            if progress:
                progress("specialisations", tried, max(most, tried))
        return LevelCut(levels=tuple(self.levels), tried=tried, kept=kept)

    def _breaks(self, labels: list[AnyCodes]) -> bool:
        problem = self.problem
        if self.quasi and self.k > 1:
            sizes = [len(problem.ladders[at].labels) for at in self.quasi]
            groups = kernels.group([labels[at] for at in self.quasi], sizes, problem.frequencies.weights)
            if int(groups.weights.min(initial=self.k)) < self.k:
                return True
        return is_breached(problem.published(labels), problem.columns, problem.sigma_t)

    def _values(self, at: int, levels: Integers) -> AnyCodes:
        """Return the label of every value at some levels."""
        maps = self.problem.ladders[at].maps
        return np.asarray(maps[levels, np.arange(maps.shape[1])])

    def _labels_of(self, at: int, levels: Integers) -> AnyCodes:
        return np.asarray(self._values(at, levels)[self.problem.frequencies.codes[at]])

    def _specialised(self, at: int, label: int) -> Integers:
        """Return the levels with one label replaced by its children: the next lower level at which a value differs."""
        ladder, levels = self.problem.ladders[at], self.levels[at].copy()
        for code in np.flatnonzero(self._values(at, levels) == label).tolist():
            while levels[code] > 0 and ladder.maps[levels[code], code] == label:
                levels[code] -= 1
        return levels

    def _offer(self, at: int, labels: Any) -> None:
        """Put the labels that can be specialised into the queue, sorted by the information that they give back."""
        ladder = self.problem.ladders[at]
        values = self._values(at, self.levels[at])
        for label in labels.tolist():
            below = self._specialised(at, label)
            children = self._values(at, below)[values == label]
            if (children == label).all():  # a leaf, or a value that stands at the root from the beginning
                continue
            rows = np.bincount(children, self.rows[at][values == label])
            rows = rows[rows > 0]
            bits = float((rows * np.log2(rows.sum() / rows)).sum()) if len(rows) else 0.0
            gain = round(bits * self.problem.weights[at], 6)
            heapq.heappush(self.heap, (-gain, ladder.column, str(ladder.labels[label].as_py()), at, label))
