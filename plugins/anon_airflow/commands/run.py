"""``anon run``: run a publication file from its source to its portal, without Airflow."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.output import Stopwatch, json_option, no_place, print_json, show_values_option
from anon_airflow.commands.output import show_values as show
from anon_core.errors import CoarsenError, DecomposeError, UnmappedValuesError

if TYPE_CHECKING:
    from anon_core.spec import Publication

_DAY = click.DateTime(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])


@click.command(short_help="Run a publication from its source to its portal.")
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--period", type=_DAY, help="First day of the period: for {{ data_interval_start }} and the version's name."
)
@click.option("--period-end", type=_DAY, help="The day after the last day of the period: for {{ data_interval_end }}.")
@show_values_option
@json_option
def run(spec: Path, period: datetime | None, period_end: datetime | None, show_values: bool, as_json: bool) -> None:
    """Run the publication file SPEC from its source to its portal, with the same steps as in Airflow.

    The gate decides: exit code 0 if the release was published (or is there already), 1 if the data does not comply, 2
    if the input is wrong. Every step goes on record: see `anon audit`.
    """
    from anon_airflow.run.home import Home
    from anon_airflow.run.local import run_all
    from anon_airflow.run.summary import print_summary
    from anon_airflow.sources.template import render
    from anon_core.spec import load_spec

    publication = load_spec(spec)
    start, end = _utc(period), _utc(period_end)
    try:
        result = run_all(publication, start=start, end=end, progress=Stopwatch())
    except (CoarsenError, UnmappedValuesError, DecomposeError) as error:
        if show_values:
            show(_without_a_place(publication, render(publication.source_template, start, end), error))
        raise
    if as_json:
        print_json(result)
    else:
        print_summary(Path(result["report"]), Home.find())
    raise click.exceptions.Exit(0 if result["published"] else 1)


def _utc(day: datetime | None) -> datetime | None:
    return day.replace(tzinfo=UTC) if day else None


def _without_a_place(
    publication: Publication, source_text: str, error: CoarsenError | UnmappedValuesError | DecomposeError
) -> Iterator[tuple[str, list[str]]]:
    """Yield the values that do not fit for every column that the error names; the table is read once more."""
    from anon_airflow.sources.staging import source_of
    from anon_core.decompose import decompose, split_column
    from anon_core.hierarchy.build import ladder
    from anon_core.hierarchy.coarsen import coarsened

    table = source_of(publication, source_text).read()
    if isinstance(error, DecomposeError):
        for name in dict.fromkeys([*error.unfit, *(column for column, _ in error.unnamed)]):
            rule = publication.columns[name].decompose
            if rule is not None:
                yield no_place(name), split_column(table.column(name), rule, publication.root).refused_values
        return
    if isinstance(error, CoarsenError):
        for name in error.unread:
            found = coarsened(table.column(name), publication.columns[name], publication.root)
            yield no_place(name), found.unread_values
        return
    declared, table = publication.effective_columns, decompose(table, publication)
    for name in error.unmapped:
        column = table.column(name)
        marked = ladder(column, declared[name].hierarchy, publication.root).unmapped
        yield no_place(name), column.domain.filter(marked).to_pylist()
