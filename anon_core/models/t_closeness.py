"""The sensitive values of every class are distributed much as in the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core import policy
from anon_core.errors import HierarchyError
from anon_core.models import Classes, Measurement, NotMeasurableError, PolicyContext, Subject
from anon_core.models.hierarchies import hierarchy_named
from anon_core.models.sensitive_column import SensitiveColumnModel
from anon_core.policy import Distance
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.hierarchy.ladder import Ladder
    from anon_core.measures.classes import ClassMeasure, SensitiveClasses
    from anon_core.table import Mask


@dataclass(frozen=True, kw_only=True)
class TCloseness(SensitiveColumnModel):
    """
    In every class over ``columns`` the distribution of ``sensitive`` is at most ``t`` away from that of the whole table
    (Li 2007).

    ``distance`` is equal, ordered or hierarchical. Only the last has a ``hierarchy``, written as in a publication file,
    with the sha256 of a file. Cells may hold labels of the file in place of values. Where people are counted, who may
    have several values, the model is not monotone.
    """

    key: ClassVar[str] = "t_closeness"
    title: ClassVar[str] = "t-closeness"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "{sensitive} in every class over {columns} is at most {t} away from the whole ({distance})"
    page: ClassVar[Mapping[str, str]] = {"t_closeness": "Every group is close enough to the whole table"}
    section: ClassVar[str] = "t_closeness"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = True
    entry: ClassVar[type[policy.TClosenessEntry]] = policy.TClosenessEntry
    of_bytes: ClassVar[bool] = True

    t: float
    distance: str = Distance.EQUAL.value
    hierarchy: dict[str, Any] | None = None

    @property
    def kind_of(self) -> str:
        return self.distance

    @property
    def climbed(self) -> tuple[str, ...]:
        return (self.sensitive,) if self.distance == Distance.HIERARCHICAL else ()

    @property
    def limits(self) -> str:
        return f"t={self.t:g}"

    @property
    def goal(self) -> str:
        return f"t-closeness of column {self.sensitive!r} {self.t:g}"

    @classmethod
    def of_entry(cls, context: PolicyContext, entry: policy.TClosenessEntry) -> Self:
        return cls(
            columns=context.quasi_identifiers,
            sensitive=entry.column,
            t=entry.t,
            distance=entry.distance.value,
            hierarchy=context.hierarchy(entry.column) if entry.distance is Distance.HIERARCHICAL else None,
        )

    def safe(self, classes: Classes) -> Mask:
        """Return which classes are close enough."""
        return ~self._found(self.values_in(classes), classes.ladders.get(self.sensitive)).failing

    def _found(self, classes: SensitiveClasses, ladder: Ladder | None) -> ClassMeasure:
        from anon_core.measures.diversity.closeness import t_closeness

        return t_closeness(classes, t=self.t, distance=Distance(self.distance), ladder=ladder)

    def measure(self, subject: Subject) -> Measurement:
        classes = self.counted(subject)
        ladder = subject.ladders.get(self.sensitive) or self._ladder(classes, subject.folder)
        found = self._found(classes, ladder)
        what = f"{self.distance} distance of {self.sensitive} in the worst class"
        return self.class_measurement(subject, found, what, "generalise further", at_most=True)

    def _ladder(self, classes: SensitiveClasses, folder: Path | None) -> Ladder | None:
        from anon_core.hierarchy.published import ladder_of_labels
        from anon_core.table import Column

        if (self.distance == Distance.HIERARCHICAL) != (self.hierarchy is not None):
            raise NotMeasurableError("give a hierarchy with the hierarchical distance, and only with that")
        if self.hierarchy is None:
            return None
        try:
            climbed = ladder_of_labels(
                Column(name=self.sensitive, codes=classes.values, domain=classes.domain),
                hierarchy_named(self.sensitive, self.hierarchy, folder),
                folder or Path(),
            )
        except HierarchyError:
            raise NotMeasurableError(
                f"the hierarchy of {self.sensitive} cannot be used; `anon hierarchy check` says why"
            ) from None
        if (unknown := int(climbed.unmapped.sum())) and self.hierarchy.get("unmapped") != "suppress":
            raise NotMeasurableError(f"the hierarchy of {self.sensitive} does not know {counted(unknown, 'value')}")
        return climbed
