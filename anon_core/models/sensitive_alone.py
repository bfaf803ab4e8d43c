"""Sensitive columns do not single people out either, one by one or in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from anon_core.models import Measurement, Over, PolicyContext, PrivacyModel, Subject
from anon_core.policy import rows_allowed
from anon_core.waivers import SHOWS_PEOPLE
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.detection.shared_values import SharedValues

MAX_PEOPLE = 100
"""In a large table a share may be more people than this; then this limit counts. No policy can raise it."""
MAX_SETS_NAMED = 3
"""The sentence names so many columns and pairs; the counts have more."""
MAX_SETS_LISTED = 50


@dataclass(frozen=True, kw_only=True)
class SensitiveAlone(PrivacyModel):
    """
    Few people have a value of one of ``columns``, or a pair of values of two, that fewer than ``k`` people share.

    They are at most ``max_share`` of the people, and never more than 100. Others are not expected to know sensitive
    values. But a salary to the euro, or a hash of a tax code, identifies a person as a name does. Columns are measured
    as published.
    """

    key: ClassVar[str] = "sensitive_alone"
    title: ClassVar[str] = "sensitive columns"
    of_bytes: ClassVar[bool] = True
    over: ClassVar[Over] = Over.SENSITIVE
    promise: ClassVar[str] = (
        "at most {max_share} of the {counted} have values of one or two of {columns} that too few share"
    )
    page: ClassVar[Mapping[str, str]] = {"sensitive_alone": "Few people have a rare value in the sensitive columns"}
    instead: ClassVar[str] = SHOWS_PEOPLE
    counts_people: ClassVar[bool] = True
    of_release: ClassVar[bool] = True

    k: int
    max_share: float

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.sensitive:
            yield cls(
                columns=context.sensitive, k=context.k, max_share=context.policy.published_uniqueness.max_share_alone
            )

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.detection.shared_values import shared_values

        found = shared_values(subject.people_over(self.columns), self.columns, k=self.k)
        allowed = min(rows_allowed(self.max_share, found.rows), MAX_PEOPLE)
        passed = found.alone <= allowed
        return self.measurement(
            passed=passed,
            observed=found.alone,
            required=allowed,
            sentence=self._sentence(subject, found, allowed, passed),
            counts={
                "alone": found.alone,
                "rows": found.rows,
                "share": found.alone / found.rows,
                "sets": [{"columns": list(names), "alone": people} for names, people in found.worst(MAX_SETS_LISTED)],
            },
            rows_at_risk=found.alone,
        )

    def _sentence(self, subject: Subject, found: SharedValues, allowed: int, passed: bool) -> str:
        of = counted(len(self.columns), "column") if len(self.columns) > 1 else self.columns[0]
        pair = ", or a pair of values," if len(self.columns) > 1 else ""
        said = (
            f"{subject.in_words(found.alone, 'has', 'have')} a value{pair} of {of} that fewer than {self.k:,} share; "
            f"{allowed:,} of {found.rows:,} allowed (max_share_alone {self.max_share:.2%}, and never more than "
            f"{MAX_PEOPLE})"
        )
        if passed:
            return said
        worst = "; ".join(
            f"{' with '.join(names)}: {subject.in_words(people)}" for names, people in found.worst(MAX_SETS_NAMED)
        )
        return f"{said}; most by {worst}: make these columns coarser (rounded, in bands, by month) or drop one"
