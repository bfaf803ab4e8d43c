"""``anon detect``: which column sets single people out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from anon_airflow.commands.output import Stopwatch, json_option, print_json, print_table, read_table, table_options
from anon_airflow.commands.searching import chosen, column_options, plot_option, say_cost


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@column_options
@click.option("--max-size", type=click.IntRange(min=1), default=5, show_default=True, help="Largest set to try.")
@click.option(
    "--missing",
    type=click.Choice(["category", "drop"]),
    default="category",
    show_default=True,
    help="A gap is a category of its own, or its row is dropped.",
)
@click.option("--unit", metavar="COLUMN", help="Count people by this column, where each has several rows.")
@plot_option("the share of rows that the best set of every size singles out")
@table_options
@json_option
def detect(
    table: Path,
    columns: str | None,
    exclude: str | None,
    max_size: int,
    missing: str,
    unit: str | None,
    plot: Path | None,
    delimiter: str,
    encoding: str,
    missing_words: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find the column sets of TABLE that single out most rows.

    A row that is alone in its combination of values is a singleton: whoever knows these values about a person finds the
    row. Identifiers are minimal sets on which every row is alone. Exact, up to the largest size; prints counts only.
    """
    from anon_core.detect.preparation import prepare
    from anon_core.detect.singletons import detect as search
    from anon_core.frequency import FrequencyTable

    content = read_table(table, delimiter, encoding, missing_words)
    if unit:
        content.column(unit)
    searched = chosen(content, columns, ",".join(filter(None, [exclude, unit]))).names
    prepared = prepare(content, searched, drop_missing=missing == "drop")
    say_cost(len(searched), max_size)
    found = search(FrequencyTable.of(prepared.table, searched, unit=unit), max_size=max_size, progress=Stopwatch().sets)
    if plot:
        from anon_core.report.plots import plot_detection

        plot_detection(found, plot)
    if as_json:
        result = asdict(found)
        result["best_by_size"] = [{"size": len(each["columns"]), **each} for each in result["best_by_size"]]
        print_json({**result, "rows_dropped": prepared.dropped, "unit": unit})
        return
    what = f"{found.rows:,} {'units' if unit else 'rows'}"
    print_table(
        f"{table.name}: {what}" + (f", {prepared.dropped:,} rows dropped for their gaps" if prepared.dropped else ""),
        ["size", "set with most singletons", "singletons", "share", "distinct", "pairs told apart"],
        [
            [
                len(s.columns),
                ", ".join(s.columns),
                s.singletons,
                f"{s.share:.2%}",
                s.distinct,
                _told_apart(s.separation_ratio),
            ]
            for s in (*found.best_by_size, found.all_columns)
        ],
        right=(0, 2, 3, 4, 5),
    )
    if found.identifiers:
        shown = "; ".join(", ".join(names) for names in found.identifiers[:SHOWN])
        more = (
            f" and {len(found.identifiers) - SHOWN:,} more (--json lists all)" if len(found.identifiers) > SHOWN else ""
        )
        click.echo(f"everyone is alone on: {shown}{more}")
    if found.best:
        click.echo(f"elected quasi-identifier: {', '.join(found.best.columns)} ({found.best.share:.2%} of the {what})")


SHOWN = 10
"""So many identifiers are named in the readable form."""


def _told_apart(ratio: float | None) -> str:
    """Return the share as text; nearly all is not all."""
    if ratio is None:
        return ""
    shown = f"{ratio:.4%}"
    return "> 99.9999%" if ratio < 1 and shown == "100.0000%" else shown
