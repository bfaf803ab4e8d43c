"""No small set of published columns singles people out, unless a person accepts the set by name."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import Accepted, AnyColumnNames, ColumnNames, PositiveCount, Share
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.published_uniqueness import PublishedUniqueness


class ExpectPublishedUniqueness(ModelExpectation):
    """
    Expect no set of up to ``max_size`` of these columns to leave more than ``max_share`` of the rows alone.

    An ``accepted`` set excuses itself and its subsets; in a larger set, only rows count that the accepted set does not
    single out already. The sets in ``together`` are measured too, at any size; a ``protected`` set and its subsets are
    not, because another expectation judges them. The result lists the minimal offending sets. The advice in its
    sentence depends on which columns are ``quasi`` already.
    """

    columns: ColumnNames
    max_size: PositiveCount
    max_share: Share
    accepted: Accepted
    together: Accepted
    protected: Accepted
    quasi: AnyColumnNames

    model: ClassVar[type[PrivacyModel]] = PublishedUniqueness
