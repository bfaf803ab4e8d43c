"""No published column has personal data in its texts, unless a person accepts it by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.models import Measurement, NotMeasurableError, Over, PolicyContext, PrivacyModel, Subject
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.detection.personal_patterns import PersonalData

MAX_PATTERNS_NAMED = 10
"""How many patterns the sentence names; the counts have them all."""
ADVICE = (
    "drop such a column, clean it at the source, or accept the pattern by name in `privacy.patterns.accept`, with a "
    "reason, a person and a date"
)


@dataclass(frozen=True, kw_only=True)
class PersonalPatterns(PrivacyModel):
    """
    No text in ``columns`` holds what looks like personal data, but for the columns and patterns that are ``accepted``.

    One e-mail address, IBAN, tax or identity code or payment card number with the right check digits is one too many.
    Telephone numbers, number plates, IP addresses, and what has the form of an IBAN with wrong check digits, count from
    1 % of the distinct values of a column on. The search looks within longer texts too, in every published column of
    any role. With ``refuses`` False the model reports full names of people, and requires nothing.
    """

    key: ClassVar[str] = "personal_patterns"
    title: ClassVar[str] = "personal data in texts"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "no text in {columns} looks like personal data that is not accepted"
    page: ClassVar[Mapping[str, str]] = {
        "personal_patterns": "No text looks like an e-mail address, account or telephone number that is not accepted",
        "personal_names": "Texts that look like names of people",
    }
    section: ClassVar[str] = "patterns"
    instead: ClassVar[str] = (
        "accept the pattern of the column by name in `privacy.patterns.accept`, drop the column or clean it"
    )
    of_release: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True
    over: ClassVar[Over] = Over.ALL

    accepted: tuple[tuple[str, ...], ...] = ()
    refuses: bool = True

    @property
    def name(self) -> str:
        return self.key if self.refuses else "personal_names"

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        columns = context.only_present(context.published)
        if not columns:
            return
        accept = context.policy.patterns.accept
        accepted = sorted({(one.column, one.pattern.value) for one in accept if one.until >= context.today})
        for refuses in (True, False):
            yield cls(columns=columns, accepted=tuple(accepted), refuses=refuses)

    @classmethod
    def written_in(cls, privacy: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        yield cls.key, None

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.detection.personal_patterns import personal_data
        from anon_core.detection.roles.personal import NAMES, PERSONAL
        from anon_core.policy import PersonalPattern

        known = {pattern.value for pattern in PersonalPattern}
        if any(len(one) != 2 or one[1] not in known for one in self.accepted):
            raise NotMeasurableError(f"`accepted` must be pairs of a column and one of {', '.join(sorted(known))}")
        table = subject.rows_over(self.columns)
        everything = personal_data(table, self.columns, PERSONAL if self.refuses else NAMES)
        accepted = [one for one in everything if (one.column, one.pattern.value) in self.accepted]
        found = [one for one in everything if one not in accepted]
        return self.measurement(
            passed=not (found and self.refuses),
            observed=len({(one.column, one.pattern) for one in found}),
            required=0 if self.refuses else None,
            sentence=self._sentence(found),
            counts={
                "columns": len(self.columns),
                "rows": table.rows,
                "found": list(map(_as_counts, found)),
                "accepted": list(map(_as_counts, accepted)),
            },
            rows_at_risk=max((one.rows for one in found), default=0),
        )

    def _sentence(self, found: Sequence[PersonalData]) -> str:
        if not found:
            what = "personal data" if self.refuses else "names of people"
            return f"none of {counted(len(self.columns), 'column')} has texts that look like {what}"
        named = "; ".join(map(_described, found[:MAX_PATTERNS_NAMED]))
        rest = f"; and {len(found) - MAX_PATTERNS_NAMED} more" if len(found) > MAX_PATTERNS_NAMED else ""
        return (
            f"{named}{rest}: {ADVICE}" if self.refuses else f"{named}{rest}; please look at them, nothing is required"
        )


def _described(one: PersonalData) -> str:
    least = "at least " if one.open else ""
    return (
        f"{one.column} ({one.pattern.value}): {least}{one.values:,} of {counted(one.distinct, 'distinct value')} in "
        f"{counted(one.rows, 'row')} {'has' if one.values == 1 else 'have'} {one.noun}"
    )


def _as_counts(one: PersonalData) -> dict[str, Any]:
    return {
        "column": one.column,
        "pattern": one.pattern.value,
        "values": one.values,
        "rows": one.rows,
        "at_least": one.open,
    }
