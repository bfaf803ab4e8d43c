"""Put the beginning of a run on record before anything is read, and close it at its end with the internal report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from anon_airflow.approval.four_eyes import CHANGED_BY, eyes_of
from anon_airflow.audit.history import RUN, SEEN, History, Row, since_begun
from anon_airflow.audit.mismatch import AIRFLOW, MISMATCH, ON_RECORD, PUBLISHED, agree, mismatches
from anon_airflow.gate.waivers import exceptions_note
from anon_airflow.keys.signing import fresh_nonce
from anon_airflow.portals.overlap import SOURCE_TEXT
from anon_airflow.release.build import GENERATOR
from anon_airflow.run.context import Run
from anon_airflow.run.guard import INFORMING, failure_of
from anon_airflow.run.home import private_folder, wipe, write_private
from anon_airflow.run.review import BY as BY_REVIEW
from anon_airflow.run.review import REVIEW, is_bound, refuse_unreviewed, review_of, review_problems
from anon_airflow.run.site_policy import (
    DIGEST,
    NONCE,
    PolicyInForce,
    not_adopted,
    policy_in_force,
    refuse_beside,
)
from anon_core import __version__
from anon_core.errors import InvalidInputError, RefusedError
from anon_core.publishing.distribution import MEDIA_TYPES
from anon_core.report.internal_report import InternalReport
from anon_core.site import undercuts
from anon_core.waivers import ended, too_far

REPORT = "internal-report.json"
NO_NOTE = "it was stopped, killed or skipped, and left no note"


def begin(run: Run, today: date) -> PolicyInForce:
    """
    Put on record that a run begins: who started it, under which site policy, and the newest day already on record.

    Close what an earlier attempt of the run left open. Return the site policy in force.

    :raises RefusedError: the file is a draft or has changed since its review, the site policy is not the one on record,
        the publication file undercuts it, a waiver or an acceptance has ended or lasts too long, the last author of the
        file is not known although four eyes are required, or the audit chain is broken.
    :raises InvalidInputError: the site policy cannot be read, or lies beside the publication file.
    """
    found = _policy_or_error(run)
    publication = run.publication
    with run.audit() as audit:
        seen = audit.newest_day()
        day = max(today, seen) if seen else today
        earlier = audit.proven("intents")["intents"]
        unread = review_problems(publication, earlier, day)
        for intent in audit.open_intents(run.dataset):
            if intent.run_id == run.run_id:  # An earlier attempt that was killed.
                audit.close(intent.id, "failed", outcome="begun again")
        eyes = eyes_of(publication, None, run.actor) if publication.approval.four_eyes else None
        audit.intend(
            run_id=run.run_id,
            dataset=run.dataset,
            verb=RUN,
            actor=run.actor,
            spec_digest=run.spec_digest,
            details={"period": run.period, "anonflow": __version__, SEEN: seen.isoformat() if seen else None}
            | ({DIGEST: found.digest, NONCE: fresh_nonce()} if isinstance(found, PolicyInForce) else {})
            | ({CHANGED_BY: list(eyes.changed_by)} if eyes else {})
            | ({} if unread else {REVIEW: review_of(publication)}),  # A refused run does not bind a review.
        )
        if unread:
            raise RefusedError(BY_REVIEW, unread)
        if not is_bound(publication, earlier):
            # Another run may have bound this review to other content since: the first in the chain counts.
            refuse_unreviewed(publication, audit.proven("intents")["intents"], day)
        if not isinstance(found, PolicyInForce):
            raise found
        over = _answered_reasons(run, run.history(audit), today, found)
        if unknown := not_adopted(audit, found, run.actor):
            over.append(unknown)
    over += undercuts(publication, found.policy, today)
    if over or (eyes and eyes.problems):
        raise RefusedError("stage" if over else "approval", [*over, *(eyes.problems if eyes else ())])
    return found


def note_mismatches(run: Run) -> list[str]:
    """Put on record how the latest runs of the dataset ended in Airflow, where that differs; return it in words."""
    if run.state_of is None:
        return []
    words = []
    with run.audit() as audit:
        rows = audit.proven("intents", "outcomes", "publications")
        for one in mismatches(rows, run.dataset, run.run_id, run.state_of):
            whose = one.pop("run_id")
            audit.settle(run_id=whose, dataset=run.dataset, verb=MISMATCH, actor=run.actor, details=one)
            if not agree(**one):
                words.append(
                    f"run {whose} is {one[AIRFLOW]} in Airflow and {one[ON_RECORD]} on record: the record is right, "
                    "and the state was set by a user, or the run was broken off"
                )
    return words


def _policy_or_error(run: Run) -> PolicyInForce | InvalidInputError:
    """Return the site policy in force, or the error, so that a run that fails because of it goes on record too."""
    try:
        found = policy_in_force(run.home, run.policy_file)
        refuse_beside(run.publication, found)
    except InvalidInputError as error:
        return error
    return found


def _answered_reasons(run: Run, history: History, today: date, found: PolicyInForce) -> list[str]:
    """Return a sentence for every waiver and acceptance that has ended, or lasts longer than the site allows."""
    policy, unit, day = run.publication.privacy, run.publication.unit, history.day(today)
    over = [each.sentence for each in ended(policy, day, unit)]
    over += clock_reasons(run, history, today)
    return over + [each.sentence for each in too_far(policy, today, found.policy.longest_acceptance_days, unit)]


def clock_reasons(run: Run, history: History, today: date) -> list[str]:
    """Return a sentence if a waiver or acceptance has ended by the record, but not by this worker's clock."""
    policy, unit = run.publication.privacy, run.publication.unit
    earlier = len(list(ended(policy, today, unit)))
    return [history.clock_problem(today)] if len(list(ended(policy, history.day(today), unit))) > earlier else []


def close_run(run: Run) -> dict[str, Any]:
    """
    Close the run and return its summary.

    The outcome is read from the audit store, not from Airflow's task states, which users can set. It decides nothing
    any more, so it is returned even if the chain is broken; `anon audit verify` reports a broken chain.
    """
    with run.audit() as audit:
        rows = since_begun(audit.run(run.run_id, run.dataset))
        publication = rows["publications"][-1] if rows["publications"] else None
        refusal = rows["refusals"][-1] if rows["refusals"] and not publication else None
        outcome = "refused" if refusal else "failed"
        if publication and publication["status"] in PUBLISHED:  # A changed row may hold any text.
            outcome = publication["status"]
        report = build_internal_report(run, outcome, publication, refusal, rows["approvals"])
        if publication:
            wipe(run.gated)
        private_folder(run.notes)
        content = json.dumps(report.model_dump(mode="json", by_alias=True), indent=1, sort_keys=True)
        write_private(run.notes / REPORT, content.encode())
        for intent in audit.open_intents(run.dataset):
            if intent.run_id == run.run_id:
                audit.close(
                    intent.id,
                    {"refused": "refused", "failed": "failed"}.get(outcome, "done"),
                    outcome=outcome,
                    reasons=report.reasons,
                )
    return {
        "release": publication["version"] if publication else None,
        "verdict": outcome,
        "published": publication is not None,
        "page": publication["location"] if publication else None,
        "reasons": report.reasons,
        "report": str(run.notes / REPORT),
    }


def _reasons_of(refusal: Row) -> list[str]:
    reasons = refusal["reasons"]
    return [str(reason) for reason in reasons] if isinstance(reasons, list) else [str(reasons)]


def reasons_of_failure(run: Run, outcome: str) -> list[str]:
    """Return why a run failed before it had a verdict."""
    failure = run.noted_or_none("failure") if outcome == "failed" else None
    return [f"{failure['step']}: {failure['reason']}"] if failure else []


def failed_informing_steps(run: Run) -> list[dict[str, str]]:
    """Return the steps that failed without stopping the run, and why. A step that was killed or skipped has no note."""
    recoded = run.noted_or_none("recode") is not None
    found = []
    for name in INFORMING:
        failure = run.noted_or_none(failure_of(name)) or ({"step": name, "reason": NO_NOTE} if recoded else None)
        if failure and run.noted_or_none(name) is None:
            found.append({"step": name, "reason": str(failure["reason"])})
    return found


def build_internal_report(
    run: Run,
    outcome: str,
    publication: Row | None,
    refusal: Row | None,
    approvals: Sequence[Row],
) -> InternalReport:
    """Put together the notes of the steps; a step that did not run leaves null."""
    detected = run.noted_or_none("detect") or {}
    recoded = run.noted_or_none("recode") or {}
    gated = run.noted_or_none("gate") or {}
    answered = gated if "waivers" in gated else exceptions_note(run.publication, None, datetime.now(UTC).date())
    return InternalReport.model_validate(
        {
            "dataset": run.dataset,
            "title": run.publication.title,
            "run_id": run.run_id,
            "period": run.period,
            "generated_by": GENERATOR,
            "spec_digest": run.spec_digest,
            "outcome": outcome,
            "refused_by": refusal["by"] if refusal else None,
            "steps_failed": failed_informing_steps(run),
            "reasons": _reasons_of(refusal) if refusal else reasons_of_failure(run, outcome),
            "version": publication["version"] if publication else None,
            "page": publication["location"] if publication else None,
            "approval_required": run.publication.approval.required,
            "approvals": [
                {
                    "person": one["person"],
                    "decision": one["decision"],
                    "at": one["at"],
                    "receipt": one["receipt_digest"],
                }
                for one in approvals
            ],
            "staged": _without_source(run.noted_or_none("stage")),
            "k_means": run.publication.privacy.k_means.value,
            "k_required": run.publication.privacy.k,
            "before": detected.get("before"),
            "detection": detected.get("detection"),
            "selection": detected.get("selection"),
            "scores": run.noted_or_none("score"),
            "after": recoded.get("after"),
            "unique_rows_published": recoded.get("unique_rows_published"),
            "candidates": recoded.get("candidates", []),
            "optimal": recoded.get("optimal"),
            "recoding": recoded.get("recoding"),
            "utility": recoded.get("utility"),
            "checks": gated.get("checks", []),
            "accepted": answered["accepted"],
            "waivers": answered["waivers"],
            "raised": answered.get("raised", []),
            "distributions": [
                {**file, "media_type": MEDIA_TYPES[Path(file["name"]).suffix]}
                for file in gated.get("distributions", [])
            ],
        }
    )


def _without_source(staged: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the note of `stage` without the path of the source, which only `publish` needs."""
    return {key: value for key, value in staged.items() if key != SOURCE_TEXT} if staged else None
