"""``anon select``: count every subset of some columns, and choose the quasi-identifiers among them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.output import (
    Stopwatch,
    json_option,
    print_json,
    print_table,
    several,
    table_argument,
    table_options,
)
from anon_airflow.commands.search_options import chosen, plot_option
from anon_core.wording import rows_not_people

if TYPE_CHECKING:
    from anon_core.table import ReadOptions


@click.command(short_help="Count every subset of some columns, and choose the quasi-identifiers.")
@table_argument
@click.option("--columns", multiple=True, metavar="a,b", required=True, help="The columns that others may know.")
@click.option("--drop-missing", is_flag=True, help="First drop the rows with a gap in one of these columns.")
@click.option("--drop-duplicates", is_flag=True, help="First drop rows that equal an earlier one in every column.")
@plot_option("the distinct tuples of every subset")
@table_options
@json_option
def select(
    table: Path,
    columns: tuple[str, ...],
    drop_missing: bool,
    drop_duplicates: bool,
    plot: Path | None,
    reading: ReadOptions,
    as_json: bool,
) -> None:
    """Count every subset of some columns of TABLE, and choose the quasi-identifiers among them.

    The subset with most distinct tuples is chosen; of several the one with fewest columns. Rows are dropped only with
    --drop-missing and --drop-duplicates; a word such as ? counts as a gap with --missing-word. Prints counts only.
    """
    from anon_core.api.select import select as count_subsets
    from anon_core.api.sources import rows_of

    rows = rows_of(table, reading)
    found = count_subsets(
        rows,
        chosen(rows.table, columns, ()).names,
        drop_missing=drop_missing,
        drop_duplicates=drop_duplicates,
        progress=Stopwatch().sets,
    )
    if plot:
        from anon_core.report.plots import plot_selection

        plot_selection(found, plot)
    if as_json:
        print_json(
            {
                "rows": found.rows,
                "rows_dropped": found.rows_dropped,
                "rows_dropped_missing": found.rows_dropped_missing,
                "rows_dropped_duplicates": found.rows_dropped_duplicates,
                "subsets": [asdict(subset) for subset in found.subsets],
                "elected": list(found.elected),
            }
        )
        return
    dropped = []
    if found.rows_dropped_missing:
        dropped.append(f"{several(found.rows_dropped_missing, 'row')} with gaps")
    if found.rows_dropped_duplicates:
        dropped.append(several(found.rows_dropped_duplicates, "duplicate"))
    print_table(
        f"{table.name}: {rows_not_people(found.rows)}" + (f"; dropped: {', '.join(dropped)}" if dropped else ""),
        ["subset", "distinct", "alone (singletons)"],
        [[", ".join(s.columns), s.distinct, s.singletons] for s in found.subsets],
        right=(1, 2),
    )
    click.echo(f"chosen as quasi-identifiers: {', '.join(found.elected)}")
