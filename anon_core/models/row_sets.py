"""How many people are told apart by all their classes together; reported, and nothing is required."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, PolicyContext, PrivacyModel, Subject


@dataclass(frozen=True, kw_only=True)
class RowSets(PrivacyModel):
    """
    How many people share their set of classes over ``columns`` with fewer than ``k`` people, or two of their classes.

    The latter are the people without k^m-anonymity for m = 2 (Terrovitis 2008). The model only reports, so it always
    passes. Rows whose person is not known are left out.
    """

    key: ClassVar[str] = "row_sets"
    title: ClassVar[str] = "several rows of one person"
    promise: ClassVar[str] = "how many people share their classes over {columns} with fewer than {k} people is reported"
    page: ClassVar[Mapping[str, str]] = {"row_sets": "People whom their groups, taken together, tell apart"}
    instead: ClassVar[str] = "it is reported, and nothing is required"
    of_release: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True

    k: int

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.tells_people and context.quasi_identifiers:
            yield cls(columns=context.quasi_identifiers, k=context.k)

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.row_sets import MAX_PAIRS, row_sets

        found = row_sets(subject.known_people(self.columns), self.k)
        two = f"{found.by_two:,} two of their classes"
        if found.by_two is None:
            two = f"two classes of one person were not compared, for there are more than {MAX_PAIRS:,} pairs"
        return self.measurement(
            passed=True,
            observed=found.by_all,
            required=None,
            sentence=f"{found.by_all:,} of {subject.in_words(found.people)} share all their classes over "
            f"{', '.join(self.columns)} with fewer than {self.k:,} people, {two}; reported, not required",
            counts={"people": found.people, "people_by_all": found.by_all, "people_by_two": found.by_two},
        )
