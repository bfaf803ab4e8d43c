"""What the expectations measure, apart from their verdicts; an engine is one method of each metric."""

from anon_airflow.expectations.metrics.column_names import ColumnNames
from anon_airflow.expectations.metrics.freeform import FreeformThreats
from anon_airflow.expectations.metrics.frequencies import Frequencies
from anon_airflow.expectations.metrics.row_counts import RowCounts, Rows

__all__ = ["ColumnNames", "FreeformThreats", "Frequencies", "RowCounts", "Rows"]
