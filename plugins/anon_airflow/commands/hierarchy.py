"""``anon hierarchy``: build a hierarchy file from a column, and check one, alone or against a table."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.hierarchy_options import Kind, kind_options
from anon_airflow.commands.output import json_option, print_json, print_table, several, table_options
from anon_airflow.home import storage
from anon_core.errors import HierarchyError, InvalidInputError

if TYPE_CHECKING:
    from anon_core.hierarchy.files.describing import LevelFigures
    from anon_core.hierarchy.ladder import Ladder
    from anon_core.hierarchy.levels import Levels
    from anon_core.table import Column, ReadOptions

_MOST_SHOWN = 50


@click.group(short_help="Build and check hierarchy files.")
def hierarchy() -> None:
    """Build a hierarchy file from a column, and check one, alone or against a table."""


@hierarchy.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--column", required=True, help="The column whose values are generalised.")
@kind_options
@click.option("--output", type=click.Path(path_type=Path), help="Where to write; by default hierarchy_COLUMN.csv here.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--unmapped",
    type=click.Choice(["error", "suppress"]),
    default="error",
    show_default=True,
    help="Values that are not covered stop the command, or are left out of the file.",
)
@click.option("--show-values", is_flag=True, help="Name the values that are not covered, on the terminal only.")
@table_options
@json_option
def build(
    table: Path,
    column: str,
    kind: Kind,
    output: Path | None,
    force: bool,
    unmapped: str,
    show_values: bool,
    reading: ReadOptions,
    as_json: bool,
) -> None:
    """Write a hierarchy file for a column of TABLE: one line per value, level 0 first, the root last.

    The file holds every distinct value of the column: keep it as you keep the table. In a publication file it is named
    as `hierarchy: {file: ...}`; labels then stay the same from month to month. Values that come up later are not in it:
    a file of rules with intervals, such as `[18, 30) => young`, covers numbers that nobody has seen yet.
    """
    from anon_core.hierarchy.columns import ladder_of, values_of
    from anon_core.hierarchy.files.describing import figures_of, kept_apart
    from anon_core.hierarchy.files.writing import text_of
    from anon_core.table import read

    target = _target(output, column, force=force, sources=(table, *kind.files))
    content = read(table, reading).column(column)
    levels = kind.levels(content)
    built = ladder_of(content, levels, where=kind.where)
    missing = _missing(built, content)
    if missing["values"] and unmapped == "error":
        if show_values and _on_terminal():
            _show(f"column {column!r} has no place for", _unmapped(built, content))
        raise InvalidInputError(
            f"column {column!r}: {several(missing['values'], 'distinct value')} in {several(missing['rows'], 'row')} "
            f"{kind.wanted(content)}; repair them, choose another hierarchy, or give `--unmapped suppress` to leave "
            "them out of the file (and `unmapped: suppress` in the publication file to publish them as *)"
        )
    _write(target, text_of(built, content))
    figures = figures_of(built)
    shown = {
        "file": str(target),
        "column": column,
        "kind": kind.name,
        "rows": len(content.codes),
        "rows_with_gaps": int(content.gaps.sum()),
        "values": figures[0].labels,
        "levels": [asdict(each) for each in figures],
        "unmapped": missing,
        "kept_apart": len(kept_apart(built, levels.covering(values_of(content)))),
        "holds_values_of_the_column": True,
    }
    if as_json:
        print_json(shown)
    else:
        _print_built(shown, figures, kind.wanted(content) if missing["values"] else "")


@hierarchy.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--table", type=click.Path(path_type=Path), help="Compare with a column of this table.")
@click.option("--column", help="The column of --table.")
@click.option("--show-values", is_flag=True, help="Name values that have no place, on the terminal only.")
@table_options
@json_option
def check(
    file: Path, table: Path | None, column: str | None, show_values: bool, reading: ReadOptions, as_json: bool
) -> None:
    """Check the hierarchy FILE: lines as ARX writes them, or rules such as {a, b} => c.

    Every fault is listed with its line; exit code 2 then. With --table and --column, exit code 1 if the column has
    values that the file does not cover. Prints counts only.
    """
    from anon_core.hierarchy.files import format_of, read_levels
    from anon_core.hierarchy.files.describing import figures_of, kept_apart, whole_ladder
    from anon_core.table import read

    if (table is None) != (column is None):
        raise click.UsageError("--table and --column go together")
    try:
        levels = read_levels(file)
        whole = whole_ladder(levels, str(file))
    except HierarchyError as error:
        lines = [f"anon: {error.where}: {several(len(error.problems), 'fault')}", *error.problems]
        click.echo("\n  ".join(lines), err=True)
        raise click.exceptions.Exit(2) from None
    apart = kept_apart(whole, levels.covering([]))
    figures = figures_of(whole)
    shown: dict[str, Any] = {
        "file": str(file),
        "format": str(format_of(file)),
        "values": sum(value is not None for value in levels.paths),
        "intervals": bool(levels.numbers),
        "levels": [asdict(each) for each in figures],
        "kept_apart": len(apart),
        "table": None,
    }
    covered = True
    if table is not None and column is not None:
        content = read(table, reading).column(column)
        shown["table"], built = _against(content, levels, file)
        covered = not built.unmapped.any()
        if show_values and _on_terminal():
            _show(f"column {column!r} has no place for", _unmapped(built, content))
    elif show_values and _on_terminal():
        _show("kept apart from the same word below", [f"{label} at level {level}" for level, label in apart])
    if as_json:
        print_json(shown)
    else:
        _print_check(shown, figures)
    raise click.exceptions.Exit(0 if covered else 1)


def _target(output: Path | None, column: str, *, force: bool, sources: Sequence[Path]) -> Path:
    """
    Return the file to write.

    :raises InvalidInputError: it exists and may not be overwritten, or is one of those that are read.
    """
    target = output or Path(f"hierarchy_{re.sub(r'[^0-9A-Za-z_-]+', '_', column).strip('_') or 'column'}.csv")
    if target.exists() and not force:
        raise InvalidInputError(f"{target} exists already; give another --output, or --force to overwrite it")
    if any(target.exists() and source.exists() and target.samefile(source) for source in sources):
        raise InvalidInputError(f"{target} is what the hierarchy is made from; give another --output")
    return target


def _against(column: Column, levels: Levels, file: Path) -> tuple[dict[str, Any], Ladder]:
    """Return how a column stands to a hierarchy, in counts, and its ladder."""
    from anon_core.hierarchy.columns import ladder_of, values_of

    built = ladder_of(column, levels, where=str(file))
    values = values_of(column)
    missing = _missing(built, column)
    return {
        "column": column.name,
        "rows": len(column.codes),
        "rows_with_gaps": int(column.gaps.sum()),
        "values": len(values),
        "covered": len(values) - missing["values"],
        "unmapped": missing,
        "unused": len(set(levels.paths) - {None, *values}),
    }, built


def _missing(ladder: Ladder, column: Column) -> dict[str, int]:
    return {"values": int(ladder.unmapped.sum()), "rows": int(ladder.unmapped[column.codes].sum())}


def _unmapped(ladder: Ladder, column: Column) -> list[str]:
    return [value for value, out in zip(column.domain.to_pylist(), ladder.unmapped.tolist(), strict=True) if out]


def _on_terminal() -> bool:
    """Whether values may be named: into a file or a pipe they never go."""
    if not sys.stderr.isatty():
        click.echo("--show-values shows values on a terminal only, never in a file or a pipe", err=True)
        return False
    return True


def _show(what: str, values: Sequence[str]) -> None:
    if values:
        more = f" and {len(values) - _MOST_SHOWN:,} more" if len(values) > _MOST_SHOWN else ""
        click.echo(f"{what}: {', '.join(map(repr, values[:_MOST_SHOWN]))}{more}", err=True)


def _write(target: Path, text: str) -> None:
    """Write the file completely or not at all."""
    part = target.with_name(f".{target.name}.part")
    with storage("writing the hierarchy file", target):
        try:
            part.write_bytes(text.encode())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def _print_levels(title: str, figures: Sequence[LevelFigures]) -> None:
    print_table(title, ["level", "name", "labels"], [[f.level, f.name, f.labels] for f in figures], right=(0, 2))


def _print_built(shown: dict[str, Any], figures: Sequence[LevelFigures], reason: str) -> None:
    _print_levels(f"{Path(shown['file']).name}: {several(shown['values'], 'value')} of {shown['column']}", figures)
    if reason:
        click.echo(f"left out: {_counted(shown['unmapped'])} that {reason}")
    _print_apart(shown)
    click.echo(f"wrote {shown['file']}; it holds the values of the column: keep it as you keep the table")


def _print_check(shown: dict[str, Any], figures: Sequence[LevelFigures]) -> None:
    values = several(shown["values"], "value") + (", and numbers by intervals" if shown["intervals"] else "")
    _print_levels(f"{Path(shown['file']).name}: a sound hierarchy of {shown['format']}; {values}", figures)
    _print_apart(shown)
    if found := shown["table"]:
        click.echo(
            f"{found['column']}: {found['covered']:,} of {several(found['values'], 'value')} covered; not covered: "
            + _counted(found["unmapped"])
            + (f"; {several(found['unused'], 'value')} of the file not in the table" if found["unused"] else "")
        )


def _print_apart(shown: dict[str, Any]) -> None:
    if shown["kept_apart"]:
        click.echo(f"kept apart from the same word on a level below: {several(shown['kept_apart'], 'label')}")


def _counted(missing: dict[str, int]) -> str:
    return f"{several(missing['values'], 'value')} in {several(missing['rows'], 'row')}"
