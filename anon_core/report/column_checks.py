"""Whether a table has the declared columns, and whether some of them name people or single them out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

import numpy as np

from anon_core.detect.unique_columns import unique_column_combinations
from anon_core.detect.uniqueness import unaccepted_uniqueness
from anon_core.frequency import FrequencyTable
from anon_core.policy import IDENTIFYING, KMeans
from anon_core.report.check import Check
from anon_core.report.question import Question
from anon_core.role import Role
from anon_core.score.profile import reads_as
from anon_core.score.sensitivity import ROUNDING, sensitivities
from anon_core.spec import PartialPublication
from anon_core.table import Table

_SHOWN = 5


def column_checks(
    table: Table, question: Question, publication: PartialPublication, today: date, besides: Sequence[str]
) -> Iterator[Check]:
    """
    Check that the table has the declared columns and no other, and that no set of them singles anybody out.

    Columns ``besides`` would not be published.
    """
    undeclared = [name for name in table.names if name not in (*publication.published, *besides)]
    absent = [name for name in publication.published if name not in table.names]
    left_out = [name for name in besides if name in table.names and name not in publication.published]
    yield Check(
        name="no_undeclared_column",
        passed=not undeclared and not absent,
        observed=len(undeclared) + len(absent),
        required=0,
        about=f"undeclared: {len(undeclared)}, absent: {len(absent)}"
        + (f"; not counted, and not to be published: {', '.join(left_out)}" if left_out else ""),
    )
    believed = [name for name in publication.believed(today) if name in table.names]
    if named := [name for name in believed if name not in question.quasi_identifiers]:
        yield _names_nobody(table, named)
    expired = [accepted for accepted in question.policy.published_uniqueness.accept if accepted.until < today]
    if expired:
        yield Check(
            name="acceptances",
            passed=False,
            observed=len(expired),
            required=0,
            about="acceptances that have ended: have them renewed, or remove them",
        )
    yield _uniqueness(table, question, publication, today)
    yield from _sensitivity(table, question, publication)
    yield from _types(table, publication)


def _sensitivity(table: Table, question: Question, publication: PartialPublication) -> Iterator[Check]:
    """Check that no published column is too sensitive; where that is not defined, it does not hold."""
    limit, settings = question.policy.max_sensitivity, publication.detect
    if limit is None:
        return
    names = [name for name in table.names if name in publication.published]
    unique = unique_column_combinations(
        FrequencyTable.of(table, names, unit=None),
        max_size=settings.max_size,
        approximate=settings.approximate or 0.0,
        ignore_duplicates=settings.ignore_duplicates,
    )
    found = sensitivities(
        names, unique.sets, {name: settings.probability_of(name) for name in names}, larger_exist=unique.exists
    )
    worst = max(names, key=lambda name: found[name]) if found and names else None
    about = f"highest sensitivity of a column: {worst}"
    if found is None or worst is None:
        about = "not defined, no set of columns makes enough rows unique: set `detect.ignore_duplicates: true`"
    yield Check(
        name="max_sensitivity",
        passed=found is not None and worst is not None and found[worst] <= limit + ROUNDING,
        observed=found[worst] if found and worst else None,
        required=limit,
        about=about,
    )


def _types(table: Table, publication: PartialPublication) -> Iterator[Check]:
    """Check that cells read as the declared types."""
    declared = {name: column.type for name, column in publication.effective_columns.items() if name in table.names}
    typed = {name: kind for name, kind in declared.items() if kind is not None}
    if not typed:
        return
    wrong = {}
    for name, kind in typed.items():
        column = table.column(name)
        if cells := int(np.count_nonzero(~reads_as(column.domain, kind)[column.codes])):
            wrong[name] = cells
    yield Check(
        name="declared_types",
        passed=not wrong,
        observed=sum(wrong.values()),
        required=0,
        about="cells of another type: " + (", ".join(f"{name} {cells:,}" for name, cells in wrong.items()) or "none"),
    )


def _names_nobody(table: Table, columns: Sequence[str]) -> Check:
    """Check that no sensitive column is an identifier in disguise: few of its values may occur once."""
    shares = {name: FrequencyTable.of(table, [name]).singletons / max(table.rows, 1) for name in columns}
    found = [name for name, share in shares.items() if share >= IDENTIFYING]
    return Check(
        name="no_published_identifier",
        passed=not found,
        observed=max(shares.values()),
        required=IDENTIFYING,
        about=f"nearly all values occur once: {', '.join(found)}"
        if found
        else "share of values that occur once, at most",
    )


def _uniqueness(table: Table, question: Question, publication: PartialPublication, today: date) -> Check:
    limits = question.policy.published_uniqueness
    quasi = question.quasi_identifiers
    searched = [name for name in table.names if name in (*publication.searched, *quasi)]
    others = [name for name in publication.names_with_role(Role.OTHER) if name in table.names and name not in quasi]
    found = unaccepted_uniqueness(
        FrequencyTable.of(table, searched, unit=question.unit),
        max_size=limits.max_size,
        max_share=limits.max_share,
        accepted=[a.columns for a in limits.accept if a.until >= today],
        together=[(*quasi, name) for name in others],
        protected=[quasi] if question.policy.k_means is KMeans.LINK else [],
    )
    sets = [f"({', '.join(one.columns)}): {one.singletons:,} alone" for one in found[:_SHOWN]]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return Check(
        name="published_uniqueness",
        passed=not found,
        observed=[{"columns": list(one.columns), "singletons": one.singletons} for one in found],
        required=limits.max_share,
        about="; ".join(sets) + more if found else "no such set",
    )
