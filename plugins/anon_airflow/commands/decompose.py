"""``anon decompose``: split a coded column into parts, and count whom the parts still single out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.output import (
    check_table_output,
    force_option,
    json_option,
    names_in,
    no_place,
    percent,
    print_json,
    print_table,
    several,
    show_values_option,
    table_argument,
    table_options,
    write_table,
)
from anon_airflow.commands.output import show_values as show
from anon_airflow.commands.search_options import check_known, plot_option
from anon_core.errors import DecomposeError
from anon_core.spec import Preset

if TYPE_CHECKING:
    from anon_core.decompose import Decomposition, Split
    from anon_core.spec import Decompose
    from anon_core.table import ReadOptions, Table


@click.command(short_help="Split a coded column into its parts.")
@table_argument
@click.option("--column", required=True, help="The column to decompose, such as a postcode.")
@click.option("--widths", metavar="2,3", help="The lengths of the parts in characters; one more name takes the rest.")
@click.option(
    "--separator",
    multiple=True,
    metavar="TEXT",
    help="The text between parts; repeat the option if it is not the same between all parts.",
)
@click.option("--pattern", metavar="REGEX", help="A regular expression whose named groups are the parts.")
@click.option(
    "--preset", type=click.Choice([preset.value for preset in Preset]), help="A code whose structure is known."
)
@click.option("--region", metavar="IT", help="The country of telephone numbers without a country code.")
@click.option("--names", multiple=True, metavar="a,b", help="The names of the parts.")
@click.option(
    "--lookup", multiple=True, metavar="PART=FILE", help="A file with lines code;name for a part. May be repeated."
)
@click.option("--publish", multiple=True, metavar="a,b", help="The parts to publish; by default all.")
@click.option(
    "--unmapped",
    type=click.Choice(["error", "suppress"]),
    default="error",
    show_default=True,
    help="Values that do not fit, and codes without a name: stop with an error, or write them as *.",
)
@click.option("--with", "others", multiple=True, metavar="a,b", help="Other columns that others may know, too.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the table with the published parts in place of the column, .csv or .parquet. It is not anonymous.",
)
@force_option
@plot_option("the rows that stand alone before and after")
@show_values_option
@table_options
@json_option
def decompose(
    table: Path,
    column: str,
    others: tuple[str, ...],
    output: Path | None,
    force: bool,
    plot: Path | None,
    show_values: bool,
    reading: ReadOptions,
    as_json: bool,
    **options: Any,
) -> None:
    """Split a coded column of TABLE into parts, and count how many rows stand alone before and after.

    Give exactly one of --widths, --separator, --pattern and --preset. The counts are for the column by itself and with
    every subset of --with: as it is, with all published parts in its place, and with each part alone. A reader can join
    parts that are published together, and then they are as good as the column. Prints counts only.
    """
    from anon_core.decompose import measure_effect, split_column
    from anon_core.engines.engine import engine_named
    from anon_core.table import read

    rule = _rule(**options)
    if output:
        check_table_output(output, force=force, sources=(table, *map(Path, rule.lookup.values())))
    content = read(table, reading)
    beside = names_in(others)
    check_known(content, [column, *beside])
    _check_names(content, column, beside, rule)
    split = split_column(content.column(column), rule, Path())
    try:
        split.check()
    except DecomposeError:
        if show_values:
            show([(no_place(column), split.refused_values)])
        if rule.preset is Preset.TELEPHONE and rule.region is None:
            click.echo("  numbers that do not name their country need --region, such as --region IT", err=True)
        raise
    engine = engine_named(source=table)
    found = measure_effect(content, split, beside, count=lambda made: engine.of(made).count(made.names))
    if plot:
        from anon_core.report.plots import plot_decomposition

        plot_decomposition(found, plot)
    if output:
        _write(content, split, output)
    if as_json:
        print_json(_written(found))
    else:
        _print(table, found, split)


def _rule(
    *,
    widths: str | None,
    separator: tuple[str, ...],
    pattern: str | None,
    preset: str | None,
    region: str | None,
    names: tuple[str, ...],
    lookup: tuple[str, ...],
    publish: tuple[str, ...],
    unmapped: str,
) -> Decompose:
    """Return the rule made from the options, checked as in a publication file."""
    from pydantic import ValidationError

    from anon_core.files.yaml_lines import name_of
    from anon_core.spec import Decompose
    from anon_core.spec.parts import rule_problems

    given: dict[str, Any] = {
        "widths": _numbers(widths) if widths else None,
        "separator": list(separator) if len(separator) > 1 else next(iter(separator), None),
        "pattern": pattern,
        "preset": preset,
        "region": region,
        "names": names_in(names) or None,
        "lookup": _pairs(lookup) or None,
        "publish": names_in(publish) if publish else None,
        "unmapped": unmapped,
    }
    problems = [" ".join(filter(None, [name_of(where), what])) for where, what in rule_problems(given)]
    try:
        rule = Decompose.model_validate(given)
    except ValidationError as error:
        problems += [f"{name_of(one['loc'])} {one['msg'].removeprefix('Value error, ')}" for one in error.errors()]
    if problems:
        raise click.UsageError("; ".join(problems))
    return rule


def _numbers(text: str) -> list[int]:
    try:
        return [int(one) for one in names_in(text)]
    except ValueError:
        raise click.BadParameter("whole numbers with commas between them, such as 2,3", param_hint="--widths") from None


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    if not all(part and file for part, _, file in pairs):
        raise click.BadParameter("PART=FILE, such as state=states.csv", param_hint="--lookup")
    return {part: file for part, _, file in pairs}


def _check_names(table: Table, column: str, others: Sequence[str], rule: Decompose) -> None:
    if column in others or len(set(others)) < len(others):
        raise click.BadParameter("names a column twice, or the one to decompose", param_hint="--with")
    if taken := [part for part in rule.published if part in table.names]:
        raise click.UsageError(
            f"TABLE has columns with the names of parts: {', '.join(taken)}; give other names with --names"
        )


def _write(table: Table, split: Split, output: Path) -> None:
    """Write the table with the published parts in place of the column, rows in their order."""
    from anon_core.table import Table

    columns = [part for one in table.columns for part in (split.published if one.name == split.column.name else (one,))]
    write_table(Table(columns=tuple(columns), rows=table.rows), output)


def _written(found: Decomposition) -> dict[str, Any]:
    return {
        "column": found.column,
        "rows": found.rows,
        "suppressed": {"values": found.suppressed_values, "rows": found.suppressed_rows},
        "parts": [asdict(part) for part in found.parts],
        "effect": [asdict(effect) for effect in found.effect],
    }


def _print(table: Path, found: Decomposition, split: Split) -> None:
    print_table(
        f"{table.name}: {several(found.rows, 'row')}; {found.column} decomposed",
        ["part", "published", "distinct", "alone"],
        [[part.name, part.published, part.distinct, part.outliers] for part in found.parts],
        right=(2, 3),
    )
    if found.suppressed_values:
        values, rows = several(found.suppressed_values, "value"), several(found.suppressed_rows, "row")
        click.echo(f"suppressed, and written as *: {values} in {rows}")
    click.echo()
    parts = [part.name for part in found.parts]
    print_table(
        "rows that stand alone (singletons): with the column, with all published parts, and with each part"
        + (
            " (here a gap counts as a value, and so does *)" if found.suppressed_values or split.column.has_gaps else ""
        ),
        ["columns", "distinct before", "after", "alone before", "% before", "alone after", "% after", *parts],
        [
            [
                ", ".join(effect.columns),
                effect.before.distinct,
                effect.after.distinct,
                effect.before.outliers,
                percent(effect.before.share),
                effect.after.outliers,
                percent(effect.after.share),
                *(effect.by_part[part].outliers if effect.by_part else None for part in parts),
            ]
            for effect in found.effect
        ],
        right=range(1, 7 + len(parts)),
    )
    # If several codes have one name, the parts say less than the column; else they say the same.
    renamed = split.rule.lookup and found.effect[0].after != found.effect[0].before
    if all(part.published for part in found.parts) and len(found.parts) > 1 and not renamed:
        click.echo("all parts are published: together they say as much as the column; leave one out with --publish")
