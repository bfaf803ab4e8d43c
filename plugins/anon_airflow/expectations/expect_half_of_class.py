"""No person has more than half of the rows of a class."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.half_of_class import HalfOfClass
from anon_core.models.model import PrivacyModel


class ExpectHalfOfClass(ModelExpectation):
    """
    Expect that no person with several rows has more than half of the rows of a class over ``columns``.

    It counts people: without a ``unit_column`` it is not measured, and does not hold.
    """

    columns: ColumnNames

    model: ClassVar[type[PrivacyModel]] = HalfOfClass
