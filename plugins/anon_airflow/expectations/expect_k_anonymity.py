"""Every row shares its quasi-identifiers with enough other rows or people."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, PositiveCount
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.model import PrivacyModel


class ExpectKAnonymity(ModelExpectation):
    """
    Expect the smallest class over ``columns`` to have at least ``k`` rows (exact k, Sweeney 2002).

    A gap is a category of its own. An empty list of columns is an error: a dataset without quasi-identifiers has no k,
    and its suite leaves this expectation out.
    """

    columns: ColumnNames
    k: PositiveCount

    model: ClassVar[type[PrivacyModel]] = KAnonymity
