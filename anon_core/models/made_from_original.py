"""Every published row covers an original of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, Need, PolicyContext, PrivacyModel, Subject
from anon_core.waivers import INTEGRITY


@dataclass(frozen=True, kw_only=True)
class MadeFromOriginal(PrivacyModel):
    """
    The published rows can all have been made from different rows of the table as collected.

    The four k's answer this. They are measured once for each ``k``, so this model has the same k as the others.
    """

    key: ClassVar[str] = "made_from_original"
    title: ClassVar[str] = "made from the original"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "every published row covers an original of its own over {columns}"
    needs: ClassVar[Need] = Need.ORIGINAL
    instead: ClassVar[str] = INTEGRITY
    of_release: ClassVar[bool] = True

    k: int

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.compared:
            yield cls(columns=context.quasi_identifiers, k=context.k)

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.linkage.four_ks import BY_PEOPLE

        four = subject.four_k(self.k)
        reason = None if four.reason == BY_PEOPLE else four.reason
        return self.measurement(
            passed=four.fits,
            observed=four.fits,
            required=True,
            sentence=reason or "every published row covers an original of its own",
        )
