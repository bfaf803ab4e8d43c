"""``record`` as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anon_airflow.operators.failed_for_good import FailedForGood
from anon_airflow.operators.publication import PublicationOperator

if TYPE_CHECKING:
    from airflow.sdk import Context


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
        except BaseException:  # Neither a stop nor a publication file that was broken meanwhile may leave originals.
            wipe(self.staging(context))
            raise
        remove_locks(self.lock_file(context))
        if result["verdict"] not in PUBLISHED:
            self.log.error("nothing was published; the run is on record as %s:", result["verdict"])
            for reason in result["reasons"] or ["no step has left a reason on record"]:
                self.log.error("- %s", reason)
            raise FailedForGood(f"the run is on record as {result['verdict']}")
        return result

    def as_teardown(self, *, setups: Any = None, on_failure_fail_dagrun: bool | None = True) -> RecordOperator:
        """Run whatever happened before; unless told otherwise, a run that published nothing then fails."""
        return super().as_teardown(setups=setups, on_failure_fail_dagrun=on_failure_fail_dagrun)

    def on_kill(self) -> None:
        """Go on as long as it may: no other task cleans up."""
