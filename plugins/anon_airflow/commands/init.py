"""``anon init``: a first publication file for a table, to be read and corrected by a person."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.output import Stopwatch, check_output, json_option, print_json, table_options
from anon_core.errors import SpecError
from anon_core.storage import whole_file

if TYPE_CHECKING:
    from anon_core.table import ReadOptions


@click.command(short_help="Write a first publication file for TABLE.")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), help="Where to write; by default DATASET.yaml here.")
@click.option("--dataset", help="Slug of the dataset; by default made from the file's name.")
@click.option("-k", "k", type=click.IntRange(min=2), default=5, show_default=True, help="Smallest class to publish.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@table_options
@json_option
def init(
    table: Path,
    output: Path | None,
    dataset: str | None,
    k: int,
    force: bool,
    reading: ReadOptions,
    as_json: bool,
) -> None:
    """Write a commented publication file for TABLE: proposed roles with reasons, hierarchies, what singles people out.

    The roles are proposals from names, values and counts. Read every line before you run it: in doubt a column is
    proposed as a quasi-identifier, the careful side.
    """
    from anon_airflow.draft import draft
    from anon_core.spec import load_spec
    from anon_core.table import read

    slug = dataset or re.sub(r"[^a-z0-9]+", "-", table.name.split(".")[0].lower())[:80].strip("-") or "dataset"
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
            load_spec(part)  # What we write, we can read.
        except SpecError as error:
            raise SpecError(str(target), error.problems) from None
    if as_json:
        print_json({"spec": str(target)})
    else:
        click.echo(f"wrote {target}: read it, correct the roles, then `anon run {target}`")
