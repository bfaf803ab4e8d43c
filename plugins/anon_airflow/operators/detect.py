"""``detect`` as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anon_airflow.operators.publication import PublicationOperator

if TYPE_CHECKING:
    from airflow.sdk import Context


class DetectOperator(PublicationOperator):
    """Find which column sets single people out in the staged data."""

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps

        return self.take(steps.detect, context, progress=self.say)
