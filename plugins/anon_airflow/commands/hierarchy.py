"""``anon hierarchy``: build a hierarchy file from a column, and check one, by itself or against a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.hierarchy_options import ChosenKind, kind_options
from anon_airflow.commands.output import (
    check_output,
    force_option,
    json_option,
    no_place,
    print_json,
    print_table,
    several,
    show_values_option,
    table_argument,
    table_options,
)
from anon_airflow.commands.output import show_values as show
from anon_airflow.commands.search_options import check_known
from anon_core.errors import HierarchyError, InvalidInputError
from anon_core.files.storage import whole_file

if TYPE_CHECKING:
    from anon_core.hierarchy.files.writing import LevelFigures
    from anon_core.hierarchy.ladder import Ladder
    from anon_core.hierarchy.levels import Levels
    from anon_core.table import Column, ReadOptions, Table


@click.group(short_help="Build and check hierarchy files.")
def hierarchy() -> None:
    """Build a hierarchy file from a column, and check one, by itself or against a table."""


@hierarchy.command()
@table_argument
@click.option("--column", required=True, help="The column whose values are generalised.")
@kind_options
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="The file to write; by default hierarchy_COLUMN.csv in this folder.",
)
@force_option
@click.option(
    "--unmapped",
    type=click.Choice(["error", "suppress"]),
    default="error",
    show_default=True,
    help="Values that are not covered: stop with an error, or leave them out of the file.",
)
@show_values_option
@table_options
@json_option
def build(
    table: Path,
    column: str,
    kind: ChosenKind,
    output: Path | None,
    force: bool,
    unmapped: str,
    show_values: bool,
    reading: ReadOptions,
    as_json: bool,
) -> None:
    """Write a hierarchy file for a column of TABLE: one line per value, level 0 first, the root last.

    The file holds every distinct value of the column, so keep it as private as the table. Name it in a publication file
    as `hierarchy: {file: ...}`; labels then stay the same from month to month. Values that first appear later are not
    in it; a file of rules with intervals, such as `[18, 30) => young`, also covers new numbers.
    """
    from anon_core.hierarchy.columns import ladder_of, values_of
    from anon_core.hierarchy.files.writing import figures_of, kept_apart, text_of
    from anon_core.hierarchy.levels import default_names
    from anon_core.table import read

    target = output or Path(f"hierarchy_{re.sub(r'[^0-9A-Za-z_-]+', '_', column).strip('_') or 'column'}.csv")
    check_output(target, force=force, sources=(table, *kind.files))
    content = _column(read(table, reading), column)
    levels = kind.levels(content)
    built = ladder_of(content, levels, where=kind.where)
    missing = _missing(built, content)
    if missing["values"] and unmapped == "error":
        if show_values:
            show([(no_place(column), _unmapped(built, content))])
        raise InvalidInputError(
            f"column {column!r}: {several(missing['values'], 'distinct value')}, {several(missing['rows'], 'row')}, "
            f"{kind.wanted(content)}; correct them, choose another hierarchy, or give `--unmapped suppress` to leave "
            "them out of the file (and `unmapped: suppress` in the publication file to publish them as *)"
        )
    text = text_of(built, content)
    with whole_file(target, "writing the hierarchy file", mode=0o666) as part:
        part.write_bytes(text.encode())
    figures = figures_of(built)
    for doubt in kind.doubts(content, figures):
        click.echo(f"  {doubt}", err=True)
    shown = {
        "file": str(target),
        "column": column,
        "kind": kind.name,
        "order": kind.order_of(content),
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
        if kind.where and levels.names != default_names(Path(kind.where).name, len(levels.names)):
            click.echo(
                "the names of levels in the rules are not in the new file: give them in the publication file, as "
                "`hierarchy: {file: ..., levels: [...]}`"
            )


@hierarchy.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--table", type=click.Path(path_type=Path), help="Compare with a column of this table.")
@click.option("--column", help="The column of --table.")
@show_values_option
@table_options
@json_option
def check(
    file: Path, table: Path | None, column: str | None, show_values: bool, reading: ReadOptions, as_json: bool
) -> None:
    """Check the hierarchy FILE: lines as ARX writes them, or rules such as {a, b} => c.

    Every fault is listed with its line, and the exit code is 2. With --table and --column the exit code is 1 if the
    column has values that the file does not cover. Prints counts only.
    """
    from anon_core.hierarchy.columns import ladder_of
    from anon_core.hierarchy.files import format_of, read_levels
    from anon_core.hierarchy.files.writing import figures_of, kept_apart, whole_ladder
    from anon_core.table import read

    if (table is None) != (column is None):
        raise click.UsageError("--table and --column go together")
    try:
        levels = read_levels(file)
        whole = whole_ladder(levels, str(file))
    except HierarchyError as error:
        _print_faults(file, error)
        raise click.exceptions.Exit(2) from None
    apart = kept_apart(whole, levels.covering([]))
    figures = figures_of(whole)
    shown: dict[str, Any] = {
        "file": str(file),
        "format": str(format_of(file)),
        "values": sum(value is not None for value in levels.paths),
        "intervals": bool(levels.numbers),
        "levels": [asdict(each) for each in figures],
        "without_a_rule_above": list(levels.staying),
        "kept_apart": len(apart),
        "table": None,
    }
    covered = True
    if table is not None and column is not None:
        content = _column(read(table, reading), column)
        built = ladder_of(content, levels, where=str(file))
        shown["table"] = _against(content, levels, built)
        covered = not built.unmapped.any()
        if show_values:
            show([(no_place(column), _unmapped(built, content))])
    elif show_values:
        show([("labels that a lower level also has", [f"{label} at level {level}" for level, label in apart])])
    if as_json:
        print_json(shown)
    else:
        _print_check(shown, figures, named=show_values)
    raise click.exceptions.Exit(0 if covered else 1)


def _column(table: Table, name: str) -> Column:
    """:raises UnknownColumnError: there is no column of this name; a similar name is printed."""
    check_known(table, [name])
    return table.column(name)


def _print_faults(file: Path, error: HierarchyError) -> None:
    """Print every fault of a file; the error itself names only some. Say so if the file looks like a table."""
    from anon_core.hierarchy.files import FileFaults, faults_in_file

    try:
        found = faults_in_file(file)
    except HierarchyError:  # The file cannot be read at all.
        found = FileFaults(problems=[], like_a_table=False)
    problems = found.problems or error.problems
    lines = [f"anon: {error.where}: {several(len(problems), 'fault')}", *problems]
    lines += ["nearly every line is at fault: this looks like a table, not a hierarchy"] if found.like_a_table else []
    click.echo("\n  ".join(lines), err=True)


def _against(column: Column, levels: Levels, built: Ladder) -> dict[str, Any]:
    """Return how far a hierarchy covers a column, in counts."""
    from anon_core.hierarchy.columns import values_of

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
    }


def _missing(ladder: Ladder, column: Column) -> dict[str, int]:
    return {"values": int(ladder.unmapped.sum()), "rows": int(ladder.unmapped[column.codes].sum())}


def _unmapped(ladder: Ladder, column: Column) -> list[str]:
    return list(column.domain.filter(ladder.unmapped).to_pylist())


def _print_levels(title: str, figures: Sequence[LevelFigures]) -> None:
    print_table(title, ["level", "name", "labels"], [[f.level, f.name, f.labels] for f in figures], right=(0, 2))


def _print_built(shown: dict[str, Any], figures: Sequence[LevelFigures], reason: str) -> None:
    _print_levels(f"{Path(shown['file']).name}: {several(shown['values'], 'value')} of {shown['column']}", figures)
    if reason:
        click.echo(f"left out: {_counted(shown['unmapped'])}, {reason}")
    _print_apart(shown)
    if shown["order"] == "letters":
        click.echo("the values are in alphabetical order; give another order with --order a,b,c")
    if shown["kind"] == "groups":
        click.echo("groups are named by their first and last value: these two values will be published")
    click.echo(f"wrote {shown['file']}; it holds the values of the column: keep it as private as the table")


def _print_check(shown: dict[str, Any], figures: Sequence[LevelFigures], *, named: bool) -> None:
    """Print the figures of a file; ``named``: the values that it does not cover have been printed already."""
    values = several(shown["values"], "value") + (", and numbers by intervals" if shown["intervals"] else "")
    _print_levels(f"{Path(shown['file']).name}: a correct hierarchy of {shown['format']}; {values}", figures)
    _print_apart(shown)
    for level, labels in enumerate(shown["without_a_rule_above"], 1):
        if labels:
            stay = "it stays unchanged" if labels == 1 else "they stay unchanged"
            click.echo(f"level {level + 1} has no rule for {several(labels, 'label')} of level {level}: {stay}")
    if found := shown["table"]:
        click.echo(
            f"{found['column']}: {found['covered']:,} of {several(found['values'], 'value')} covered; not covered: "
            + _counted(found["unmapped"])
            + (f"; {several(found['unused'], 'value')} of the file not in the table" if found["unused"] else "")
        )
        if found["unmapped"]["values"]:
            advice = "add them to the file, or write `unmapped: suppress` in the publication file to publish them as *"
            how = "values that are not covered:" if named else "--show-values names them, on a terminal only;"
            click.echo(f"{how} {advice}")


def _print_apart(shown: dict[str, Any]) -> None:
    if shown["kept_apart"]:
        click.echo(f"labels that a lower level also has, so their level is added: {shown['kept_apart']:,}")


def _counted(missing: dict[str, int]) -> str:
    return f"{several(missing['values'], 'value')} in {several(missing['rows'], 'row')}"
