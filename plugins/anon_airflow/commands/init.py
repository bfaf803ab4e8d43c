"""``anon init``: write a draft publication file for a table; a person has to read and correct it."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.output import Stopwatch, check_output, json_option, print_json, table_argument, table_options
from anon_core.errors import SpecError
from anon_core.files.storage import whole_file

if TYPE_CHECKING:
    from anon_core.table import ReadOptions


@click.command(short_help="Write a draft publication file for TABLE.")
@table_argument
@click.option(
    "--output", type=click.Path(path_type=Path), help="The file to write; by default DATASET.yaml in this folder."
)
@click.option("--dataset", help="Short name of the dataset (a-z, 0-9, -); by default made from the file's name.")
@click.option(
    "-k", "k", type=click.IntRange(min=2), help="Smallest class to publish; by default 5, or 11 for special categories."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@table_options
@json_option
def init(
    table: Path,
    output: Path | None,
    dataset: str | None,
    k: int | None,
    force: bool,
    reading: ReadOptions,
    as_json: bool,
) -> None:
    """Write a commented draft of a publication file for TABLE: roles, unit and hierarchies, with reasons.

    Roles and unit are proposals, made from names, values and counts; in doubt the more careful one. Read every line.
    Nothing is published until a person has reviewed the file and written `reviewed: {by, on}` instead of
    `reviewed: false`.
    """
    from anon_airflow.draft.text import draft, without_date
    from anon_core.spec import load_spec
    from anon_core.table import read

    slug = (
        dataset
        or re.sub(r"[^a-z0-9]+", "-", without_date(table.name).split(".")[0].lower())[:80].strip("-")
        or "dataset"
    )
    target = output or Path(f"{slug}.yaml")
    check_output(target, force=force, sources=(table,))
    content = read(table, reading)
    text = draft(
        content,
        dataset=slug,
        source=table.absolute(),
        delimiter=reading.delimiter,
        encoding=reading.encoding,
        missing_words=reading.missing_words,
        k=k,
        today=date.today(),
        progress=Stopwatch().sets,
    )
    with whole_file(target, "writing the publication file", mode=0o666) as part:
        part.write_text(text, encoding="utf-8")
        try:
            load_spec(part)  # Check that the draft can be read.
        except SpecError as error:
            raise SpecError(str(target), error.problems) from None
    if as_json:
        print_json({"spec": str(target)})
    else:
        click.echo(
            f"wrote {target}: read it, correct roles and unit, write your name in `reviewed`, then `anon run {target}`"
        )
