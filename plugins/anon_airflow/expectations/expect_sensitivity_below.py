"""No published column helps too much to single people out."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, PositiveCount, Probabilities, Share, StrictFlag
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.sensitivity import MaxSensitivity


class ExpectSensitivityBelow(ModelExpectation):
    """
    Expect the sensitivity of each of ``columns`` to be at most ``limit`` (Gong 2020).

    It is measured from the sets of up to ``max_size`` columns on which all rows but the share ``approximate`` are
    unique; with ``ignore_duplicates`` equal rows count once. ``reveal`` is the probability that an outsider knows each
    column. A table without any such set has no sensitivity, and then the expectation fails: count equal rows once.
    """

    columns: ColumnNames
    limit: Share
    max_size: PositiveCount
    approximate: Share
    ignore_duplicates: StrictFlag
    reveal: Probabilities

    model: ClassVar[type[PrivacyModel]] = MaxSensitivity
