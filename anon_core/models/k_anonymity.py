"""Every row shares its quasi-identifiers with enough other rows or people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, PolicyContext, PrivacyModel, Subject
from anon_core.policy import KMeans
from anon_core.waivers import HIDES_PEOPLE


@dataclass(frozen=True, kw_only=True)
class KAnonymity(PrivacyModel):
    """
    The smallest class over ``columns`` has at least ``k`` rows, or people where these are counted (Sweeney 2002).

    A gap is a category of its own. A publication without quasi-identifiers does not require it.
    """

    key: ClassVar[str] = "k_anonymity"
    title: ClassVar[str] = "k-anonymity"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "every class over {columns} has at least {k} {counted}"
    page: ClassVar[Mapping[str, str]] = {"k_anonymity": "Every group is large enough"}
    section: ClassVar[str] = "k"
    instead: ClassVar[str] = HIDES_PEOPLE
    monotone: ClassVar[bool] = True
    monotone_by_people: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True

    k: int

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.quasi_identifiers and context.policy.k_means is KMeans.EXACT:
            yield cls(columns=context.quasi_identifiers, k=context.k)

    @property
    def goal(self) -> str:
        return f"k {self.k}"

    @property
    def min_rows(self) -> int:
        return self.k

    @property
    def absorbing(self) -> bool:
        return True

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.linkage.four_ks import k_anonymity

        found = k_anonymity(subject.people_over(self.columns), self.columns, k=self.k)
        smallest, over = subject.in_words(found.k), ", ".join(self.columns)
        lying = subject.in_words(found.rows_below, "lies", "lie")
        passed = found.k >= self.k
        return self.measurement(
            passed=passed,
            observed=found.k,
            required=self.k,
            sentence=f"smallest class has {smallest}, {self.k:,} required over {over}"
            + ("" if passed else f"; {lying} in classes below {self.k:,}: generalise these columns further"),
            counts={"k": found.k, "classes": found.classes, "rows": found.rows, "rows_below_k": found.rows_below},
            rows_at_risk=found.rows_below,
        )
