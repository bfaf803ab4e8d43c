"""``anon uccs``: find all minimal unique column combinations."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.output import (
    Stopwatch,
    json_option,
    percent,
    print_json,
    print_table,
    several,
)
from anon_airflow.commands.search_options import SearchedTable, say_cost, search_options, unique_options

if TYPE_CHECKING:
    from anon_core.api.uccs import UniqueColumnSets

SHOWN = 50
"""At most so many sets are named in the readable form."""


@click.command(short_help="Find all minimal sets of columns on which each row is unique.")
@search_options
@unique_options
@json_option
def uccs(
    searched: SearchedTable,
    max_size: int | None,
    approximate: float | None,
    ignore_duplicates: bool,
    as_json: bool,
) -> None:
    """Find every minimal set of columns of TABLE on which each row is unique.

    Such a set (a unique column combination, UCC) identifies every person in the table; without one of its columns it
    does not. One pair of equal rows means that there is none: then count equal rows once (--ignore-duplicates) or allow
    some (--approximate). A gap is a value like any other. The search is exact. Prints names of columns only.
    """
    from anon_core.api.uccs import uccs as search

    say_cost(len(searched.names), max_size)
    found = search(
        searched.rows,
        columns=searched.names,
        unit=searched.unit,
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
                "unit": list(searched.unit),
                "max_size": max_size,
                "approximate": found.approximate,
            }
        )
        return
    noun = "people" if searched.unit else "rows"
    tolerance = f" on which {percent(1 - found.approximate)} of the {noun} are alone" if found.approximate else ""
    print_table(
        f"{searched.file}: {searched.counted(found.rows)}, {several(len(searched.names), 'column')}",
        ["size", "columns"],
        [[len(one), ", ".join(one)] for one in found.sets[:SHOWN]],
        right=(0,),
    )
    more = f"; the first {SHOWN} are shown, --json lists all" if len(found.sets) > SHOWN else ""
    click.echo(f"{several(len(found.sets), 'minimal unique set')}{tolerance}{more}")
    if found.duplicate_rows and searched.unit:
        left = ", who are left out" if ignore_duplicates else ""
        click.echo(f"{found.duplicate_rows:,} of the people share all their rows with others{left}")
    elif found.duplicate_rows:
        repeat = "repeats" if found.duplicate_rows == 1 else "repeat"
        once = ", counted once" if ignore_duplicates else ""
        click.echo(f"{several(found.duplicate_rows, 'row')} {repeat} an earlier one in all these columns{once}")
    if not found.sets:
        click.echo(_why_none(found))


def _why_none(found: UniqueColumnSets) -> str:
    """Return why there is no set, and which options would find one."""
    least = 1 - found.alone / found.rows
    if least > found.approximate:
        why = "people who share all their rows are never alone" if found.unit else "equal rows are never unique"
        # Rounded up, so that it is enough.
        return f"{why}: try --ignore-duplicates or --approximate {ceil(least * 10_000) / 10_000:g}"
    return f"no set of up to {found.max_size} columns is unique: raise --max-size or --approximate"
