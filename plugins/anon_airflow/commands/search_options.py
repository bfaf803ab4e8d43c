"""Options of the commands that search column sets: columns, limits, and a warning about the cost of a search."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from anon_airflow.commands.output import names_in, several, table_argument, table_options, unit_option
from anon_core.extras import require_extra
from anon_core.wording import rows_not_people

if TYPE_CHECKING:
    from anon_core.api.sources import LoadedTable
    from anon_core.table import ReadOptions, Table

F = TypeVar("F", bound=Callable[..., Any])

COSTLY = 10_000_000
"""If a search may have to look at more column sets than this, it prints a warning before it begins."""


class Probability(click.ParamType):  # type: ignore[type-arg]  # Generic only in some versions of click.
    """A number from 0 to 1."""

    name = "number from 0 to 1"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; reject text, nan, and numbers outside the limits."""
        try:
            number = float(value)
        except ValueError:
            point = "; write the decimals after a point" if "," in str(value) else ""
            self.fail(f"{value!r} is not a number{point}", param, ctx)
        if not 0 <= number <= 1:
            self.fail(f"{value} does not lie between 0 and 1", param, ctx)
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedTable:
    """The rows of ``file``, the columns that are searched, and those that tell people apart; without these, none."""

    file: str
    rows: LoadedTable
    names: tuple[str, ...]
    unit: tuple[str, ...]

    def counted(self, count: int) -> str:
        """Return what was counted, in words: people, or rows that may be of fewer people."""
        return several(count, "person") if self.unit else rows_not_people(count)


def search_options(function: F) -> F:
    """
    Add TABLE and the options for reading it, for the columns to search, and whether people are counted.

    The command gets them as ``searched``, one :class:`SearchedTable`.
    """

    @functools.wraps(function)
    def command(
        *,
        table: Path,
        columns: tuple[str, ...],
        exclude: tuple[str, ...],
        unit: str | None,
        reading: ReadOptions,
        **given: Any,
    ) -> Any:
        from anon_core.api.sources import rows_of

        rows, people = rows_of(table, reading), tuple(names_in(unit))
        names = chosen(rows.table, columns, exclude, people).names
        return function(searched=SearchedTable(file=table.name, rows=rows, names=names, unit=people), **given)

    for option in (
        table_options,
        unit_option,
        click.option(
            "--exclude", multiple=True, metavar="a,b", help="Leave these columns out, such as a record number."
        ),
        click.option(
            "--columns",
            multiple=True,
            metavar="a,b",
            help="Search these columns only; a name with a comma in double quotes: '\"Name, first\",sex'.",
        ),
        table_argument,
    ):
        command = option(command)
    return cast("F", command)


def unique_options(function: F) -> F:
    """Add the options of a search for unique column combinations."""
    for option in (
        click.option("--ignore-duplicates", is_flag=True, help="Count rows that are equal in every column once."),
        click.option(
            "--approximate",
            type=Probability(),
            metavar="E",
            help="A set counts when at least 1-E of the rows are unique on it, such as 0.001.",
        ),
        click.option(
            "--max-size",
            type=click.IntRange(min=1),
            metavar="N",
            help="Largest set to look for. By default any size; required for more than 50 columns.",
        ),
    ):
        function = option(function)
    return function


class Picture(click.Path):
    """A picture file to write; a wrong name is rejected before any long work."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(value)
        if path.suffix.lower() not in (".svg", ".png"):
            self.fail(f"a picture is written as .svg or .png, not as {path.name!r}", param, ctx)
        if not path.absolute().parent.is_dir():
            self.fail(f"there is no folder {path.parent}", param, ctx)
        require_extra("plots", "--plot")
        return super().convert(value, param, ctx)


def plot_option(what: str) -> Callable[[F], F]:
    """Return the option for a picture."""
    return click.option("--plot", metavar="FILE", type=Picture(path_type=Path), help=f"Draw {what}: .svg or .png.")


def chosen(table: Table, columns: Sequence[str], exclude: Sequence[str], unit: Sequence[str] = ()) -> Table:
    """
    Return the columns to search, in the order in which they are named, else in that of the table.

    A column that is the unit by itself is left out; a column that is one of several unit columns is searched only if it
    is named.

    :raises UnknownColumnError: a name in one of the lists is not in the table.
    :raises InvalidInputError: a name is given twice, or nothing is left to search.
    """
    from anon_core.detection.searched_columns import searched_columns

    named, left_out = names_in(columns), names_in(exclude)
    if exclude and not left_out:
        raise click.BadParameter("names no column", param_hint="--exclude")
    say_what_was_meant(table, [*named, *left_out, *unit])
    return table.select(searched_columns(table.names, named if columns else None, left_out, unit))


def check_known(table: Table, names: Sequence[str]) -> None:
    """:raises UnknownColumnError: a name is not in the table."""
    say_what_was_meant(table, names)
    table.select(names)


def say_what_was_meant(table: Table, names: Sequence[str]) -> None:
    """
    Print a column with a similar name for each name that the table does not have.

    The error does not name it: in a file without a header the names are cells, and errors are logged.
    """
    unknown = [name for name in names if name not in table.names]
    meant = [f"`{close}`" for name in unknown[:20] for close in get_close_matches(name, table.names, n=1)]
    if meant:
        click.echo(f"  did you mean {', '.join(meant)}?", err=True)


def say_cost(columns: int, max_size: int | None) -> None:
    """
    Print on stderr how large a costly search is; the search goes on, and Ctrl-C stops it.

    :raises InvalidInputError: there are too many columns to search without a largest size.
    """
    from anon_core.detection.search_size import check_search_size, column_sets

    check_search_size(columns, max_size)
    sets = column_sets(columns, columns if max_size is None else max_size)
    if sets <= COSTLY:
        return
    limit = "no size limit" if max_size is None else f"sets of up to {max_size}"
    smaller = 3 if max_size is None or max_size > 3 else 2
    fewer = column_sets(columns, smaller)
    click.echo(
        f"  {columns} columns and {limit}: there are {_rounded(sets)} column sets. Most are never looked at, but it "
        f"may take long; Ctrl-C stops it. --max-size {smaller} has {_rounded(fewer)} sets",
        err=True,
    )


def _rounded(count: int) -> str:
    return f"{count:,}" if count < 10**12 else f"about 10^{len(str(count)) - 1}"
