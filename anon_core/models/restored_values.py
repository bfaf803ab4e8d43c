"""Other published columns do not restore generalised cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.models import Measurement, Need, NotMeasurableError, PolicyContext, PrivacyModel, Subject
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.measures.restored import Restored

MAX_RULES_NAMED = 3
"""How many rules the sentence names of each column; the counts have them all."""


@dataclass(frozen=True, kw_only=True)
class RestoredValues(PrivacyModel):
    """
    One or two other published columns restore at most ``limit`` generalised cells of ``columns``.

    :mod:`anon_core.measures.restored` says what restored means. The model needs to know which original became which
    label: a recoding knows it, a comparison with the original row by row too, and the gate has it from the witness.
    """

    key: ClassVar[str] = "restored_values"
    title: ClassVar[str] = "restored values"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "at most {limit} generalised cells of {columns} are restored by other published columns"
    page: ClassVar[Mapping[str, str]] = {
        "restored_values": "No more coarser cells than allowed are restored by other columns"
    }
    section: ClassVar[str] = "max_restored"
    instead: ClassVar[str] = (
        "drop the column that restores the cells, or give it a role and a hierarchy by which it is recoded, too"
    )
    of_release: ClassVar[bool] = True
    needs: ClassVar[Need] = Need.PAIRING
    resists: ClassVar[tuple[str, ...]] = ("restored_values",)

    limit: int

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.paired and context.publication is not None and context.quasi_identifiers:
            yield cls(columns=context.only_present(context.quasi_identifiers), limit=context.policy.max_restored)

    @classmethod
    def written_in(cls, privacy: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        yield cls.key, None

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.restored import restored

        if subject.paired is None:
            raise NotMeasurableError("it is not known which original became which published row")
        pairs = [paired for name in self.columns if (paired := subject.paired.paired(name)) is not None]
        found = [restored(one) for one in pairs]
        total = sum(one.people for one in found)
        return self.measurement(
            passed=total <= self.limit,
            observed=total,
            required=self.limit,
            sentence=self._sentence(subject, [one for one in found if one.people], total),
            counts={
                "cells": total,
                "cells_by_loose_rules": sum(one.loose for one in found),
                "hidden": sum(one.hidden for one in found),
                "columns": {one.column: one.people for one in found if one.people},
                "rules": [
                    {"column": one.column, "by": list(rule.by), "cells": rule.people}
                    for one in found
                    for rule in one.rules
                ],
            },
            rows_at_risk=max((one.people for one in found), default=0),
        )

    def _sentence(self, subject: Subject, found: Sequence[Restored], total: int) -> str:
        if not total:
            return f"no generalised cell of {counted(len(self.columns), 'column')} is restored by one or two others"
        told = "; ".join(
            f"{one.column} of {subject.in_words(one.people)} by "
            + ", by ".join(" with ".join(rule.by) for rule in one.rules[:MAX_RULES_NAMED])
            + (f" and {len(one.rules) - MAX_RULES_NAMED} more" if len(one.rules) > MAX_RULES_NAMED else "")
            for one in found
        )
        advice = "" if total <= self.limit else ": drop these columns, or make them quasi so that they are recoded, too"
        return f"{counted(total, 'generalised cell')} restored, {self.limit:,} allowed: {told}{advice}"
