"""``record`` as an operator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_airflow.operators.publication import PublicationOperator

if TYPE_CHECKING:
    from airflow.sdk import Context


class RecordOperator(PublicationOperator):
    """Close the run in the audit store, write its internal report, and remove every original that is left."""

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps
        from anon_airflow.home import Home, wipe
        from anon_airflow.run import staging_of

        try:
            result = self.take(steps.record, context)
        except BaseException:  # Neither a stop nor a publication file that was broken meanwhile may leave originals.
            wipe(staging_of(Home.find(), Path(self.spec), context["run_id"]))
            raise
        self.lock_file(context).unlink(missing_ok=True)
        return result

    def on_kill(self) -> None:
        """Go on as long as it may: nobody else cleans up."""
