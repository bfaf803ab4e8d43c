"""Withdraw a release from its portal for good, with an intent on record before and the outcome after."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from anon_airflow.audit import AuditStore
from anon_airflow.portals.choice import portal_in_words, portal_on_record, settings_on_record
from anon_airflow.portals.manifest import data_digest_of
from anon_airflow.run.progress import Progress
from anon_core.errors import AnonError, InvalidInputError
from anon_core.publishing.portal import Portal

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """
    What to withdraw: some versions of a dataset, or all of them (``versions`` is None).

    ``sent`` are the rows that say where releases were sent: publications, and intents to publish without an outcome.
    ``words_only``: only the description is wrong, so the same data may be published again with another description.
    """

    dataset: str
    versions: tuple[str, ...] | None
    sent: tuple[Row, ...]
    words_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOff:
    """A version that was taken off a portal; ``same_data``: it was not named, but holds the data of a named one."""

    version: str
    portal: str
    same_data: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """The versions that were withdrawn now, those withdrawn before, and what was taken off which portal."""

    dataset: str
    withdrawn: tuple[str, ...]
    already: tuple[str, ...]
    at: str
    off: tuple[TakenOff, ...] = ()


def find_release(store: AuditStore, name: str, dataset: str | None = None) -> Target:
    """
    Find a release by name: a version, a run id, or a dataset for all its versions.

    A run that was killed while it published counts: its release may be on the portal.

    :raises InvalidInputError: nothing of that name was ever sent, or several datasets have it.
    :raises RefusedError: the audit chain is broken.
    """
    proven = store.proven("publications", "intents", "outcomes")
    every = [*proven["publications"], *_unreported(proven)]
    sent = [row for row in every if dataset in (None, row["dataset"])]
    named = [row for row in sent if name in (row["version"], row["run_id"], row["dataset"])]
    datasets = sorted({row["dataset"] for row in named})
    if not named:
        raise InvalidInputError(f"no version, run or dataset called {name!r} was published; see `anon audit list`")
    if len(datasets) > 1:
        raise InvalidInputError(f"{', '.join(datasets)} all have {name!r}; name one with --dataset")
    whole = name == datasets[0]
    versions = None if whole else tuple(sorted({row["version"] for row in named}))
    return Target(
        dataset=datasets[0], versions=versions, sent=tuple(row for row in sent if row["dataset"] == datasets[0])
    )


def _unreported(proven: Mapping[str, Sequence[Row]]) -> Iterable[Row]:
    """Yield the intents to publish that may have published although no outcome says so, as rows with a version."""
    reported = {row["intent_id"] for row in proven["outcomes"] if row["status"] in ("done", "refused")}
    for row in proven["intents"]:
        if row["verb"] == "publish" and row["id"] not in reported and "version" in row["details"]:
            yield {**row, "version": row["details"]["version"]}


def withdraw_release(
    store: AuditStore, target: Target, *, person: str, reason: str, progress: Progress | None = None
) -> Withdrawal:
    """
    Take a release off every portal that it was sent to; a second call changes nothing more.

    For one dataset only one process at a time withdraws or publishes.

    :raises StorageError: a portal does not answer or fails; the intent is closed as failed.
    """
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    with store.publishing(target.dataset):
        rows = store.proven("withdrawals")["withdrawals"]
        before = {row["version"] for row in rows if row["dataset"] == target.dataset}
        intent = store.intend(
            run_id=_newest(target)["run_id"],
            dataset=target.dataset,
            verb="withdraw",
            actor=person,
            details={
                "versions": list(target.versions) if target.versions else None,
                "reason": reason,
                "words_only": target.words_only,
            },
        )
        try:
            head = store.head()  # The link of this intent, as an anchor on the portal.
            taken = _take_off(target, progress, reason=reason, at=at, audit={"mac": head.mac})
        except AnonError as error:
            with contextlib.suppress(AnonError):  # A full disk fails here too; the first error is the one to report.
                store.close(intent, "failed", outcome="not withdrawn", reasons=[str(error)])
            raise
        off = {one.version for one in taken}
        known = target.versions or tuple(row["version"] for row in target.sent)
        gone = sorted({*known, *off})
        for version in gone:
            if version not in before:
                store.append("withdrawals", dataset=target.dataset, version=version, reason=reason, person=person)
        store.close(intent, "done", outcome="withdrawn", versions=gone)
    return Withdrawal(
        dataset=target.dataset,
        withdrawn=tuple(version for version in gone if version not in before or version in off),
        already=tuple(version for version in gone if version in before and version not in off),
        at=at,
        off=taken,
    )


def _newest(target: Target) -> Row:
    wanted = [row for row in target.sent if target.versions is None or row["version"] in target.versions]
    return max(wanted, key=lambda row: int(row["id"]))


def _take_off(target: Target, progress: Progress | None, **notice: Any) -> tuple[TakenOff, ...]:
    """
    Take the versions off every portal that they were sent to, even if one fails, and return which were where.

    ``notice`` is the content of a tombstone: reason, time, and the head of the audit chain.
    """
    off: list[TakenOff] = []
    failed: list[AnonError] = []
    for settings, rows in _by_portal(target.sent):
        try:
            portal = portal_on_record(settings, progress)
            key = portal.location_key
            portal.check_is_where({row["details"][key] for row in rows if key in row["details"]})
            names: Sequence[str | None] = [None]
            if target.versions is not None:
                names = sorted({*target.versions, *_same_content(portal, target, rows)})
            for name in names:
                for version in portal.withdraw(target.dataset, name, words_only=target.words_only, **notice):
                    named = target.versions is None or version in target.versions
                    off.append(TakenOff(version=version, portal=portal_in_words(settings), same_data=not named))
        except AnonError as error:
            failed.append(error)
    if failed:
        raise failed[0]
    return tuple(off)


def _same_content(portal: Portal, target: Target, rows: Iterable[Row]) -> set[str]:
    """Return the versions on a portal with the same content under another name: they have to be withdrawn too."""
    mine = [row for row in rows if row["version"] in (target.versions or ())]
    digests = {row.get("content_digest") or row["details"].get("content_digest") for row in mine}
    if not target.words_only:
        digests |= {row["details"].get("data_digest") for row in mine}
    digests.discard(None)
    there = [
        (each["version"], {each.get("content_digest"), data_digest_of(each)})
        for each in portal.versions(target.dataset)
    ]
    return {version for version, held in there if digests & held}


def _by_portal(sent: Iterable[Row]) -> list[tuple[dict[str, Any], list[Row]]]:
    """Return the rows by portal; settings that differ only in ``keep`` are the same portal."""
    found: dict[str, tuple[dict[str, Any], list[Row]]] = {}
    for row in sent:
        settings = settings_on_record(row["details"])
        if settings is not None:
            place = json.dumps({key: value for key, value in settings.items() if key != "keep"}, sort_keys=True)
            found.setdefault(place, (settings, []))[1].append(row)
    return list(found.values())
