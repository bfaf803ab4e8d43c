"""The sweeper: it removes what dead runs have left in the home, and lists the originals of live runs.

It removes originals if their run is closed in the audit store, or if its lock is free and its lease has ended. In
both cases it holds the lock of the run while it decides and removes, so no step of the run is at work. It lists the
originals of another host and never removes them: locks of another host cannot be seen from here.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from anon_airflow.audit import AuditStore
from anon_airflow.audit.history import Rows, begun
from anon_airflow.keys.ring import KeyRing
from anon_airflow.run.context import folder_name
from anon_airflow.run.home import Home, private_folder, wipe
from anon_airflow.run.lease import Lease
from anon_airflow.run.locks import is_held, locked_if_free
from anon_airflow.run.run_lock import remove_locks
from anon_core.errors import AnonError, StorageError
from anon_core.files.storage import storage
from anon_core.wording import printable

Closed = Callable[[Lease], bool]

BY_HAND = "anon__"
"""The prefix of the ids of runs that ``anon run`` starts."""

_HIDDEN = re.compile(r"(\.(gone|part)-)*")
_FOLDER_BY_HAND = re.compile(r"anon-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{6}-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Originals:
    """A staging folder; ``state`` is why it is still there, or why it was removed."""

    folder: str
    dataset: str | None
    run_id: str | None
    state: str

    @property
    def sentence(self) -> str:
        """The same as a sentence for the operator."""
        whose = f"run {self.run_id} of {self.dataset}" if self.run_id else "a run"
        return f"originals of {whose} in {self.folder}: {self.state}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep has removed, the originals that it has left, and those that it could not remove."""

    removed: tuple[Originals, ...]
    left: tuple[Originals, ...]
    failed: tuple[Originals, ...] = ()
    gated: tuple[str, ...] = ()
    """Folders of gated files that runs by hand left when they were killed, and that are gone now."""


def is_by_hand(run_id: str) -> bool:
    """Whether a run id has the form that ``anon run`` gives; runs of Airflow must not have such an id."""
    return bool(_FOLDER_BY_HAND.fullmatch(folder_name(run_id)))


def closed_in(audit: AuditStore) -> Closed:
    """
    Return a function: is the run of a lease closed in the audit store?

    Rows that the chain does not prove close no run: otherwise a forged outcome could remove the originals of a run that
    is waiting.
    """

    @functools.cache
    def proven() -> Rows:
        try:
            return audit.proven("intents", "outcomes")
        except AnonError:
            return {"intents": [], "outcomes": []}

    def closed(lease: Lease) -> bool:
        whose = (lease.run_id, lease.dataset)
        start = begun({"intents": [row for row in proven()["intents"] if (row["run_id"], row["dataset"]) == whose]})
        return start is not None and any(row["intent_id"] == start["id"] for row in proven()["outcomes"])

    return closed


@contextlib.contextmanager
def closed_in_home(home: Home) -> Iterator[Closed]:
    """The same for the audit store of a home. If the store cannot be read, leases alone decide."""
    with contextlib.ExitStack() as stack:
        closed: Closed = _none_is_closed
        if home.audit_url is not None or (home.root / "audit.db").exists():
            with contextlib.suppress(AnonError):  # No key, or a store that cannot be read: no run counts as closed.
                ring = KeyRing.load(home.root, create=False)
                closed = closed_in(stack.enter_context(AuditStore.open(home.audit_url, home.root, ring, create=False)))
        yield closed


def _none_is_closed(_: Lease) -> bool:
    return False


def sweep(home: Home, closed: Closed, *, dataset: str | None = None, kept: bool = False) -> Swept:
    """
    Remove what dead runs have left, of every dataset; return what was removed and what was not.

    Originals that ``keep_staging`` keeps stay until the next run of their ``dataset``, or until the operator removes
    them (``kept``).
    """

    def unwanted(lease: Lease) -> bool:
        return kept or lease.dataset == dataset

    removed, left, failed = [], [], []
    for folder in _staged(home):
        originals = _named(folder, Lease.read(folder), "its state is not known")
        try:
            with _locked_run(home, folder) as free:
                found = _state(home, folder, free, closed, unwanted)
                if found is None:
                    continue
                originals, to_remove = found
                if not to_remove:
                    left.append(originals)
                    continue
                _remove(folder)
                with contextlib.suppress(OSError):  # Empty lock files do no harm.
                    remove_locks(_lock_of(home, folder))
                removed.append(originals)
        except StorageError as error:  # The others are swept all the same.
            failed.append(replace(originals, state=f"cannot be removed ({error.reason}); {originals.state}"))
    left += _links(home)
    gated = tuple(_sweep_runs_by_hand(home))
    return Swept(removed=tuple(removed), left=tuple(left), failed=tuple(failed), gated=gated)


def originals(home: Home, closed: Closed) -> tuple[Originals, ...]:
    """Return the originals that are still in the staging area, and why; nothing is changed."""
    found = []
    for folder in _staged(home):
        lock = _lock_of(home, folder)
        state = _state(home, folder, not is_held(lock), closed, lambda _: False)
        if state is not None:
            found.append(state[0])
    return (*found, *_links(home))


def _state(
    home: Home, folder: Path, free: bool, closed: Closed, unwanted: Callable[[Lease], bool]
) -> tuple[Originals, bool] | None:
    """Return the state of a staging folder, and whether to remove it; None for one that is gone."""
    lease, now = Lease.read(folder), datetime.now(UTC)
    try:
        changed = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    except FileNotFoundError:
        return None
    if not free:
        return _named(folder, lease, "its run is at work"), False
    if lease and not lease.is_here:
        return _named(folder, lease, f"its run is one of host {lease.host!r}: run `anon sweep` there"), False
    if lease and not lease.is_of(home.root):
        return _named(folder, lease, f"its run is one of the home {lease.home!r}: run `anon sweep` there"), False
    if folder.name.startswith("."):
        return _named(folder, lease, "its removal was interrupted"), True
    if lease is None:  # A folder has its lease from the first moment on, so this one was damaged.
        end = changed + home.lease
        return _named(folder, lease, f"it has no lease, and is removed from {end:%Y-%m-%d %H:%M} UTC on"), end <= now
    if lease.kept and not unwanted(lease):
        return _named(folder, lease, "kept by `keep_staging`: `anon sweep --kept` removes it"), False
    if closed(lease):
        return _named(folder, lease, "its run is closed"), True
    # A run by hand holds its lock to its end, so a free lock is enough: its lease may come from a wrong clock.
    if lease.has_run_out(now) or _FOLDER_BY_HAND.fullmatch(folder.name):
        return _named(folder, lease, "its run is dead: its lock is free and its lease has run out"), True
    return _named(folder, lease, f"its run waits for its next step, until {lease.end} at the latest"), False


def _named(folder: Path, lease: Lease | None, state: str) -> Originals:
    return Originals(
        folder=printable(str(folder)),
        dataset=printable(lease.dataset) if lease else None,
        run_id=printable(lease.run_id) if lease else None,
        state=printable(state),
    )


def _staged(home: Home) -> list[Path]:
    """Return every folder of a run in the staging area, half written and half removed ones too."""
    with storage("looking for originals", home.staging):
        areas = [area for area in home.staging.iterdir() if _is_folder(area)] if home.staging.is_dir() else []
        return sorted(folder for area in areas for folder in area.iterdir() if _is_folder(folder))


def _links(home: Home) -> Iterator[Originals]:
    """Yield the links in the staging area: anonflow makes none, and what they lead to is not its own to remove."""
    with storage("looking for originals", home.staging):
        for path in (*home.staging.glob("*"), *home.staging.glob("*/*")):
            if path.is_symlink():
                yield _named(path, None, "it is a link, which anonflow does not follow: look where it leads, remove it")


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _lock_of(home: Home, folder: Path) -> Path:
    return home.lock_of(folder.with_name(_HIDDEN.sub("", folder.name, count=1)))


@contextlib.contextmanager
def _locked_run(home: Home, folder: Path) -> Iterator[bool]:
    lock = _lock_of(home, folder)
    private_folder(lock.parent)
    with locked_if_free(lock) as free:
        yield free


def _remove(folder: Path) -> None:
    wipe(folder)
    with contextlib.suppress(OSError):  # Other runs of the publication lie there.
        folder.parent.rmdir()


def _sweep_runs_by_hand(home: Home) -> Iterator[str]:
    """
    Remove gated files and half-written notes of dead runs by hand; runs of Airflow may still need theirs.

    Yield the folders of gated files.
    """
    for area in (home.gated, home.notes):
        for folder in area.glob("*/*"):
            name = _HIDDEN.sub("", folder.name, count=1)
            if not _FOLDER_BY_HAND.fullmatch(name) or any(map(is_held, home.locks.glob(f"*/{name}.lock"))):
                continue
            with contextlib.suppress(StorageError, OSError):  # No originals: the next sweep tries again.
                if area == home.gated:
                    wipe(folder)
                    yield str(folder)
                for part in folder.glob(".*.part"):
                    part.unlink()
