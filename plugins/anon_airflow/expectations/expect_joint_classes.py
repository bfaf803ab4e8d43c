"""Classes over the quasi-identifiers and all columns of role other have enough people."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import AnyColumnNames, ColumnNames, PositiveCount
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.joint_classes import JointClasses
from anon_core.models.model import PrivacyModel


class ExpectJointClasses(ModelExpectation):
    """
    Expect the smallest class over ``columns`` to have at least ``k`` rows, or people with a ``unit_column``.

    ``others`` are the columns of role other among them: if it fails, the result says without which of these it would
    hold.
    """

    columns: ColumnNames
    k: PositiveCount
    others: AnyColumnNames

    model: ClassVar[type[PrivacyModel]] = JointClasses
