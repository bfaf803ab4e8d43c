"""The witness: the released rows with their originals and their persons. The gate counts people with it.

Published files contain neither. `recode` writes the witness to the private staging area. The gate accepts it only if
it holds exactly the rows of every published file, and if all of them were collected from the same persons. If people
have several rows, the released rows with their persons stay beside the gated files until these are published; the rest
of the witness is removed with the staging area.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anon_airflow.gate.files import reread, same_rows
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.engines.engine import Engine
    from anon_core.frequency import FrequencyTable
    from anon_core.hierarchy.ladder import Ladder
    from anon_core.models.subject import Pairing
    from anon_core.spec import Publication
    from anon_core.table import Table

STAGED = "witness.parquet"
"""Its name in the staging area."""
KEPT = ".witness.parquet"
"""Its name beside the gated files; no data file can have this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The file of a witness; ``unit`` is its column with the person, None if every row is another person."""

    path: Path
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedWitness:
    """
    The content of a witness that was checked: the person and the original of each published row.

    ``people`` counts the published rows together with their person, ``number`` is the number of people; both are None
    if every row is another person. ``pairing`` is None if the originals are removed already.
    """

    people: FrequencyTable | None
    pairing: Pairing | None
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedWitness:
    """Why a witness is not accepted."""

    sentence: str


def check_witness(
    witness: Witness, publication: Publication, released: FrequencyTable, original: Path | None = None
) -> CheckedWitness | RejectedWitness:
    """Compare a witness with the published files and, while it still exists, with the table as collected."""
    from anon_core.engines.engine import engine_named
    from anon_core.report.recoding import beside_names

    if witness.unit is None and original is None:
        return CheckedWitness(people=None, pairing=None)  # Every row is another person, so no witness is needed.
    table = reread(witness.path)
    engine = engine_named(publication.engine, source=witness.path)
    whose = [] if witness.unit is None else [witness.unit]
    beside = beside_names(publication, whose) if original else {}
    if table.names != (*publication.published, *whose, *beside.values()):
        return RejectedWitness(sentence="the witness does not have the columns that it should have; run recode again")
    if not same_rows(released, engine.of(_as_written(publication, table)).count(publication.published)):
        rows = f"{table.rows:,} against {released.rows:,}"
        return RejectedWitness(sentence=f"the witness does not hold the published rows ({rows}); run recode again")
    witness_rows = engine.of(table, unit=witness.unit)
    pairing = None
    if original is not None:
        collected = engine.of(reread(original), unit=witness.unit)
        found = _as_collected(collected, witness_rows, engine.of(table), publication, beside)
        if isinstance(found, RejectedWitness):
            return found
        pairing = found
    if witness.unit is None:
        return CheckedWitness(people=None, pairing=pairing)
    people = engine.of(table).count([*publication.published, *whose])
    return CheckedWitness(people=people, pairing=pairing, number=witness_rows.people(()).rows)


def write_kept(witness: Witness, publication: Publication, path: Path) -> None:
    """Write the part of a witness that is kept beside the gated files: the released rows and their persons."""
    from anon_core.publishing.distribution import write_parquet

    whose = [] if witness.unit is None else [witness.unit]
    write_parquet(reread(witness.path).select([*publication.published, *whose]), path)


def _as_written(publication: Publication, table: Table) -> Table:
    """Return the published columns of a witness as they are in the files, with only the values that occur."""
    from anon_core.engines.formulas import formula_safe
    from anon_core.table import Table
    from anon_core.table.assembling import Piece, assemble

    shown = table.select(publication.published)
    if publication.csv.escape_formulas:
        shown = formula_safe(shown, keep_order=True)
    columns = tuple(assemble(one.name, [Piece(codes=one.codes, words=one.domain)]) for one in shown.columns)
    return Table(columns=columns, rows=shown.rows)


def _as_collected(
    before: Engine, people: Engine, rows: Engine, publication: Publication, beside: dict[str, str]
) -> Pairing | RejectedWitness:
    """Return the pairing of released rows with their originals, or why the rows cannot have been collected."""
    from anon_core.measures.linkage.provenance import provenance
    from anon_core.recoding.pairing import pairing_of_witness

    whose = [] if people.unit is None else [people.unit]
    equal = [*(name for name in publication.published if name not in beside), *whose]
    found = None
    for ladders in _ways(before, rows, publication, list(beside)):
        found = provenance(before, rows, ladders, beside=beside, equal=equal)
        if found.holds:
            return pairing_of_witness(
                before,
                people,
                ladders,
                beside=beside,
                published=publication.published,
                recoded=publication.in_classes_of_k,
            )
    if found is not None and found.strangers:
        what = f"{counted(found.strangers, 'released row')} more than were collected from these people"
    else:
        uncovered = counted(found.uncovered if found else rows.rows, "released row")
        what = f"labels of {uncovered} do not cover the values that were collected"
    return RejectedWitness(sentence=f"{what}; run the publication again from `stage`")


def _ways(before: Engine, after: Engine, publication: Publication, recoded: list[str]) -> list[tuple[Ladder, ...]]:
    """
    Return the ladders that the labels of recoded columns may come from; several if columns may have been grouped.

    A mean does not say which values it stands for, so columns that show means are not compared with values.
    """
    from anon_core.report.originals import possible_ladders
    from anon_core.spec import Replace

    means = [years.column for years in publication.recode.grouped if years.replace is not Replace.RANGE]
    return possible_ladders(before, after, [name for name in recoded if name not in means], publication)
