"""No value of a sensitive column has too large a share of a class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from anon_core import policy
from anon_core.models import Classes, Measurement, PolicyContext, Subject
from anon_core.models.diverse_column import DiverseColumnModel, counted_values_of

if TYPE_CHECKING:
    from anon_core.measures.classes import SensitiveClasses
    from anon_core.measures.diversity.diversity import AlphaFigures as Shares
    from anon_core.table import Mask


@dataclass(frozen=True, kw_only=True)
class AlphaAnonymity(DiverseColumnModel):
    """
    Every class over ``columns`` has at least ``k`` rows, and no value of ``sensitive`` a share above ``alpha`` (Wong
    2006).

    Where people are counted, who may have several values, the share is that of the people who have the value. This
    share is not monotone.
    """

    key: ClassVar[str] = "alpha"
    title: ClassVar[str] = "(alpha,k)-anonymity"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = (
        "every class over {columns} has at least {k} {counted}, and no value of {sensitive} above {alpha}"
    )
    page: ClassVar[Mapping[str, str]] = {"alpha": "No value fills too much of a group"}
    section: ClassVar[str] = "alpha"
    monotone: ClassVar[bool] = True
    entry: ClassVar[type[policy.AlphaEntry]] = policy.AlphaEntry
    of_bytes: ClassVar[bool] = True

    alpha: float
    k: int

    @property
    def limits(self) -> str:
        return f"alpha={self.alpha:g}"

    @property
    def goal(self) -> str:
        return f"alpha of column {self.sensitive!r} {self.alpha:g}"

    @classmethod
    def of_entry(cls, context: PolicyContext, entry: policy.AlphaEntry) -> Self:
        return cls(
            columns=context.quasi_identifiers,
            sensitive=entry.column,
            values=counted_values_of(context, entry.column),
            alpha=entry.alpha,
            k=context.k,
        )

    def safe(self, classes: Classes) -> Mask:
        """Return which classes have no value too often."""
        return ~self._found(self.values_in(classes)).failing

    def out_of_reach(self, classes: Classes) -> str:
        share = self._found(self.values_in(classes)).observed
        return f"one value of {self.sensitive} has the share {share:.4g} of the whole table: raise alpha"

    def _found(self, classes: SensitiveClasses) -> Shares:
        from anon_core.measures.diversity.diversity import alpha_anonymity

        return alpha_anonymity(classes, alpha=self.alpha, k=self.k)

    def measure_classes(self, subject: Subject, classes: SensitiveClasses, advice: str) -> Measurement:
        found = self._found(classes)
        small = (
            f", with {subject.in_words(self.k)} required and {found.k:,} in the smallest class"
            if found.k < self.k
            else ""
        )
        what = f"largest share of a value of {self.sensitive} in a class{small}"
        return self.class_measurement(subject, found, what, f"generalise further{advice}", at_most=True)
