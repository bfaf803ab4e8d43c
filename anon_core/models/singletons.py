"""Few rows are alone in their class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, PolicyContext, PrivacyModel, Subject
from anon_core.policy import KMeans


@dataclass(frozen=True, kw_only=True)
class Singletons(PrivacyModel):
    """
    At most ``max_singletons`` rows are alone in their class over ``columns`` (Pastore 2020).

    A gap is a category of its own, so the only row with a gap is alone. Where the policy means link k, rows may be
    alone in their class: then the model is required only if the policy gives a number.
    """

    key: ClassVar[str] = "no_singletons"
    title: ClassVar[str] = "singletons"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "at most {max_singletons} {counted} are alone over {columns}"
    page: ClassVar[Mapping[str, str]] = {"no_singletons": "No more are alone in a group than allowed"}
    section: ClassVar[str] = "singletons"
    instead: ClassVar[str] = "set `privacy.singletons` to the number of rows that may stand alone"
    monotone: ClassVar[bool] = True
    monotone_by_people: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True

    max_singletons: int

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        named = "singletons" in context.policy.model_fields_set
        if context.quasi_identifiers and (context.policy.k_means is KMeans.EXACT or named):
            yield cls(columns=context.quasi_identifiers, max_singletons=context.policy.singletons)

    @property
    def goal(self) -> str:
        return f"at most {self.max_singletons} singletons"

    def measure(self, subject: Subject) -> Measurement:
        found = subject.people_over(self.columns)
        alone, rows = found.singletons, found.people
        passed = alone <= self.max_singletons
        are = "is" if rows == 1 else "are"
        return self.measurement(
            passed=passed,
            observed=alone,
            required=self.max_singletons,
            sentence=f"{alone:,} of {subject.in_words(rows)} {are} alone over {', '.join(self.columns)}, "
            f"{self.max_singletons:,} allowed" + ("" if passed else ": generalise these columns or remove the rows"),
            counts={"singletons": alone, "classes": found.tuples, "rows": rows},
            rows_at_risk=alone,
        )
