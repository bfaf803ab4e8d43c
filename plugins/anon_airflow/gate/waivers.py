"""Waivers, acceptances and raised limits: which checks they excuse, and how they are reported and put on record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from anon_core.models import PolicyContext, required
from anon_core.role import Role
from anon_core.site import BUILT_IN, raised_limits
from anon_core.waivers import answers, named_check, waiver_of

if TYPE_CHECKING:
    from anon_airflow.audit import AuditStore
    from anon_airflow.gate.verdict import Verdict
    from anon_airflow.run.context import Run
    from anon_core.frequency import FrequencyTable
    from anon_core.policy import PartialPolicy, Waiver
    from anon_core.site import SitePolicy
    from anon_core.spec import Publication
    from anon_core.waivers import NamedCheck

Entry = dict[str, Any]


def excused_stock(entries: Sequence[Entry], policy: PartialPolicy, today: date) -> list[Entry]:
    """Return entries of Great Expectations' own types, each with the waiver of its type, if it has not ended."""
    return [_excused(one, policy, today) for one in entries]


def _excused(entry: Entry, policy: PartialPolicy, today: date) -> Entry:
    waiver = waiver_of(policy, entry["type"], entry["kwargs"].get("column"))
    if waiver is None or waiver.until < today:
        return entry
    return {**entry, "meta": {**entry["meta"], "waiver": waiver.model_dump(mode="json")}}


def without_effect(suite: Mapping[str, Any], policy: PartialPolicy, today: date) -> list[Waiver]:
    """Return the waivers that have not ended but match no check of the suite: their authors assumed a wrong check."""
    used = [entry["meta"]["waiver"]["check"] for entry in suite["expectations"] if "waiver" in entry["meta"]]
    return [one for one in policy.waivers if one.until >= today and one.check not in used]


def accepted_and_needed(
    suite: Mapping[str, Any], published: FrequencyTable, publication: Publication, today: date
) -> set[tuple[str, ...]]:
    """
    Return the accepted column sets, sorted, for which the gate would refuse what is ``published``.

    Such a set singles out more people than are allowed, or a single accepted column identifies people by itself, or the
    columns declared other that it names leave fewer than k in a class. If link k is meant, a set counts unless k holds
    with its columns too, for then link k does. People are counted if the table tells them apart.
    """
    limits = [one["kwargs"] for one in suite["expectations"] if one["type"] == "expect_published_uniqueness"]
    there = set(published.names)
    return {
        columns
        for columns in (tuple(sorted(one)) for entry in limits for one in entry.get("accepted", ()))
        if published.rows
        and there.issuperset(columns)
        and (
            any(_singles_out(published, columns, entry) for entry in limits)
            or _below_k(published, columns, publication, today)
        )
    }


def _singles_out(published: FrequencyTable, columns: tuple[str, ...], limits: Mapping[str, Any]) -> bool:
    from anon_core.detection.published_identifiers import naming

    if len(columns) == 1 and naming(published, columns).columns:
        return True
    over = published.project(columns)
    return set(columns) <= set(limits["columns"]) and over.singletons / over.rows > limits["max_share"]


def _below_k(published: FrequencyTable, columns: tuple[str, ...], publication: Publication, today: date) -> bool:
    """Whether accepted columns declared other leave fewer than k in a class, beside all that are judged."""
    from anon_core.measures.linkage.four_ks import k_anonymity

    own = [name for name in publication.names_with_role(Role.OTHER) if name in columns]
    if not own:
        return False
    judged = (*publication.quasi_identifiers, *publication.judged_others(today), *own)
    return k_anonymity(published.project(judged), judged, k=publication.privacy.k).k < publication.privacy.k


def exceptions_note(
    publication: Publication, verdict: Verdict | None, today: date, site: SitePolicy | None = None
) -> dict[str, list[dict[str, Any]]]:
    """
    Return all acceptances, waivers and raised limits as both reports list them.

    ``needed``: the check fails without it, or the limit of the ``site`` is lower; null if nothing was measured, it has
    ended, or the site policy is not known.
    """
    policy = publication.privacy
    accepted = [
        {
            **one.model_dump(mode="json"),
            "needed": _known(verdict, one.until, today) and _is_needed(verdict, one.columns),
        }
        for one in policy.published_uniqueness.accept
    ]
    accepted += [
        {
            "columns": [one.column],
            **one.model_dump(mode="json", exclude={"column"}),
            "needed": _known(verdict, one.until, today) and _is_there(verdict, one.column, one.pattern.value),
        }
        for one in policy.patterns.accept
    ]
    waivers = [
        {
            **one.model_dump(mode="json"),
            "needed": _known(verdict, one.until, today)
            and any(check.waiver == one.check for check in (verdict.checks if verdict else ())),
        }
        for one in policy.waivers
    ]
    return {
        "accepted": accepted,
        "waivers": waivers,
        "raised": list(_raised(publication, site or BUILT_IN, today, site)),
    }


def _raised(
    publication: Publication, compared: SitePolicy, today: date, site: SitePolicy | None
) -> Iterator[dict[str, Any]]:
    """Yield every limit that a person raised, with the value in the file; the limit of the site is private."""
    for one in raised_limits(publication, publication.privacy, compared):
        if one.answered is not None:
            known = site is not None and one.answered.until >= today
            needed = one.beyond if known else None
            yield {**one.answered.model_dump(mode="json"), "value": one.value, "needed": needed}


def _known(verdict: Verdict | None, until: date, today: date) -> bool | None:
    return True if verdict is not None and until >= today else None


def _is_needed(verdict: Verdict | None, columns: Sequence[str]) -> bool:
    return verdict is not None and tuple(sorted(columns)) in verdict.singled_out


def _is_there(verdict: Verdict | None, column: str, pattern: str) -> bool:
    """Whether a file has an accepted pattern of personal data."""
    checks = [one for one in (verdict.checks if verdict else ()) if one.model == "personal_patterns"]
    there = (found for check in checks for found in check.counts.get("accepted", ()))
    return any((found["column"], found["pattern"]) == (column, pattern) for found in there)


def accepted_words(one: Mapping[str, Any]) -> str:
    """
    Return in words what was accepted: a set of columns, or a pattern of personal data in a column.

    >>> accepted_words({"columns": ["born", "sex"]}), accepted_words({"columns": ["notes"], "pattern": "email"})
    ('born, sex', 'notes: email')
    """
    pattern = one.get("pattern")
    return ", ".join(one["columns"]) + (f": {pattern}" if pattern else "")


def put_on_record(run: Run, audit: AuditStore) -> None:
    """Append all waivers, acceptances and raised limits of this run to the audit store."""
    for name, columns, one in (*_answered_for(run.publication.privacy), *_of_the_unit(run.publication)):
        audit.append(
            "waivers",
            run_id=run.run_id,
            dataset=run.dataset,
            check_name=name,
            columns=columns,
            reason=one.reason,
            person=one.by,
            until=one.until.isoformat(),
        )


def _answered_for(policy: PartialPolicy) -> Iterator[tuple[str, list[str], Any]]:
    for accepted in policy.published_uniqueness.accept:
        yield "published_uniqueness", list(accepted.columns), accepted
    for one in policy.patterns.accept:
        yield f"personal_patterns({one.pattern.value})", [one.column], one
    for waiver in policy.waivers:
        check = named_check(waiver.check)
        yield check.name, _columns_of(check, policy), waiver
    for raised in policy.raised:
        yield raised.limit, [], raised


def _of_the_unit(publication: Publication) -> Iterator[tuple[str, list[str], Any]]:
    for where, one in answers(publication.unit, "unit"):
        yield where, [one.column] if hasattr(one, "column") else [], one


def _columns_of(check: NamedCheck, policy: PartialPolicy) -> list[str]:
    """Return the columns that a waiver is limited to; none if it is for all."""
    if check.narrowed is None:
        return []
    context = PolicyContext(policy=policy, quasi_identifiers=(), k=policy.k or 1, today=date.min)
    meant = {one.model.column for one in required(context) if check.covers(one.name, one.model.column)}
    return sorted(filter(None, meant)) or [check.narrowed]
