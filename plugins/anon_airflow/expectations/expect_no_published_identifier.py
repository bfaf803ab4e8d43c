"""No column that is published as it was collected is an identifier in disguise."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.measured_expectation import ColumnNames, Finding, MeasuredExpectation, Share
from anon_core.frequency import FrequencyTable


class ExpectNoPublishedIdentifier(MeasuredExpectation):
    """
    Expect in each of these columns less than ``share`` of the rows to be alone with their value.

    Meant for sensitive columns, which published uniqueness does not search: a name or a record number does not become
    harmless by being declared sensitive.
    """

    columns: ColumnNames
    share: Share

    title: ClassVar[str] = "published identifiers"
    promise: ClassVar[str] = "in each of {columns} less than {share} of the values occur once"
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "share", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        shares = {name: measured.project([name]).singletons / measured.rows for name in self.columns}
        found = [name for name, share in shares.items() if share >= self.share]
        said = "; ".join(f"{shares[name]:.1%} of the values of {name} occur once" for name in found)
        return Finding(
            passed=not found,
            measured=max(shares.values()),
            required=self.share,
            observed={"columns": len(found), "largest_share": max(shares.values()), "rows": measured.rows},
            sentence=f"{said}: that names people; declare such a column identifier or drop, make it coarser at the "
            "source, or accept it by name, alone in its set, under published_uniqueness.accept"
            if found
            else f"none of {len(self.columns)} sensitive columns names people by itself",
        )
