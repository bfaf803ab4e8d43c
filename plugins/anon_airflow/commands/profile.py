"""``anon profile``: what each column of a table looks like."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from anon_airflow.commands.output import json_option, print_json, print_table, read_table, table_options


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--sketch", is_flag=True, help="Estimate the counts of a very large table; not supported yet.")
@table_options
@json_option
def profile(
    table: Path, sketch: bool, delimiter: str, encoding: str, missing_words: tuple[str, ...], as_json: bool
) -> None:
    """Say what each column of TABLE looks like and which role it probably plays.

    TABLE is CSV (gzip too) or Parquet. Prints counts only, never a value.
    """
    from anon_core.detect.roles import propose
    from anon_core.errors import NotSupportedYetError
    from anon_core.score.profile import profile as measure

    if sketch:
        raise NotSupportedYetError("anon profile --sketch", "without it the counts are exact")
    content = read_table(table, delimiter, encoding, missing_words)
    columns = []
    for column in content.columns:
        figures = measure(column)
        proposed = propose(figures, content.rows)
        columns.append({**asdict(figures), "proposed_role": proposed.role, "reason": proposed.reason})
    if as_json:
        print_json({"rows": content.rows, "columns": columns})
        return
    print_table(
        f"{table.name}: {content.rows:,} rows, {len(columns)} columns",
        ["column", "type", "distinct", "missing", "entropy", "unique", "proposed role", "because"],
        [
            [c["name"], c["type"], c["distinct"], c["missing"], f"{c['entropy']:.2f}", f"{c['unique_share']:.2%}",
             c["proposed_role"], c["reason"]]
            for c in columns
        ],
        right=(2, 3, 4, 5),
    )  # fmt: skip
