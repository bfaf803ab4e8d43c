"""No column that is published as collected identifies people by itself."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, Share
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.published_identifier import NoPublishedIdentifier


class ExpectNoPublishedIdentifier(ModelExpectation):
    """
    Expect in each of these columns less than ``share`` of the rows with a value to be alone with it.

    It is for columns that are published as collected: the role sensitive or other does not make a name or a record
    number harmless. Rows with a gap do not count.
    """

    columns: ColumnNames
    share: Share

    model: ClassVar[type[PrivacyModel]] = NoPublishedIdentifier
