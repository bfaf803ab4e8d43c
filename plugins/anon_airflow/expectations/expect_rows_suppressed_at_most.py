"""Not too many rows were left out to make the rest safe."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import AnyColumnNames, Labels, PositiveCount, Share
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.suppression import RowsSuppressedAtMost


class ExpectRowsSuppressedAtMost(ModelExpectation):
    """
    Expect at most the share ``limit`` of ``rows_before`` rows to have been suppressed.

    Suppressed are rows that were removed and rows that say nothing in any of ``columns`` (the quasi-identifiers): each
    cell is ``*`` or one of the column's labels in ``roots``, the labels of its hierarchy for everything. Without
    ``columns`` only removed rows count. More rows than before always fail, also with a waiver: rows must have been
    added.
    """

    columns: AnyColumnNames
    roots: Labels
    rows_before: PositiveCount
    limit: Share

    model: ClassVar[type[PrivacyModel]] = RowsSuppressedAtMost
