"""``anon detect``: which column sets single people out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from anon_airflow.commands.output import (
    Stopwatch,
    json_option,
    names_in,
    print_json,
    print_table,
    read_table,
    table_options,
)


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--columns", metavar="a,b", help="Search these columns only.")
@click.option("--exclude", metavar="a,b", help="Leave these columns out, such as a record number.")
@click.option("--max-size", type=click.IntRange(min=1), default=5, show_default=True, help="Largest set to try.")
@click.option(
    "--missing",
    type=click.Choice(["category", "drop"]),
    default="category",
    show_default=True,
    help="A gap is a category of its own, or its row is dropped.",
)
@table_options
@json_option
def detect(
    table: Path,
    columns: str | None,
    exclude: str | None,
    max_size: int,
    missing: str,
    delimiter: str,
    encoding: str,
    missing_words: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find the column sets of TABLE that single out most rows.

    A row that is alone in its combination of values is a singleton: whoever knows these values about a person finds the
    row. Identifiers are minimal sets on which every row is alone. Exact, up to the largest size; prints counts only.
    """
    import numpy as np

    from anon_core.detect.singletons import detect as search
    from anon_core.errors import InvalidInputError
    from anon_core.frequency import FrequencyTable

    content = read_table(table, delimiter, encoding, missing_words)
    chosen = names_in(columns) or list(content.names)
    left_out = names_in(exclude)
    content.select([*chosen, *left_out])
    content = content.select([name for name in dict.fromkeys(chosen) if name not in left_out])
    dropped = 0
    if missing == "drop":
        complete = ~np.logical_or.reduce([column.gaps for column in content.columns])
        dropped = int(np.count_nonzero(~complete))
        content = content.keep(complete)
        if not content.rows:
            raise InvalidInputError(f"{table}: every row has a gap in these columns; nothing is left to search")
    found = search(FrequencyTable.of(content), max_size=max_size, progress=Stopwatch().sets)
    result = {key: value for key, value in asdict(found).items() if key != "max_size"}
    result["best_by_size"] = [{"size": len(each["columns"]), **each} for each in result["best_by_size"]]
    result["rows_dropped"] = dropped
    if as_json:
        print_json(result)
        return
    print_table(
        f"{table.name}: {found.rows:,} rows" + (f", {dropped:,} dropped for their gaps" if dropped else ""),
        ["size", "set with most singletons", "singletons", "share", "distinct"],
        [
            [len(s.columns), ", ".join(s.columns), s.singletons, f"{s.share:.2%}", s.distinct]
            for s in (*found.best_by_size, found.all_columns)
        ],
        right=(0, 2, 3, 4),
    )
    if found.identifiers:
        click.echo("every row is alone on: " + "; ".join(", ".join(names) for names in found.identifiers))
    if found.best:
        click.echo(f"elected quasi-identifier: {', '.join(found.best.columns)} ({found.best.share:.2%} of the rows)")
