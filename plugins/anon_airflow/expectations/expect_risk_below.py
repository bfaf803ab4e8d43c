"""The risk that a person's row is found is below a limit, for every person."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import AnyColumnNames, PositiveShare
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.risk import MaxRisk


class ExpectRiskBelow(ModelExpectation):
    """Expect every person's risk, 1 / size of their class over ``columns``, to be at most ``max_risk`` (prosecutor)."""

    columns: AnyColumnNames
    max_risk: PositiveShare

    model: ClassVar[type[PrivacyModel]] = MaxRisk
