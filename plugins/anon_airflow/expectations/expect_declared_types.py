"""Every cell has the declared type of its column."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import AnyColumnNames, ColumnNames
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.declared_types import DeclaredTypes
from anon_core.models.model import PrivacyModel


class ExpectDeclaredTypes(ModelExpectation):
    """
    Expect every cell of ``columns`` to be a gap or to read as the type at its place in ``types``.

    The types are integer, decimal, date, timestamp, boolean and text. A remark about a person in a column of numbers,
    for example, makes it fail.
    """

    columns: ColumnNames
    types: AnyColumnNames

    model: ClassVar[type[PrivacyModel]] = DeclaredTypes
