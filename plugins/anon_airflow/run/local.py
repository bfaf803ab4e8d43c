"""All steps in a row, without Airflow: what ``anon run`` does."""

from __future__ import annotations

import contextlib
import getpass
import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from anon_airflow import steps
from anon_airflow.run import cancellation
from anon_airflow.run.context import Run
from anon_airflow.run.home import Home, private_folder, wipe
from anon_airflow.run.locks import locked, locked_if_free
from anon_airflow.run.progress import Progress
from anon_airflow.run.sweep import BY_HAND
from anon_airflow.sources.template import render
from anon_core.errors import AnonError, ComplianceError, InvalidInputError, StorageError
from anon_core.spec import Publication

log = logging.getLogger(__name__)


def run_all(
    publication: Publication, *, start: datetime | None, end: datetime | None, progress: Progress | None = None
) -> dict[str, Any]:
    """
    Stage, recode, detect, score, gate, publish, record; the last one whatever happens.

    Returns how it ended, a refusal too.

    :raises InvalidInputError: something was wrong before the data could be judged; the run is on record. One that needs
        an approval is refused before there is a run.
    """
    publication.refuse_unread()
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
        lease=timedelta(0),  # It holds its lock to its end: if the lock is free, the run is dead.
    )
    source_text = render(publication.source_template, start, end)
    with _alone(run):
        try:
            # Nested, so that whatever stops it, and whenever, either nothing can stop what comes after, or it is below.
            try:
                steps.stage(run, source_text, progress)
                _recode(run, progress)
                steps.gate(run, progress)
                steps.publish(run, progress)
            except ComplianceError:
                pass  # It is on record already, and `record` tells it.
            finally:
                cancellation.too_late()
        except BaseException:  # A stop, too, goes on record.
            _record_failure(run)
            raise
        result = steps.record(run)
        wipe(run.gated)  # Nobody comes back for it: the next run by hand has another id.
        return result


def _recode(run: Run, progress: Progress | None) -> None:
    """Recode, then find out what the reports tell of the table as collected: of one that is refused, too."""
    try:
        steps.recode(run, progress)
    except ComplianceError:
        _inform(run, progress)
        raise
    _inform(run, progress)


def _inform(run: Run, progress: Progress | None) -> None:
    """Take the steps that decide nothing: one that fails is named in the internal report, and stops nothing."""
    for informing in (steps.detect, steps.score):
        try:
            informing(run, progress)
        except AnonError as error:
            log.warning("%s failed, and the run goes on without it: %s", informing.__name__, error)


def _record_failure(run: Run) -> None:
    """Put a run that was stopped on record; what stopped it is what to tell, even if the record fails too."""
    try:
        steps.record(run)
    except AnonError as error:
        log.warning("the end of the run could not be put on record: %s", error)
    with contextlib.suppress(StorageError):
        wipe(run.gated)


@contextlib.contextmanager
def _alone(run: Run) -> Iterator[None]:
    """Let one ``anon run`` of a dataset work at a time, and hold the lock of the run to its end."""
    with locked_if_free(private_folder(run.home.locks) / f"{run.dataset}.lock") as free:
        if not free:
            raise InvalidInputError(f"another `anon run` of {run.dataset} is at work; wait for it to end")
        with locked(run.lock, timeout_s=5):
            try:
                yield
            finally:
                with contextlib.suppress(OSError):  # The file is empty, and an earlier error is the one to report.
                    run.lock.unlink(missing_ok=True)


def operating_system_user() -> str:
    """Return who is at work here, as the operating system calls them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return f"uid {os.getuid()}"
