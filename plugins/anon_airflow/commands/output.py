"""Input and output of commands: JSON or a readable table on stdout, progress on stderr, reading a TABLE, writing files.

Values of cells are printed on a terminal only.
"""

from __future__ import annotations

import csv
import functools
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from anon_core.errors import InvalidInputError
from anon_core.files.storage import storage
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.spec import PartialPublication
    from anon_core.table import ReadOptions, Table

F = TypeVar("F", bound=Callable[..., Any])

_MAX_SHOWN = 50

several = counted

table_argument = click.argument("table", type=click.Path(path_type=Path))
unit_option = click.option("--unit", metavar="a,b", help="Count people, not rows: these columns tell them apart.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
force_option = click.option("--force", is_flag=True, help="Overwrite an existing --output.")
show_values_option = click.option(
    "--show-values", is_flag=True, help="Print the values that do not fit, on the terminal only."
)


def table_options(function: F) -> F:
    """Add the options for reading TABLE; the command receives them as ``reading``, one :class:`ReadOptions`."""

    @functools.wraps(function)
    def command(*, delimiter: str, encoding: str, missing_words: tuple[str, ...], **given: Any) -> Any:
        return function(reading=reading_of(delimiter, encoding, missing_words), **given)

    for option in (
        click.option(
            "--missing-word",
            "missing_words",
            multiple=True,
            default=("",),
            metavar="WORD",
            help="A cell with this text is a gap; may be repeated. By default only an empty cell is a gap.",
        ),
        click.option(
            "--encoding", default="auto", show_default=True, help="Such as utf-8 or cp1252; auto: found in the file."
        ),
        click.option("--delimiter", default="auto", show_default=True, help="One character; auto: found in the file."),
    ):
        command = option(command)
    return cast("F", command)


def reading_of(delimiter: str, encoding: str, missing_words: tuple[str, ...]) -> ReadOptions:
    from anon_core.table import ReadOptions

    if delimiter != "auto" and len(delimiter) != 1:
        raise click.BadParameter("one character, or auto", param_hint="--delimiter")
    if encoding != "auto":
        try:
            "".encode(encoding)
        except (LookupError, ValueError):  # The codec called `undefined` raises a ValueError for every text.
            raise click.BadParameter(f"no encoding is called {encoding}", param_hint="--encoding") from None
    return ReadOptions(delimiter=delimiter, encoding=encoding, missing_words=missing_words)


def source_reading(publication: PartialPublication | None, reading: ReadOptions) -> ReadOptions:
    """Return how to read an original: as its publication file says, unless options of the call say otherwise."""
    from anon_core.spec import SourceSettings
    from anon_core.table import ReadOptions

    source = publication.source if publication else None
    if not isinstance(source, SourceSettings) or not source.reading or reading != reading_of("auto", "auto", ("",)):
        return reading
    return ReadOptions(**source.reading)


def names_in(text: str | Sequence[str] | None) -> list[str]:
    """
    Return the names in comma-separated lists; a name with a comma in it is in double quotes.

    >>> names_in(['sex,"Name, Vorname"', " town"])
    ['sex', 'Name, Vorname', 'town']
    """
    lists = [text] if isinstance(text, str) else text or []
    return [name.strip() for row in csv.reader(lists, skipinitialspace=True) for name in row if name.strip()]


def percent(share: float, digits: int = 2) -> str:
    """
    Return a share as text; it is never rounded to 0 % or to 100 %.

    >>> percent(0.5), percent(0.999999), percent(1), percent(0.0000001)
    ('50.00%', '> 99.99%', '100.00%', '< 0.01%')
    """
    step = 10.0 ** -(digits + 2)
    if 1 - step / 2 <= share < 1:
        return f"> {1 - step:.{digits}%}"
    return f"< {step:.{digits}%}" if 0 < share < step / 2 else f"{share:.{digits}%}"


def show_values(found: Iterable[tuple[str, Sequence[str]]]) -> None:
    """
    Print lists of values with their titles, on the terminal only, never to a file or a pipe.

    After fifty values the rest are counted. Without a terminal ``found`` is not even iterated.
    """
    show_sentences(
        f"{what}: {', '.join(map(repr, values[:_MAX_SHOWN]))}"
        + (f" and {len(values) - _MAX_SHOWN:,} more" if len(values) > _MAX_SHOWN else "")
        for what, values in found
        if values
    )


def show_sentences(sentences: Iterable[str]) -> None:
    """Print sentences that name values, on the terminal; without one ``sentences`` is not even iterated."""
    if not sys.stderr.isatty():
        click.echo("--show-values shows values on a terminal only, never in a file or a pipe", err=True)
        return
    for sentence in sentences:
        click.echo(sentence, err=True)


def no_place(column: str) -> str:
    """Return the title of a list of values that do not fit."""
    return f"values of column {column!r} that do not fit"


def check_output(target: Path, *, force: bool, sources: Sequence[Path]) -> None:
    """
    Reject an output file that cannot or must not be written.

    :raises InvalidInputError: it exists and may not be overwritten, is one of the input files, or is not a regular
        file: the new file replaces it, and must not replace a device or a folder.
    :raises StorageError: the operating system does not accept the name.
    """
    with storage("looking for the file to write", target):
        if target.exists() and not target.is_file():
            raise InvalidInputError(f"{target} is not a regular file; give another --output")
        if target.exists() and any(source.exists() and target.samefile(source) for source in sources):
            raise InvalidInputError(f"{target} is read by this command; give another --output")
        if target.exists() and not force:
            raise InvalidInputError(f"{target} exists already; give another --output, or --force to overwrite it")
        if not target.absolute().parent.is_dir():
            raise InvalidInputError(f"{target}: there is no such folder; make it, or give another --output")


def check_picture(target: Path, *, sources: Sequence[Path]) -> None:
    """:raises InvalidInputError: the picture would overwrite an input or output file, or is not a regular file."""
    with storage("looking for the picture to draw", target):
        if target.exists() and not target.is_file():
            raise InvalidInputError(f"{target} is not a regular file; give another --plot")
        for source in sources:
            both = target.exists() and source.exists()
            if target.samefile(source) if both else target.absolute() == source.absolute():
                raise InvalidInputError(f"{target} is read or written by this command; give another --plot")


def check_table_output(target: Path, *, force: bool, sources: Sequence[Path]) -> None:
    """
    Reject an output file that cannot hold a table, before any long work.

    :raises InvalidInputError: it exists and may not be overwritten, or is one of the input files.
    """
    if target.suffix.lower() not in (".csv", ".parquet"):
        raise click.BadParameter("a table is written as .csv or .parquet", param_hint="--output")
    check_output(target, force=force, sources=sources)


def write_table(table: Table, target: Path) -> None:
    """
    Write a table as .csv or .parquet, completely or not at all, readable by its owner only.

    :raises StorageError: the file cannot be written.
    """
    from anon_core.publishing.distribution import write_csv, write_parquet

    write = write_parquet if target.suffix.lower() == ".parquet" else write_csv
    write(table, target)


def print_json(content: dict[str, Any]) -> None:
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[int] = ()) -> None:
    """Print a readable table; columns numbered in ``right`` are numbers."""
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(header_style="bold", pad_edge=False, box=None, padding=(0, 2, 0, 0))
    for at, name in enumerate(header):
        shown.add_column(name, justify="right" if at in right else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text("" if cell is None else _plain(cell)) for cell in row))
    # In a file or a pipe a table may be as wide as it needs.
    console = Console()
    console = console if console.is_terminal else Console(width=200)
    console.print(Text(title, style="italic"))
    console.print(shown)


def _plain(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return str(cell)


class Stopwatch:
    """Print progress on stderr; messages of one kind at most twice a second, to a file less often."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._every = 0.5 if sys.stderr.isatty() else 5.0  # A log needs fewer messages.
        self._last = 0.0
        self._said = ""

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        kind = text.split(":")[0]
        if kind == self._said and now - self._last < self._every:
            return
        self._last, self._said = now, kind
        click.echo(f"  {text}", err=True)

    def steps(self, what: str, done: int, most: int) -> None:
        """Print how much a recoding has tried, once it has taken a second."""
        if time.monotonic() - self._began > 1:
            self(f"recoding: {done:,} of at most {most:,} {what}")

    def sets(self, done: int) -> None:
        """Print how many column sets a search has looked at, once it has taken a second."""
        if time.monotonic() - self._began > 1:
            self(f"searching: {done:,} column sets so far")
