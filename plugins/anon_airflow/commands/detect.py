"""``anon detect``: which column sets single people out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.output import (
    Stopwatch,
    json_option,
    percent,
    print_json,
    print_table,
    several,
)
from anon_airflow.commands.search_options import SearchedTable, plot_option, say_cost, search_options

if TYPE_CHECKING:
    from anon_core.api.detect import Detected

SHOWN = 10
"""So many identifiers are named in the readable form."""
DEFAULT_MAX_SIZE = 5


@click.command(short_help="The column sets that single out most rows.")
@search_options
@click.option(
    "--max-size",
    type=click.IntRange(min=1),
    help=f"Largest set to try.  [default: {DEFAULT_MAX_SIZE}; to be given for more than 50 columns]",
)
@click.option(
    "--missing",
    type=click.Choice(["category", "drop"]),
    default="category",
    show_default=True,
    help="A gap is a category of its own, or its row is dropped.",
)
@plot_option("the share of rows that the best set of every size singles out")
@json_option
def detect(
    searched: SearchedTable,
    max_size: int | None,
    missing: str,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Find the column sets of TABLE that single out most rows.

    A row that is alone in its combination of values is a singleton: whoever knows these values about a person finds the
    row. Identifiers are minimal sets on which every row is alone. Exact, up to the largest size; prints counts only.
    """
    from anon_core.api.detect import DEFAULT_MAX_SIZE
    from anon_core.api.detect import detect as search
    from anon_core.detection.search_size import check_search_size

    check_search_size(len(searched.names), max_size)
    say_cost(len(searched.names), max_size or DEFAULT_MAX_SIZE)
    found = search(
        searched.rows,
        columns=searched.names,
        max_size=max_size,
        drop_missing=missing == "drop",
        unit=searched.unit,
        progress=Stopwatch().sets,
    )
    if plot:
        from anon_core.report.plots import plot_detection

        plot_detection(found, plot)
    if as_json:
        result = asdict(found)
        result["best_by_size"] = [{"size": len(each["columns"]), **each} for each in result["best_by_size"]]
        print_json({**result, "unit": list(searched.unit)})
        return
    _show(searched, found)
    if found.rows_unknown:
        told = f"{several(found.rows_unknown, 'row')} of which it is not known whose they are"
        click.echo(f"{told}: each class of such rows alone counts as one more person")


def _show(searched: SearchedTable, found: Detected) -> None:
    dropped = found.rows_dropped
    what = searched.counted(found.rows)
    sets = list(found.best_by_size)
    if found.all_columns.columns not in [each.columns for each in sets]:
        sets.append(found.all_columns)
    rows, most = [], -1
    for each in sets:
        names = ", ".join(each.columns) if each.singletons > most else "no set of this size singles out more"
        whole = each is found.all_columns
        rows.append(
            [
                f"all {len(each.columns)}" if whole else len(each.columns),
                names,
                each.singletons,
                percent(each.share),
                each.distinct,
                "" if each.separation_ratio is None else percent(each.separation_ratio, 4),
            ]
        )
        most = each.singletons
    header = ["size", "set with most singletons", "singletons", "share", "distinct"]
    if found.counted == "rows":
        header.append("pairs told apart")
    print_table(
        f"{searched.file}: {what}" + (f", {several(dropped, 'row')} dropped for gaps" if dropped else ""),
        header,
        [row[: len(header)] for row in rows],
        right=(0, 2, 3, 4, 5),
    )
    if found.identifiers:
        shown = "; ".join(", ".join(names) for names in found.identifiers[:SHOWN])
        more = len(found.identifiers) - SHOWN
        click.echo(f"everyone is alone on: {shown}" + (f" and {more:,} more (--json lists all)" if more > 0 else ""))
    if found.best and found.best.singletons:
        but = " among the sets on which not everyone is alone" if found.identifiers else ""
        elected = f"{', '.join(found.best.columns)} ({percent(found.best.share)} of the {what})"
        click.echo(f"elected quasi-identifier{but}: {elected}")
    elif not found.identifiers:
        click.echo("no set of these columns singles anyone out")
