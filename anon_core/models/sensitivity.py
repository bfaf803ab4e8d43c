"""No published column helps too much to single people out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, NotMeasurableError, PolicyContext, PrivacyModel, Subject


@dataclass(frozen=True, kw_only=True)
class MaxSensitivity(PrivacyModel):
    """
    The sensitivity of each of ``columns`` is at most ``limit`` (Gong 2020).

    It is computed from the sets of up to ``max_size`` columns on which all rows but the share ``approximate`` are
    unique; with ``ignore_duplicates`` equal rows count once. Where people have several rows, it is computed from the
    sets on which all people but that share are alone. ``reveal`` is the probability that an attacker knows each column.
    If a table has no such set, sensitivity is not defined, and the check does not pass: count equal rows once.
    """

    key: ClassVar[str] = "max_sensitivity"
    title: ClassVar[str] = "sensitivity"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "the sensitivity of each of {columns} is at most {limit}"
    page: ClassVar[Mapping[str, str]] = {"max_sensitivity": "No column helps too much to tell rows apart"}
    section: ClassVar[str] = "max_sensitivity"
    waivable: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    of_release: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True

    limit: float
    max_size: int
    approximate: float
    ignore_duplicates: bool
    reveal: dict[str, float]

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.publication is None or context.policy.max_sensitivity is None:
            return
        detect, columns = context.publication.detect, context.only_present(context.published)
        yield cls(
            columns=columns,
            limit=context.policy.max_sensitivity,
            max_size=detect.max_size,
            approximate=detect.approximate or 0.0,
            ignore_duplicates=detect.ignore_duplicates,
            reveal={name: detect.probability_of(name) for name in columns},
        )

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.sensitivity.sensitivity import sensitivity_found

        table = subject.people_over(self.columns)
        found = sensitivity_found(
            table,
            limit=self.limit,
            max_size=self.max_size,
            approximate=self.approximate,
            ignore_duplicates=self.ignore_duplicates,
            reveal=self.reveal,
        )
        if found is None:
            raise NotMeasurableError(
                "no set of columns makes enough rows unique, so the sensitivity is not defined; "
                "set `detect.ignore_duplicates: true`, or `detect.approximate`"
            )
        named = ", ".join(f"{name} {found.by_column[name]:.4g}" for name in found.above)
        return self.measurement(
            passed=not found.above,
            observed=found.highest,
            required=self.limit,
            sentence=f"the highest is {found.highest:.4g} ({found.worst}), {self.limit:g} allowed"
            + (f"; above it: {named}: generalise or drop these columns" if found.above else ""),
            counts={
                "highest": found.highest,
                "column": found.worst,
                "columns_above": len(found.above),
                "unique_sets": found.unique_sets,
                "rows": table.rows,
            },
        )
