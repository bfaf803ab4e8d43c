"""``anon check``: how safe a table is, and compared with its original how useful."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.argument_words import as_options, called
from anon_airflow.commands.check_output import as_document, print_judgement
from anon_airflow.commands.floors import below_site_policy, print_below
from anon_airflow.commands.output import (
    json_option,
    names_in,
    print_json,
    source_reading,
    table_argument,
    table_options,
    unit_option,
)
from anon_airflow.commands.search_options import Probability, plot_option

if TYPE_CHECKING:
    from anon_core.report.criteria import Criteria
    from anon_core.report.judgement import Judgement
    from anon_core.table import ReadOptions


@click.command(short_help="Check how safe TABLE is, and compared with its original how useful.")
@table_argument
@click.option("--quasi", metavar="a,b", help="The quasi-identifiers. By default those of --spec.")
@click.option("--sensitive", metavar="a,b", help="Columns whose diversity is measured. By default those of --spec.")
@click.option("-k", "k", type=click.IntRange(min=2), help="Smallest class allowed; 5, or privacy.k of --spec.")
@click.option("--spec", type=click.Path(path_type=Path), help="A publication file: check all that it requires.")
@click.option(
    "--original",
    type=click.Path(path_type=Path),
    help="The table before recoding: to measure all four k's, and how useful TABLE still is.",
)
@click.option("--same-order", is_flag=True, help="Row n of TABLE was made from row n of the original.")
@click.option("--key", metavar="COLUMN", help="Rows of both tables with the same value in this column belong together.")
@unit_option
@click.option(
    "--sampling-fraction",
    type=Probability(),
    help="TABLE is this share of a population: estimate how many are unique in the population.",
)
@click.option("--column", metavar="NAME", help="With --plot: draw the rows safe and at risk per value of this column.")
@click.option(
    "--show-values",
    is_flag=True,
    help="With --column: write its values in the picture, which is then as private as TABLE.",
)
@plot_option("class sizes and risk, and with --original how useful each column still is")
@table_options
@json_option
def check(
    table: Path,
    quasi: str | None,
    sensitive: str | None,
    k: int | None,
    spec: Path | None,
    original: Path | None,
    same_order: bool,
    key: str | None,
    unit: str | None,
    sampling_fraction: float | None,
    column: str | None,
    show_values: bool,
    plot: Path | None,
    reading: ReadOptions,
    as_json: bool,
) -> None:
    """Check how safe TABLE is over its quasi-identifiers, and with --original how useful.

    Every combination of their values must occur in at least k rows; a gap is a value like any other. With --spec
    everything that the publication file requires is checked, such as diversity of sensitive columns, risk, and other
    sets of columns that single people out. Exit code 1 if a check fails.

    With --original three other k's are measured: link (how many rows may be a person's), source (how many people's a
    row may be) and concealment (link, without rows that must be those of other people). Which row was made from which
    counts as unknown, as in a published file, which is sorted and has no key. For a table that you recoded yourself,
    give --same-order or --key: only then the information left (NUE) can be measured. A run has it in its internal
    report.
    """
    from anon_core.api.check import not_checked
    from anon_core.engines.engine import engine_named
    from anon_core.report.criteria import Criteria
    from anon_core.report.judgement import Original, judge
    from anon_core.spec import load_spec
    from anon_core.table import read

    _check_options(original, plot, column, key, same_order=same_order, show_values=show_values)
    publication = load_spec(spec, partial=True) if spec else None
    criteria = Criteria.of(
        publication,
        quasi_identifiers=names_in(quasi),
        sensitive=names_in(sensitive),
        k=k,
        unit=names_in(unit),
        sampling_fraction=sampling_fraction,
    )
    content = read(table, replace(reading, quoted_missing=False))
    before = None
    if original:
        before = Original(table=read(original, source_reading(publication, reading)), same_order=same_order, key=key)
    engine = engine_named(publication.engine, source=table) if publication else engine_named(source=table)
    also, today = [column] if column else [], datetime.now(UTC).date()
    judged = judge(content, criteria, before, engine=engine, today=today, also=also)
    if plot:
        _draw(plot, judged, criteria, column, show_values=show_values)
        click.echo(f"drew {plot}", err=True)
    missing = [as_options(one, called()) for one in not_checked(publication, with_original=original is not None)]
    below = below_site_policy(criteria, judged.assessment.k.rows, today)
    if as_json:
        print_json({**as_document(judged, missing), "below_site_policy": below})
    else:
        print_judgement(table.name, criteria, judged, missing)
        print_below(below)
    raise click.exceptions.Exit(0 if judged.holds else 1)


def _check_options(
    original: Path | None,
    plot: Path | None,
    column: str | None,
    key: str | None,
    *,
    same_order: bool,
    show_values: bool,
) -> None:
    """Reject options that would have no effect."""
    if same_order and key is not None:
        raise click.UsageError("--same-order and --key are two ways to pair rows; give only one of them")
    if (same_order or key is not None) and original is None:
        raise click.UsageError("--same-order and --key pair rows with those of --original; give --original, too")
    if column and not plot:
        raise click.UsageError("--column is only for a picture; give --plot FILE, too")
    if show_values and not column:
        raise click.UsageError("--show-values writes the values of --column in a picture; give --column, too")


def _draw(path: Path, judged: Judgement, criteria: Criteria, column: str | None, *, show_values: bool) -> None:
    from anon_core.measures.risk.rows_by_size import rows_by_size
    from anon_core.measures.risk.value_risk import rows_at_risk_by_value
    from anon_core.report.plots import plot_assessment, plot_value_risk

    quasi, beside = criteria.quasi_identifiers, judged.comparison
    if column:
        found = rows_at_risk_by_value(judged.frequencies, quasi, column, k=criteria.k)
        plot_value_risk(found, path, show_values=show_values)
        return
    if beside and (beside.before.units is None) != (judged.frequencies.units is None):
        beside = None  # Rows of the original cannot be compared with people of the table.
    plot_assessment(
        rows_by_size(judged.frequencies, quasi),
        path,
        k=criteria.k,
        before=rows_by_size(beside.before) if beside else None,
        utility=judged.assessment.utility,
        weights=criteria.publication.priority_weights if criteria.publication else None,
    )
