"""The base class of the operators: it finds the publication file and the run, and decides how errors end a task."""

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

from anon_airflow.run.failed_for_good import FailedForGood, log_reasons
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
            "the id of this DAG run has the form that `anon run` uses, and a sweep removes the originals of such runs "
            "as soon as no step is at work: trigger it again with another id, or without one"
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
    from airflow.sdk.api.client import ServerResponseError  # `airflow dags test` lets it through as it is.

    task: Any = context["ti"]
    try:
        state = task.get_dagrun_state(task.dag_id, run_id)
    except (AirflowRuntimeError, ServerResponseError):
        return None
    return str(getattr(state, "value", state))


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
def error_policy(log: Logger) -> Iterator[None]:
    """
    Decide whether Airflow may retry a task that ends with an error.

    Wrong input and refusals fail at once, with their reasons in the log: a retry changes nothing. Errors of the disk or
    the database, and unexpected errors, may be retried. No error of a library leaves this block, because it may quote a
    cell.
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
    """The name of the step that the task takes, for operators that pass no further arguments."""

    def __init__(self, *, spec: str, **kwargs: Any) -> None:
        super().__init__(**{"retry_policy": NEVER_AGAIN, **kwargs})
        self.spec = spec

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps

        return self.take(getattr(steps, self.verb), context, progress=self.say)

    def take(self, step: Callable[..., dict[str, Any]], context: Context, *args: Any, **options: Any) -> dict[str, Any]:
        """
        Take one step under the lock of the run, and return its counts.

        Marking a task failed, or successful, starts the next task while the first is still running. Without the lock,
        `record` would remove the originals, and a `stage` that still runs would write them again.
        """
        from anon_airflow.run import cancellation

        cancellation.reset()
        with error_policy(self.log), self._locked(step.__name__, context):
            result = step(run_of(self.spec, context, longest_delay(self)), *args, **options)
        self.log.info("%s: %s", step.__name__, ", ".join(f"{key}={value}" for key, value in result.items()))
        return result

    def _locked(self, step: str, context: Context) -> AbstractContextManager[None]:
        from anon_airflow.run.locks import locked
        from anon_airflow.run.run_lock import CONCURRENT_STEPS, held_with_others
        from anon_airflow.sources.staging import ORIGINAL

        lock = self.lock_file(context)
        if step not in CONCURRENT_STEPS:
            return locked(lock, LOCK_TIMEOUT_S)
        return held_with_others(lock, step, self.staging(context) / ORIGINAL, LOCK_TIMEOUT_S)

    def lock_file(self, context: Context) -> Path:
        """Return the lock file of this run. Its path does not depend on the content of the publication file."""
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
        Stop at once when Airflow requests it: without this a task works on, and may publish, until it is killed.

        Airflow also calls this after a time limit, when the step has ended already.
        """
        from anon_airflow.run import cancellation

        if not isinstance(sys.exception(), AirflowTaskTimeout):
            cancellation.stop()

    def say(self, text: str) -> None:
        """Show progress in the task's log."""
        self.log.info(text)
