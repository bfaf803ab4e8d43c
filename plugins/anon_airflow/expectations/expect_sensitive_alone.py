"""Sensitive columns do not single people out either, one by one or in pairs."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, PositiveCount, Share
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.sensitive_alone import SensitiveAlone


class ExpectSensitiveAlone(ModelExpectation):
    """
    Expect few rows to have a value of one of ``columns``, or a pair of values, that fewer than ``k`` rows share.

    They are at most ``max_share`` of the rows, and never more than 100. With a ``unit_column`` people are counted.
    """

    columns: ColumnNames
    k: PositiveCount
    max_share: Share

    model: ClassVar[type[PrivacyModel]] = SensitiveAlone
