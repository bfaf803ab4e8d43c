"""``anon recode``: change a table as little as possible until its policy holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.floors import below_site_policy, print_below
from anon_airflow.commands.output import (
    Stopwatch,
    check_picture,
    check_table_output,
    force_option,
    json_option,
    names_in,
    print_json,
    source_reading,
    table_argument,
    table_options,
    write_table,
)
from anon_airflow.commands.recode_output import RecodedTable, as_document, print_recoded
from anon_airflow.commands.search_options import check_known, plot_option
from anon_core.registry import METHODS
from anon_core.spec import Mode, Role
from anon_core.spec.recode import MAX_SWEEPS

if TYPE_CHECKING:
    from anon_core.spec import PartialPublication
    from anon_core.table import ReadOptions, Table

MAX_SWEPT = 20


class Sizes(click.ParamType):  # type: ignore[type-arg]  # Generic only in some versions of click.
    """Several values of k, separated by commas."""

    name = "2,3,5"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the numbers; each must be a whole number from 2 on, and there is a limit on how many."""
        try:
            sizes = tuple(sorted({int(one) for one in names_in(value)}))
        except ValueError:
            sizes = ()
        if not sizes or sizes[0] < 2 or len(sizes) > MAX_SWEPT:
            self.fail(f"give up to {MAX_SWEPT} whole numbers from 2 on, such as 2,3,5,10", param, ctx)
        return sizes


@click.command(short_help="Change TABLE as little as possible until its policy holds.")
@table_argument
@click.option(
    "--spec", required=True, type=click.Path(path_type=Path), help="The publication file: columns and policy."
)
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the recoded table here, .csv or .parquet.",
)
@force_option
@click.option(
    "--keep-order",
    is_flag=True,
    help="Keep the rows in the order of TABLE, for `anon check --same-order`. Never publish such a file: the order "
    "links rows to people.",
)
@click.option("--method", type=click.Choice(METHODS.keys()), help="Instead of recode.method of the file.")
@click.option("--mode", type=click.Choice([mode.value for mode in Mode]), help="Instead of recode.mode of the file.")
@click.option(
    "--improve",
    type=click.IntRange(min=0, max=MAX_SWEEPS),
    metavar="N",
    help="Instead of recode.improve of the file.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Instead of recode.seed of the file.")
@click.option("-k", "k", type=click.IntRange(min=2), metavar="N", help="Instead of privacy.k, which may be missing.")
@click.option("--sweep-k", "sweep", type=Sizes(), metavar="2,3,5", help="Also recode for these k, to compare the cost.")
@plot_option("class sizes before and after, the information left in every column and, with --sweep-k, for every k")
@table_options
@json_option
def recode(
    table: Path,
    spec: Path,
    output: Path,
    force: bool,
    keep_order: bool,
    sweep: tuple[int, ...] | None,
    plot: Path | None,
    reading: ReadOptions,
    as_json: bool,
    **options: Any,
) -> None:
    """Recode the quasi-identifiers of TABLE as a publication file says, and print what changed and what it cost.

    Only published columns are written, with the rows sorted by them. The publication file needs only `columns` and
    `privacy`. To try other settings without editing it, give --method, --mode, --improve, --seed or -k. Columns of
    TABLE that it does not declare are left out. Method freeform recodes guarded columns too.

    Exit code 1, and nothing is written, if the method cannot reach what it promises. All other requirements of the
    policy are checked and printed, but the table is written all the same: `singletons`, `none` and the modes `paper`
    and `link` promise less than k rows in every class. Nothing is published: `anon run` does that, and refuses a table
    that fails a check.
    """
    from anon_core.engines.engine import engine_named
    from anon_core.engines.formulas import formula_safe
    from anon_core.recoding.sweep import sweep_k
    from anon_core.report.table_recoding import publication_with, recode_table
    from anon_core.spec import load_spec

    publication = publication_with(load_spec(spec, partial=True), **options)
    _check_sweep(publication, sweep)
    read = (table, spec, *publication.files)
    check_table_output(output, force=force, sources=read)
    if plot is not None:
        check_picture(plot, sources=(*read, output))
    watch = Stopwatch()
    made = recode_table(
        _read(table, publication, reading),
        publication,
        engine=engine_named(publication.engine, source=table),
        today=datetime.now(UTC).date(),
        keep_order=keep_order,
        progress=watch.steps,
    )
    criteria, released, recoding = made.criteria, made.recoded.released, made.recoded.recoding
    done = RecodedTable(
        table=table,
        output=output,
        keep_order=keep_order,
        criteria=criteria,
        recoding=recoding,
        judged=made.judged,
        dropped=made.rows_dropped,
        rows_capped=made.rows_capped,
        people_capped=made.people_capped,
        left_out=made.left_out,
        sweep=sweep_k(made.recoded.task, sweep or (), known=recoding, progress=watch.steps),
    )
    escaped = publication.csv.escape_formulas
    write_table(formula_safe(released, keep_order=keep_order) if escaped else released, output)
    if plot:
        _draw(plot, done, publication)
    below = below_site_policy(criteria, done.judged.assessment.k.rows, datetime.now(UTC).date())
    if as_json:
        print_json({**as_document(done), "below_site_policy": below})
    else:
        print_recoded(done)
        print_below(below)


def _read(table: Path, publication: PartialPublication, reading: ReadOptions) -> Table:
    """Read TABLE as strictly as a run does: a stray quote could turn a person's row into a part of a cell."""
    from anon_core.table import read

    content = read(table, replace(source_reading(publication, reading), line_breaks=False, headless_from=1))
    unused = (Role.IDENTIFIER, Role.DROP)
    check_known(content, [name for name, column in publication.columns.items() if column.role not in unused])
    return content


def _draw(path: Path, done: RecodedTable, publication: PartialPublication) -> None:
    from anon_core.measures.risk.rows_by_size import rows_by_size
    from anon_core.report.plots import plot_assessment

    before = done.judged.comparison.before if done.judged.comparison else done.recoding.plan.frequencies
    plot_assessment(
        rows_by_size(done.judged.frequencies, done.criteria.quasi_identifiers),
        path,
        k=done.criteria.k,
        before=rows_by_size(before, done.criteria.quasi_identifiers),
        utility=done.judged.assessment.utility,
        weights=publication.priority_weights,
        sweep=done.sweep,
    )
    click.echo(f"drew {path}", err=True)


def _check_sweep(publication: PartialPublication, sweep: tuple[int, ...] | None) -> None:
    """Reject several k for a method that does not use k."""
    settings = publication.recode
    if sweep and "k" not in settings.member.heeds(settings):
        raise click.UsageError(f"method {settings.method} does not use k, so --sweep-k would show nothing")
