"""``publish`` as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anon_airflow.operators.publication import PublicationOperator

if TYPE_CHECKING:
    from airflow.sdk import Context


class PublishOperator(PublicationOperator):
    """Measure the files again, compare them with the receipt, and publish them."""

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps

        return self.take(steps.publish, context, progress=self.say)
