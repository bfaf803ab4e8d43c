"""Every published row covers an original of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Asked, Measurement, Need, PrivacyModel, Subject
from anon_core.waivers import INTEGRITY


@dataclass(frozen=True, kw_only=True)
class MadeFromOriginal(PrivacyModel):
    """
    The published rows can all have been made from different rows of the table as collected.

    ``k`` is there so that the four k's, which tell it, are measured once for all who ask.
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
    def required_by(cls, asked: Asked) -> Iterator[Self]:
        if asked.compared:
            yield cls(columns=asked.quasi_identifiers, k=asked.k)

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
