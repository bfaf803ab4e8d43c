"""The private folder where anonflow keeps its state: staging, gated files, notes of runs, key and audit store."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from anon_airflow.withheld import reason_of
from anon_core.errors import StorageError

FOLDER = ".anonflow"


@dataclass(frozen=True, slots=True)
class Home:
    """Where things are. Every folder below it is readable by its owner only."""

    root: Path
    audit_url: str | None = None

    @classmethod
    def find(cls, environ: Mapping[str, str] | None = None, start: Path | None = None) -> Home:
        """
        Return the home: ANON_HOME, else a ``.anonflow`` folder here or above (as git does), else ``~/.anonflow``.

        ANON_AUDIT_URL names another audit database than ``audit.db`` in it.
        """
        environ = os.environ if environ is None else environ
        url = environ.get("ANON_AUDIT_URL")
        if environ.get("ANON_HOME"):
            return cls(Path(environ["ANON_HOME"]).expanduser().absolute(), url)
        here = (start or Path.cwd()).absolute()
        for folder in (here, *here.parents):
            if (folder / FOLDER).is_dir():
                return cls(folder / FOLDER, url)
        return cls(Path.home() / FOLDER, url)

    @property
    def staging(self) -> Path:
        """Originals and files not yet measured; gone when the gate ends."""
        return self.root / "staging"

    @property
    def gated(self) -> Path:
        """Files that passed the gate and wait to be published."""
        return self.root / "gated"

    @property
    def notes(self) -> Path:
        """Counts and names that the steps of a run leave for the next ones, and the internal reports."""
        return self.root / "runs"


def private_folder(path: Path) -> Path:
    """Make a folder, and those above it that are missing, for its owner only."""
    with storage("making a private folder", path):
        for folder in reversed([path, *path.parents]):
            if not folder.exists():
                with contextlib.suppress(FileExistsError):
                    folder.mkdir(mode=0o700)
        if path.stat().st_mode & 0o077:
            path.chmod(0o700)
    return path


def write_private(path: Path, content: bytes) -> None:
    """Write a file for its owner only, completely or not at all."""
    part = path.with_name(f".{path.name}.part")
    with storage("writing", path):
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)


def wipe(folder: Path) -> None:
    """
    Remove a folder. It is moved out of sight first, so that nobody ever finds half of it.

    What a removal that was killed half way left out of sight is removed too, whether the folder is there or not.
    """
    trash = folder.with_name(f".gone-{folder.name}")
    with storage("removing", folder):
        if trash.exists():
            shutil.rmtree(trash)
        if folder.exists():
            folder.replace(trash)
            shutil.rmtree(trash)


@contextlib.contextmanager
def storage(doing: str, path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a clear error."""
    try:
        yield
    except OSError as error:
        raise StorageError(str(path), doing, reason_of(error)) from None
