"""A recoding as the reports show it: counts per column and level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from anon_core.comparison import Comparison
from anon_core.engines.engine import Engine
from anon_core.engines.recount import recount
from anon_core.errors import InternalError, RefusedError
from anon_core.plan import RecodingPlan
from anon_core.recode import methods
from anon_core.recode.method import Progress
from anon_core.recode.task import Recoding, Task
from anon_core.report.assessment import Assessment, assess
from anon_core.report.measured import measured_note, public_utility_note, utility_note
from anon_core.report.question import USUAL_K
from anon_core.role import Role
from anon_core.score.profile import reads_as
from anon_core.spec import PartialPublication
from anon_core.table import Table
from anon_core.value_type import ValueType


@dataclass(frozen=True, kw_only=True)
class RecodedPublication:
    """
    What was made of a table as its publication file says.

    ``released`` are the rows to publish, and ``engine`` counts them; they were counted again, the plan is not believed.
    """

    publication: PartialPublication
    task: Task
    recoding: Recoding
    released: Table
    engine: Engine

    @cached_property
    def assessment(self) -> Assessment:
        """How safe and how useful the released rows are, beside their original."""
        return assess_publication(self.publication, self.engine, self.recoding.plan)


def recode_publication(
    publication: PartialPublication, engine: Engine, *, keep_order: bool = False, progress: Progress | None = None
) -> RecodedPublication:
    """
    Recode the rows of an engine as their publication file says, and count what became of them.

    :raises PolicyNotMetError: the method cannot keep what it promises.
    :raises RefusedError: no row would be left.
    :raises InternalError: the rows are not what the plan promises.
    """
    task = Task.of_table(publication, publication.required_of_recoding, engine)
    recoding = methods.recode(task, progress=progress)
    released = engine.apply(recoding.plan, publication.published, keep_order=keep_order)
    if not released.rows:
        raise RefusedError("recode", ["every row would have to be removed"])
    rows = engine.of(released)
    recount(rows, recoding.plan)
    return RecodedPublication(publication=publication, task=task, recoding=recoding, released=released, engine=rows)


def assess_publication(publication: PartialPublication, engine: Engine, plan: RecodingPlan | None = None) -> Assessment:
    """Measure rows over the columns of their publication; beside their original where a plan made them."""
    quasi, sensitive = publication.quasi_identifiers, publication.names_with_role(Role.SENSITIVE)
    policy = publication.privacy
    return assess(
        engine.count([*quasi, *sensitive]),
        quasi,
        k=(policy.k if policy else None) or USUAL_K,
        sensitive=sensitive,
        sampling_fraction=publication.sampling_fraction,
        comparison=Comparison.of_plan(plan) if plan else None,
        people=Comparison.of_plan(plan.project(quasi)) if plan else None,
        weights=publication.priority_weights,
    )


def levels_note(plan: RecodingPlan, column: int) -> list[dict[str, Any]]:
    """Return how many published rows stand at which level of one column."""
    names = plan.ladders[column].level_names
    return [{"level": level, "name": names[level], "rows": rows} for level, rows in plan.rows_by_level(column).items()]


def types_note(table: Table) -> dict[str, str]:
    """Return what all cells of each column read as; text where they do not read as one thing, or are all gaps."""
    return {column.name: _type_of(column.domain).value for column in table.columns}


def _type_of(domain: pa.Array) -> ValueType:
    kinds = [kind for kind in ValueType if len(domain) > domain.null_count and reads_as(domain, kind).all()]
    return kinds[0] if kinds else ValueType.TEXT


def recoding_note(recoded: RecodedPublication, types: Mapping[str, str]) -> dict[str, Any]:
    """Return what a recoding did and cost, without a single value; ``types`` are those of the published columns."""
    publication, recoding, assessment = recoded.publication, recoded.recoding, recoded.assessment
    if assessment.utility is None:
        raise InternalError("assessment without an original", "report.recoding")
    plan = recoding.plan
    rows = plan.frequencies.rows - plan.rows_removed
    at = {name: i for i, name in enumerate(plan.frequencies.names)}
    cells = plan.cells_changed
    columns = []
    declared = publication.effective_columns
    for name in publication.published:
        column = declared[name]
        levels = [{"level": 0, "name": "as collected", "rows": rows}]
        if name in at:
            levels = levels_note(plan, at[name])
        columns.append(
            {
                "name": name,
                "role": str(column.role.value),
                "type": types[name],
                "description": column.description,
                "levels": levels,
                "cells_changed": cells.get(name, 0),
            }
        )
    return {
        "recoding": {
            "method": recoding.method,
            "why": recoding.why,
            "rows_changed": plan.rows_changed,
            "columns": columns,
        },
        "utility": utility_note(assessment.utility),
        "public_utility": public_utility_note(plan, publication.priority_weights),
        "candidates": [asdict(candidate) for candidate in recoding.candidates],
        "optimal": recoding.optimal,
        "rows_removed": plan.rows_removed,
        "after": measured_note(publication.quasi_identifiers, assessment),
    }
