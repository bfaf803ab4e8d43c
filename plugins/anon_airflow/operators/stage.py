"""``stage`` as an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anon_airflow.operators.publication import PublicationOperator

if TYPE_CHECKING:
    from airflow.sdk import Context


class StageOperator(PublicationOperator):
    """
    Read the source of a publication into the private staging area.

    :param source_file: the path of the file to read, or another text for the source; templated, so that a backfill
        reads the file of its own period.
    """

    template_fields: Sequence[str] = ("source_file",)

    def __init__(self, *, source_file: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.source_file = source_file

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps

        return self.take(steps.stage, context, self.source_file, progress=self.say)
