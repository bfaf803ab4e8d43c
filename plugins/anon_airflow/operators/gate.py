"""``gate`` as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anon_airflow.operators.publication import PublicationOperator

if TYPE_CHECKING:
    from airflow.sdk import Context


class GateOperator(PublicationOperator):
    """Measure the files to publish and sign a receipt for them, or refuse; the staging area is gone afterwards."""

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps

        return self.take(steps.gate, context, progress=self.say)
