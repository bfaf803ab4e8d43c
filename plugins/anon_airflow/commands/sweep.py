"""``anon sweep``: remove the originals of dead runs, and list those of live runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.output import json_option, print_json

if TYPE_CHECKING:
    from anon_airflow.run.sweep import Originals, Swept


@click.command(short_help="Remove the originals that dead runs have left.")
@click.option("--kept", is_flag=True, help="Also remove the originals that `keep_staging` keeps.")
@json_option
def sweep(kept: bool, as_json: bool) -> None:
    """Remove what killed runs have left in the private folders, of every dataset. Every run does this too.

    Originals are removed if their run is closed in the audit store, or if no step of it is at work and its lease
    (ANON_LEASE_HOURS, 24 by default, and the retry delay) has ended. Originals of runs at work or waiting, and of other
    hosts, are listed and stay. Exit code 2: some could not be removed.
    """
    from anon_airflow.run.home import Home
    from anon_airflow.run.sweep import closed_in_home
    from anon_airflow.run.sweep import sweep as remove

    home = Home.find()
    with closed_in_home(home) as closed:
        swept = remove(home, closed, kept=kept)
    if as_json:
        print_json({kind: list(map(asdict, listed)) for kind, listed in _kinds(swept)} | {"gated": list(swept.gated)})
    else:
        for kind, listed in _kinds(swept):
            for one in listed:
                click.echo(f"{kind}: {one.sentence}", err=kind == "failed")
        for folder in swept.gated:
            click.echo(f"removed: gated files of a run by hand that was killed, in {folder}")
        if not any(listed for _, listed in _kinds(swept)):
            click.echo(f"no originals in {home.staging}")
    raise click.exceptions.Exit(2 if swept.failed else 0)


def _kinds(swept: Swept) -> tuple[tuple[str, tuple[Originals, ...]], ...]:
    return ("removed", swept.removed), ("left", swept.left), ("failed", swept.failed)
