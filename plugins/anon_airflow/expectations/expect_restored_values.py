"""Other published columns do not restore generalised cells."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, Count
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.restored_values import RestoredValues


class ExpectRestoredValues(ModelExpectation):
    """
    Expect that at most ``limit`` generalised cells of ``columns`` are restored by one or two other published columns.

    It needs to know what each released row was, which the gate does: by itself it is not measured, and does not hold.
    """

    columns: ColumnNames
    limit: Count

    model: ClassVar[type[PrivacyModel]] = RestoredValues
