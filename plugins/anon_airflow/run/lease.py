"""The lease of a run: until when its originals may stay in the staging area while no step is at work.

Between two tasks, or while Airflow waits to retry one, a live run holds no lock. So a free lock does not prove that a
run is dead: its originals stay until the lease has ended, too. ``stage`` writes the lease before the first original,
and every step renews it when it begins, from time to time, and when it ends.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from anon_airflow.run.context import Run
from anon_airflow.run.home import whole_folder, write_private
from anon_core.errors import StorageError

FILE = "lease.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """
    Which run the originals in a staging folder belong to, and until when they may wait for its next step.

    ``host`` and ``home`` are where the run is at work. ``kept``: the publication file has ``keep_staging: true``.
    """

    run_id: str
    dataset: str
    host: str
    home: str
    end: str
    kept: bool

    @classmethod
    def read(cls, folder: Path) -> Lease | None:
        """Return the lease in a staging folder; None if there is none, or it cannot be read."""
        try:
            found = json.loads((folder / FILE).read_bytes())
            lease = cls(**found)
            datetime.fromisoformat(lease.end).astimezone(UTC)
        except (OSError, ValueError, TypeError, OverflowError, RecursionError):
            return None
        texts = all(isinstance(getattr(lease, name), str) for name in _TEXTS)
        return lease if texts and isinstance(lease.kept, bool) else None

    @property
    def is_here(self) -> bool:
        """Whether the run is one of this host: locks of another host cannot be seen from here."""
        return self.host == this_host()

    def is_of(self, home: Path) -> bool:
        """
        Whether the run is one of this home: the locks of another home lie there.

        A home that no longer exists was moved, and the run with it.
        """
        try:
            return Path(self.home).samefile(home)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):  # The folder may exist, but cannot be read.
            return False

    def has_run_out(self, now: datetime) -> bool:
        return datetime.fromisoformat(self.end).astimezone(UTC) <= now


_TEXTS = ("run_id", "dataset", "host", "home", "end")


def this_host() -> str:
    return socket.gethostname()


def make_staging(run: Run) -> None:
    """
    Make the staging folder of a run, with its lease in it from the first moment on.

    :raises StorageError: the folder cannot be written.
    """
    with whole_folder(run.staging, "making the staging folder") as part:
        _write_lease(run, part)


def _write_lease(run: Run, folder: Path) -> None:
    """Write the lease of a run. The lease of a run that holds its lock to its end has already ended."""
    lease = Lease(
        run_id=run.run_id,
        dataset=run.dataset,
        host=this_host(),
        home=str(run.home.root),
        end=(datetime.now(UTC) + run.lease).isoformat(timespec="seconds"),
        kept=run.publication.keep_staging,
    )
    write_private(folder / FILE, json.dumps(asdict(lease), indent=1, sort_keys=True).encode())


@contextlib.contextmanager
def leased(run: Run) -> Iterator[None]:
    """Renew the lease of a run while a step of it is at work, if it has originals."""
    ended = threading.Event()

    def renew() -> None:
        # Only the sweeper needs the lease: a step must not fail because of it.
        with contextlib.suppress(StorageError):
            if (run.staging / FILE).exists():
                _write_lease(run, run.staging)

    def renew_repeatedly() -> None:
        while not ended.wait(run.lease.total_seconds() / 4):
            renew()

    renew()
    if run.lease:
        threading.Thread(target=renew_repeatedly, name="lease", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        renew()
