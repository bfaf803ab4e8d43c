"""An attacker who knows all classes of a person is left with enough values of a sensitive column."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import AnyColumnNames, ColumnName, CountedValuesKind, PositiveNumber
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.common_values import CommonValues
from anon_core.models.model import PrivacyModel


class ExpectCommonValues(ModelExpectation):
    """
    Expect all classes of a person over ``columns`` to have at least ``l`` values of ``sensitive`` in common.

    It holds where more than one in twenty people with several rows has several values of that column. ``values`` says
    what counts as one, as in ``expect_l_diversity``. It counts people: without a ``unit_column`` it is not measured,
    and does not hold.
    """

    columns: AnyColumnNames
    sensitive: ColumnName
    values: CountedValuesKind
    l: PositiveNumber  # noqa: E741 - the name in the literature

    model: ClassVar[type[PrivacyModel]] = CommonValues
