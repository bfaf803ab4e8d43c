"""What a class gives away about a sensitive column by being all alike: measured for readers, and never a check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Asked, Measurement, Subject
from anon_core.models.sensitive_column import OfSensitiveColumn


@dataclass(frozen=True, kw_only=True)
class Homogeneity(OfSensitiveColumn):
    """
    How many people have a ``sensitive`` value that their class gives away (Machanavajjhala 2007, homogeneity attack).

    A value is certain for a class when all its people have it, whatever else they have. Nothing is required: what must
    hold is l-diversity, t-closeness or alpha.
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
    def required_by(cls, asked: Asked) -> Iterator[Self]:
        if asked.quasi_identifiers:
            yield from (cls(columns=asked.quasi_identifiers, sensitive=name) for name in asked.sensitive)

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.diversity.homogeneity import homogeneity

        found = homogeneity(subject.people_over((*self.columns, self.sensitive)), self.columns, self.sensitive)
        certain = subject.told(found.certain, "is", "are")
        return self.measurement(
            passed=True,
            observed=found.certain,
            required=None,
            sentence=f"of {subject.told(found.rows)} {certain} in a class that all have one value of {self.sensitive}, "
            f"{found.uncommon:,} of these with another value than the commonest of the table; {found.mostly:,} in a "
            "class of which 90 % or more have one value",
            counts={
                "rows": found.rows,
                "certain": found.certain,
                "certain_not_commonest": found.uncommon,
                "ninety_percent": found.mostly,
            },
        )
