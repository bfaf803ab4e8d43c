"""Nobody is too likely to be found in their class."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import AnyColumnNames, PositiveShare
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.risk import MaxRisk


class ExpectRiskBelow(ModelExpectation):
    """Expect nobody's risk over ``columns``, one by the size of their class, to be above ``max_risk`` (prosecutor)."""

    columns: AnyColumnNames
    max_risk: PositiveShare

    model: ClassVar[type[PrivacyModel]] = MaxRisk
