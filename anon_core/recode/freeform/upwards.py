"""Prioritised recoding that begins where freeform recoding ended: no cell ever comes down again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anon_core import kernels
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import Integers
from anon_core.plan import RecodingPlan
from anon_core.recode.compliance import PlanMeasurements, hold_to_promise
from anon_core.recode.freeform_problem import FreeformProblem
from anon_core.recode.method import Progress
from anon_core.recode.prioritised import PrioritisedRecoding
from anon_core.recode.requirements import Requirements
from anon_core.recode.task import Task
from anon_core.spec import Mode


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
    """Return the ladder of the labels that a plan publishes: up to the level where they stand they are themselves."""
    ladder = plan.ladders[column]
    base = np.full(len(ladder.labels), ladder.height, np.int64)
    example: Integers = np.zeros(len(ladder.labels), np.int64)
    labels = plan.released_codes(column)
    base[labels], example[labels] = plan.levels[column], plan.frequencies.codes[column]
    levels = np.maximum(np.arange(ladder.height + 1)[:, None], base[None, :])
    return replace(ladder, maps=ladder.maps[levels, example[None, :]], unmapped=np.zeros(len(ladder.labels), np.bool_))
