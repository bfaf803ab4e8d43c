"""Other published columns do not restore generalised cells."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, Count
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.restored_values import RestoredValues


class ExpectRestoredValues(ModelExpectation):
    """
    Expect that one or two other published columns restore at most ``limit`` generalised cells of ``columns``.

    It needs the pairing of released rows with originals, which only the gate has: elsewhere it is not measured, and
    does not hold.
    """

    columns: ColumnNames
    limit: Count

    model: ClassVar[type[PrivacyModel]] = RestoredValues
