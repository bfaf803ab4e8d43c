"""No class gives the sensitive value of its people away for want of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from anon_core.models.class_measurement import class_measurement, counted_classes, of_one_column
from anon_core.models.model import Need, PrivacyModel
from anon_core.policy import Diversity

if TYPE_CHECKING:
    from anon_core.models.asked import Asked
    from anon_core.models.classes import Classes
    from anon_core.models.measurement import Measurement
    from anon_core.models.subject import Subject
    from anon_core.score.classes import ClassMeasure, SensitiveClasses
    from anon_core.table import Mask


@dataclass(frozen=True, kw_only=True)
class LDiversity(PrivacyModel):
    """
    In every class over ``columns`` at least ``l`` well represented values of ``sensitive``.

    ``kind`` is distinct, entropy or recursive (Machanavajjhala 2007); ``c`` goes with the last and is None otherwise. A
    gap is a value. Without columns all rows are one class.
    """

    key: ClassVar[str] = "l_diversity"
    title: ClassVar[str] = "l-diversity"
    promise: ClassVar[str] = "every class over {columns} has {kind} l-diversity of at least {l} in {sensitive}"
    needs: ClassVar[Need] = Need.SENSITIVE
    waivable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    sensitive: str
    kind: str
    l: float  # noqa: E741 - the name in the literature
    c: float | None

    @property
    def name(self) -> str:
        return f"{self.key}({self.sensitive}, {self.kind})"

    @property
    def column(self) -> str:
        return self.sensitive

    @property
    def limits(self) -> str:
        return f"l={self.l:g}" + ("" if self.c is None else f", c={self.c:g}")

    @property
    def goal(self) -> str:
        return f"{self.kind} l-diversity of column {self.sensitive!r} ({self.limits})"

    @classmethod
    def required_by(cls, asked: Asked) -> Iterator[Self]:
        for one in asked.policy.l_diversity:
            c = None if one.c is None else float(one.c)
            yield cls(columns=asked.quasi_identifiers, sensitive=one.column, kind=one.kind.value, l=float(one.l), c=c)

    @property
    def absorbing(self) -> bool:
        return self.kind == Diversity.DISTINCT

    def safe(self, classes: Classes) -> Mask:
        """Return which classes have enough values."""
        return ~self._found(of_one_column(self, classes)).failing

    def _found(self, classes: SensitiveClasses) -> ClassMeasure:
        from anon_core.score.diversity import l_diversity

        return l_diversity(classes, kind=Diversity(self.kind), l=self.l, c=self.c)

    def measure(self, subject: Subject) -> Measurement:
        found = self._found(counted_classes(self, subject))
        advice = "generalise further, or merge rare values of it at the source"
        if self.c is None:
            what = f"{self.kind} l of {self.sensitive} in the worst class"
            return class_measurement(self, subject, found, what, advice)
        needed = "has too few values for any c" if found.observed is None else f"needs c above {found.observed:.4g}"
        what = f"recursive l-diversity of {self.sensitive} with l={self.l:g}"
        said = f"the worst class {needed}, {self.c:g} given"
        return class_measurement(self, subject, found, what, advice, said=said)
