"""No value of a sensitive column is had by too much of a class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from anon_core.models.class_measurement import class_measurement, counted_classes, of_one_column
from anon_core.models.model import Need, PrivacyModel

if TYPE_CHECKING:
    from anon_core.models.asked import Asked
    from anon_core.models.classes import Classes
    from anon_core.models.measurement import Measurement
    from anon_core.models.subject import Subject
    from anon_core.score.classes import SensitiveClasses
    from anon_core.score.diversity import AlphaAnonymity as Shares
    from anon_core.table import Mask


@dataclass(frozen=True, kw_only=True)
class AlphaAnonymity(PrivacyModel):
    """In every class over ``columns`` no value of ``sensitive`` is above ``alpha``, and ``k`` rows (Wong 2006)."""

    key: ClassVar[str] = "alpha"
    title: ClassVar[str] = "(alpha,k)-anonymity"
    promise: ClassVar[str] = (
        "every class over {columns} has at least {k} rows, and no value of {sensitive} above {alpha}"
    )
    needs: ClassVar[Need] = Need.SENSITIVE
    waivable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    sensitive: str
    alpha: float
    k: int

    @property
    def name(self) -> str:
        return f"{self.key}({self.sensitive})"

    @property
    def column(self) -> str:
        return self.sensitive

    @property
    def limits(self) -> str:
        return f"alpha={self.alpha:g}"

    @property
    def goal(self) -> str:
        return f"alpha of column {self.sensitive!r} {self.alpha:g}"

    @classmethod
    def required_by(cls, asked: Asked) -> Iterator[Self]:
        for one in asked.policy.alpha:
            yield cls(columns=asked.quasi_identifiers, sensitive=one.column, alpha=one.alpha, k=asked.k)

    def safe(self, classes: Classes) -> Mask:
        """Return which classes have no value too often."""
        return ~self._found(of_one_column(self, classes)).failing

    def _found(self, classes: SensitiveClasses) -> Shares:
        from anon_core.score.diversity import alpha_anonymity

        return alpha_anonymity(classes, alpha=self.alpha, k=self.k)

    def measure(self, subject: Subject) -> Measurement:
        found = self._found(counted_classes(self, subject))
        small = (
            f", with {subject.told(self.k)} required and {found.k:,} in the smallest class" if found.k < self.k else ""
        )
        what = f"largest share of a value of {self.sensitive} in a class{small}"
        return class_measurement(self, subject, found, what, "generalise further", at_most=True)
