"""How many people have a sensitive value that all others in their class have too: reported, and never a check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, PolicyContext, Subject
from anon_core.models.sensitive_column import OfSensitiveColumn


@dataclass(frozen=True, kw_only=True)
class Homogeneity(OfSensitiveColumn):
    """
    How many people have a ``sensitive`` value that their class gives away (Machanavajjhala 2007, homogeneity attack).

    A class gives a value away when all its people have it, also if they have other values too. The model requires
    nothing; l-diversity, t-closeness and alpha do.
    """

    key: ClassVar[str] = "homogeneity"
    title: ClassVar[str] = "homogeneity"
    of_bytes: ClassVar[bool] = True
    promise: ClassVar[str] = (
        "how many {counted} have a value of {sensitive} that all of their class over {columns} have"
    )
    page: ClassVar[Mapping[str, str]] = {"homogeneity": "Values that a whole group shares were counted"}
    instead: ClassVar[str] = "nothing is required of it"
    of_release: ClassVar[bool] = True

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.quasi_identifiers:
            yield from (cls(columns=context.quasi_identifiers, sensitive=name) for name in context.sensitive)

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.diversity.homogeneity import homogeneity

        found = homogeneity(subject.people_over((*self.columns, self.sensitive)), self.columns, self.sensitive)
        certain = subject.in_words(found.certain, "is", "are")
        return self.measurement(
            passed=True,
            observed=found.certain,
            required=None,
            sentence=f"of {subject.in_words(found.rows)} {certain} in a class that all have one value of "
            f"{self.sensitive}, {found.uncommon:,} of these with another value than the commonest of the table; "
            f"{found.mostly:,} in a class of which 90 % or more have one value",
            counts={
                "rows": found.rows,
                "certain": found.certain,
                "certain_not_commonest": found.uncommon,
                "ninety_percent": found.mostly,
            },
        )
