"""``recode`` as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anon_airflow.operators.publication import PublicationOperator

if TYPE_CHECKING:
    from airflow.sdk import Context


class RecodeOperator(PublicationOperator):
    """Recode the quasi-identifiers until the policy holds, and write the files to publish."""

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps

        return self.take(steps.recode, context, progress=self.say)
