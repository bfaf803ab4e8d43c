"""What all operators share: which publication file, which run, and how errors end a task."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.sdk import BaseOperator, ExceptionRetryPolicy, RetryAction, RetryRule
from airflow.sdk.exceptions import AirflowRuntimeError, AirflowTaskTimeout

from anon_airflow.operators.failed_for_good import FailedForGood, log_reasons
from anon_core.errors import AnonError, InternalError, InvalidInputError, StorageError

if TYPE_CHECKING:
    from airflow.sdk import Context
    from airflow.sdk.types import Logger

    from anon_airflow.run.context import Run

LOCK_TIMEOUT_S = 60
"""How long to wait for a task of the same run that Airflow is stopping; Airflow kills it after about ten seconds."""


NEVER_AGAIN = ExceptionRetryPolicy(rules=[RetryRule(exception=FailedForGood, action=RetryAction.FAIL)])
"""The retry policy of our tasks: trying again changes neither a refusal nor wrong input."""


def run_of(spec: str, context: Context, retry_delay: timedelta = timedelta(0)) -> Run:
    """
    Return the run that a task belongs to, by the publication file as it is now.

    ``retry_delay`` is how long Airflow may wait to try a task again.
    """
    from anon_airflow.hooks.connection import from_airflow
    from anon_airflow.run.context import Run
    from anon_airflow.run.sweep import is_by_hand

    dag_run: Any = context["dag_run"]
    if is_by_hand(dag_run.run_id):
        raise InvalidInputError(
            "the id of this DAG run has the form of those that `anon run` gives, whose originals are swept as soon as "
            "no step is at work: trigger it again with another id, or with none"
        )
    start = dag_run.data_interval_start
    return Run.of(
        spec,
        dag_run.run_id,
        period=start.date().isoformat() if start else None,
        actor=dag_run.triggering_user_name or f"airflow ({getattr(dag_run.run_type, 'value', dag_run.run_type)})",
        connect=from_airflow,
        retry_delay=retry_delay,
        policy_file=configured_policy(),
        state_of=partial(state_of, context),
    )


def state_of(context: Context, run_id: str) -> str | None:
    """Return the state that Airflow shows of another run of this DAG; None if it knows no such run, or does not say."""
    task: Any = context["ti"]
    try:
        return str(task.get_dagrun_state(task.dag_id, run_id))
    except AirflowRuntimeError:
        return None


def configured_policy() -> Path | None:
    """Return the site policy that Airflow's configuration names, ``[anonflow] policy``; None where it names none."""
    from airflow.sdk.configuration import conf

    named = (conf.get("anonflow", "policy", fallback=None) or "").strip()
    return Path(named) if named else None


def longest_delay(task: BaseOperator) -> timedelta:
    """Return the longest time that Airflow lets pass before it tries a task again."""
    from airflow.sdk.definitions._internal.abstractoperator import MAX_RETRY_DELAY

    ceiling = task.max_retry_delay or timedelta(seconds=MAX_RETRY_DELAY)
    ceiling = ceiling if isinstance(ceiling, timedelta) else timedelta(seconds=ceiling)
    grows = task.retry_policy not in (None, NEVER_AGAIN) or task.retry_exponential_backoff not in (0, 1)
    return max(task.retry_delay, ceiling) if grows else task.retry_delay


@contextmanager
def failing_for_good(log: Logger) -> Iterator[None]:
    """
    End a task as its error deserves.

    Wrong input and refusals fail at once, with their reasons in the log. What the disk or the database refuses, and
    what we did not foresee, may be tried again. No error of a library comes through, for it may quote a cell.
    """
    try:
        yield
    except (StorageError, InternalError):
        raise
    except AnonError as error:
        log_reasons(log, error)
        raise FailedForGood(str(error)) from None


class PublicationOperator(BaseOperator):
    """
    A step of the run of one publication file.

    :param spec: path of the publication file.
    """

    template_fields: Sequence[str] = ()
    verb: ClassVar[str]
    """The step that the task takes, where it needs to be told no more than that."""

    def __init__(self, *, spec: str, **kwargs: Any) -> None:
        super().__init__(**{"retry_policy": NEVER_AGAIN, **kwargs})
        self.spec = spec

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps

        return self.take(getattr(steps, self.verb), context, progress=self.say)

    def take(self, step: Callable[..., dict[str, Any]], context: Context, *args: Any, **options: Any) -> dict[str, Any]:
        """
        Take one step and return its counts, alone, whatever Airflow believes; some steps run beside each other.

        Marking a task failed, or successful, starts the next task while the first is still running. `record` would
        remove the originals, and `stage` would then write them.
        """
        from anon_airflow.run import cancellation

        cancellation.listen()
        with failing_for_good(self.log), self._locked(step.__name__, context):
            result = step(run_of(self.spec, context, longest_delay(self)), *args, **options)
        self.log.info("%s: %s", step.__name__, ", ".join(f"{key}={value}" for key, value in result.items()))
        return result

    def _locked(self, step: str, context: Context) -> AbstractContextManager[None]:
        from anon_airflow.run.locks import locked
        from anon_airflow.run.run_lock import BESIDE, beside_others
        from anon_airflow.sources.staging import ORIGINAL

        lock = self.lock_file(context)
        if step not in BESIDE:
            return locked(lock, LOCK_TIMEOUT_S)
        return beside_others(lock, step, self.staging(context) / ORIGINAL, LOCK_TIMEOUT_S)

    def lock_file(self, context: Context) -> Path:
        """Return what a task of this run holds while it works. Nothing in the publication file decides where."""
        from anon_airflow.run.home import Home, private_folder

        lock = Home.find().lock_of(self.staging(context))
        private_folder(lock.parent)
        return lock

    def staging(self, context: Context) -> Path:
        """Return the folder of the originals of this run."""
        from anon_airflow.run.context import staging_of
        from anon_airflow.run.home import Home

        return staging_of(Home.find(), Path(self.spec), context["run_id"])

    def on_kill(self) -> None:
        """
        Stop at once when Airflow says so: without this a task works on, and may publish, until it is killed.

        After a time limit, too, Airflow calls this, when there is nothing to stop any more.
        """
        from anon_airflow.run import cancellation

        if not isinstance(sys.exception(), AirflowTaskTimeout):
            cancellation.stop()

    def say(self, text: str) -> None:
        """Show progress in the task's log."""
        self.log.info(text)
