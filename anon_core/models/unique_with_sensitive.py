"""Not too many people are alone over everything that is published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, Over, PolicyContext, PrivacyModel, Subject
from anon_core.waivers import SHOWS_PEOPLE


@dataclass(frozen=True, kw_only=True)
class UniqueWithSensitive(PrivacyModel):
    """
    At most the share ``limit`` of the people are alone over all published ``columns``, sensitive ones included.

    Without a limit it is only reported. Other datasets about the same people can be joined to such a row by its values.
    """

    key: ClassVar[str] = "unique_with_sensitive"
    title: ClassVar[str] = "uniqueness with sensitive columns"
    stated_limit: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True
    over: ClassVar[Over] = Over.ALL
    promise: ClassVar[str] = "at most {limit} of the {counted} are alone over {columns}"
    page: ClassVar[Mapping[str, str]] = {"unique_with_sensitive": "Rows that are unique over all columns were counted"}
    instead: ClassVar[str] = f"{SHOWS_PEOPLE}, or state another limit in `privacy.published_uniqueness`"
    counts_people: ClassVar[bool] = True
    of_release: ClassVar[bool] = True

    limit: float | None = None

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.sensitive:
            limit = context.policy.published_uniqueness.max_share_with_sensitive
            yield cls(columns=context.only_present(context.published), limit=limit)

    def measure(self, subject: Subject) -> Measurement:
        table = subject.people_over(self.columns)
        people, alone = table.rows, table.singletons
        share = alone / people
        passed = self.limit is None or share <= self.limit
        said = (
            f"{subject.in_words(alone, 'is', 'are')} alone over all {len(self.columns)} published columns, "
            f"{share:.2%} of {people:,}"
        )
        if self.limit is not None:
            said += f"; {self.limit:.2%} allowed"
        if not passed:
            said += (
                ": make columns coarser or drop one, or raise published_uniqueness.max_share_with_sensitive, which "
                "readers of the release will see"
            )
        return self.measurement(
            passed=passed,
            observed=share,
            required=self.limit,
            sentence=said,
            counts={"alone": alone, "rows": people, "share": share},
            rows_at_risk=0 if passed else alone,
        )
