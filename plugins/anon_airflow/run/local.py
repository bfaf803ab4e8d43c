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
    Take all steps: stage, recode, detect, score, gate, publish, and always record.

    Return the outcome, also of a refusal.

    :raises InvalidInputError: something was wrong before the data could be judged; the run is on record. A publication
        that needs an approval is rejected before the run begins.
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
        lease=timedelta(0),  # This run holds its lock to its end: if the lock is free, the run is dead.
    )
    source_text = render(publication.source_template, start, end)
    with _alone(run):
        try:
            # Nested: an interrupt is either caught below, or comes so late that it is ignored.
            try:
                steps.stage(run, source_text, progress)
                _recode(run, progress)
                steps.gate(run, progress)
                steps.publish(run, progress)
            except ComplianceError:
                pass  # The refusal is on record already, and `record` returns it.
            finally:
                cancellation.ignore_stops()
        except BaseException:  # Interrupts go on record too.
            _record_failure(run)
            raise
        result = steps.record(run)
        wipe(run.gated)  # No later run needs these files: the next run by hand has another id.
        return result


def _recode(run: Run, progress: Progress | None) -> None:
    """Recode, then take the informing steps for the reports, also if recoding refuses."""
    try:
        steps.recode(run, progress)
    except ComplianceError:
        _inform(run, progress)
        raise
    _inform(run, progress)


def _inform(run: Run, progress: Progress | None) -> None:
    """Take the steps that decide nothing. If one fails, the internal report names it and the run goes on."""
    for informing in (steps.detect, steps.score):
        try:
            informing(run, progress)
        except AnonError as error:
            log.warning("%s failed, and the run goes on without it: %s", informing.__name__, error)


def _record_failure(run: Run) -> None:
    """Put a run that was stopped on record. If that fails too, only a warning is logged: the first error counts."""
    try:
        steps.record(run)
    except AnonError as error:
        log.warning("the end of the run could not go on record: %s", error)
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
    """Return the name of the current user of the operating system."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # In a container a user may have no name.
        return f"uid {os.getuid()}"
