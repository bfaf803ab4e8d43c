"""A table judged by a publication file, or by what is asked in its place: measured first, then held against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from anon_core.comparison import Comparison, original_rows
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.policy import PartialPolicy
from anon_core.report.assessment import Assessment, assess
from anon_core.report.compliance import Check, anonymity_checks, column_checks, diversity_checks, suppression_check
from anon_core.report.originals import beside_original, prepared_original
from anon_core.role import Role
from anon_core.spec import PartialPublication
from anon_core.table import Column, Table

USUAL_K = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a table is judged by; ``unit`` is the column whose people are counted in place of rows."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    k: int = USUAL_K
    policy: PartialPolicy = field(default_factory=PartialPolicy)
    publication: PartialPublication | None = None
    unit: str | None = None
    sampling_fraction: float | None = None

    @classmethod
    def of(
        cls,
        publication: PartialPublication | None,
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        k: int | None = None,
        unit: str | None = None,
        sampling_fraction: float | None = None,
    ) -> Question:
        """
        Ask what a publication file requires; what is given beside it counts in its place.

        :raises InvalidInputError: there is no quasi-identifier.
        """
        policy = (publication.privacy if publication else None) or PartialPolicy()
        quasi = tuple(quasi_identifiers) or (publication.quasi_identifiers if publication else ())
        if not quasi:
            raise InvalidInputError(
                "there is no quasi-identifier; name some with --quasi a,b, or give a publication file that has some"
            )
        declared = publication.names_with_role(Role.SENSITIVE) if publication else ()
        return cls(
            quasi_identifiers=quasi,
            sensitive=tuple(sensitive) or declared,
            k=k or policy.k or USUAL_K,
            policy=policy,
            publication=publication,
            unit=unit or (publication.unit if publication else None),
            sampling_fraction=sampling_fraction or (publication.sampling_fraction if publication else None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The table before recoding, and how its rows are paired with the released ones: by order, by a key, or not."""

    table: Table
    same_order: bool = False
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What was measured, what of it holds, and what it was measured on."""

    assessment: Assessment
    checks: tuple[Check, ...]
    frequencies: FrequencyTable
    comparison: Comparison | None

    @property
    def holds(self) -> bool:
        return all(check.passed for check in self.checks)


def judge(
    table: Table, question: Question, original: Original | None = None, *, today: date, also: Sequence[str] = ()
) -> Judgement:
    """
    Measure a table and check all that is asked of it. ``also`` names columns to be counted beside those asked about.

    :raises InvalidInputError: a column is missing, the table is empty, or the original does not fit.
    """
    comparison = None
    if original is not None:
        before = prepared_original(original.table, question.publication)
        table = _with_units(table, before, original, question.unit)
        comparison = beside_original(
            before,
            table,
            question.quasi_identifiers,
            question.publication,
            same_order=original.same_order,
            key=original.key,
            unit=question.unit,
        )
    publication = question.publication
    # A declared column that is not there is told by a check.
    absent = set(publication.published if publication else ()) - set(table.names)
    sensitive = [name for name in question.sensitive if name not in absent]
    counted = dict.fromkeys([*question.quasi_identifiers, *sensitive, *also])
    frequencies = FrequencyTable.of(table, list(counted), unit=question.unit)
    assessment = assess(
        frequencies,
        question.quasi_identifiers,
        k=question.k,
        sensitive=sensitive,
        max_risk=question.policy.max_risk,
        sampling_fraction=question.sampling_fraction,
        comparison=comparison,
        weights=publication.priority_weights if publication else None,
    )
    checks = list(anonymity_checks(assessment, question.policy, k=question.k))
    if publication is not None:
        checks += diversity_checks(table, publication, k=question.k, unit=question.unit)
        checks += [suppression_check(comparison, question.policy)] if comparison else []
        checks += column_checks(table, publication, today, besides=_besides(question, original))
    return Judgement(assessment=assessment, checks=tuple(checks), frequencies=frequencies, comparison=comparison)


def _besides(question: Question, original: Original | None) -> list[str]:
    """Return the columns that are there for the check only and would not be published."""
    return [name for name in (question.unit, original.key if original else None) if name is not None]


def _with_units(table: Table, before: Table, original: Original, unit: str | None) -> Table:
    """Return the table with the unit of every row, taken from its original where only that has it."""
    if unit is None or unit in table.names:
        return table
    at = original_rows(before, table, same_order=original.same_order, key=original.key)
    if at is None:
        return table  # The comparison says that units need a pairing.
    whose = before.column(unit)
    return Table(
        columns=(*table.columns, Column(name=unit, codes=whose.codes[at], domain=whose.domain)), rows=table.rows
    )
