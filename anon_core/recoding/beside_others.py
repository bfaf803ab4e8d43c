"""Columns declared other: they make classes with the quasi-identifiers, and no recoding can change them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from anon_core.detection.joint import joint
from anon_core.errors import PolicyNotMetError
from anon_core.policy import PartialPolicy
from anon_core.spec import PartialPublication

if TYPE_CHECKING:
    from anon_core.recoding.task import Task


def others_beside(publication: PartialPublication, policy: PartialPolicy) -> tuple[str, ...]:
    """
    Return the columns declared other that make classes together with the quasi-identifiers.

    Columns that a person accepts are left out, also if the acceptance has ended: then the run is refused anyway.
    Guarded columns are left out, because they are not published as collected, and columns whose diversity is required,
    because the models of sensitive columns judge them.
    """
    if not publication.quasi_identifiers:
        return ()
    diverse = [*(one.column for one in policy.l_diversity), *(one.column for one in policy.alpha)]
    diverse += [one.column for one in policy.t_closeness]
    apart = {*diverse, *(policy.freeform.columns if policy.freeform else ())}
    return tuple(name for name in publication.judged_others(date.min) if name not in apart)


def error_with_others(task: Task, error: PolicyNotMetError) -> PolicyNotMetError:
    """Return the error of a recoding, with what columns declared other have to do with it."""
    others = [ladder.column for ladder in task.ladders if not ladder.height]
    if not others:
        return error
    found = joint(task.frequencies.project(others), others, k=task.k)
    meant = ", ".join(others)
    one, several = "is declared other, stays as collected and counts", "are declared other, stay as collected and count"
    said = f"{meant} {one if len(others) == 1 else several} in every class"
    if found.k < task.k and found.smallest:
        said += (
            f"; by {'it' if len(others) == 1 else 'these'} alone {found.rows_below:,} of {found.rows:,} are in classes "
            f"below {task.k} and {found.alone:,} are alone with any recoding of the quasi columns, but not without "
            f"{', '.join(found.smallest)}"
        )
    which = ", ".join(found.smallest or others)
    advice = (
        f"{said}: drop {which}, declare {which} quasi so that it is generalised, or accept it by name in "
        f"published_uniqueness.accept; or {error.advice}"
    )
    return PolicyNotMetError(
        goal=f"{error.goal} with {meant}",
        reached=error.reached,
        rows_at_risk=error.rows_at_risk,
        rows=error.rows,
        advice=advice,
    )
