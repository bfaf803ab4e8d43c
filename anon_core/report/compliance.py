"""Whether a table keeps what a policy requires of it, check by check, as a command run by hand tells it.

A release is judged by the gate, from the files that are published; both rest on the same measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from anon_core.comparison import Comparison
from anon_core.detect.uniqueness import unaccepted_uniqueness
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladder
from anon_core.policy import Distance, KMeans, PartialPolicy, rows_allowed
from anon_core.report.assessment import Assessment
from anon_core.score.classes import ClassMeasure, SensitiveClasses, sensitive_classes
from anon_core.score.closeness import t_closeness
from anon_core.score.diversity import alpha_anonymity, l_diversity
from anon_core.spec import PartialPublication
from anon_core.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One requirement: what was observed, what is required, and in words what it is about."""

    name: str
    passed: bool
    observed: Any
    required: Any
    about: str


def anonymity_checks(assessment: Assessment, policy: PartialPolicy, *, k: int) -> Iterator[Check]:
    """
    Check k (exact, or link and source as ``k_means`` says), singletons and the highest risk.

    :raises InvalidInputError: the policy means the link k, which needs the original.
    """
    measured, four = assessment.k, assessment.four
    if policy.k_means is KMeans.EXACT:
        yield Check(
            name="k_anonymity",
            passed=measured.k >= k,
            observed=measured.k,
            required=k,
            about=f"{measured.rows_below:,} rows in classes below {k}",
        )
    elif four is None:
        raise InvalidInputError("`k_means: link` is about the original rows too; give them with --original")
    else:
        for name, observed in (("link_k", four.link), ("source_k", four.source)):
            below = four.rows_below[name.removesuffix("_k")]
            yield Check(
                name=name, passed=observed >= k, observed=observed, required=k, about=f"{below:,} rows below {k}"
            )
    yield Check(
        name="no_singletons",
        passed=measured.singletons <= policy.singletons,
        observed=measured.singletons,
        required=policy.singletons,
        about="rows alone in their class",
    )
    if policy.max_risk is not None:
        yield Check(
            name="max_risk",
            passed=assessment.risk.holds,
            observed=assessment.risk.prosecutor.highest,
            required=policy.max_risk,
            about=f"{assessment.risk.rows_failing:,} rows are at a higher risk",
        )


def diversity_checks(table: Table, publication: PartialPublication, *, k: int, unit: str | None) -> Iterator[Check]:
    """Check what the policy requires of the sensitive columns."""
    policy = publication.privacy or PartialPolicy()

    def classes_of(column: str) -> SensitiveClasses:
        quasi = publication.quasi_identifiers
        return sensitive_classes(FrequencyTable.of(table, [*quasi, column], unit=unit), quasi, column)

    for diverse in policy.l_diversity:
        measured = l_diversity(classes_of(diverse.column), kind=diverse.kind, l=diverse.l, c=diverse.c)
        kind = f"{diverse.kind.value} with l={diverse.l}, c is compared" if diverse.c else str(diverse.kind.value)
        yield _check("l_diversity", diverse.column, measured, kind)
    for close in policy.t_closeness:
        climbed = None
        if close.distance is Distance.HIERARCHICAL:
            hierarchy = publication.effective_columns[close.column].hierarchy
            climbed = ladder(table.column(close.column), hierarchy, publication.root)
        measured = t_closeness(classes_of(close.column), t=close.t, distance=close.distance, ladder=climbed)
        yield _check("t_closeness", close.column, measured, f"{close.distance.value} distance")
    for rare in policy.alpha:
        measured = alpha_anonymity(classes_of(rare.column), alpha=rare.alpha, k=k)
        yield _check("alpha", rare.column, measured, "largest share of a value in a class")


def _check(name: str, column: str, measured: ClassMeasure, kind: str) -> Check:
    return Check(
        name=f"{name}({column})",
        passed=measured.holds,
        observed=measured.observed,
        required=measured.required,
        about=f"{kind}; {measured.classes_failing:,} classes with {measured.rows_failing:,} rows fail",
    )


def suppression_check(comparison: Comparison, policy: PartialPolicy) -> Check:
    """Check how many rows are gone, beside the original."""
    rows, suppressed = comparison.before.rows, comparison.rows_removed + comparison.rows_blanked
    return Check(
        name="rows_suppressed_at_most",
        passed=suppressed <= rows_allowed(policy.suppression_limit, rows),
        observed=suppressed / max(rows, 1),
        required=policy.suppression_limit,
        about=f"{suppressed:,} of {rows:,} rows are removed or say nothing any more",
    )


def column_checks(
    table: Table, publication: PartialPublication, today: date, *, besides: Sequence[str] = ()
) -> Iterator[Check]:
    """
    Check that the table has the declared columns, and that no other set of them singles people out.

    Columns ``besides`` are there for the check only: a key or a unit that would not be published.
    """
    limits = (publication.privacy or PartialPolicy()).published_uniqueness
    undeclared = [name for name in table.names if name not in (*publication.published, *besides)]
    absent = [name for name in publication.published if name not in table.names]
    yield Check(
        name="no_undeclared_column",
        passed=not undeclared and not absent,
        observed=len(undeclared) + len(absent),
        required=0,
        about=f"{len(undeclared)} undeclared, {len(absent)} absent",
    )
    found = unaccepted_uniqueness(
        FrequencyTable.of(table, [name for name in publication.searched if name in table.names]),
        max_size=limits.max_size,
        max_share=limits.max_share,
        accepted=[a.columns for a in limits.accept if a.until >= today],
        together=publication.searched_together,
    )
    sets = [f"({', '.join(one.columns)}): {one.singletons:,} alone" for one in found[:5]]
    yield Check(
        name="published_uniqueness",
        passed=not found,
        observed=[{"columns": list(one.columns), "singletons": one.singletons} for one in found],
        required=limits.max_share,
        about="; ".join(sets) + (f" and {len(found) - 5} more" if len(found) > 5 else "") if found else "no such set",
    )
