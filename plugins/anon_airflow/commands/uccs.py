"""``anon uccs``: all minimal unique column combinations."""

from __future__ import annotations

from pathlib import Path

import click

from anon_airflow.commands.output import Stopwatch, json_option, print_json, print_table, read_table, table_options
from anon_airflow.commands.searching import chosen, column_options, say_cost, unique_options


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@column_options
@unique_options
@table_options
@json_option
def uccs(
    table: Path,
    columns: str | None,
    exclude: str | None,
    max_size: int | None,
    approximate: float | None,
    ignore_duplicates: bool,
    delimiter: str,
    encoding: str,
    missing_words: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find every minimal set of columns of TABLE on which each row is unique.

    Such a set identifies whoever is in the table, and no column of it can be spared. One pair of equal rows means that
    there is none: then count equal rows once (--ignore-duplicates) or allow for some (--approximate). A gap is a value
    like any other. Exact; prints names of columns only.
    """
    from anon_core.detect.unique_columns import unique_column_combinations
    from anon_core.frequency import FrequencyTable

    content = chosen(read_table(table, delimiter, encoding, missing_words), columns, exclude)
    say_cost(len(content.names), max_size)
    found = unique_column_combinations(
        FrequencyTable.of(content),
        max_size=max_size,
        approximate=approximate or 0.0,
        ignore_duplicates=ignore_duplicates,
        progress=Stopwatch().sets,
    )
    if as_json:
        print_json(
            {
                "uccs": [list(names) for names in found.sets],
                "duplicate_rows": found.duplicate_rows,
                "rows": found.rows,
                "max_size": max_size,
                "approximate": found.approximate,
            }
        )
        return
    print_table(
        f"{table.name}: {found.rows:,} rows, {len(content.names)} columns, {len(found.sets):,} minimal unique sets",
        ["size", "columns"],
        [[len(names), ", ".join(names)] for names in found.sets],
        right=(0,),
    )
    if found.duplicate_rows:
        click.echo(f"{found.duplicate_rows:,} rows repeat another one in all these columns")
    if not found.sets:
        click.echo(_why_none(found.duplicate_rows, max_size, approximate, ignore_duplicates))


def _why_none(duplicates: int, max_size: int | None, approximate: float | None, ignored: bool) -> str:
    if duplicates and not ignored and not approximate:
        return "equal rows are never unique: try --ignore-duplicates or --approximate 0.001"
    if max_size is not None:
        return f"no set of up to {max_size} columns is unique: raise --max-size or --approximate"
    return "too many rows are equal: try --ignore-duplicates, or raise --approximate"
