"""The witness: the released rows beside what they were and whose they are, by which the gate counts people.

Published files say neither. `recode` writes the witness into the private staging area; the gate believes it only where
it holds the very rows of every published file, and where all of them were collected like that. Of people with several
rows, whose each row is stays beside the gated files until they are published; nothing else of it outlives the gate.
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
"""Its name beside the gated files, which no data file has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Where a witness lies; ``unit`` is its column with the person, None where every row is another one."""

    path: Path
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """
    What a witness says, once it is believed: whose the published rows are, and what they were.

    ``people`` counts the published rows together with their person, ``number`` is how many people these are; both are
    None where every row is another person, ``pairing`` where the originals are gone.
    """

    people: FrequencyTable | None
    pairing: Pairing | None
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Why a witness is not believed."""

    sentence: str


def hear(
    witness: Witness, publication: Publication, released: FrequencyTable, original: Path | None = None
) -> Heard | Doubt:
    """Hold a witness against what the published files have and, while it is there, against the table as collected."""
    from anon_core.engines.engine import engine_named
    from anon_core.report.recoding import beside_names

    if witness.unit is None and original is None:
        return Heard(people=None, pairing=None)  # Nothing more is to be said of rows that are people each.
    table = reread(witness.path)
    engine = engine_named(publication.engine, source=witness.path)
    whose = [] if witness.unit is None else [witness.unit]
    beside = beside_names(publication, whose) if original else {}
    if table.names != (*publication.published, *whose, *beside.values()):
        return Doubt(sentence="the witness does not have the columns that it should have; run recode again")
    if not same_rows(released, engine.of(_as_written(publication, table)).count(publication.published)):
        rows = f"{table.rows:,} against {released.rows:,}"
        return Doubt(sentence=f"the witness does not hold the published rows ({rows}); run recode again")
    rows_heard = engine.of(table, unit=witness.unit)
    pairing = None
    if original is not None:
        collected = engine.of(reread(original), unit=witness.unit)
        found = _as_collected(collected, rows_heard, engine.of(table), publication, beside)
        if isinstance(found, Doubt):
            return found
        pairing = found
    if witness.unit is None:
        return Heard(people=None, pairing=pairing)
    people = engine.of(table).count([*publication.published, *whose])
    return Heard(people=people, pairing=pairing, number=rows_heard.people(()).rows)


def write_kept(witness: Witness, publication: Publication, path: Path) -> None:
    """Write what is kept of a witness beside the gated files: the released rows and whose they are."""
    from anon_core.publishing.distribution import write_parquet

    whose = [] if witness.unit is None else [witness.unit]
    write_parquet(reread(witness.path).select([*publication.published, *whose]), path)


def _as_written(publication: Publication, table: Table) -> Table:
    """Return the published columns of a witness as the files have them, with just the values that occur."""
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
) -> Pairing | Doubt:
    """Return what pairs released rows with their originals, or why they cannot be those that were collected."""
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
        what = f"{counted(found.strangers, 'released row')} more than were collected of their people"
    else:
        uncovered = counted(found.uncovered if found else rows.rows, "released row")
        what = f"labels of {uncovered} do not cover what was collected"
    return Doubt(sentence=f"{what}; run the publication again from `stage`")


def _ways(before: Engine, after: Engine, publication: Publication, recoded: list[str]) -> list[tuple[Ladder, ...]]:
    """
    Return the ladders by which the recoded columns may have got their labels; several where they may have been grouped.

    A mean does not tell which values it stands for: what is shown by means is not held against values.
    """
    from anon_core.report.originals import possible_ladders
    from anon_core.spec import Replace

    means = [years.column for years in publication.recode.grouped if years.replace is not Replace.RANGE]
    return possible_ladders(before, after, [name for name in recoded if name not in means], publication)
