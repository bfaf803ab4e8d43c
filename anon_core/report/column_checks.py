"""Whether a table has the declared columns, and whether some of them name people or single them out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from anon_core.detect.naming import naming
from anon_core.detect.uniqueness import unaccepted_uniqueness
from anon_core.frequency import FrequencyTable
from anon_core.policy import KMeans
from anon_core.report.check import Check
from anon_core.report.question import Question
from anon_core.role import Role
from anon_core.score.declared_types import cells_of_another_type
from anon_core.score.sensitivity_limit import sensitivity_found
from anon_core.spec import PartialPublication
from anon_core.table import Table
from anon_core.waivers import ended

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
    collected = [name for name in publication.as_collected(today) if name in table.names]
    if named := [name for name in collected if name not in question.quasi_identifiers]:
        yield _names_nobody(table, named)
    yield from _over(question, today)
    yield _uniqueness(table, question, publication, today)
    yield from _sensitivity(table, question, publication)
    yield from _types(table, publication)


def _sensitivity(table: Table, question: Question, publication: PartialPublication) -> Iterator[Check]:
    """Check that no published column is too sensitive; where that is not defined, it does not hold."""
    limit, settings = question.policy.max_sensitivity, publication.detect
    if limit is None:
        return
    names = [name for name in table.names if name in publication.published]
    found = sensitivity_found(
        FrequencyTable.of(table, names, unit=None),
        limit=limit,
        max_size=settings.max_size,
        approximate=settings.approximate or 0.0,
        ignore_duplicates=settings.ignore_duplicates,
        reveal={name: settings.probability_of(name) for name in names},
    )
    about = "not defined, no set of columns makes enough rows unique: set `detect.ignore_duplicates: true`"
    yield Check(
        name="max_sensitivity",
        passed=found is not None and not found.above,
        observed=found.highest if found else None,
        required=limit,
        about=f"highest sensitivity of a column: {found.worst}" if found else about,
    )


def _types(table: Table, publication: PartialPublication) -> Iterator[Check]:
    """Check that cells read as the declared types."""
    declared = {name: column.type for name, column in publication.effective_columns.items() if name in table.names}
    typed = {name: kind for name, kind in declared.items() if kind is not None}
    if not typed:
        return
    wrong = cells_of_another_type(FrequencyTable.of(table, list(typed)), typed)
    yield Check(
        name="declared_types",
        passed=not wrong,
        observed=sum(wrong.values()),
        required=0,
        about="cells of another type: " + (", ".join(f"{name} {cells:,}" for name, cells in wrong.items()) or "none"),
    )


def _over(question: Question, today: date) -> Iterator[Check]:
    """Check that nobody's word is relied on after the day that it was given for."""
    over = Counter(one.kind for one in ended(question.policy, today))
    for kind, times in over.items():
        about = f"{kind}s that have ended: have them renewed, or remove them"
        yield Check(name=f"{kind}s", passed=False, observed=times, required=0, about=about)


def _names_nobody(table: Table, columns: Sequence[str]) -> Check:
    """Check that no column is an identifier in disguise: few of its values may occur once."""
    found = naming(FrequencyTable.of(table, columns), columns)
    return Check(
        name="no_published_identifier",
        passed=not found.columns,
        observed=found.largest,
        required=found.limit,
        about=f"nearly all values occur once: {', '.join(found.columns)}"
        if found.columns
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
        together=[(*quasi, name) for name in others] if quasi else [searched],
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
