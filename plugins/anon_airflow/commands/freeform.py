"""``anon freeform``: what an adversary who knows some values of a person could infer about other values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.output import (
    json_option,
    no_place,
    percent,
    print_json,
    several,
    show_sentences,
    source_reading,
    table_argument,
    table_options,
)
from anon_airflow.commands.output import show_values as show
from anon_airflow.commands.search_options import check_known
from anon_core.errors import UnplacedCellsError
from anon_core.wording import rows_not_people

if TYPE_CHECKING:
    from anon_core.measures.freeform import Attack, ColumnBreaches
    from anon_core.report.freeform import FreeformFinding
    from anon_core.spec import PartialPublication
    from anon_core.table import ReadOptions, Table

MAX_EXPLAINED = 5
"""At most so many attacks on a column are explained with their values."""
_CERTAIN = 1 - 1e-9


@click.command(short_help="Find what could be inferred about guarded values.")
@table_argument
@click.option(
    "--spec", required=True, type=click.Path(path_type=Path), help="The publication file, with privacy.freeform."
)
@click.option("--show-values", is_flag=True, help="Explain the worst attacks with their values, on the terminal only.")
@table_options
@json_option
def freeform(table: Path, spec: Path, show_values: bool, reading: ReadOptions, as_json: bool) -> None:
    """Find the freeform attacks on TABLE: visible values of a person that give a guarded value away.

    Which values are visible and which are guarded, in any column, is defined by privacy.freeform of the publication
    file. The columns are its quasi-identifiers and those that privacy.freeform names. TABLE is a table as collected, or
    one that was generalised already: its cells are values or labels of the hierarchies, at any level.

    Exit code 1 if an attack is a breach: what it infers is more likely than privacy.freeform.sigma_t allows.
    """
    from anon_core.engines.engine import engine_named
    from anon_core.report.freeform import find_attacks, freeform_policy
    from anon_core.spec import load_spec
    from anon_core.table import read

    publication = load_spec(spec, partial=True)
    policy = freeform_policy(publication)
    content = read(table, source_reading(publication, reading))
    coded = [name for name, column in publication.columns.items() if column.decompose]
    names = [name for name in publication.published if name in (*publication.quasi_identifiers, *policy.columns)]
    if not all(name in content.names for name in coded) or not coded:
        check_known(content, names)
    try:
        found = find_attacks(content, publication, engine_named(publication.engine, source=table))
    except UnplacedCellsError as error:
        if show_values:
            show(_without_a_place(content, publication, error))
        raise
    if as_json:
        print_json(as_document(found))
    else:
        _print(table.name, found)
    if show_values:
        show_sentences(_explained(found))
    raise click.exceptions.Exit(0 if found.check.holds else 1)


def as_document(found: FreeformFinding) -> dict[str, Any]:
    """Return the findings in counts; `worst` is null if nothing can be attacked."""
    check, policy = found.check, found.policy
    return {
        "rows": found.published.rows,
        "definition": check.definition.value,
        "sigma_o": policy.sigma_o,
        "sigma_t": policy.sigma_t,
        "holds": check.holds,
        "breaches": check.breaches,
        "breaches_3_3": found.plain.breaches,
        "worst": {"threat": check.worst.threat, "attribute": check.worst.column} if check.worst else None,
        "columns": [
            {
                "name": one.column,
                "breaches": one.breaches,
                "breaches_3_3": plain.breaches,
                "rows": one.rows,
                "threat": one.threat,
            }
            for one, plain in zip(check.columns, found.plain.columns, strict=True)
        ],
    }


def _without_a_place(
    table: Table, publication: PartialPublication, error: UnplacedCellsError
) -> Iterator[tuple[str, list[str]]]:
    from anon_core.report.freeform import freeform_policy, placed_cells

    for one in placed_cells(table, publication, freeform_policy(publication)):
        if one.column.name in error.unplaced:
            yield no_place(one.column.name), one.column.domain.filter(one.unplaced).to_pylist()


def _print(name: str, found: FreeformFinding) -> None:
    check, policy = found.check, found.policy
    names = ", ".join(found.published.names)
    click.echo(f"{name}: {rows_not_people(found.published.rows)}; {several(len(found.columns), 'column')}: {names}")
    click.echo(
        f"observable from {policy.sigma_o:g} on (sigma_o), a breach above {percent(policy.sigma_t)} (sigma_t), "
        f"Definition {check.definition.value}"
    )
    for column in check.columns:
        click.echo(f"{column.column}: {_finding(found, column)}")
    unguarded = sorted(set(policy.columns) - {column.column for column in check.columns})
    for column_name in unguarded:
        click.echo(f"{column_name}: no guarded value is hidden, so nothing can be inferred")
    if check.holds:
        click.echo(f"safe: no guarded value can be inferred with more than {percent(policy.sigma_t)}")
    else:
        click.echo(
            f"breached: {several(check.breaches, 'attack')}, {found.plain.breaches:,} of them on values that are "
            "published themselves (Definition 3.3)"
        )


def _finding(found: FreeformFinding, column: ColumnBreaches) -> str:
    """Return the findings in a column, in words and counts, without a value."""
    worst = found.worst(column, 1)
    if not worst:
        return "nothing can be inferred"
    attacks = (
        f"{several(column.breaches, 'attack')} on {several(column.rows, 'row')}" if column.breaches else "no breach"
    )
    seen = sum(label >= 0 and label != found.columns[at].taxonomy.root for at, label in enumerate(worst[0].observed))
    by = f"from {several(seen, 'observed column')}" if seen else "without observing anything"
    how = "for certain" if column.threat >= _CERTAIN else f"with {percent(column.threat)}"
    return f"{attacks}; the worst infers a guarded value {how} {by} ({_rows(worst[0])})"


def _rows(attack: Attack) -> str:
    return f"{attack.rows:,} of {several(attack.matched, 'row')}"


def _explained(found: FreeformFinding) -> Iterator[str]:
    """Yield the worst breaches of every column, in sentences with values."""
    from anon_core.measures.freeform.values import ROUNDING

    for column in found.check.columns:
        if column.breaches:
            for attack in found.worst(column, MAX_EXPLAINED):
                if attack.threat > found.policy.sigma_t + ROUNDING:
                    yield _sentence(found, column.column, attack)


def _sentence(found: FreeformFinding, name: str, attack: Attack) -> str:
    """Return an attack in words: ``a person with Sex M and Income High: Disease AIDS for certain, 2 rows``."""
    seen = []
    for column, label in zip(found.columns, attack.observed, strict=True):
        if label >= 0 and label != column.taxonomy.root:
            seen.append(f"{column.taxonomy.column} {_label(column.taxonomy.labels[label])}")
    at = found.published.names.index(name)
    target, certain = found.columns[at], attack.threat >= _CERTAIN
    inferred = f"{name} {_label(target.taxonomy.labels[attack.target])}"
    if target.sensitivity[attack.target] < _CERTAIN:
        inferred += ", hence a guarded value"
    who = f"a person with {' and '.join(seen)}" if seen else "any person"
    how = "for certain" if certain else f"with {percent(attack.threat)}"
    return f"{who}: {inferred} {how}, {several(attack.rows, 'row') if certain else _rows(attack)}"


def _label(label: str | None) -> str:
    return "(a gap)" if label is None else label
