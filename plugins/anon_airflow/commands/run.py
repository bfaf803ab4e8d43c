"""``anon run``: the whole way from a publication file to the portal, without Airflow."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.output import Stopwatch, json_option, print_json
from anon_core.errors import DecomposeError, UnmappedValuesError

if TYPE_CHECKING:
    from anon_core.spec import Publication
    from anon_core.table import Column, Mask

_DAY = click.DateTime(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])


@click.command(short_help="The whole way from the source to the portal.")
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--period", type=_DAY, help="First day of the period, for {{ data_interval_start }} and the version's name."
)
@click.option("--period-end", type=_DAY, help="The day after its last one, for {{ data_interval_end }}.")
@click.option("--show-values", is_flag=True, help="Name the values that a hierarchy misses, on the terminal only.")
@json_option
def run(spec: Path, period: datetime | None, period_end: datetime | None, show_values: bool, as_json: bool) -> None:
    """Run the publication SPEC from its source to the portal, as Airflow would, through the same steps.

    The gate decides: exit code 0 if the release was published (or was there already), 1 if the data does not comply, 2
    if the input is wrong. Everything is on record: see `anon audit`.
    """
    from anon_airflow.pipeline import render, run_all
    from anon_airflow.summary import print_summary
    from anon_core.spec import load_spec

    publication = load_spec(spec)
    start, end = _utc(period), _utc(period_end)
    try:
        result = run_all(publication, start=start, end=end, progress=Stopwatch())
    except (UnmappedValuesError, DecomposeError) as error:
        if show_values:
            _show_unmapped(publication, render(str(publication.source.file), start, end), error)
        raise
    if as_json:
        print_json(result)
    else:
        print_summary(Path(result["report"]))
    raise click.exceptions.Exit(0 if result["published"] else 1)


def _utc(day: datetime | None) -> datetime | None:
    return day.replace(tzinfo=UTC) if day else None


def _show_unmapped(publication: Publication, source_file: str, error: UnmappedValuesError | DecomposeError) -> None:
    """Name the values on the terminal; into a file or a pipe they never go."""
    from anon_airflow.source import read_options
    from anon_core.hierarchy.build import ladder
    from anon_core.hierarchy.decompose import decompose, split_column
    from anon_core.table import read

    if not sys.stderr.isatty():
        click.echo("--show-values shows values on a terminal only, never in a file or a pipe", err=True)
        return
    table = read(publication.resolve(source_file), read_options(publication))
    if isinstance(error, DecomposeError):
        for name in dict.fromkeys([*error.unfit, *(column for column, _ in error.unnamed)]):
            rule = publication.columns[name].decompose
            if rule is not None:
                split = split_column(table.column(name), rule, publication.root)
                _show(name, split.column, split.refused)
        return
    declared, table = publication.effective_columns, decompose(table, publication)
    for name in error.unmapped:
        column = table.column(name)
        _show(name, column, ladder(column, declared[name].hierarchy, publication.root).unmapped)


def _show(name: str, column: Column, marked: Mask) -> None:
    values = [value for value, is_marked in zip(column.domain.to_pylist(), marked, strict=True) if is_marked]
    shown = ", ".join(repr(value) for value in values[:50])
    click.echo(f"column {name!r} has no place for: {shown}" + (" ..." if len(values) > 50 else ""), err=True)
