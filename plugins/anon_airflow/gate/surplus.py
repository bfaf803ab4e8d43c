"""Check the rows that `stage` left out because one person had too many, against those that it kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anon_airflow.gate.files import reread, same_rows
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.engines.engine import Engine
    from anon_core.spec import Publication
    from anon_core.table import Table


def surplus_problem(
    publication: Publication, original: Path, surplus: Path | None, *, unit: str, most: int
) -> str | None:
    """
    Return what is wrong with the rows that were left out, or None.

    Each person who lost a row has exactly ``most`` rows left, no other person has more, and the rows left out are those
    that the rule selects.
    """
    from anon_core.engines.engine import engine_named

    kept = reread(original)
    if above := [rows for rows in _rows_of_people(kept, unit).values() if rows > most]:
        return f"{counted(len(above), 'person')} with more than {counted(most, 'row')} in the staged table"
    if surplus is None:
        return None
    left_out = reread(surplus)
    if left_out.names != kept.names:
        return "the rows left out do not have the columns of the staged table"
    rows_of = _rows_of_people(kept, unit)
    people = _rows_of_people(left_out, unit)
    if not left_out.rows or sum(people.values()) < left_out.rows:
        return "rows without a person were left out"
    if wrong := sum(rows_of[person] != most for person in people):
        return f"rows of {counted(wrong, 'person')} were left out who do not have {counted(most, 'row')} left"
    engine = engine_named(publication.engine, source=original)
    if not _is_as_the_rule_says(publication, engine, kept, left_out, unit, most):
        return "the rows left out are not those that the rule selects"
    return None


def _rows_of_people(table: Table, unit: str) -> dict[str, int]:
    import numpy as np

    whose = table.column(unit)
    rows = np.bincount(whose.codes, minlength=len(whose.domain)).tolist()
    return {person: count for person, count in zip(whose.domain.to_pylist(), rows, strict=True) if person is not None}


def _is_as_the_rule_says(
    publication: Publication, engine: type[Engine], kept: Table, left_out: Table, unit: str, most: int
) -> bool:
    """Whether the rule, applied again to all rows, keeps the same rows."""
    from anon_core.recoding.surplus_rows import cap_rows
    from anon_core.table import Table
    from anon_core.table.assembling import stack

    columns = tuple(stack([kept.column(name), left_out.column(name)]) for name in kept.names)
    whole = Table(columns=columns, rows=kept.rows + left_out.rows)
    again = cap_rows(whole, publication.published, publication.quasi_identifiers, unit=unit, most=most).kept
    return same_rows(engine.of(kept).count(kept.names), engine.of(again).count(again.names))
