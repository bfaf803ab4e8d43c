"""``anon detect``: find the column sets that single people out."""

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
"""At most so many identifiers are named in the readable form."""
DEFAULT_MAX_SIZE = 5


@click.command(short_help="Find the column sets that single out most rows.")
@search_options
@click.option(
    "--max-size",
    type=click.IntRange(min=1),
    help=f"Largest set to try.  [default: {DEFAULT_MAX_SIZE}; required for more than 50 columns]",
)
@click.option(
    "--missing",
    type=click.Choice(["category", "drop"]),
    default="category",
    show_default=True,
    help="A gap counts as a value of its own (category), or its row is dropped.",
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

    A row stands alone (a singleton) if no other row has the same combination of values: a reader who knows these
    values of a person finds the row. Identifiers are minimal sets on which every row stands alone. The search is exact,
    up to the largest size. Prints counts only.
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
        unknown = f"{several(found.rows_unknown, 'row')} without a person"
        click.echo(f"{unknown}: each class that has only such rows counts as one more person")


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
    header = ["size", "set on which most stand alone", "alone (singletons)", "share", "distinct"]
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
        click.echo(f"identify everyone: {shown}" + (f" and {more:,} more (--json lists all)" if more > 0 else ""))
    if found.best and found.best.singletons:
        but = ", apart from sets that identify everyone" if found.identifiers else ""
        best = f"{', '.join(found.best.columns)} ({percent(found.best.share)} of the {what})"
        click.echo(f"chosen as quasi-identifiers{but}: {best}")
    elif not found.identifiers:
        click.echo("no set of these columns singles people out")
