"""What Airflow was last told about a publication file that ran, for when the file is broken or has gone.

A broken file must not silently remove a monthly release: its DAG keeps its id and schedule, fails at every run, and the
same people are notified. `stage` writes this after the file was read; a DAG file reads it only for a broken file.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from anon_airflow.run.home import Home, private_folder, write_private
from anon_core.errors import StorageError
from anon_core.files.storage import digest
from anon_core.spec import Event, Notification, Publication

if TYPE_CHECKING:  # It imports the audit store, and a DAG file imports this module at every parse.
    from anon_airflow.run.context import Run

_NOTIFICATIONS = TypeAdapter(tuple[Notification, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class LastKnown:
    """
    What a DAG is made of beside its tasks; ``schedule`` is null, a cron expression or a mapping with an asset.

    ``notify`` are the notifications as they are written in the file.
    """

    dataset: str
    title: str
    dag_id: str
    schedule: Any
    timezone: str
    approval: bool
    notify: list[dict[str, Any]]

    def notifications(self, event: Event) -> tuple[Notification, ...]:
        """Return who is notified of an event; nobody where the entry was damaged."""
        try:
            listed = _NOTIFICATIONS.validate_python(self.notify)
        except ValidationError:
            return ()
        return tuple(one for one in listed if event in one.on)


def of(publication: Publication) -> LastKnown:
    """Return what is to be known about a publication file later."""
    settings, schedule = publication.airflow, publication.schedule
    return LastKnown(
        dataset=publication.dataset,
        title=publication.title,
        dag_id=publication.dag_id,
        schedule=schedule if schedule is None or isinstance(schedule, str) else {"asset": schedule.asset},
        timezone=settings.timezone,
        approval=publication.approval.required,
        notify=[one.model_dump(mode="json") for one in settings.notify],
    )


def remember(run: Run) -> None:
    """Write what is known about the publication file of a run; a disk that does not take it stops no run."""
    path, known = _path(run.home, run.publication.file), of(run.publication)
    if _read(path) == known:
        return
    with contextlib.suppress(StorageError):
        private_folder(path.parent)
        write_private(path, json.dumps(asdict(known), indent=1, sort_keys=True).encode())


def recall(home: Home, spec: Path) -> LastKnown | None:
    """Return what was last known about a publication file; None if it never ran, or what was written is damaged."""
    return _read(_path(home, spec))


def recall_dataset(home: Home, dataset: str) -> LastKnown | None:
    """The same by the name of the dataset, where no publication file is at hand."""
    found = (_read(path) for path in sorted((home.root / "publications").glob("*.json")))
    return next((one for one in found if one and one.dataset == dataset), None)


def _path(home: Home, spec: Path) -> Path:
    return home.root / "publications" / f"{spec.stem[:60]}-{digest(str(spec.absolute()))[:8]}.json"


def _read(path: Path) -> LastKnown | None:
    try:
        found = LastKnown(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    texts = (found.dataset, found.title, found.dag_id, found.timezone)
    whole = all(isinstance(text, str) for text in texts) and isinstance(found.notify, list)
    return found if whole and isinstance(found.schedule, str | dict | None) else None
