"""No column that is published as collected names people by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, PolicyContext, PrivacyModel, Subject
from anon_core.policy import IDENTIFYING
from anon_core.waivers import ACCEPT_BY_NAME
from anon_core.wording import counted


@dataclass(frozen=True, kw_only=True)
class NoPublishedIdentifier(PrivacyModel):
    """Of the people who have a value in one of ``columns``, fewer than ``share`` are alone with it."""

    key: ClassVar[str] = "no_published_identifier"
    title: ClassVar[str] = "published identifiers"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "in each of {columns} less than {share} of the {counted} with a value are alone with it"
    page: ClassVar[Mapping[str, str]] = {
        "no_published_identifier": "In no column as collected is nearly every value another one"
    }
    instead: ClassVar[str] = ACCEPT_BY_NAME
    counts_people: ClassVar[bool] = True
    of_release: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True

    share: float

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if named := context.as_collected:
            yield cls(columns=named, share=IDENTIFYING)

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.detection.published_identifiers import naming

        table = subject.people_over(self.columns)
        found = naming(table, self.columns, limit=self.share)
        once = "of the values of {} occur once" if table.units is None else "of the people are alone with their {}"
        said = "; ".join(f"{found.shares[name]:.1%} {once.format(name)}" for name in found.columns)
        return self.measurement(
            passed=not found.columns,
            observed=found.largest,
            required=self.share,
            sentence=f"{said}: that names people; declare such a column identifier or drop, make it coarser at the "
            "source, or accept it by name, alone in its set, under published_uniqueness.accept"
            if found.columns
            else f"none of {counted(len(self.columns), 'column')} published as collected names people by itself",
            counts={"columns": len(found.columns), "largest_share": found.largest, "rows": table.rows},
        )
