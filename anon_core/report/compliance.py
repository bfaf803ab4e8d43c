"""Whether a table keeps what a policy requires of it, check by check, as a command run by hand tells it.

A release is judged by the gate, from the files that are published; both rest on the same measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from anon_core.check_names import names_of_policy
from anon_core.comparison import Comparison
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladders
from anon_core.hierarchy.ladder import Ladder
from anon_core.hierarchy.published import ladder_of_labels
from anon_core.policy import Distance, KMeans, LDiversity, PartialPolicy, rows_allowed
from anon_core.report.assessment import Assessment
from anon_core.report.check import Check
from anon_core.report.column_checks import column_checks
from anon_core.report.question import Question
from anon_core.score.classes import ClassMeasure, SensitiveClasses, sensitive_classes
from anon_core.score.closeness import t_closeness
from anon_core.score.diversity import alpha_anonymity, l_diversity
from anon_core.score.freeform import FreeformCheck
from anon_core.spec import PartialPublication
from anon_core.table import Table
from anon_core.waivers import waiver_of


def all_checks(
    table: Table,
    question: Question,
    assessment: Assessment,
    comparison: Comparison | None,
    *,
    today: date,
    besides: Sequence[str] = (),
    freeform: FreeformCheck | None = None,
) -> list[Check]:
    """
    Check everything that is asked of a table.

    The ``comparison`` counts rows. Columns ``besides`` are there for the check only: a key or a unit that would not be
    published. Where values are guarded and what was found is not there (``freeform``), that check does not hold.
    What was measured and does not pass may be waived.
    """
    checks = list(_anonymity(assessment, question))
    if question.publication is not None:
        checks += _diversity(table, question, question.publication)
        checks += _freeform(question, freeform)
        checks += [_suppression(comparison, question)] if comparison else []
        checks += column_checks(table, question, question.publication, today, besides)
    return [_excused(check, question.policy, today) for check in checks]


def _excused(check: Check, policy: PartialPolicy, today: date) -> Check:
    """Return the check, waived if it was measured, does not pass and somebody answers for it today."""
    waiver = waiver_of(policy, check.name, check.column)
    if check.passed or not check.measured or waiver is None or waiver.until < today:
        return check
    return replace(check, waived_by=waiver.by)


def _anonymity(assessment: Assessment, question: Question) -> Iterator[Check]:
    """
    Check k (exact, or link and source as ``k_means`` says), singletons, the original and the highest risk.

    Where link k is meant, rows alone in their class are no fault by themselves: they are checked only if the policy
    names a number.

    :raises InvalidInputError: the policy means the link k, which needs the original, and of people also a pairing.
    """
    measured, four, policy, k = assessment.k, assessment.four, question.policy, question.k
    exact = policy.k_means is KMeans.EXACT
    if exact:
        about = f"{question.counted} in classes below {k}: {measured.rows_below:,}"
        yield Check(name="k_anonymity", passed=measured.k >= k, observed=measured.k, required=k, about=about)
    elif four is None:
        raise InvalidInputError("`k_means: link` is about the original rows too; give them with --original")
    elif four.link is None or four.source is None:
        raise InvalidInputError(f"`k_means: link` cannot be checked: {four.unmeasured}")
    else:
        for name, observed in (("link", four.link), ("source", four.source)):
            about = f"{question.counted} below {k}: {four.rows_below[name]:,}"
            yield Check(name=f"{name}_k", passed=observed >= k, observed=observed, required=k, about=about)
    if exact or "singletons" in policy.model_fields_set:
        yield Check(
            name="no_singletons",
            passed=measured.singletons <= policy.singletons,
            observed=measured.singletons,
            required=policy.singletons,
            about=f"{question.counted} alone in their class",
        )
    if four is not None:
        yield Check(
            name="made_from_original",
            passed=four.fits,
            observed=four.fits,
            required=True,
            about=four.reason or "every published row covers an original of its own",
        )
    if policy.max_risk is not None:
        yield Check(
            name="max_risk",
            passed=assessment.risk.holds,
            observed=assessment.risk.prosecutor.highest,
            required=policy.max_risk,
            about=f"{question.counted} at a higher risk: {assessment.risk.rows_failing:,}",
        )


def _diversity(table: Table, question: Question, publication: PartialPublication) -> Iterator[Check]:
    """
    Check what the policy requires of the sensitive columns; one that is absent does not hold.

    :raises UnmappedValuesError: a hierarchy that measures closeness does not cover every value.
    """
    policy, names = question.policy, names_of_policy(question.policy)

    def classes_of(column: str) -> SensitiveClasses | None:
        if column not in table.names:
            return None
        quasi = question.quasi_identifiers
        counted = FrequencyTable.of(table, [*quasi, column], unit=question.unit)
        return sensitive_classes(counted, quasi, column)

    for diverse in policy.l_diversity:
        classes = classes_of(diverse.column)
        measured = None if classes is None else l_diversity(classes, kind=diverse.kind, l=diverse.l, c=diverse.c)
        yield _check(names[diverse], diverse.column, measured, question, _observed_of(diverse, measured))
    for close in policy.t_closeness:
        climbed = None
        if close.distance is Distance.HIERARCHICAL and close.column in table.names:
            climbed = _climbed(publication, table, close.column)
        classes = classes_of(close.column)
        measured = None if classes is None else t_closeness(classes, t=close.t, distance=close.distance, ladder=climbed)
        yield _check(names[close], close.column, measured, question, "distance of the worst class")
    for rare in policy.alpha:
        classes = classes_of(rare.column)
        shares = None if classes is None else alpha_anonymity(classes, alpha=rare.alpha, k=question.k)
        small = f"; the smallest class has {shares.k:,}" if shares and shares.k < question.k else ""
        what = f"largest share of a value in a class{small}"
        yield _check(names[rare], rare.column, shares, question, what)


def _climbed(publication: PartialPublication, table: Table, name: str) -> Ladder:
    """:raises UnmappedValuesError: the hierarchy of a sensitive column does not know some values and labels."""
    hierarchy = publication.effective_columns[name].hierarchy
    found = ladder_of_labels(table.column(name), hierarchy, publication.root)
    return ladders(publication, table, [name])[name] if found.unmapped.any() else found


def _freeform(question: Question, found: FreeformCheck | None) -> Iterator[Check]:
    """Check that no freeform attack is a breach; where that could not be measured it does not hold."""
    policy = question.policy.freeform
    if policy is None:
        return
    about = "not measured: columns, cells or guards that `anon freeform` tells of"
    if found is not None:
        rows = max((column.rows for column in found.columns), default=0)
        about = f"largest threat; breaches: {found.breaches:,}, rows concerned in one column: {rows:,}"
    yield Check(
        name="no_freeform_breach",
        passed=found is not None and found.holds,
        observed=None if found is None else found.worst.threat if found.worst else 0.0,
        required=policy.sigma_t,
        about=about,
        measured=found is not None,
    )


def _observed_of(diverse: LDiversity, measured: ClassMeasure | None) -> str:
    """Return what is observed of l-diversity, in words. The recursive one is strict: c itself must be above it."""
    if diverse.c is None:
        return "l of the worst class"
    return "c must be above this" if measured and measured.observed is not None else "too few values for any c"


def _check(name: str, column: str, measured: ClassMeasure | None, question: Question, what: str) -> Check:
    if measured is None:
        about = "the column is not there"
        return Check(name=name, passed=False, observed=None, required=None, about=about, column=column, measured=False)
    return Check(
        name=name,
        column=column,
        passed=measured.holds,
        observed=measured.observed,
        required=measured.required,
        about=f"{what}; classes that fail: {measured.classes_failing:,}, "
        f"{question.counted} in them: {measured.rows_failing:,}",
    )


def _suppression(comparison: Comparison, question: Question) -> Check:
    """Check how many rows are gone, beside the original; rows are counted whatever the k's count."""
    rows, suppressed = comparison.before.rows, comparison.rows_removed + comparison.rows_blanked
    limit = question.policy.suppression_limit
    return Check(
        name="rows_suppressed_at_most",
        passed=suppressed <= rows_allowed(limit, rows),
        observed=suppressed / max(rows, 1),
        required=limit,
        about=f"rows that are removed or say nothing any more: {suppressed:,} of {rows:,}",
    )
