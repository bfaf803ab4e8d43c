"""How many people are told apart by all their classes together; reported, and nothing is required."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, PositiveCount
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.row_sets import RowSets


class ExpectRowSets(ModelExpectation):
    """
    Report how many people share all, or two, of their classes over ``columns`` with fewer than ``k`` people.

    It always holds. It counts people: without a ``unit_column`` it is not measured, and does not hold.
    """

    columns: ColumnNames
    k: PositiveCount

    model: ClassVar[type[PrivacyModel]] = RowSets
