"""The private folder where anonflow keeps its state: staging, gated files, notes of runs, key and audit store."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from anon_core.errors import InvalidInputError, StorageError
from anon_core.files.storage import storage, sync, whole_file

FOLDER = ".anonflow"
DEFAULT_LEASE = timedelta(hours=24)
GONE = ".gone-"
"""The prefix of folders that are being removed."""
LEASE_SETTING = "ANON_LEASE_HOURS"
MAX_LEASE_HOURS = 24 * 366


@dataclass(frozen=True, slots=True)
class Home:
    """
    The private folder of an installation. Every folder in it is readable by its owner only.

    ``lease`` is how long a run may rest between two steps before a sweep treats it as dead.
    """

    root: Path
    audit_url: str | None = None
    lease: timedelta = DEFAULT_LEASE

    @classmethod
    def find(cls, environ: Mapping[str, str] | None = None, start: Path | None = None) -> Home:
        """
        Return the home: ANON_HOME, else a ``.anonflow`` folder here or above (as git does), else ``~/.anonflow``.

        ANON_AUDIT_URL names another audit database than ``audit.db`` in it, ANON_LEASE_HOURS another lease.

        :raises InvalidInputError: ANON_LEASE_HOURS is not a number of hours.
        """
        environ = os.environ if environ is None else environ
        url, lease = environ.get("ANON_AUDIT_URL"), _lease(environ.get(LEASE_SETTING))
        if environ.get("ANON_HOME"):
            return cls(Path(environ["ANON_HOME"]).expanduser().absolute(), url, lease)
        here = (start or Path.cwd()).absolute()
        for folder in (here, *here.parents):
            if (folder / FOLDER).is_dir():
                return cls(folder / FOLDER, url, lease)
        return cls(Path.home() / FOLDER, url, lease)

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

    @property
    def locks(self) -> Path:
        """Lock files, which are empty."""
        return self.root / "locks"

    def lock_of(self, staging: Path) -> Path:
        """Return the lock of the run that has this staging folder: a step holds it while it works."""
        return self.locks / staging.parent.name / f"{staging.name}.lock"


def _lease(hours: str | None) -> timedelta:
    if not hours:
        return DEFAULT_LEASE
    try:
        number = float(hours)
    except ValueError:
        number = 0
    if not 0 < number <= MAX_LEASE_HOURS:
        raise InvalidInputError(
            f"{LEASE_SETTING} must be a number of hours between 0 and {MAX_LEASE_HOURS:,}: it limits how long "
            "originals may wait for the next step of their run"
        )
    return timedelta(hours=number)


def private_folder(path: Path) -> Path:
    """Make a folder that only its owner can read, and the missing folders above it."""
    with storage("making a private folder", path):
        for folder in reversed([path, *path.parents]):
            if not folder.exists():
                with contextlib.suppress(FileExistsError):
                    folder.mkdir(mode=0o700)
        if path.stat().st_mode & 0o077:
            path.chmod(0o700)
    return path


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, completely or not at all."""
    with whole_file(path) as part:
        part.write_bytes(content)


def wipe(folder: Path) -> None:
    """
    Remove a folder. It is renamed to a hidden name first, so that no process ever finds half of it.

    The hidden rest of an earlier removal that was killed is removed too, even if the folder itself does not exist.
    """
    hidden = folder.name.startswith(GONE)
    trash = folder if hidden else folder.with_name(f"{GONE}{folder.name}")
    with storage("removing", folder):
        if trash.exists():
            _remove_all(trash)
        if folder.exists() and not hidden:
            folder.replace(trash)
            _remove_all(trash)


@contextlib.contextmanager
def whole_folder(target: Path, doing: str) -> Iterator[Path]:
    """
    A private folder that is filled under a hidden name and then renamed: it appears complete or not at all.

    :raises StorageError: the folder cannot be written.
    """
    part = target.with_name(f".part-{target.name}")
    wipe(part)
    try:
        private_folder(part)
        with storage(doing, target):
            yield part
            part.replace(target)
            sync(target.parent)
    except BaseException:  # Interrupts too: no other process knows of this folder.
        with contextlib.suppress(
            StorageError
        ):  # The first error is the one to report; the next sweep removes the rest.
            wipe(part)
        raise


def _remove_all(folder: Path) -> None:
    """
    Remove a folder. If a file in it cannot be removed, remove all others.

    :raises OSError: the first file that could not be removed.
    """
    failures: list[OSError] = []

    def note(_function: object, _path: str, raised: tuple[type[BaseException], BaseException, object]) -> None:
        error = raised[1]
        if isinstance(error, FileNotFoundError):  # Another process removes it, too.
            return
        if not isinstance(error, OSError):
            raise error
        failures.append(error)

    shutil.rmtree(folder, onerror=note)
    if failures:
        raise failures[0]
