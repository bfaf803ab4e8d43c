"""``anon validate``: every problem of every publication file, for a pipeline that checks files before a merge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_airflow.commands.output import json_option, print_json
from anon_core.errors import HierarchyError, InvalidInputError, SpecError
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.spec import Publication

FOLDER = Path("include/publications")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A problem of a publication file; ``line`` is 0 where it is about the file as a whole."""

    file: str
    line: int
    where: str
    what: str

    @property
    def sentence(self) -> str:
        """The problem as compilers print one."""
        where = f"{self.where}: " if self.where else ""
        return f"{self.file}:{self.line}: {where}{self.what}" if self.line else f"{self.file}: {where}{self.what}"


@click.command(short_help="Find every problem of publication files.")
@click.argument("path", metavar="[PATH]", type=click.Path(path_type=Path, exists=True), required=False)
@json_option
def validate(path: Path | None, as_json: bool) -> None:
    """Say everything that would stop the runs of a publication file, or of all those of a folder, with file and line.

    [PATH] is the file or the folder, include/publications if it is left out. Beside the keys of each file it checks
    that hierarchies can be read, that a person has reviewed the file, that what it names is installed, that the site
    policy is kept, and that no two files publish one dataset. No data is read, nothing is run or written. Exit code 2:
    there are problems.
    """
    folder = path or FOLDER
    if not folder.exists():
        raise InvalidInputError(f"there is no folder {folder} here; name the file or the folder to validate")
    files = sorted(folder.glob("*.y*ml")) if folder.is_dir() else [folder]
    if not files:
        raise InvalidInputError(f"there is no publication file (*.yaml) in {folder}")
    found = problems_of(files)
    if as_json:
        print_json({"files": list(map(str, files)), "problems": list(map(asdict, found)), "valid": not found})
    else:
        for one in found:
            click.echo(one.sentence)
        bad = {one.file for one in found}
        click.echo(f"{counted(len(files), 'publication file')}, {counted(len(found), 'problem')} in {len(bad)} of them")
    raise click.exceptions.Exit(2 if found else 0)


def problems_of(files: Sequence[Path]) -> list[Found]:
    """Return every problem of publication files, in the order of files and lines."""
    from anon_core.spec import load_spec

    found: list[Found] = []
    publishers: dict[str, Path] = {}
    for file in files:
        try:
            publication = load_spec(file)
        except SpecError as error:
            found += [Found(file=str(file), line=one.line, where=one.where, what=one.what) for one in error.problems]
            continue
        found += [Found(file=str(file), line=0, where="", what=what) for what in _what_stops_it(publication)]
        if other := publishers.get(publication.dataset):
            what = f"{other.name} publishes {publication.dataset!r} already"
            found.append(Found(file=str(file), line=0, where="dataset", what=what))
        publishers.setdefault(publication.dataset, file)
    return found


def _what_stops_it(publication: Publication) -> Iterator[str]:
    """Yield what would stop every run of a publication file that can be read."""
    from anon_airflow.run.home import Home
    from anon_airflow.run.site_policy import policy_in_force
    from anon_core.hierarchy.coarsen import check_levels
    from anon_core.site import undercuts
    from anon_core.waivers import ended, too_far

    today = datetime.now(UTC).date()
    yield from publication.unread
    if not publication.reviewed:
        yield "it is a draft: a person has to read it and write `reviewed: {by, on}`"
    try:
        publication.check_files()
        check_levels(publication)
    except HierarchyError as error:
        yield from error.problems
    except InvalidInputError as error:
        yield str(error)
    site = policy_in_force(Home.find()).policy
    unit = publication.unit
    yield from undercuts(publication, site, today)
    yield from (one.sentence for one in ended(publication.privacy, today, unit))
    yield from (one.sentence for one in too_far(publication.privacy, today, site.longest_acceptance_days, unit))
