"""No person is linked to their row with too high a probability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar, Self

from anon_core.models import Measurement, PolicyContext, PrivacyModel, Subject


@dataclass(frozen=True, kw_only=True)
class MaxRisk(PrivacyModel):
    """The risk of every person over ``columns``, 1 / size of their class, is at most ``max_risk`` (prosecutor)."""

    key: ClassVar[str] = "max_risk"
    title: ClassVar[str] = "risk"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "the risk of all {counted} over {columns} is at most {max_risk}"
    page: ClassVar[Mapping[str, str]] = {
        "max_risk": "The chance to link a row to its person, by the size of groups, is low enough"
    }
    section: ClassVar[str] = "max_risk"
    waivable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    monotone_by_people: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True

    max_risk: float

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.policy.max_risk is not None:
            yield cls(columns=context.quasi_identifiers, max_risk=context.policy.max_risk)

    @property
    def goal(self) -> str:
        return f"risk of at most {self.max_risk:g}"

    @property
    def min_rows(self) -> int:
        """
        How many rows a class needs so that no person in it has a higher risk; for a risk of 0 more than any table has.

        >>> [MaxRisk(columns=(), max_risk=risk).min_rows for risk in (0.2, 0.3, 1)]
        [5, 4, 1]
        """
        return ceil(1 / Fraction(str(self.max_risk))) if self.max_risk > 0 else 1 << 62

    @property
    def absorbing(self) -> bool:
        return True

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.risk.attackers import risk

        found = risk(subject.people_over(self.columns), self.columns, max_risk=self.max_risk)
        highest, over = found.prosecutor.highest, ", ".join(self.columns) or "no column"
        above = subject.in_words(found.rows_failing, "is", "are")
        return self.measurement(
            passed=found.holds,
            observed=highest,
            required=self.max_risk,
            sentence=f"the highest is {highest:.4g}, {self.max_risk:g} allowed over {over}"
            + ("" if found.holds else f"; {above} above it: generalise these columns further"),
            counts={
                "highest": highest,
                "average": found.prosecutor.average,
                "classes": found.classes,
                "classes_failing": found.classes_failing,
                "rows": found.rows,
                "rows_failing": found.rows_failing,
            },
            rows_at_risk=found.rows_failing,
            reached=f"{highest:.4g} (smallest class: {subject.in_words(round(1 / highest))})",
        )
