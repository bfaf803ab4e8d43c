"""Recoding of singletons [Pastore2020]_: tries every combination of local and global generalisation.

Pastore, Pellegrino, Scarano: Detecting and Generalizing Quasi-Identifiers by Affecting Singletons, 2020, section 3.2.
It removes singletons; it does not promise k-anonymity, because local recoding alone gives classes of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from anon_core.errors import InvalidInputError, PolicyNotMetError
from anon_core.hierarchy.kinds.intervals import group_numbers
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import Integers
from anon_core.plan import RecodingPlan
from anon_core.policy import rows_allowed
from anon_core.recoding.method import Progress
from anon_core.recoding.task import Candidate, Recoding, Task
from anon_core.spec import Replace, Years
from anon_core.table import Mask

LIMITS = (0.01, 0.05)
"""The shares of the rows that k-anonymity may drop in the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """One combination, before and after its remaining singletons are removed.

    ``beyond``: more rows are suppressed than allowed, counting rows with ``*`` in every column.
    """

    name: str
    plan: RecodingPlan
    singletons: int
    distinct: int
    left: int
    beyond: bool

    @property
    def touched(self) -> int:
        return self.plan.rows_changed + self.plan.rows_removed


def recode_singletons(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Try each given column as it is, generalised where a row is a singleton (local), or everywhere (global).

    `recode.singletons` names the columns. They are generalised by one level. A numeric column in ``years`` is tried as
    it is or globally, grouped by its own values. The singletons that a combination leaves are removed, if the
    suppression limit allows all of them. Rows at the root in every column count as removed too: a combination with more
    of them than allowed is not chosen. The chosen one leaves the fewest singletons, then has the fewest rows changed or
    removed, then was tried first.

    The candidates also have the paper's plain k-anonymous recodings, for comparison.

    :raises PolicyNotMetError: every combination leaves more singletons than the policy allows, or suppresses more rows
        than allowed.
    :raises InvalidInputError: no column is given.
    """
    given, frequencies = task.settings.section("singletons"), task.frequencies
    if given is None or not (given.columns or given.years):
        raise InvalidInputError("`recode.singletons` names no column to generalise; give `columns`, `years` or both")
    years, ladders = given.years, list(task.ladders)
    ways: list[Sequence[str]] = [
        ("", "local", "global") if name in given.columns else ("",) for name in frequencies.names
    ]
    if years is not None:
        (at,) = frequencies.positions([years.column])
        ladders[at] = group_numbers(frequencies, years)
        ways[at] = ("", "global" if years.replace is Replace.RANGE else "global (means: invented values)")
    every = np.arange(len(frequencies.weights))
    alone = task.requirements.sizes(every, every, len(every)) == 1
    if not alone.any():
        unchanged = RecodingPlan.unchanged(frequencies, ladders)
        return Recoding(
            method="singletons", plan=unchanged, why="No row stands alone as it is", candidates=(), optimal=None
        )
    combinations = [way for way in product(*ways) if any(way)]
    tried = []
    for way in combinations:
        tried.append(_try(task, ladders, way, alone))
        if progress:
            progress("combinations of columns", len(tried), len(combinations))
    best = min(tried, key=lambda t: (t.beyond, t.left, t.touched))
    _refuse(task, best)
    compared = plain_k_anonymity(task, ladders, ways)
    return Recoding(
        method="singletons",
        plan=_labelled_by_who_stays(best.plan, years),
        why=f"Of {len(tried)} combinations this one leaves fewest singletons and then changes fewest rows: {best.name}",
        candidates=(*(_describe(t, task, elected=t is best) for t in tried), *compared),
        optimal=None,
    )


def _refuse(task: Task, best: _Tried) -> None:
    """:raises PolicyNotMetError: even the best combination does not keep the policy."""
    if best.beyond:
        raise PolicyNotMetError(
            goal=f"suppression of at most {task.allowed} rows",
            reached=best.plan.rows_blanked + best.plan.rows_removed,
            rows_at_risk=best.singletons,
            rows=task.frequencies.rows,
            advice="rows that say nothing any more count as suppressed: raise privacy.suppression_limit, or add a "
            "level to a hierarchy",
        )
    if best.left > task.policy.singletons:
        raise PolicyNotMetError(
            goal=f"at most {task.policy.singletons} singletons",
            reached=best.left,
            rows_at_risk=best.left,
            rows=task.frequencies.rows,
            advice="raise privacy.suppression_limit, or list more columns in recode.singletons",
        )


def _labelled_by_who_stays(plan: RecodingPlan, years: Years | None) -> RecodingPlan:
    """Return the plan with groups named after published values: the name must not show a removed value."""
    if years is None or not plan.removed.any():
        return plan
    (at,) = plan.frequencies.positions([years.column])
    ladders = list(plan.ladders)
    ladders[at] = group_numbers(plan.frequencies, years, kept=~plan.removed)
    return replace(plan, ladders=tuple(ladders))


def _try(task: Task, ladders: Sequence[Ladder], ways: Sequence[str], alone: Mask) -> _Tried:
    frequencies, allowed = task.frequencies, task.allowed
    levels = np.zeros((len(ways), frequencies.tuples), np.int8)
    for i, way in enumerate(ways):
        if way:
            levels[i] = alone if way == "local" else 1
    plan = replace(RecodingPlan.unchanged(frequencies, ladders), levels=levels)
    released = (plan if task.people is None else task.people.plan(plan)).released()
    left, without = released.singletons, _without_singletons(task, plan)
    if 0 < without.rows_removed <= allowed and without.rows_removed < frequencies.rows:  # A release must have rows.
        plan, left = without, 0
    return _Tried(
        name=", ".join(f"{name} {way}" for name, way in zip(frequencies.names, ways, strict=True) if way),
        plan=plan,
        singletons=released.singletons,
        distinct=released.tuples,
        left=left,
        beyond=plan.rows_blanked > 0 and plan.rows_blanked + plan.rows_removed > allowed,
    )


def _without_singletons(task: Task, plan: RecodingPlan) -> RecodingPlan:
    """Return the plan that also removes the people whom it leaves alone; no other person becomes alone by that."""
    return replace(plan, removed=plan.removed | (_people_beside(task, plan) == 1))


def _people_beside(task: Task, plan: RecodingPlan) -> Integers:
    """Return how many people are in the class of each tuple."""
    classes = plan.classes()
    sizes = task.requirements.sizes(np.arange(len(classes.member)), classes.member, len(classes.weights))
    return np.asarray(sizes[classes.member])


def _describe(tried: _Tried, task: Task, *, elected: bool) -> Candidate:
    """Measure a combination; singletons and distinct tuples are counted before any is removed, as in the paper."""
    measured = Candidate.of(
        tried.plan, method="singletons", name=tried.name, weights=task.by_name, elected=elected, people=task.people
    )
    return replace(measured, singletons=tried.singletons, distinct=tried.distinct)


def plain_k_anonymity(task: Task, ladders: Sequence[Ladder], ways: Sequence[Sequence[str]]) -> list[Candidate]:
    """
    Measure plain k-anonymous recodings of the table, one candidate per set of columns; none is ever chosen.

    The authors compare in this way (section 4): every set of columns is generalised in the whole table, and the rows in
    classes below k are dropped. They allow 0.01 of the rows to be dropped, and 0.05 where that is too few.

    ``ways`` are the ways to recode each column for singletons; here all but ``local`` are tried.
    """
    everywhere = [[way for way in own if way != "local"] for own in ways]
    return [_compare(task, ladders, chosen) for chosen in product(*everywhere) if any(chosen)]


def _compare(task: Task, ladders: Sequence[Ladder], chosen: Sequence[str]) -> Candidate:
    frequencies = task.frequencies
    levels = np.zeros((len(chosen), frequencies.tuples), np.int8)
    levels[[i for i, way in enumerate(chosen) if way]] = 1
    plan = replace(RecodingPlan.unchanged(frequencies, ladders), levels=levels)
    plan = replace(plan, removed=_people_beside(task, plan) < task.k)
    enough = [limit for limit in LIMITS if plan.rows_removed <= rows_allowed(limit, frequencies.rows)]
    dropping = f"at most {enough[0]} of the rows" if enough else f"more than {LIMITS[-1]} of the rows, beyond the paper"
    return Candidate.of(
        plan,
        method="k-anonymity",
        name=", ".join(f"{name} {way}" for name, way in zip(frequencies.names, chosen, strict=True) if way),
        weights=task.by_name,
        elected=False,
        reason=f"for comparison only: plain k-anonymity with k={task.k}, dropping {dropping}",
        people=task.people,
    )
