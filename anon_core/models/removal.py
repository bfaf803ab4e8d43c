"""No row was removed that k alone would have kept: its absence would tell that its class lacked diversity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from anon_core.models import Measurement, Need, NotMeasurableError, PolicyContext, PrivacyModel, Subject
from anon_core.models.risk import MaxRisk
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.comparison import Comparison


@dataclass(frozen=True, kw_only=True)
class Removal(PrivacyModel):
    """
    No row is removed whose class, as collected, has ``k`` people over ``columns``.

    An attacker who knows that a town has four people, and how the release was made, concludes from their absence that
    they lacked diversity, and so what they have (Wong 2007). The counts also say how many such classes are coarser than
    k alone would need (downcoding, Cohen 2022); a release may have some, since they are merged with rows near them.
    Where it is not known which row became which, only rows that are certainly missing count. Columns declared other
    make classes too.
    """

    key: ClassVar[str] = "removal"
    title: ClassVar[str] = "removal"
    stated_limit: ClassVar[bool] = True
    page: ClassVar[Mapping[str, str]] = {"removal": "No row was left out whose group, as collected, was large enough"}
    promise: ClassVar[str] = "no row is removed whose class over {columns}, as collected, has {k} people"
    needs: ClassVar[Need] = Need.PAIRING
    instead: ClassVar[str] = "merge such classes with others: a class that lacks diversity tells by its absence"
    of_release: ClassVar[bool] = True

    k: int

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if not context.quasi_identifiers or not (context.compared or context.paired):
            return
        others = context.judged_others
        if others and not context.paired and context.policy.freeform is not None:
            return  # Freeform recoding may recode some of them: only a pairing shows which.
        columns = (*context.quasi_identifiers, *others)
        least = [
            one.min_rows for one in MaxRisk.required_by(context)
        ]  # A limit of risk is about the sizes of classes, as k is.
        yield cls(columns=columns, k=max(context.k, *least) if least else context.k)

    @property
    def goal(self) -> str:
        return f"no row removed that k {self.k} alone would keep"

    def _beside(self, subject: Subject) -> Comparison | None:
        """Return the comparison with the original over just these columns, if there is one."""
        found = (one for one in (subject.comparison, subject.joint) if one is not None)
        return next((one for one in found if one.before.names == self.columns), None)

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.removal import kept_of, removal

        if subject.paired is not None and subject.paired.kept is not None:
            kept = subject.paired.kept(self.columns)
        elif (beside := self._beside(subject)) is not None:
            whose = subject.original_people if beside.before.units is None else None
            kept = kept_of(beside, None if whose is None else whose.project(self.columns).class_sizes())
        else:
            raise NotMeasurableError("it needs the original rows; give the table as collected")
        found = removal(kept, self.k)
        passed = not found.rows
        sentence = (
            f"{counted(found.rows, 'row')} removed that k {self.k:,} alone would keep, 0 allowed; of {found.classes:,} "
            f"original classes that large {found.missing:,} are missing, {found.coarser:,} coarser"
        )
        return self.measurement(
            passed=passed,
            observed=found.rows,
            required=0,
            sentence=sentence
            + ("" if found.exact else ", at least")
            + ("" if passed else ": merge these classes with others instead"),
            counts={
                "classes": found.classes,
                "missing": found.missing,
                "coarser": found.coarser,
                "rows": found.rows,
                "exact": found.exact,
            },
            rows_at_risk=found.rows,
        )
