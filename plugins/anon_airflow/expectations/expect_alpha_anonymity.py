"""No value of a sensitive column has too large a share of a class."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import AnyColumnNames, ColumnName, CountedValuesKind, PositiveCount, Share
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.alpha_anonymity import AlphaAnonymity
from anon_core.models.model import PrivacyModel


class ExpectAlphaAnonymity(ModelExpectation):
    """
    Expect in every class over ``columns`` no value of ``sensitive`` above ``alpha``, and ``k`` rows (Wong 2006).

    ``values`` says what counts as one value, as in :class:`ExpectLDiversity`.
    """

    columns: AnyColumnNames
    sensitive: ColumnName
    values: CountedValuesKind
    alpha: Share
    k: PositiveCount

    model: ClassVar[type[PrivacyModel]] = AlphaAnonymity
