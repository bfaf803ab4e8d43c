"""No row was removed that k alone would have kept: its absence would tell what its class lacked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Asked, Measurement, Need, NotMeasurableError, PrivacyModel, Subject
from anon_core.models.risk import MaxRisk
from anon_core.role import Role
from anon_core.wording import counted


@dataclass(frozen=True, kw_only=True)
class Removal(PrivacyModel):
    """
    No row is removed whose class, as collected, has ``k`` people over ``columns``.

    Whoever knows that a town has four people, and how the release was made, tells from their absence that they lacked
    diversity, and so what they have (Wong 2007). How many such classes are coarser than k alone would need (downcoding,
    Cohen 2022) is counted beside it; a release may have some, for other rows are near them. Where it is not known which
    row became which, only what is certainly missing counts.
    """

    key: ClassVar[str] = "removal"
    title: ClassVar[str] = "removal"
    page: ClassVar[Mapping[str, str]] = {"removal": "No row was left out whose group, as collected, was large enough"}
    promise: ClassVar[str] = "no row is removed whose class over {columns}, as collected, has {k} people"
    needs: ClassVar[Need] = Need.PAIRING
    instead: ClassVar[str] = "merge such classes with others: a class that lacks diversity tells by its absence"
    of_release: ClassVar[bool] = True

    k: int

    @classmethod
    def required_by(cls, asked: Asked) -> Iterator[Self]:
        if not asked.quasi_identifiers or not (asked.compared or asked.paired):
            return
        columns = asked.quasi_identifiers
        if asked.compared:
            # Beside columns declared other a class may be too small that is large over the quasi-identifiers alone;
            # then recoding, which knows the classes of all of them together, asks by itself.
            if asked.publication is not None and asked.publication.names_with_role(Role.OTHER):
                return
        else:
            columns = (*columns, *asked.judged_others)
        least = [one.min_rows for one in MaxRisk.required_by(asked)]  # A risk is about sizes too, as k is.
        yield cls(columns=columns, k=max(asked.k, *least) if least else asked.k)

    @property
    def goal(self) -> str:
        return f"no row removed that k {self.k} alone would keep"

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.score.removal import kept_of, removal

        if subject.paired is not None and subject.paired.kept is not None:
            kept = subject.paired.kept(self.columns)
        elif subject.comparison is not None:
            kept = kept_of(subject.comparison)
        else:
            raise NotMeasurableError("it is about the original rows too; give the table as collected")
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
