"""``record`` as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anon_airflow.operators.publication import PublicationOperator

if TYPE_CHECKING:
    from airflow.sdk import Context


class RecordOperator(PublicationOperator):
    """Close the run in the audit store, write its internal report, and remove every original that is left."""

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps
        from anon_airflow.run.home import wipe
        from anon_airflow.run.run_lock import remove_locks

        try:
            result = self.take(steps.record, context)
        except BaseException:  # Remove the originals also after a stop, or if the publication file is broken now.
            wipe(self.staging(context))
            raise
        remove_locks(self.lock_file(context))
        return result

    def on_kill(self) -> None:
        """Do not stop: no other task cleans up."""
