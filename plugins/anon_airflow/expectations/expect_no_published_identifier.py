"""No column that is published as it was collected is an identifier in disguise."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.measured_expectation import ColumnNames, Finding, MeasuredExpectation, Share
from anon_core.detect.naming import naming
from anon_core.frequency import FrequencyTable
from anon_core.wording import counted


class ExpectNoPublishedIdentifier(MeasuredExpectation):
    """
    Expect in each of these columns less than ``share`` of the rows that have a value to be alone with it.

    Meant for columns that are published as collected: a name or a record number does not become harmless by being
    declared sensitive or other. Rows with a gap do not count.
    """

    columns: ColumnNames
    share: Share

    title: ClassVar[str] = "published identifiers"
    promise: ClassVar[str] = "in each of {columns} less than {share} of the rows with a value are alone with it"
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "share", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        found = naming(measured, self.columns, limit=self.share)
        said = "; ".join(f"{found.shares[name]:.1%} of the values of {name} occur once" for name in found.columns)
        return Finding(
            passed=not found.columns,
            measured=found.largest,
            required=self.share,
            observed={"columns": len(found.columns), "largest_share": found.largest, "rows": measured.rows},
            sentence=f"{said}: that names people; declare such a column identifier or drop, make it coarser at the "
            "source, or accept it by name, alone in its set, under published_uniqueness.accept"
            if found.columns
            else f"none of {counted(len(self.columns), 'column')} published as collected names people by itself",
        )
