"""``publish`` as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset

from anon_airflow.operators.publication import PublicationOperator, run_of

if TYPE_CHECKING:
    from airflow.sdk import Context


def dataset_asset(dataset: str) -> Asset:
    """
    Return the asset of a published dataset.

    Other DAGs can follow it, and other publication files too: ``schedule: {asset: anonflow://driver-licences}``.
    """
    return Asset(f"anonflow://{dataset}")


class PublishOperator(PublicationOperator):
    """
    Measure the files again, compare them with the receipt, and publish them.

    Every outlet gets the manifest of the release in ``extra``. If the data has not changed, ``status`` says so.
    """

    def execute(self, context: Context) -> dict[str, Any]:
        from anon_airflow import steps

        result = self.take(steps.publish, context, progress=self.say)
        published = run_of(self.spec, context).noted_or_none("published") or {}
        extra = {**result, "manifest": published.get("manifest", {})}
        for outlet in self.outlets:
            context["outlet_events"][outlet].extra = extra
        return result
