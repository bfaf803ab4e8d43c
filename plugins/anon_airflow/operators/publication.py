"""What all operators share: which publication file, which run, and how errors end a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from anon_core.errors import AnonError, InternalError, StorageError

if TYPE_CHECKING:
    from airflow.sdk import Context

    from anon_airflow.run import Run


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
        """Take one step and return its counts."""
        with failing_for_good():
            result = step(run_of(self.spec, context), *args, **options)
        self.log.info("%s: %s", step.__name__, ", ".join(f"{key}={value}" for key, value in result.items()))
        return result

    def say(self, text: str) -> None:
        """Show progress in the task's log."""
        self.log.info(text)
