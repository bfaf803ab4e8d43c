"""No column that is published as it was collected is an identifier in disguise."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnNames, Share
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.published_identifier import NoPublishedIdentifier


class ExpectNoPublishedIdentifier(ModelExpectation):
    """
    Expect in each of these columns less than ``share`` of the rows that have a value to be alone with it.

    Meant for columns that are published as collected: a name or a record number does not become harmless by being
    declared sensitive or other. Rows with a gap do not count.
    """

    columns: ColumnNames
    share: Share

    model: ClassVar[type[PrivacyModel]] = NoPublishedIdentifier
