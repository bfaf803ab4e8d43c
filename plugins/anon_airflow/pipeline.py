"""All steps in a row, without Airflow: what ``anon run`` does."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anon_airflow import steps
from anon_airflow.home import Home, private_folder, wipe
from anon_airflow.run import Run
from anon_core.errors import InvalidInputError
from anon_core.spec import Publication

BY_HAND = "anon__"


def run_all(
    publication: Publication, *, start: datetime | None, end: datetime | None, progress: steps.Progress | None = None
) -> dict[str, Any]:
    """
    Stage, detect, score, recode, gate, publish, record; the last one whatever happens.

    :raises AnonError: whatever stopped it; the run is on record and nothing was published.
    """
    run = Run(
        publication=publication,
        run_id=f"{BY_HAND}{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}",
        home=Home.find(),
        period=start.date().isoformat() if start else None,
        actor=getpass.getuser(),
    )
    source_file = render(str(publication.source.file), start, end)
    with _alone(run):
        try:
            steps.stage(run, source_file, progress)
            steps.detect(run, progress)
            steps.score(run, progress)
            steps.recode(run, progress)
            steps.gate(run, progress)
            steps.publish(run, progress)
        finally:
            result = steps.record(run)
    return result


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
    except TemplateError as error:
        raise InvalidInputError(
            f"source.file {template!r} cannot be filled in ({error.message}); "
            "give the period it needs with --period and --period-end"
        ) from None


@contextlib.contextmanager
def _alone(run: Run) -> Iterator[None]:
    """Let one ``anon run`` of a dataset work at a time, and clear what a killed one left behind."""
    lock = private_folder(run.home.root / "locks") / f"{run.dataset}.lock"
    with lock.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInputError(f"another `anon run` of {run.dataset} is at work; wait for it to end") from None
        for folder in leftovers(run.home, run.dataset):
            wipe(folder)
        yield


def leftovers(home: Home, dataset: str) -> list[Path]:
    """Return the staging folders of this dataset that runs by hand have left: none of them can be at work."""
    prefix = BY_HAND.strip("_")
    return sorted((home.staging / dataset).glob(f"{prefix}-*")) if (home.staging / dataset).exists() else []
