"""``anon profile``: what each column of a table looks like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.output import (
    Stopwatch,
    json_option,
    print_json,
    print_table,
    rows_not_people,
    several,
    table_options,
)

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch

    from anon_core.detect.roles import ProposedRole
    from anon_core.kernels import Integers
    from anon_core.table import ReadOptions


@click.command(short_help="What each column looks like, and its probable role.")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--sketch", is_flag=True, help="Estimate the counts in one pass and little memory, with their errors.")
@table_options
@json_option
def profile(table: Path, sketch: bool, reading: ReadOptions, as_json: bool) -> None:
    """Say what each column of TABLE looks like and which role it probably plays.

    TABLE is CSV (gzip too) or Parquet. Prints counts only, never a value. With --sketch a table larger than memory is
    read once; beyond some thousand distinct values the counts are then estimates.
    """
    rows, columns = _sketched(table, reading) if sketch else _measured(table, reading)
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


def _measured(path: Path, options: ReadOptions) -> tuple[int, list[dict[str, Any]]]:
    import numpy as np

    from anon_core.detect.roles import propose_all
    from anon_core.measures.profile import profile as measure
    from anon_core.table import read

    content = read(path, options)
    profiles = [measure(column) for column in content.columns]
    proposed = propose_all(content, profiles, today=date.today())
    columns = []
    for column, figures, one in zip(content.columns, profiles, proposed, strict=True):
        role = _role(one)
        rows = np.bincount(column.codes, minlength=len(column.domain))[: figures.distinct]
        columns.append({**asdict(figures), **_read(figures.type, column.domain, rows), **role})
    return content.rows, columns


def _sketched(path: Path, options: ReadOptions) -> tuple[int, list[dict[str, Any]]]:
    from anon_core.detect.roles import propose_from, sample_of_values
    from anon_core.measures.sketch import sketch
    from anon_core.table.streaming import batches

    columns, rows, say = [], 0, Stopwatch()

    def told(stream: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        read = 0
        for batch in stream:
            yield batch
            read += batch.num_rows
            say(f"reading: {read:,} rows so far")

    for one in sketch(told(batches(path, options))):
        rows = one.rows
        sample = sample_of_values(one.values, one.weights, whole=not one.distinct_error)
        errors = {
            "distinct_error": one.distinct_error,
            "unique_share_error": one.unique_share_error,
            "entropy_error": one.entropy_error,
        }
        role = _role(propose_from(sample, one.profile, rows, today=date.today()))
        read_as = {} if one.distinct_error else _read(one.profile.type, one.values, one.weights)
        columns.append({**asdict(one.profile), **errors, **read_as, **role})
    return rows, columns


def _read(kind: str, values: Array, rows: Integers) -> dict[str, Any]:
    """
    Return the type of a column as hierarchies read it, where that is more than text, and what is not of it.

    A column of dates with the day first, or of decimal commas, is one for people and for hierarchies.
    """
    from anon_core.hierarchy.suggest import read_as

    fit = read_as(values.drop_null().to_pylist(), rows) if kind == "text" else None
    return {"type": fit.type if fit else kind, "values_of_another_type": int(fit.unfit.sum()) if fit else 0}


def _type(column: dict[str, Any]) -> str:
    others = column.get("values_of_another_type")
    return f"{column['type']}, {several(others, 'value')} not" if others else str(column["type"])


def _role(proposed: ProposedRole) -> dict[str, Any]:
    return {
        "proposed_role": proposed.role,
        "reason": proposed.reason,
        "evidence": proposed.evidence,
        "kind": proposed.kind,
    }
