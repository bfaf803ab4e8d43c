"""The source of a publication: read, compared with what is declared, and later read again from the staging area."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from anon_airflow.connections import from_environment
from anon_airflow.distributions import digest_of
from anon_airflow.required import required
from anon_airflow.run import Run
from anon_core.errors import InvalidInputError, TableError
from anon_core.models import Need
from anon_core.portal import Connect
from anon_core.registry import SOURCES
from anon_core.source import Source
from anon_core.spec import Missing, Publication, Role
from anon_core.spec.member_sections import member_of
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_airflow.gate import Original
    from anon_core.engines.engine import Engine
    from anon_core.table import Table

ORIGINAL = "original.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """
    The columns to be published, as collected.

    ``dropped`` rows had a gap in a quasi-identifier. ``sharing`` rows have all their identifiers in common with
    another row: perhaps the same person, and then k counts rows, not people.
    """

    table: Table
    dropped: int
    sharing: int


def source_of(publication: Publication, text: str, connect: Connect = from_environment) -> Source:
    """
    Return the source that the publication file names; ``text`` is its template, filled in for a period.

    :raises InvalidInputError: no installed package brings it.
    """
    source: Source = member_of(SOURCES, publication.source)(publication, publication.source, text, connect)
    return source


def read_source(publication: Publication, source: Source) -> Collected:
    """
    Read the source and compare it with what is declared; columns to be decomposed become their published parts.

    :raises TableError: the source cannot be read, or its columns are not the declared ones.
    :raises InvalidInputError: a hierarchy, a grouping or a rule that splits a column
        does not cover every value, a guard names none, or the gate could not place what would be published.
    """
    from anon_core.detect.preparation import prepare
    from anon_core.engines.engine import engine_named
    from anon_core.hierarchy.build import ladders
    from anon_core.hierarchy.decompose import decompose
    from anon_core.hierarchy.kinds.intervals import group_numbers
    from anon_core.hierarchy.published import refuse_unplaceable
    from anon_core.recode.freeform_problem import FreeformProblem

    engine = engine_named(publication.engine, source=Path(source.address))
    table = source.read()
    _check_columns(publication, source, table.names)
    identified = engine.of(table).count(publication.names_with_role(Role.IDENTIFIER))
    sharing = int(identified.weights[identified.weights > 1].sum()) if identified.names else 0
    table = decompose(table, publication)
    table = table.select([name for name in table.names if name in publication.published])
    prepared = prepare(table, publication.quasi_identifiers, drop_missing=publication.missing is Missing.DROP)
    table, dropped = prepared.table, prepared.dropped
    ladders(publication, table, publication.quasi_identifiers)
    rows = engine.of(table)
    if guarded := publication.privacy.freeform:
        problem = FreeformProblem.of_table(publication, guarded, rows, {})
        refuse_unplaceable(publication, problem.frequencies.names, table)
    for years in publication.recode.grouped:
        group_numbers(rows.count([years.column]), years)
    return Collected(table=table, dropped=dropped, sharing=sharing)


def _check_columns(publication: Publication, source: Source, names: Sequence[str]) -> None:
    """Compare the columns of the table with the declared ones, both ways, and say everything at once."""
    declared = publication.columns
    undeclared = [name for name in names if name not in declared]
    absent = [name for name in declared if name not in names]
    if len(undeclared) == len(names):
        # Perhaps the header is missing and these are somebody's cells: they are not told.
        raise TableError(
            source.address,
            f"none of its {counted(len(names), 'column')} has a declared name",
            f"name the columns, of a text file in its first line: {', '.join(declared)}",
        )
    if undeclared or absent:
        parts = [f"not declared in {publication.file.name}: {_told(names, declared)}"] if undeclared else []
        parts += [f"declared but absent: {', '.join(absent)}"] if absent else []
        raise TableError(
            source.address,
            "its columns are not the declared ones (" + "; ".join(parts) + ")",
            "correct `columns` or the export",
        )


def _told(names: Sequence[str], declared: Collection[str]) -> str:
    """
    Return the names that are not declared, or only their places where a file may have no header.

    A cell of somebody may read like a column. So names are told only where at least half of the declared columns are
    there, more than one, and more than there are others.
    """
    strange = {place: name for place, name in enumerate(names, 1) if name not in declared}
    there = len(names) - len(strange)
    if there > 1 and 2 * there >= len(declared) and there > len(strange):
        return ", ".join(strange.values())
    places = f"at place{'s' * (len(strange) > 1)} {', '.join(map(str, strange))}"
    return f"{counted(len(strange), 'name')} {places} (not told: they may be cells)"


def staged_rows(run: Run) -> Engine:
    """
    Return the staged table, in the engine that the publication file asks for.

    :raises InvalidInputError: it is gone, or the publication file has changed since.
    """
    from anon_core.engines.engine import engine_named

    path = run.staging / ORIGINAL
    if not path.exists():
        raise staging_is_gone(run)
    check_same_spec(run, run.noted("stage")["spec_digest"])
    return engine_named(run.publication.engine, source=path).open(path)


def staged_original(run: Run, digest: str) -> Original:
    """
    Return the staged table for the gate to compare with, counted where the policy asks for that.

    ``digest`` is the sha256 that is on record of it.

    :raises InvalidInputError: it is not the one that was staged any more.
    """
    from anon_airflow.gate import Original

    asked = required(run.publication, rows_before=1, today=date.min, original=digest)
    columns = {name for one in asked if Need.ORIGINAL in one.model.needs for name in one.model.columns}
    if not columns:
        return Original(sha256=digest)
    path = run.staging / ORIGINAL
    if not path.exists() or digest_of(path)[0] != digest:
        raise InvalidInputError(
            f"the staged table of run {run.run_id} is gone or was changed, and the gate compares with it; "
            "start the run again (in Airflow: clear it from the task `stage`)"
        )
    rows = staged_rows(run)
    return Original(sha256=digest, frequencies=rows.count([name for name in rows.names if name in columns]))


def check_same_spec(run: Run, digest: str) -> None:
    """
    Refuse to go on by another publication file than the one of this digest, which the run began with.

    Its reports would tell of two.

    :raises InvalidInputError: it, or a hierarchy file, was changed in between.
    """
    if digest != run.publication.digest():
        raise InvalidInputError(
            f"{run.publication.file.name} or a hierarchy of it was changed after run {run.run_id} began; "
            "start the run again (in Airflow: clear it from the task `stage`)"
        )


def staging_is_gone(run: Run) -> InvalidInputError:
    """Return the error to raise when a step comes too late."""
    return InvalidInputError(
        f"the staged table of run {run.run_id} is gone (it is removed when the gate ends); "
        "run `stage` first (in Airflow: clear the run from the task `stage`)"
    )
