"""No class tells much about the sensitive value of its people that the whole table does not."""

from __future__ import annotations

from typing import ClassVar

from great_expectations.compatibility import pydantic

from anon_airflow.expectations.class_finding import class_finding
from anon_airflow.expectations.hierarchies import NO_FOLDER, hierarchy_named
from anon_airflow.expectations.inputs import hierarchy_folder
from anon_airflow.expectations.measured_expectation import (
    AnyColumnNames,
    ColumnName,
    DistanceKind,
    Finding,
    HierarchyOrNone,
    MeasuredExpectation,
    NotMeasurableError,
    Share,
)
from anon_core.errors import HierarchyError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.hierarchy.published import ladder_of_labels
from anon_core.policy import Distance
from anon_core.score.classes import SensitiveClasses, sensitive_classes
from anon_core.score.closeness import t_closeness
from anon_core.table import Column
from anon_core.wording import counted


class ExpectTCloseness(MeasuredExpectation):
    """
    Expect ``sensitive`` in every class over ``columns`` to be at most ``t`` away from the whole table (Li 2007).

    ``distance`` is equal, ordered or hierarchical. The last needs the ``hierarchy``, written as in a publication file,
    a file with its sha256; it is null otherwise. Labels that the file has above values are measured as well.
    """

    columns: AnyColumnNames
    sensitive: ColumnName
    t: Share
    distance: DistanceKind
    hierarchy: HierarchyOrNone = pydantic.Field(...)

    title: ClassVar[str] = "t-closeness"
    promise: ClassVar[str] = "{sensitive} in every class over {columns} is at most {t} away from the whole ({distance})"
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "sensitive", "t", "distance", "hierarchy", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        classes = sensitive_classes(measured, self.columns, self.sensitive)
        found = t_closeness(classes, t=self.t, distance=Distance(self.distance), ladder=self._ladder(classes))
        return class_finding(
            found,
            f"{self.distance} distance of {self.sensitive} in the worst class",
            "generalise further",
            at_most=True,
        )

    def _ladder(self, classes: SensitiveClasses) -> Ladder | None:
        if (self.distance == Distance.HIERARCHICAL) != (self.hierarchy is not None):
            raise NotMeasurableError("a hierarchy belongs to the hierarchical distance, and only to it")
        if self.hierarchy is None:
            return None
        try:
            climbed = ladder_of_labels(
                Column(name=self.sensitive, codes=classes.values, domain=classes.domain),
                hierarchy_named(self.sensitive, self.hierarchy),
                hierarchy_folder() if "file" in self.hierarchy else NO_FOLDER,
            )
        except HierarchyError:
            raise NotMeasurableError(
                f"the hierarchy of {self.sensitive} cannot be used; `anon hierarchy check` tells why"
            ) from None
        if (unknown := int(climbed.unmapped.sum())) and self.hierarchy.get("unmapped") != "suppress":
            raise NotMeasurableError(f"the hierarchy of {self.sensitive} does not know {counted(unknown, 'value')}")
        return climbed
