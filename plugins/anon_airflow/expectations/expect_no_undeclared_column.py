"""The file has the declared columns and no others."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.undeclared_columns import NoUndeclaredColumn


class ExpectNoUndeclaredColumn(ModelExpectation):
    """
    Expect the columns of the table to be exactly ``columns``, each once, in any order.

    The result names undeclared columns by their place: in a file that lost its header, names are cells.
    """

    columns: ColumnNames

    model: ClassVar[type[PrivacyModel]] = NoUndeclaredColumn
