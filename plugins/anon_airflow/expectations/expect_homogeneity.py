"""How many people are in classes whose rows all have the same sensitive value; reported, not required."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnName, ColumnNames
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.homogeneity import Homogeneity
from anon_core.models.model import PrivacyModel


class ExpectHomogeneity(ModelExpectation):
    """
    Count the rows whose ``sensitive`` value all rows of their class over ``columns`` have.

    It always holds. With a ``unit_column`` people are counted.
    """

    columns: ColumnNames
    sensitive: ColumnName

    model: ClassVar[type[PrivacyModel]] = Homogeneity
