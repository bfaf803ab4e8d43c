"""``anon profile``: what each column of a table looks like."""

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


@click.command(short_help="What each column looks like, and its probable role.")
@table_argument
@click.option("--sketch", is_flag=True, help="Estimate the counts in one pass and little memory, with their errors.")
@table_options
@json_option
def profile(table: Path, sketch: bool, reading: ReadOptions, as_json: bool) -> None:
    """Say what each column of TABLE looks like and which role it probably plays.

    TABLE is CSV (gzip too) or Parquet. Prints counts only, never a value. With --sketch a table larger than memory is
    read once; beyond some thousand distinct values the counts are then estimates.
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
    """Return a column as the JSON has it: the errors of estimates only where there are some to give."""
    shown = asdict(column)
    absent = [key for key in ("values_of_another_type",) if shown[key] is None]
    absent += [key for key in shown if key.endswith("_error") and not found.estimated]
    return {key: value for key, value in shown.items() if key not in absent}


def _type(column: dict[str, Any]) -> str:
    others = column.get("values_of_another_type")
    return f"{column['type']}, {several(others, 'value')} not" if others else str(column["type"])
