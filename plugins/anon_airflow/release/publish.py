"""Send a release to its portal, with an intent on record before and the outcome after."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from anon_airflow.approval.request import refuse_unapproved
from anon_airflow.audit import AuditStore, History
from anon_airflow.gate.receipt import digest_of_text
from anon_airflow.gate.verdict import Verdict
from anon_airflow.portals.choice import portal_of, record_of
from anon_airflow.portals.overlap import check_portal_place
from anon_airflow.release.build import ReportFile, build_release
from anon_airflow.run import cancellation
from anon_airflow.run.context import Run
from anon_airflow.run.home import wipe
from anon_airflow.run.progress import Progress
from anon_core.errors import AnonError, RefusedError
from anon_core.publishing.release import Published, Release, withdrawn_words
from anon_core.registry import PORTALS
from anon_core.spec.member_sections import key_in

Row = Mapping[str, Any]


def send(
    run: Run, receipt: str, verdict: Verdict, report: ReportFile, site_policy: str, progress: Progress | None = None
) -> dict[str, Any]:
    """Publish a release that a receipt covers, with an intent on record before and the outcome after.

    The head of the audit chain goes into the manifest, which others keep: so cutting off the end of the chain can be
    detected. Its place does not go in: it would reveal how many runs and refusals there were in between.
    One process at a time does this for a dataset.

    :raises RefusedError: another run has published the same period since this one was staged, or this very content was
        withdrawn.
    """
    check_portal_place(run)
    release, portal = build_release(run, verdict, report, site_policy), portal_of(run, progress)
    cancellation.check()  # After a request to stop nothing is sent.
    with run.audit() as audit, audit.publishing(run.dataset):
        history = run.history(audit)
        _refuse_to_overtake(run, history, release.content_digest)
        refuse_withdrawn(audit, release)
        intent = audit.intend(
            run_id=run.run_id,
            dataset=run.dataset,
            verb="publish",
            actor=run.actor,
            spec_digest=run.publication.digest(),
            details={
                "version": release.version,
                "period": run.period,
                "content_digest": release.content_digest,
                "data_digest": release.data_digest,
                "portal": record_of(run.publication),
            },
        )
        try:
            refuse_unapproved(run, audit)  # Once more: from here on `revoke` finds the intent.
        except RefusedError:
            audit.close(intent, "refused", outcome="approval revoked")
            raise
        head = audit.head()
        release.manifest.update(receipt=digest_of_text(receipt), audit={"mac": head.mac})
        try:
            check_portal_place(run)  # Once more: a link may have appeared while this process waited for its turn.
            published = portal.publish(release)
        except Exception as error:
            with contextlib.suppress(AnonError):  # If the database fails too, the intent stays open.
                refused = isinstance(error, RefusedError)
                audit.close(intent, "refused" if refused else "failed", outcome="stopped at the portal")
            raise
        rows = (history.staged["rows"], verdict.distributions[0].rows)
        _put_on_record(run, audit, release, published, rows)
        audit.close(intent, "done", version=published.version, outcome=published.status)
    run.note("published", {"status": published.status, "page": published.page, "manifest": published.manifest})
    wipe(run.gated)
    return {"status": published.status, "version": published.version, "page": published.page}


def _refuse_to_overtake(run: Run, history: History, content_digest: str) -> None:
    """
    Refuse to replace newer data by older: since this run was staged, another run may have published the same period.

    The order is that of the audit chain, not of clocks. A run that began to publish and was killed or failed counts
    too, because it may have published. The same content is not refused: nothing changes on the portal.
    """
    others = [
        row["run_id"]
        for row in history.published
        if row["id"] > history.begun_at
        and row["run_id"] != run.run_id
        and row["details"].get("period") == run.period
        and row["details"].get("content_digest") != content_digest
    ]
    if others:
        what = "this period" if run.period else "this dataset"
        reason = (
            f"run {others[-1]} has published {what} since this run was staged, so this one may be older than what is "
            "on the portal; run it again (in Airflow: clear the run from `stage`)"
        )
        raise RefusedError("audit store", [reason])


def _put_on_record(run: Run, audit: AuditStore, release: Release, published: Published, rows: tuple[int, int]) -> None:
    audit.append(
        "releases",
        run_id=run.run_id,
        dataset=run.dataset,
        version=published.version,
        period=run.period,
        rows_in=rows[0],
        rows_out=rows[1],
        content_digest=release.content_digest,
        spec_digest=run.publication.digest(),
        details={},
    )
    record = record_of(run.publication)
    key = key_in(PORTALS, record) or ""
    audit.append(
        "publications",
        run_id=run.run_id,
        dataset=run.dataset,
        version=published.version,
        portal=key,
        status=published.status,
        location=published.page,
        content_digest=release.content_digest,
        details={
            PORTALS.get(key).location_key: published.location,
            "data_digest": release.data_digest,
            "portal": record,
        },
    )


def refuse_withdrawn(audit: AuditStore, release: Release) -> None:
    """
    Refuse content that was published and withdrawn, in any period, and the same data under another description.

    If only the description was withdrawn (``words_only``), the same data may be published with another description.

    :raises RefusedError: it was withdrawn.
    """
    proven = audit.proven("publications", "intents", "outcomes", "withdrawals")
    rows = {name: [row for row in found if row.get("dataset") == release.dataset] for name, found in proven.items()}
    sent = [*rows["publications"], *(row for row in rows["intents"] if row["verb"] == "publish")]  # Killed ones too.
    same = {_known(row, "version") for row in sent if _known(row, "content_digest") == release.content_digest}
    data = {_known(row, "version") for row in sent if _known(row, "data_digest") == release.data_digest}
    refused = same | (data - _words_only(rows["intents"], proven["outcomes"]))
    for row in rows["withdrawals"]:
        if row["version"] in refused:
            raise RefusedError("audit store", [withdrawn_words(row["version"], row["reason"])])


def _known(row: Row, key: str) -> Any:
    return row.get(key) or row["details"].get(key)


def _words_only(intents: Sequence[Row], outcomes: Sequence[Row]) -> set[str]:
    """Return the versions that were withdrawn only because of their description."""
    versions = {row["intent_id"]: row["details"].get("versions") or () for row in outcomes if row["status"] == "done"}
    withdrawals = [(row, versions.get(row["id"], ())) for row in intents if row["verb"] == "withdraw"]
    words = {version for row, found in withdrawals if row["details"].get("words_only") for version in found}
    return words - {version for row, found in withdrawals if not row["details"].get("words_only") for version in found}


def refuse_withdrawn_version(audit: AuditStore, dataset: str, version: str) -> None:
    """:raises RefusedError: this version was withdrawn."""
    for row in audit.proven("withdrawals")["withdrawals"]:
        if (row["dataset"], row["version"]) == (dataset, version):
            raise RefusedError("audit store", [withdrawn_words(version, row["reason"])])
