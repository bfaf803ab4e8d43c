"""No row was removed whose class, as collected, already had k people."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, PositiveCount
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.removal import Removal


class ExpectRemoval(ModelExpectation):
    """
    Expect that no row is removed whose class over ``columns``, as collected, has ``k`` people.

    It needs the pairing of released rows with originals, which only the gate has: elsewhere it is not measured, and
    does not hold.
    """

    columns: ColumnNames
    k: PositiveCount

    model: ClassVar[type[PrivacyModel]] = Removal
