"""Recodes a publication, and describes the recoding for the reports: counts per column and level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from anon_core.comparison import Comparison
from anon_core.engines.engine import Engine
from anon_core.engines.recount import recount
from anon_core.errors import InternalError, RefusedError
from anon_core.measures.profile import reads_as
from anon_core.models import Measurement, Subject
from anon_core.models.restored_values import RestoredValues
from anon_core.models.subject import Pairing
from anon_core.plan import RecodingPlan
from anon_core.recoding import methods
from anon_core.recoding.method import Progress
from anon_core.recoding.pairing import pairing_of_plan
from anon_core.recoding.people import TuplePeople
from anon_core.recoding.task import Recoding, Task
from anon_core.report import public
from anon_core.report.assessment import Assessment, assess
from anon_core.report.criteria import USUAL_K
from anon_core.report.measured import measured_note, utility_note
from anon_core.role import Role
from anon_core.spec import PartialPublication
from anon_core.table import Table
from anon_core.table.people import fresh_name
from anon_core.value_type import ValueType


@dataclass(frozen=True, kw_only=True)
class RecodedPublication:
    """
    A table recoded as its publication file says.

    ``released`` are the rows to publish, and ``engine`` counts them; they are counted anew, not taken from the plan.
    ``witness`` has the same rows in the order of the source, with their quasi-identifiers as collected and, if people
    have several rows, their person; it is private. ``pairing`` says what each row was, by the plan.
    """

    publication: PartialPublication
    task: Task
    recoding: Recoding
    released: Table
    engine: Engine
    witness: Table | None = None
    pairing: Pairing | None = None

    @cached_property
    def restored(self) -> Measurement | None:
        """How many generalised cells other published columns restore; None if the pairing is not known."""
        quasi = self.publication.quasi_identifiers
        if self.pairing is None or not quasi:
            return None
        policy = self.publication.privacy
        model = RestoredValues(columns=quasi, limit=policy.max_restored if policy else 0)
        return model.measured(Subject(names=self.engine.names, rows=self.engine.count, paired=self.pairing))

    @cached_property
    def assessment(self) -> Assessment:
        """How safe and how useful the released rows are, compared with the original."""
        return assess_publication(self.publication, self.engine, self.recoding.plan, self.task.people)


def recode_publication(
    publication: PartialPublication, engine: Engine, *, keep_order: bool = False, progress: Progress | None = None
) -> RecodedPublication:
    """
    Recode the rows of an engine as their publication file says, and count the result.

    :raises PolicyNotMetError: the method cannot keep what it promises.
    :raises RefusedError: no row would be left.
    :raises InternalError: the rows are not what the plan promises.
    """
    task = Task.of_table(publication, publication.required_of_recoding, engine)
    recoding = methods.recode(task, progress=progress)
    plan, whose = recoding.plan, () if engine.unit is None else (engine.unit,)
    released = engine.apply(plan, publication.published, keep_order=keep_order)
    if not released.rows:
        raise RefusedError("recode", ["every row would have to be removed"])
    recount(engine.of(released), plan)
    beside = beside_names(publication, whose)
    witness = engine.apply(plan, [*publication.published, *whose], keep_order=True, beside=beside)
    shown = witness.select([*publication.published, *whose]) if whose else released
    rows = engine.of(shown, unit=engine.unit)
    return RecodedPublication(
        publication=publication,
        task=task,
        recoding=recoding,
        released=released,
        engine=rows,
        witness=witness,
        pairing=pairing_of_plan(plan, engine, publication.published, publication.in_classes_of_k),
    )


def beside_names(publication: PartialPublication, others: Sequence[str] = ()) -> dict[str, str]:
    """
    Return the names under which a witness has columns as collected, beside the published ones.

    These are the columns that a recoding may change: quasi-identifiers, and columns guarded against freeform attacks.
    """
    policy = publication.privacy
    guarded = policy.freeform.columns if policy and policy.freeform else {}
    names: dict[str, str] = {}
    for name in publication.published:
        if name in publication.quasi_identifiers or name in guarded:
            names[name] = fresh_name(f"{name} as collected", [*publication.published, *others, *names.values()])
    return names


def assess_publication(
    publication: PartialPublication,
    engine: Engine,
    plan: RecodingPlan | None = None,
    people: TuplePeople | None = None,
) -> Assessment:
    """
    Measure rows over the columns of their publication; compared with their original if a plan made them.

    ``people`` are the people of the original tuples, where a person may have several rows.
    """
    quasi, sensitive = publication.quasi_identifiers, publication.names_with_role(Role.SENSITIVE)
    policy = publication.privacy
    return assess(
        engine.people([*quasi, *sensitive]),
        quasi,
        k=(policy.k if policy else None) or USUAL_K,
        sensitive=sensitive,
        sampling_fraction=publication.sampling_fraction,
        comparison=Comparison.of_plan(plan, plan.recoded) if plan else None,
        people=compared_by_people(plan, quasi, people) if plan else None,
        weights=publication.priority_weights,
        counted=publication.counted_values,
    )


def compared_by_people(plan: RecodingPlan, columns: Sequence[str], people: TuplePeople | None) -> Comparison:
    """Compare some columns before and after a plan, counted in people where these are known."""
    return Comparison.of_plan(plan if people is None else people.plan(plan), columns)


def levels_note(plan: RecodingPlan, column: int) -> list[dict[str, Any]]:
    """Return how many published rows are at each level of one column."""
    names = plan.ladders[column].level_names
    return [{"level": level, "name": names[level], "rows": rows} for level, rows in plan.rows_by_level(column).items()]


def types_note(table: Table) -> dict[str, str]:
    """Return the type as which all cells of each column read; text if they read as several types, or all are gaps."""
    return {column.name: _type_of(column.domain).value for column in table.columns}


def _type_of(domain: pa.Array) -> ValueType:
    kinds = [kind for kind in ValueType if len(domain) > domain.null_count and reads_as(domain, kind).all()]
    return kinds[0] if kinds else ValueType.TEXT


def recoding_note(recoded: RecodedPublication, types: Mapping[str, str]) -> dict[str, Any]:
    """Return what a recoding changed and lost, without a single value; ``types`` are those of the published columns."""
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
        levels = [{"level": 0, "name": column.published_without_recoding, "rows": rows}]
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
        "public_levels": {name: public.public_levels_note(plan, i) for name, i in at.items()},
        "public_detail": public.detail_note(plan, len(publication.published)),
        "candidates": [asdict(candidate) for candidate in recoding.candidates],
        "optimal": recoding.optimal,
        "rows_removed": plan.rows_removed,
        "restored": dict(recoded.restored.counts) if recoded.restored else None,
        "after": measured_note(publication.quasi_identifiers, assessment),
    }
