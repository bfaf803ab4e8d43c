"""All steps in a row, without Airflow: what ``anon run`` does."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import logging
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anon_airflow import steps, stopping
from anon_airflow.home import Home, private_folder, storage, wipe
from anon_airflow.run import Run
from anon_airflow.telling import Progress
from anon_core.errors import AnonError, ComplianceError, InvalidInputError, StorageError
from anon_core.spec import Publication

BY_HAND = "anon__"

log = logging.getLogger(__name__)


def run_all(
    publication: Publication, *, start: datetime | None, end: datetime | None, progress: Progress | None = None
) -> dict[str, Any]:
    """
    Stage, detect, score, recode, gate, publish, record; the last one whatever happens.

    Returns how it ended, a refusal too.

    :raises InvalidInputError: something was wrong before the data could be judged; the run is on record. One that needs
        an approval is refused before there is a run.
    """
    if publication.approval.required:
        raise InvalidInputError(
            f"{publication.file.name} has `approval.required`: approvals are given in Airflow, where people log in; "
            f"run its DAG, {publication.dag_id}"
        )
    run = Run(
        publication=publication,
        run_id=f"{BY_HAND}{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}",
        home=Home.find(),
        period=start.date().isoformat() if start else None,
        actor=operating_system_user(),
    )
    source_file = render(str(publication.source.file), start, end)
    with _alone(run):
        try:
            # Nested, so that whatever stops it, and whenever, either nothing can stop what comes after, or it is below.
            try:
                steps.stage(run, source_file, progress)
                steps.detect(run, progress)
                steps.score(run, progress)
                steps.recode(run, progress)
                steps.gate(run, progress)
                steps.publish(run, progress)
            except ComplianceError:
                pass  # It is on record already, and `record` tells it.
            finally:
                stopping.too_late()
        except BaseException:
            _record_failure(run)
            raise
        result = steps.record(run)
        wipe(run.gated)  # Nobody comes back for it: the next run by hand has another id.
        return result


def _record_failure(run: Run) -> None:
    """Put a run that was stopped on record; what stopped it is what to tell, even if the record fails too."""
    try:
        steps.record(run)
    except AnonError as error:
        log.warning("the end of the run could not be put on record: %s", error)
    with contextlib.suppress(StorageError):
        wipe(run.gated)


def render(template: str, start: datetime | None, end: datetime | None) -> str:
    """
    Fill in the period, with the names Airflow uses: ``{{ data_interval_start }}``, ``{{ ds }}`` and the like.

    :raises InvalidInputError: it asks for a period and none was given, or it is not a template.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    known: dict[str, Any] = {}
    if start:
        known |= {"data_interval_start": start, "logical_date": start, "ds": f"{start:%Y-%m-%d}"}
        known |= {"ds_nodash": f"{start:%Y%m%d}", "ts": start.isoformat()}
    if end:
        known["data_interval_end"] = end
    try:
        return SandboxedEnvironment(undefined=StrictUndefined).from_string(template).render(known)
    except Exception as error:  # noqa: BLE001 - A template is a small program: it can fail in any way.
        reason = error.message if isinstance(error, TemplateError) else type(error).__name__
        raise InvalidInputError(
            f"source.file {template!r} cannot be filled in ({reason}); "
            "give the period it needs with --period and --period-end"
        ) from None


@contextlib.contextmanager
def _alone(run: Run) -> Iterator[None]:
    """Let one ``anon run`` of a dataset work at a time, and clear what a killed one left behind."""
    lock = private_folder(run.home.root / "locks") / f"{run.dataset}.lock"
    with storage("locking the dataset", lock):
        stream = lock.open("w")
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInputError(f"another `anon run` of {run.dataset} is at work; wait for it to end") from None
        for folder in leftovers(run):
            wipe(folder)
        yield


def leftovers(run: Run) -> list[Path]:
    """
    Return the folders that killed runs by hand have left of this publication, half written and half removed ones too.

    Only one run by hand is at work at a time, so none of them is in use. Those of Airflow's runs are left alone.
    """
    by_hand = re.compile(rf"(\.(gone|part)-)*{BY_HAND.strip('_')}-")
    folders = [area for area in (run.staging.parent, run.gated.parent) if area.exists()]
    return sorted(path for folder in folders for path in folder.iterdir() if by_hand.match(path.name))


def operating_system_user() -> str:
    """Return who is at work here, as the operating system calls them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return f"uid {os.getuid()}"
