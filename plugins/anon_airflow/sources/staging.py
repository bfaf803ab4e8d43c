"""Read the source of a publication, compare it with the declared columns, and read the staged table later."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_airflow.gate.files import digest_of
from anon_airflow.gate.required_expectations import required
from anon_airflow.run.connections import from_environment
from anon_airflow.run.context import Run
from anon_core.errors import InvalidInputError, RefusedError, TableError
from anon_core.models import Need
from anon_core.publishing.portal import Connect
from anon_core.publishing.source import Source
from anon_core.registry import SOURCES
from anon_core.spec import Missing, Publication
from anon_core.spec.member_sections import member_of
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_airflow.gate.measurement import StagedOriginal
    from anon_core.detection.unit import SpanningColumn
    from anon_core.engines.engine import Engine
    from anon_core.table import Column, Table

ORIGINAL = "original.parquet"
SURPLUS = "surplus.parquet"
"""The file in the staging area with the rows that `privacy.max_rows_per_person` leaves out."""
_MAX_RULES_NAMED = 3
"""How many rules a refusal names of each coarsened column that others restore."""
_MISTAKEN = "; if {} does not tell people apart, such as an amount, give it another role"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """
    The columns to publish, as collected, and the person of each row.

    ``unit`` is the column of ``table`` that numbers the people; None if every row is another person. For rows
    ``without_person`` the source names no person. ``dropped`` rows had a gap in a quasi-identifier. Some rows of
    ``people_capped`` people are left out, the ``surplus``: these people had more rows than the file allows.
    ``verifiable``: a column could contradict that every row is another person; None if a column does, or if
    some people have several rows.
    """

    table: Table
    unit: str | None
    people: int
    without_person: int
    dropped: int
    verifiable: bool | None
    surplus: Table | None = None
    people_capped: int = 0

    @property
    def counts(self) -> dict[str, Any]:
        """The counts that go on record."""
        return {
            "rows": self.table.rows,
            "rows_dropped": self.dropped,
            "people": self.people,
            "rows_without_person": self.without_person,
            "rows_capped": self.surplus.rows if self.surplus else 0,
            "people_capped": self.people_capped,
            "unit": self.unit,
            "verifiable": self.verifiable,
        }


def source_of(publication: Publication, text: str, connect: Connect = from_environment) -> Source:
    """
    Return the source that the publication file names; ``text`` is its template, filled in for a period.

    :raises InvalidInputError: no installed package brings it.
    """
    source: Source = member_of(SOURCES, publication.source)(publication, publication.source, text, connect)
    return source


def read_source(publication: Publication, source: Source) -> Collected:
    """
    Read the source and compare it with the declared columns; then decompose and coarsen columns as declared.

    :raises TableError: the source cannot be read, or its columns are not the declared ones.
    :raises RefusedError: the rows are not those of the people that the publication file claims, or other columns
        restore what is made coarser.
    :raises InvalidInputError: a hierarchy, a grouping or a rule that splits or coarsens a column
        does not cover every value, a guard names none, or the gate could not place what would be published.
    """
    from anon_core.decompose import decompose
    from anon_core.detection.preparation import prepare
    from anon_core.engines.engine import engine_named
    from anon_core.hierarchy.build import ladders
    from anon_core.hierarchy.coarsen import coarsen
    from anon_core.hierarchy.kinds.intervals import group_numbers
    from anon_core.hierarchy.published import refuse_unplaceable
    from anon_core.recoding.freeform_problem import FreeformProblem
    from anon_core.table import Table

    engine = engine_named(publication.engine, source=Path(source.address))
    table = source.read()
    _check_columns(publication, source, table.names)
    claim = claim_of(publication, table)
    people = claim.people
    parts = decompose(table, publication)
    table = coarsen(parts, publication)
    _check_coarsened(publication, parts, table, people)
    table = table.select([name for name in table.names if name in publication.published])
    if people is not None:
        table = Table(columns=(*table.columns, people), rows=table.rows)
    prepared = prepare(table, publication.quasi_identifiers, drop_missing=publication.missing is Missing.DROP)
    collected = replace(
        _collected(prepared.table, people.name if people else None, publication),
        dropped=prepared.dropped,
    )
    if collected.unit is None:
        collected = replace(collected, verifiable=claim.verifiable)
    table = collected.table
    ladders(publication, table, publication.quasi_identifiers)
    rows = engine.of(table, unit=collected.unit)
    if guarded := publication.privacy.freeform:
        problem = FreeformProblem.of_table(publication, guarded, rows, {})
        refuse_unplaceable(publication, problem.frequencies.names, table)
    for years in publication.recode.grouped:
        group_numbers(rows.count([years.column]), years)
    return collected


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """
    The claim of a publication file about people: a column that tells ``people`` apart, or None for the claim that every
    row is another person.

    ``verifiable``: an identifier could contradict that claim; None if one does, and a person has accepted that.
    """

    people: Column | None
    verifiable: bool | None


def claim_of(publication: Publication, table: Table) -> Claim:
    """
    Return the claim of the publication file about the people of a source.

    :raises RefusedError: an identifier contradicts it, and no person has accepted that.
    """
    from anon_core.detection.unit import is_verifiable, spanning_columns
    from anon_core.table.people import fresh_name, person_column

    unit = publication.unit
    people = person_column(table, unit.columns, fresh_name("person", table.names)) if unit.columns else None
    answered = {one.column for one in unit.may_span}
    roles = {name: column.role for name, column in publication.columns.items()}
    found = [one for one in spanning_columns(table, roles, people) if one.column not in answered]
    if found and unit.rows_are_people is None:
        raise RefusedError("stage", [_spanned(one, publication) for one in found])
    return Claim(people=people, verifiable=None if found else is_verifiable(table, roles))


def _check_coarsened(publication: Publication, collected: Table, coarser: Table, people: Column | None) -> None:
    """
    Hold columns with `coarsen` against all others that are published as collected, while it is known what they were.

    :raises RefusedError: others restore more of their cells than `privacy.max_restored`.
    """
    from anon_core.measures.coarsened import restored_coarsened

    found = restored_coarsened(collected, coarser, publication, people)
    total, allowed = sum(one.people for one in found), publication.privacy.max_restored
    if total <= allowed:
        return
    whose = "people" if people else "rows"
    told = "; ".join(
        f"{one.column} of {one.people:,} {whose} by "
        + ", by ".join(" with ".join(rule.by) for rule in one.rules[:_MAX_RULES_NAMED])
        for one in found
    )
    advice = "drop these columns, make them coarser too, or give them the role quasi so that they are recoded"
    raise RefusedError(
        "stage",
        [f"{counted(total, 'coarsened cell')} restored by other columns, {allowed:,} allowed: {told}: {advice}"],
    )


def _spanned(one: SpanningColumn, publication: Publication) -> str:
    """Return which column contradicts the unit, and what to write."""
    many = f"{one.column} spans units: {one.rows:,} rows, {one.people:,} people"
    if not publication.unit.columns:
        answer = "or answer for it by name with `unit: {rows_are_people: {reason, by, until}}`"
        return f"{many}; say `unit: {one.column}`, {answer}{_MISTAKEN.format(one.column)}"
    answer = f"or answer for it by name in `unit.may_span` with column {one.column}, reason, by and until"
    both = f"{many}, which contradicts `unit: {publication.unit}`; say `unit: {one.column}`, {answer}"
    return both + _MISTAKEN.format(one.column)


def _collected(table: Table, unit: str | None, publication: Publication) -> Collected:
    """Return the rows with a random number for each person; without numbers if each person has one row."""
    import numpy as np

    from anon_core.recoding.surplus_rows import cap_rows
    from anon_core.table import Table
    from anon_core.table.people import numbered

    alone = Collected(table=table, unit=None, people=table.rows, without_person=0, dropped=0, verifiable=None)
    if unit is None:
        return alone
    whose, others = table.column(unit), tuple(one for one in table.columns if one.name != unit)
    without = int(np.count_nonzero(whose.gaps))
    people = len(whose.domain) - whose.has_gaps
    if people == table.rows:
        return replace(alone, table=Table(columns=others, rows=table.rows))
    rows = Table(columns=(*others, numbered(whose, np.random.default_rng())), rows=table.rows)
    collected = replace(alone, table=rows, unit=unit, people=people, without_person=without)
    if (most := publication.privacy.max_rows_per_person) is None:
        return collected
    capped = cap_rows(rows, publication.published, publication.quasi_identifiers, unit=unit, most=most)
    if not capped.people:
        return collected
    return replace(collected, table=capped.kept, surplus=capped.left_out, people_capped=capped.people)


def _check_columns(publication: Publication, source: Source, names: Sequence[str]) -> None:
    """Compare the columns of the table with the declared ones, and report all differences at once."""
    declared = publication.columns
    undeclared = [name for name in names if name not in declared]
    absent = [name for name in declared if name not in names]
    if len(undeclared) == len(names):
        # The header may be missing, and then these are cells of a person: they are not shown.
        raise TableError(
            source.address,
            f"none of its {counted(len(names), 'column')} has a declared name",
            f"name the columns, of a text file in its first line: {', '.join(declared)}",
        )
    if undeclared or absent:
        parts = [f"not declared in {publication.file.name}: {_shown_names(names, declared)}"] if undeclared else []
        parts += [f"declared but absent: {', '.join(absent)}"] if absent else []
        raise TableError(
            source.address,
            "its columns are not the declared ones (" + "; ".join(parts) + ")",
            "correct `columns` or the export",
        )


def _shown_names(names: Sequence[str], declared: Collection[str]) -> str:
    """
    Return the names that are not declared, or only their places if the file may have no header.

    Without a header a name is a cell of a person. So names are shown only if at least half of the declared columns are
    there, more than one, and more than undeclared ones.
    """
    strange = {place: name for place, name in enumerate(names, 1) if name not in declared}
    there = len(names) - len(strange)
    if there > 1 and 2 * there >= len(declared) and there > len(strange):
        return ", ".join(strange.values())
    places = f"at place{'s' * (len(strange) > 1)} {', '.join(map(str, strange))}"
    return f"{counted(len(strange), 'name')} {places} (not shown: they may be cells)"


def staged_rows(run: Run) -> Engine:
    """
    Return the staged table, in the engine that the publication file names.

    :raises InvalidInputError: it is missing, or the publication file has changed since.
    """
    from anon_core.engines.engine import engine_named

    path = run.staging / ORIGINAL
    if not path.exists():
        raise staging_is_gone(run)
    staged = run.noted("stage")
    check_same_spec(run, staged["spec_digest"])
    return engine_named(run.publication.engine, source=path).open(path, unit=staged["unit"])


def staged_original(run: Run, digest: str, surplus: str | None = None) -> StagedOriginal:
    """
    Return the staged table for the gate to compare with, and its counts if the policy needs them.

    ``digest`` is its sha256 on record, ``surplus`` that of the rows left out, if there are any.

    :raises InvalidInputError: it is missing or was changed.
    """
    from anon_airflow.gate.measurement import StagedOriginal

    asked = required(run.publication, rows_before=1, today=date.min, original=digest)
    columns = {name for one in asked if Need.ORIGINAL in one.model.needs for name in one.model.columns}
    path, beside = run.staging / ORIGINAL, run.staging / SURPLUS
    on_record = {path: digest, **({beside: surplus} if surplus else {})}
    if not all(one.exists() and digest_of(one)[0] == noted for one, noted in on_record.items()):
        raise InvalidInputError(
            f"the staged table of run {run.run_id} is missing or was changed, and the gate needs it; "
            "start the run again (in Airflow: clear it from the task `stage`)"
        )
    rows = staged_rows(run)
    whose = [] if rows.unit is None else [rows.unit]
    counted = rows.count([*(name for name in rows.names if name in columns), *whose]) if columns else None
    return StagedOriginal(sha256=digest, frequencies=counted, path=path, surplus=beside if surplus else None)


def check_same_spec(run: Run, digest: str) -> None:
    """
    Reject a publication file that has changed since the run began with the file of this digest.

    :raises InvalidInputError: it, or a hierarchy file, was changed.
    """
    if digest != run.publication.digest():
        raise InvalidInputError(
            f"{run.publication.file.name} or a hierarchy of it was changed after run {run.run_id} began; "
            "start the run again (in Airflow: clear it from the task `stage`)"
        )


def staging_is_gone(run: Run) -> InvalidInputError:
    """Return the error for a step that finds no staged table."""
    return InvalidInputError(
        f"the staged table of run {run.run_id} is missing (the gate removes it when it ends); "
        "run `stage` first (in Airflow: clear the run from the task `stage`)"
    )
