"""No row stands alone with its quasi-identifiers."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, Count
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.singletons import Singletons


class ExpectNoSingletons(ModelExpectation):
    """
    Expect at most ``max_singletons`` rows to be alone in their class over ``columns`` (Pastore 2020).

    A gap is a category of its own: a row is alone if no other row has a gap there.
    """

    columns: ColumnNames
    max_singletons: Count

    model: ClassVar[type[PrivacyModel]] = Singletons
