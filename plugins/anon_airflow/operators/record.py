"""``record`` as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anon_airflow.operators.publication import PublicationOperator
from anon_airflow.run.failed_for_good import FailedForGood
from anon_airflow.run.notify import tell
from anon_core.errors import AnonError
from anon_core.spec import Event

if TYPE_CHECKING:
    from airflow.sdk import Context

_EVENTS = {"published": Event.PUBLISHED, "refused": Event.REFUSED, "failed": Event.FAILED}
"""What people are notified of; an unchanged release is no news."""


def _words_of(error: BaseException) -> list[str]:
    """Return the lines of an error of ours; of any other only its class, because its text may quote a cell."""
    return str(error).splitlines() if isinstance(error, AnonError | FailedForGood) else [type(error).__name__]


class RecordOperator(PublicationOperator):
    """
    Close the run in the audit store, write its internal report, and remove every original that is left.

    The task fails, and as a teardown with ``on_failure_fail_dagrun`` it fails the DAG run, unless the record says that
    the release is on its portal: the states of the other tasks can be set by users of Airflow.
    """

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps
        from anon_airflow.audit.mismatch import PUBLISHED
        from anon_airflow.run.home import wipe
        from anon_airflow.run.run_lock import remove_locks

        try:
            result = self.take(steps.record, context)
        except (
            BaseException
        ) as error:  # Remove the originals also after a stop, or if the publication file is broken now.
            wipe(self.staging(context))
            tell(self.spec, context, Event.FAILED, reasons=_words_of(error), progress=self.say)
            raise
        remove_locks(self.lock_file(context))
        if event := _EVENTS.get(result["verdict"]):
            facts = {"version": result["release"] or "", "page": result["page"] or "", "reasons": result["reasons"]}
            tell(self.spec, context, event, **facts, progress=self.say)
        if result["verdict"] not in PUBLISHED:
            self.log.error("nothing was published; the run is on record as %s:", result["verdict"])
            for reason in result["reasons"] or ["no step has left a reason on record"]:
                self.log.error("- %s", reason)
            raise FailedForGood(f"the run is on record as {result['verdict']}")
        return result

    def as_teardown(self, *, setups: Any = None, on_failure_fail_dagrun: bool | None = True) -> RecordOperator:
        """Run whatever happened before; unless told otherwise, a run that published nothing then fails."""
        super().as_teardown(setups=setups, on_failure_fail_dagrun=on_failure_fail_dagrun)
        return self

    def on_kill(self) -> None:
        """Do not stop: no other task cleans up."""
