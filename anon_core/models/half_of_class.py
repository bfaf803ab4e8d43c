"""No person has more than half of the rows of a class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from anon_core.errors import InternalError
from anon_core.models import Measurement, PolicyContext, PrivacyModel, Subject

if TYPE_CHECKING:
    from anon_core.models import Classes
    from anon_core.table import Mask


@dataclass(frozen=True, kw_only=True)
class HalfOfClass(PrivacyModel):
    """
    No person with several rows in a class over ``columns`` has more than half of its rows.

    If one person has most rows of a class, most of what is published of that class is about this person, however many
    others are in it. Rows whose person is not known do not count in a class that has known people. The model is
    monotone: a person who has at most half of each of two classes has at most half of both together. But a class that
    keeps it may break it after a merge with a class that does not. Recoding keeps this model wherever a person has
    several rows, whether the publication file says so or only the table shows it.
    """

    key: ClassVar[str] = "half_of_class"
    title: ClassVar[str] = "rows of one person"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "no person has more than half of the rows of a class over {columns}"
    page: ClassVar[Mapping[str, str]] = {"half_of_class": "No person fills more than half of a group"}
    instead: ClassVar[str] = "generalise further, or publish fewer rows of one person: `privacy.max_rows_per_person`"
    of_release: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    monotone_by_people: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.tells_people and context.quasi_identifiers:
            yield cls(columns=context.quasi_identifiers)

    @property
    def goal(self) -> str:
        return "at most half of the rows of a class from one person"

    def out_of_reach(self, classes: Classes) -> str:
        return f"one person has more than half of all rows: {self.instead}"

    def safe(self, classes: Classes) -> Mask:
        if classes.largest is None or classes.known_rows is None:
            raise InternalError("classes without their people", f"models.{self.key}")
        return (classes.largest <= 1) | (2 * classes.largest <= classes.known_rows)

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.dominance import dominance

        found = dominance(subject.known_people(self.columns))
        passed = not found.classes_failing
        fail = (
            f"{found.classes_failing:,} of {found.classes:,} {'class fails' if found.classes == 1 else 'classes fail'}"
        )
        return self.measurement(
            passed=passed,
            observed=found.largest_share,
            required=0.5,
            sentence=(
                f"one person has up to {found.largest_share:.1%} of the rows of a class over "
                f"{', '.join(self.columns)}, 50% allowed"
                if found.largest_share
                else f"no person has two rows in one class over {', '.join(self.columns)}"
            )
            + ("" if passed else f"; {fail}, with {subject.in_words(found.people_failing)}: {self.instead}"),
            counts={
                "largest_share": found.largest_share,
                "classes": found.classes,
                "classes_failing": found.classes_failing,
                "people": found.people,
                "people_failing": found.people_failing,
            },
            rows_at_risk=found.people_failing,
        )
