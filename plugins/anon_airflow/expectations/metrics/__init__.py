"""What the expectations judge, apart from their verdicts; an engine is one method of each metric."""

from anon_airflow.expectations.metrics.column_names import ColumnNames
from anon_airflow.expectations.metrics.frequencies import Frequencies
from anon_airflow.expectations.metrics.original_frequencies import OriginalFrequencies

__all__ = ["ColumnNames", "Frequencies", "OriginalFrequencies"]
