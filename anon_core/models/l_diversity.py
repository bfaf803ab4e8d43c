"""Every class has enough different values of a sensitive column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from anon_core import policy
from anon_core.models import Classes, Measurement, PolicyContext, Subject
from anon_core.models.diverse_column import DiverseColumnModel, counted_values_of
from anon_core.policy import Diversity
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.measures.classes import ClassMeasure, SensitiveClasses
    from anon_core.table import Mask


@dataclass(frozen=True, kw_only=True)
class LDiversity(DiverseColumnModel):
    """
    Every class over ``columns`` has at least ``l`` well represented values of ``sensitive``.

    ``kind`` is distinct, entropy or recursive (Machanavajjhala 2007); only recursive has a ``c``. A gap is a value;
    numbers and dates count as ``values`` says. Without columns all rows are one class. Where people are counted, who
    may have several values, distinct l is the smallest number of values such that every person of the class has one of
    them. Then no kind is monotone: if two people have a and b in one class, and b and a in another, both have a in the
    union.
    """

    key: ClassVar[str] = "l_diversity"
    title: ClassVar[str] = "l-diversity"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "every class over {columns} has {kind} l-diversity of at least {l} in {sensitive}"
    page: ClassVar[Mapping[str, str]] = {"l_diversity": "The values in every group differ enough"}
    section: ClassVar[str] = "l_diversity"
    monotone: ClassVar[bool] = True
    entry: ClassVar[type[policy.LDiversityEntry]] = policy.LDiversityEntry
    of_bytes: ClassVar[bool] = True

    kind: str = Diversity.DISTINCT.value
    l: float  # noqa: E741 - the name in the literature
    c: float | None = None

    @property
    def kind_of(self) -> str:
        return self.kind

    @property
    def limits(self) -> str:
        return f"l={self.l:g}" + ("" if self.c is None else f", c={self.c:g}")

    @property
    def goal(self) -> str:
        return f"{self.kind} l-diversity of column {self.sensitive!r} ({self.limits})"

    @classmethod
    def of_entry(cls, context: PolicyContext, entry: policy.LDiversityEntry) -> Self:
        return cls(
            columns=context.quasi_identifiers,
            sensitive=entry.column,
            values=counted_values_of(context, entry.column),
            kind=entry.kind.value,
            l=float(entry.l),
            c=None if entry.c is None else float(entry.c),
        )

    @property
    def absorbing(self) -> bool:
        return self.kind == Diversity.DISTINCT

    def safe(self, classes: Classes) -> Mask:
        """Return which classes have enough values."""
        return ~self._found(self.values_in(classes)).failing

    def _found(self, classes: SensitiveClasses) -> ClassMeasure:
        from anon_core.measures.diversity.diversity import l_diversity

        return l_diversity(classes, kind=Diversity(self.kind), l=self.l, c=self.c)

    def out_of_reach(self, classes: Classes) -> str:
        values = self.values_in(classes)
        observed = self._found(values).observed
        if self.kind == Diversity.ENTROPY:
            has = f"as much entropy as {observed:.4g} equally frequent values"
        elif self.kind == Diversity.DISTINCT or observed is None:
            has = counted(int(values.distinct.min()), "value")
        else:
            needed = f"{self.sensitive} needs c above {observed:.4g}"
            return f"in the whole table {needed}, c is {self.c:g}: raise c or lower l"
        return f"{self.sensitive} has {has} in the whole table, l is {self.l:g}: lower l"

    def measure_classes(self, subject: Subject, classes: SensitiveClasses, advice: str) -> Measurement:
        found = self._found(classes)
        advice = f"generalise further, or merge rare values of it at the source{advice}"
        if self.c is None:
            what = f"{self.kind} l of {self.sensitive} in the worst class"
            return self.class_measurement(subject, found, what, advice)
        needed = "has too few values for any c" if found.observed is None else f"needs c above {found.observed:.4g}"
        what = f"recursive l-diversity of {self.sensitive} with l={self.l:g}"
        said = f"the worst class {needed}, {self.c:g} given"
        return self.class_measurement(subject, found, what, advice, said=said)
