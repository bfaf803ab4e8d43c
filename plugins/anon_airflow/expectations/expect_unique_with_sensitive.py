"""Not too many people stand alone over all published columns."""

from __future__ import annotations

from typing import ClassVar

from great_expectations.compatibility import pydantic

from anon_airflow.expectations.arguments import ColumnNames, ShareOrNone
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.unique_with_sensitive import UniqueWithSensitive


class ExpectUniqueWithSensitive(ModelExpectation):
    """
    Expect at most the share ``limit`` of the rows to be alone over ``columns``; with null it is only measured.

    With a ``unit_column`` people are counted.
    """

    columns: ColumnNames
    limit: ShareOrNone = pydantic.Field(...)

    model: ClassVar[type[PrivacyModel]] = UniqueWithSensitive
