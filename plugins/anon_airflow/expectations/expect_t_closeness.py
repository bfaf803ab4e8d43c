"""The sensitive values of every class are distributed nearly as in the whole table."""

from __future__ import annotations

from typing import ClassVar

from great_expectations.compatibility import pydantic

from anon_airflow.expectations.arguments import AnyColumnNames, ColumnName, DistanceKind, HierarchyOrNone, Share
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.t_closeness import TCloseness


class ExpectTCloseness(ModelExpectation):
    """
    Expect ``sensitive`` in every class over ``columns`` to be at most ``t`` away from the whole table (Li 2007).

    ``distance`` is equal, ordered or hierarchical. The last needs the ``hierarchy``, written as in a publication file,
    a file with its sha256; it is null otherwise. Cells may also be labels of the file's upper levels.
    """

    columns: AnyColumnNames
    sensitive: ColumnName
    t: Share
    distance: DistanceKind
    hierarchy: HierarchyOrNone = pydantic.Field(...)

    model: ClassVar[type[PrivacyModel]] = TCloseness
