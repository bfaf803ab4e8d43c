"""Plain k-anonymity beside the recoding of singletons, as the authors compare them [Pastore2020]_, section 4.

Every set of columns is generalised in the whole table, and the rows in classes below k are dropped. The paper allows
0.01 of the rows to be dropped, and 0.05 where that is too few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from anon_core.hierarchy.ladder import Ladder
from anon_core.plan import RecodingPlan
from anon_core.policy import rows_allowed
from anon_core.recode.task import Candidate, Task
from anon_core.spec import Replace, Years

LIMITS = (0.01, 0.05)
"""The shares of the rows that the paper lets k-anonymity drop."""


def way_of_years(years: Years) -> str:
    """Return how a column of numbers is generalised, in words: a mean is a value that nobody has."""
    return "global" if years.replace is Replace.RANGE else "global (means: invented values)"


def plain_k_anonymity(task: Task, ladders: Sequence[Ladder], ways: Sequence[Sequence[str]]) -> list[Candidate]:
    """
    Measure what plain k-anonymity makes of the table, one candidate per set of columns; none is ever elected.

    ``ways`` are those of each column when singletons are recoded; here every one but ``local`` takes part.
    """
    everywhere = [[way for way in own if way != "local"] for own in ways]
    return [_compare(task, ladders, chosen) for chosen in product(*everywhere) if any(chosen)]


def _compare(task: Task, ladders: Sequence[Ladder], chosen: Sequence[str]) -> Candidate:
    frequencies = task.frequencies
    levels = np.zeros((len(chosen), frequencies.tuples), np.int8)
    levels[[i for i, way in enumerate(chosen) if way]] = 1
    plan = replace(RecodingPlan.unchanged(frequencies, ladders), levels=levels)
    classes = plan.classes()
    plan = replace(plan, removed=np.asarray((classes.weights < task.k)[classes.member]))
    enough = [limit for limit in LIMITS if plan.rows_removed <= rows_allowed(limit, frequencies.rows)]
    dropping = f"at most {enough[0]} of the rows" if enough else f"more than {LIMITS[-1]} of the rows, beyond the paper"
    return Candidate.of(
        plan,
        method="k-anonymity",
        name=", ".join(f"{name} {way}" for name, way in zip(frequencies.names, chosen, strict=True) if way),
        weights=task.by_name,
        elected=False,
        reason=f"for comparison only: plain k-anonymity with k={task.k}, dropping {dropping}",
    )
