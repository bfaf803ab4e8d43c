"""What all operators share: which publication file, which run, and how errors end a task."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException, AirflowTaskTimeout

from anon_core.errors import AnonError, InternalError, StorageError

if TYPE_CHECKING:
    from airflow.sdk import Context

    from anon_airflow.run import Run

PATIENCE = 60
"""Seconds to wait for a task of the same run that was told to stop; Airflow kills it after about ten."""


def run_of(spec: str, context: Context) -> Run:
    """Return the run that a task belongs to, by the publication file as it is now."""
    from anon_airflow.hooks.ckan import server_of
    from anon_airflow.run import Run

    dag_run: Any = context["dag_run"]
    start = dag_run.data_interval_start
    return Run.of(
        spec,
        dag_run.run_id,
        period=start.date().isoformat() if start else None,
        actor=dag_run.triggering_user_name or f"airflow ({getattr(dag_run.run_type, 'value', dag_run.run_type)})",
        connect=server_of,
    )


@contextmanager
def failing_for_good() -> Iterator[None]:
    """
    End a task as its error deserves.

    Wrong input and refusals fail at once: trying again changes nothing. What the disk or the database refuses, and what
    we did not foresee, may be tried again. No error of a library comes through, for it may quote a cell.
    """
    try:
        yield
    except (StorageError, InternalError):
        raise
    except AnonError as error:
        raise AirflowFailException(str(error)) from None


class PublicationOperator(BaseOperator):
    """
    A step of the run of one publication file.

    :param spec: path of the publication file.
    """

    template_fields: Sequence[str] = ()

    def __init__(self, *, spec: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.spec = spec

    def take(self, step: Callable[..., dict[str, Any]], context: Context, *args: Any, **options: Any) -> dict[str, Any]:
        """
        Take one step and return its counts, alone: whatever Airflow believes, two tasks of a run are never at work.

        Who marks a task failed, or successful, starts the next one while it still works. `record` would remove the
        originals, and `stage` would then write them.
        """
        from anon_airflow import stopping
        from anon_airflow.audit.lock_file import locked

        stopping.listen()
        with failing_for_good(), locked(self.lock_file(context), PATIENCE):
            result = step(run_of(self.spec, context), *args, **options)
        self.log.info("%s: %s", step.__name__, ", ".join(f"{key}={value}" for key, value in result.items()))
        return result

    def lock_file(self, context: Context) -> Path:
        """Return what a task of this run holds while it works. Nothing in the publication file decides where."""
        from anon_airflow.home import Home, private_folder
        from anon_airflow.run import staging_of

        home = Home.find()
        staging = staging_of(home, Path(self.spec), context["run_id"])
        return private_folder(home.root / "locks" / staging.parent.name) / f"{staging.name}.lock"

    def on_kill(self) -> None:
        """
        Stop at once when Airflow says so: without this a task works on, and may publish, until it is killed.

        After a time limit, too, Airflow calls this, when there is nothing to stop any more.
        """
        from anon_airflow import stopping

        if not isinstance(sys.exception(), AirflowTaskTimeout):
            stopping.stop()

    def say(self, text: str) -> None:
        """Show progress in the task's log."""
        self.log.info(text)
