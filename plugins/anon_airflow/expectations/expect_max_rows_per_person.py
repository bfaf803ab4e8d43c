"""No person contributes more rows than allowed."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import AnyColumnNames, PositiveCount
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.max_rows_per_person import MaxRowsPerPerson
from anon_core.models.model import PrivacyModel


class ExpectMaxRowsPerPerson(ModelExpectation):
    """
    Expect no person to have more than ``most`` rows; ``columns`` may be empty, they only have to exist.

    It counts people: without a ``unit_column`` it is not measured, and does not hold.
    """

    columns: AnyColumnNames
    most: PositiveCount

    model: ClassVar[type[PrivacyModel]] = MaxRowsPerPerson
