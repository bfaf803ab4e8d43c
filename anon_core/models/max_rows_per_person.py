"""No person contributes more rows than allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, PolicyContext, PrivacyModel, Subject
from anon_core.wording import counted


@dataclass(frozen=True, kw_only=True)
class MaxRowsPerPerson(PrivacyModel):
    """
    No person has more than ``most`` rows. Which ``columns`` it has makes no difference; the table must have them.

    Rows whose person is not known do not count. If no person is known at all, all rows count as one person's.
    """

    key: ClassVar[str] = "max_rows_per_person"
    title: ClassVar[str] = "rows per person"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "no person has more than {most} rows"
    page: ClassVar[Mapping[str, str]] = {"max_rows_per_person": "No person contributes more rows than allowed"}
    section: ClassVar[str] = "max_rows_per_person"
    instead: ClassVar[str] = "raise `privacy.max_rows_per_person`"
    of_release: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True

    most: int

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.tells_people and context.policy.max_rows_per_person is not None:
            yield cls(columns=(), most=context.policy.max_rows_per_person)

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.dominance import contribution

        found = contribution(subject.known_people(self.columns), self.most)
        passed = found.most <= self.most
        have = "has" if found.people_above == 1 else "have"
        above = (
            f"; {found.people_above:,} of {subject.in_words(found.people)} {have} more: publish fewer rows of them, or "
        )
        return self.measurement(
            passed=passed,
            observed=found.most,
            required=self.most,
            sentence=f"one person has up to {counted(found.most, 'row')}, {self.most:,} allowed"
            + ("" if passed else above + self.instead),
            counts={"most": found.most, "people": found.people, "people_above": found.people_above},
            rows_at_risk=found.people_above,
        )
