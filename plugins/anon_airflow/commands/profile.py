"""``anon profile``: describe each column of a table by type and counts, and propose its role."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from anon_core.wording import rows_not_people

if TYPE_CHECKING:
    from anon_core.api.profile import Profile, ProfiledColumn
    from anon_core.table import ReadOptions


@click.command(short_help="Describe each column by counts, and propose its role.")
@table_argument
@click.option(
    "--sketch", is_flag=True, help="Estimate the counts in one pass with little memory, and print their errors."
)
@table_options
@json_option
def profile(table: Path, sketch: bool, reading: ReadOptions, as_json: bool) -> None:
    """Describe each column of TABLE by type and counts, and propose its role.

    TABLE is CSV (also gzipped) or Parquet. Prints counts only, never a value. With --sketch a table can be larger than
    memory; counts above some thousand distinct values are then estimates.
    """
    from anon_core.api.profile import profile as measured
    from anon_core.api.profile import sketch_file
    from anon_core.table import read

    say = Stopwatch()
    if sketch:
        found = sketch_file(table, reading, lambda rows: say(f"reading: {rows:,} rows so far"))
    else:
        found = measured(read(table, reading))
    rows, columns = found.rows, [_document(one, found) for one in found.columns]
    if as_json:
        print_json({"rows": rows, "columns": columns})
        return
    print_table(
        f"{table.name}: {rows_not_people(rows)}, {several(len(columns), 'column')}",
        ["column", "type", "distinct", "missing", "entropy", "unique", "proposed role", "because"],
        [
            [c["name"], _type(c), f"{'~' if c.get('distinct_error') else ''}{c['distinct']:,}", c["missing"],
             f"{c['entropy']:.2f}", f"{c['unique_share']:.2%}", c["proposed_role"], c["reason"]]
            for c in columns
        ],
        right=(2, 3, 4, 5),
    )  # fmt: skip
    errors = [c["distinct_error"] for c in columns if c.get("distinct_error")]
    if errors:
        click.echo(f"~ is an estimate; its standard error is {max(errors):.1%}")


def _document(column: ProfiledColumn, found: Profile) -> dict[str, Any]:
    """Return a column for the JSON; errors only for estimates."""
    shown = asdict(column)
    absent = [key for key in ("values_of_another_type",) if shown[key] is None]
    absent += [key for key in shown if key.endswith("_error") and not found.estimated]
    return {key: value for key, value in shown.items() if key not in absent}


def _type(column: dict[str, Any]) -> str:
    others = column.get("values_of_another_type")
    return f"{column['type']}, {several(others, 'value')} not" if others else str(column["type"])
