"""The metrics that expectations judge. Each metric has one method for each execution engine."""

from anon_airflow.expectations.metrics.column_names import ColumnNames
from anon_airflow.expectations.metrics.frequencies import Frequencies
from anon_airflow.expectations.metrics.original_frequencies import OriginalFrequencies

__all__ = ["ColumnNames", "Frequencies", "OriginalFrequencies"]
