"""Link and source k hold also together with all columns of role other."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnName, ColumnNames, Hierarchies, KMeaning, PositiveCount
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.joint_classes import JointBesideOriginal
from anon_core.models.model import PrivacyModel


class ExpectJointBesideOriginal(ModelExpectation):
    """
    Expect at least ``k``, compared with the original, over quasi-identifiers and columns published as collected.

    The arguments are those of ``ExpectKAnonymityBesideOriginal``; a column published as collected has the hierarchy
    ``{"root": "*"}``.
    """

    columns: ColumnNames
    k: PositiveCount
    means: KMeaning
    original: ColumnName
    hierarchies: Hierarchies

    model: ClassVar[type[PrivacyModel]] = JointBesideOriginal
