"""One folder with a home, a publication file and a portal, that can be put back to how it was."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.anon_process import Ended, Started, start
from tests.faults.matrix.interposer import Fault, library
from tests.faults.publications import TOWNS, people, portal_of, source_of, write_publication

CANARY = "Canary"
"""Every town of the source begins with it, and no table is published by town."""
RUN_ID = "scheduled__2026-11-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command, or a function that is called as one, with what it needs in its environment."""

    words: tuple[str, ...]
    call: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict)


class Place:
    """A folder in which operations are tried, again and again from the same state."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "place"
        self.saved = folder / "saved"
        self._log = folder / "log"
        self.home = self.folder / "home"
        self.spec = self.folder / "include/publications/people.yaml"
        self.portal = portal_of(self.spec)
        self.source = source_of(self.spec)
        self.temporary = self.folder / "tmp"
        self.folder.mkdir()

    def write(self, seed: int = 1, **changes: Any) -> None:
        """Write the publication file and a source of people, others for another seed."""
        towns = [(f"{CANARY} {town}", province) for town, province in TOWNS]
        rows = [(*row[:2], f"{CANARY} {row[2]}", *row[3:]) for row in people(200, seed)]
        columns = changes.pop("columns", None)
        options = {"columns": columns} if columns else {}
        write_publication(self.folder, rows, towns=towns, **options, **changes)

    def clear(self) -> None:
        """Begin anew with an empty folder."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()

    def save(self) -> None:
        """Keep the state for :meth:`restore`."""
        shutil.rmtree(self.saved, ignore_errors=True)
        shutil.copytree(self.folder, self.saved, symlinks=True)

    def restore(self) -> None:
        """Put the folder back to how it was when it was saved."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.saved, self.folder, symlinks=True)

    def do(self, command: Command, fault: Fault | None = None) -> Ended:
        """Run a command to its end."""
        return self.begin(command, fault).wait()

    def begin(self, command: Command, fault: Fault | None = None) -> Started:
        """Start a command, and let a fault strike it."""
        self._log.unlink(missing_ok=True)
        return start(
            *command.words,
            home=self.home,
            environ=command.environ,
            call=command.call,
            armed=fault.question(self._log) if fault else None,
            preload=library(),
        )

    def struck(self) -> list[tuple[str, str]]:
        """Return the calls that the last fault has logged, each with the path below the place."""
        with contextlib.suppress(FileNotFoundError):
            return [
                (call, path) for _, call, path in (line.split("\t", 2) for line in self._log.read_text().splitlines())
            ]
        return []
