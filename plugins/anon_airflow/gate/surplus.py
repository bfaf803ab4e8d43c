"""The rows that `stage` has left out because one person had too many, held against those that it has kept."""

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
    Say what is wrong with what was left out, or return None.

    Each person of whom a row was left out has just ``most`` rows left, and no other person has more; of the rows of
    each person those were left out that the rule names.
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
        return "rows were left out that are no person's"
    if robbed := sum(rows_of[person] != most for person in people):
        return (
            f"{counted(robbed, 'person')} of whom rows were left out, and who do not have {counted(most, 'row')} left"
        )
    engine = engine_named(publication.engine, source=original)
    if not _is_as_the_rule_says(publication, engine, kept, left_out, unit, most):
        return "other rows were left out than the rule for that names"
    return None


def _rows_of_people(table: Table, unit: str) -> dict[str, int]:
    import numpy as np

    whose = table.column(unit)
    rows = np.bincount(whose.codes, minlength=len(whose.domain)).tolist()
    return {person: count for person, count in zip(whose.domain.to_pylist(), rows, strict=True) if person is not None}


def _is_as_the_rule_says(
    publication: Publication, engine: type[Engine], kept: Table, left_out: Table, unit: str, most: int
) -> bool:
    """Put both together, leave out once more what is too much, and compare what stays."""
    from anon_core.recoding.surplus_rows import cap_rows
    from anon_core.table import Table
    from anon_core.table.assembling import stack

    columns = tuple(stack([kept.column(name), left_out.column(name)]) for name in kept.names)
    whole = Table(columns=columns, rows=kept.rows + left_out.rows)
    again = cap_rows(whole, publication.published, publication.quasi_identifiers, unit=unit, most=most).kept
    return same_rows(engine.of(kept).count(kept.names), engine.of(again).count(again.names))
