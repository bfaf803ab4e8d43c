"""Request an approval, put the signed answer on record, and check that record before `publish` sends anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from anon_airflow.approval.decision import NOBODY, VERB, Decision, Outcome, objections, problems, question_of
from anon_airflow.approval.four_eyes import FourEyes, eyes_of
from anon_airflow.approval.markdown import code, plain
from anon_airflow.audit import AuditStore, History
from anon_airflow.audit.evidence import UNPROVEN, WRONG
from anon_airflow.audit.history import begun
from anon_airflow.gate.receipt import Receipt
from anon_airflow.gate.receipt import problems as receipt_problems
from anon_airflow.gate.waivers import accepted_words
from anon_airflow.portals.words import rounded
from anon_airflow.release.build import PUBLICATION_FILE, publication_file_commitment, release_files
from anon_airflow.run.context import Run
from anon_core.errors import RefusedError
from anon_core.models.measurement import counts_as_check
from anon_core.report.meant_k import meant_k
from anon_core.spec.columns import AS_COLLECTED

BY = "approval"
MIN_CHARACTERS = 12
"""At least so many characters of a receipt's digest are needed to identify the receipt."""
Part = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question to a person, who may answer (empty: any user), and how long the question stays open."""

    receipt: str
    subject: str
    body: str
    users: tuple[str, ...]
    wait: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a person; ``receipt`` is the digest of the receipt that the person saw, or its beginning."""

    outcome: Outcome
    person: str = NOBODY
    user_id: str = ""
    receipt: str = ""


def ask(run: Run) -> Question:
    """
    Open a question about the newest receipt of a run, put it on record, and return it.

    The text of the question is made from the public report that the receipt covers.

    :raises RefusedError: there is nothing to approve, no user may approve, or the audit chain is broken.
    """
    rules = run.publication.approval
    with run.audit() as audit:
        history = run.history(audit)
        receipt = history.receipt
        if receipt is None:
            raise RefusedError("receipt", [f"run {run.run_id} has no receipt: its gate has not passed"])
        if found := _receipt_faults(run, receipt.body):
            raise RefusedError("receipt", found)
        users = _who_may(run, history)
        body = question_text(release_files(run)[1].content, receipt.digest)
        for intent in history.rows["intents"]:
            if intent["verb"] == VERB and intent["id"] not in history.answered:
                audit.close(intent["id"], "failed", outcome="asked again")
        audit.intend(
            run_id=run.run_id,
            dataset=run.dataset,
            verb=VERB,
            actor=run.actor,
            spec_digest=run.spec_digest,
            details={"receipt": receipt.digest, "users": list(users), "wait": int(rules.wait.total_seconds())},
        )
    return Question(
        receipt=receipt.digest,
        subject=f"May {run.publication.title} be published?",
        body=body,
        users=users,
        wait=rules.wait,
    )


def _who_may(run: Run, history: History) -> tuple[str, ...]:
    """
    Return the users who may approve; empty if the publication file names none.

    :raises RefusedError: no user may, or it is not known who must not.
    """
    rules, eyes = run.publication.approval, _eyes(run, history)
    if eyes and eyes.problems:
        raise RefusedError(BY, eyes.problems)
    users = tuple(name for name in rules.users if not (eyes and eyes.objections([name])))
    if rules.users and not users:
        raise RefusedError(
            BY,
            [
                "no user may approve it: with four_eyes, every user in `approval.users` either triggered this run or "
                "last changed the publication file or one of its hierarchy files; name another user"
            ],
        )
    return users


def decide(run: Run, answer: Answer) -> dict[str, Any]:
    """
    Sign an answer, put it on record, and close its question.

    :raises RefusedError: the answer is not an approval, or the approval does not count; that goes on record too.
    """
    with run.audit() as audit:
        history = run.history(audit)
        question = question_of(history)
        if question is None or question["id"] in history.answered:
            raise RefusedError(
                BY, ["no question is open: it was answered already, or the run began again; clear `approve`"]
            )
        against = _against(run, history, question, answer) if answer.outcome is Outcome.APPROVED else []
        decision = Decision.sign(
            run.signing_key(),
            dataset=run.dataset,
            run_id=run.run_id,
            receipt=str(question["details"].get("receipt", "")),
            question=question["id"],
            decision=(Outcome.REFUSED if against else answer.outcome).value,
            person=answer.person,
            user_id=answer.user_id,
            reason="; ".join(against),
        )
        audit.append("approvals", **decision.row())
        audit.close(
            question["id"], "done" if decision.decision == Outcome.APPROVED else "refused", outcome=decision.decision
        )
    if against:
        raise RefusedError(BY, against)
    if answer.outcome is not Outcome.APPROVED:
        late = answer.outcome is Outcome.TIMED_OUT
        what = "the question was not answered in time" if late else f"{answer.person} rejected it"
        raise RefusedError(BY, [what])
    return {"decision": decision.decision, "receipt": decision.receipt}


def refuse_unapproved(run: Run, audit: AuditStore) -> None:
    """
    Refuse a run that needs an approval and has none that counts.

    :raises RefusedError: with every reason.
    """
    rules = run.publication.approval
    if not rules.required:
        return
    history = run.history(audit)
    eyes = _eyes(run, history)
    found = problems(history, run.key_ring(), dataset=run.dataset, run_id=run.run_id, rules=rules, eyes=eyes)
    if found:
        raise RefusedError(BY, found)


def pending_questions(store: AuditStore, dataset: str | None) -> list[dict[str, Any]]:
    """Return every open question, the oldest first; empty ``users`` means any user."""
    found = []
    for intent in store.open_intent_rows(dataset):
        if intent["verb"] == VERB:
            details = intent["details"]
            users = details.get("users", [])
            found.append(
                {
                    "dataset": intent["dataset"],
                    "run_id": intent["run_id"],
                    "since": intent["at"],
                    "seconds": details.get("wait"),
                    "users": [str(user) for user in users] if isinstance(users, list) else [],
                    "receipt": details.get("receipt", ""),
                    **{key: intent[key] for key in (WRONG, UNPROVEN) if key in intent},
                }
            )
    return found


def _eyes(run: Run, history: History) -> FourEyes | None:
    if not run.publication.approval.four_eyes:
        return None
    return eyes_of(run.publication, begun(history.rows), run.actor)


def _receipt_faults(run: Run, body: str) -> list[str]:
    """Return why a receipt does not match this run and its report; `publish` measures the other files it covers."""
    if not run.gated.exists():
        return ["the files that passed the gate are gone; clear the run from `stage`"]
    receipt = Receipt.from_json(body)
    report = release_files(run)[1].measured
    return receipt_problems(
        receipt,
        run.key_ring(),
        dataset=run.dataset,
        run_id=run.run_id,
        commitments=[
            publication_file_commitment(run),
            *(one for one in receipt.commitments if one.name != PUBLICATION_FILE),
        ],
        site_policy=receipt.site_policy,
        distributions=[report, *(one for one in receipt.distributions if one.name != report.name)],
        models=receipt.models,
        checks=receipt.checks,
    )


def _against(run: Run, history: History, question: Mapping[str, Any], answer: Answer) -> list[str]:
    """Return why an approval does not count; empty if it does."""
    asked = str(question["details"].get("receipt", ""))
    receipt = history.receipt
    found = []
    if receipt is None or receipt.digest != asked:
        found.append("the gate has signed another receipt since the question was asked")
    elif receipt.place > question["id"]:
        found.append("the run was staged again since the question, and the gate has signed the same receipt again")
    else:
        found += _receipt_faults(run, receipt.body)
    shown = answer.receipt.strip().lower()
    if len(shown) < MIN_CHARACTERS or not asked.startswith(shown):
        found.append(
            f"the answer is about receipt {shown[:12] or 'none'}, the question is about {asked[:12]}: after a run is "
            "cleared, Airflow keeps showing the first question; read the newest in the log of the task `approve`, and "
            "give its receipt in the answer"
        )
    return found + objections(answer.person, answer.user_id, run.publication.approval, _eyes(run, history))


def question_text(report: Part, receipt: str) -> str:
    """Return the question in Markdown, made from the public report that this receipt covers."""
    return "\n".join(_lines(report, receipt))


def _lines(report: Part, receipt: str) -> Iterator[str]:
    privacy = report["privacy"]
    yield f"**{plain(report['title'])}** ({code(report['dataset'])}), period {plain(report['period'] or 'none')}."
    yield ""
    yield "| | required | measured |"
    yield "| --- | --- | --- |"
    for k in meant_k(privacy["k_means"], privacy["k_required"], privacy["k"]):
        grouped = any(column["role"] == "quasi" for column in report["recoding"]["columns"])
        withheld = f"at least {k.required:,}" if grouped else "no classes"
        measured = withheld if k.measured is None else f"{k.measured:,}"
        yield f"| {k.name}, {k.meaning} | {k.required:,} | {measured} |"
    yield from _rows(report)
    yield from _checks(privacy["checks"])
    yield ""
    yield "What was generalised:"
    yield ""
    yield from _generalised(report["recoding"]["columns"])
    yield ""
    yield from _waived(privacy["checks"])
    yield from _answered_for(privacy)
    yield "Not measured, and not promised on the page:"
    yield ""
    for sentence in privacy["not_measured"]:
        yield f"- {plain(sentence)}"
    yield ""
    yield f"Receipt {code(receipt)}"
    yield ""
    yield (
        "Approving signs this receipt: only the files it covers can be published. If this run was cleared and asks "
        "again, Airflow keeps showing its first question: the newest is in the log of the task, and `anon audit "
        "pending` names its receipt."
    )


def _rows(report: Part) -> Iterator[str]:
    """Yield the counts of rows and people; those that stand alone only if their number is limited."""
    checks, rows, people = report["privacy"]["checks"], report["rows"], report["people"]
    step = rows["rounded_to"]
    alone = [check for check in checks if check["name"] == "no_singletons"]
    if alone:
        observed = [check["observed"] for check in alone if check["observed"] is not None]
        allowed = alone[0]["required"]
        measured = f"{max(observed):,}" if observed else f"at most {allowed:,}"
        yield f"| {people['counted']} that stand alone | at most {allowed:,} | {measured} |"
    limit, silent = report["privacy"]["suppression_limit"], report["detail"]["rows_without_detail"]
    removed = f"{rounded(rows['removed'], step)} removed, {silent:,} say nothing any more"
    yield f"| rows removed, or that say nothing any more | at most {limit:.2%} | {removed} |"
    yield f"| rows dropped because of gaps | | {rounded(rows['dropped'], step)} |"
    if rows["capped"] is not None:
        yield f"| rows left out because one person had too many | | {rounded(rows['capped'], step)} |"
    whole = next((check for check in checks if check["name"] == "unique_with_sensitive"), None)
    if whole or people["alone"] is not None:
        allowed = f"at most {whole['required']:.2%}" if whole and whole["required"] is not None else ""
        measured = (
            rounded(people["alone"], step) if not whole or people["alone"] is not None else f"{whole['observed']:.2%}"
        )
        yield f"| {people['counted']} alone over all columns, sensitive ones included | {allowed} | {measured} |"
    yield f"| rows published | | {rows['published']:,} |"
    if people["published"] is not None:
        yield f"| people published | | {rounded(people['published'], step)} |"
        if people["row_sets"] is not None:
            yield f"| people who share all their groups with fewer than k | | {rounded(people['row_sets'], step)} |"
    elif people["rows_are_people"]:
        verified = {True: "no identifier contradicts it", False: "not verifiable", None: "not verified"}
        yield f"| every row is another person, as the file says | | {verified[people['verifiable']]} |"
    elif people["verifiable"] is False:
        yield "| every row is another person, by the numbers that tell people apart | | not verifiable |"


def _checks(checks: Sequence[Part]) -> Iterator[str]:
    checks = [one for one in checks if counts_as_check(passed=one["passed"], required=one["required"])]
    passed, waived = sum(check["passed"] for check in checks), sum(bool(check["waived_by"]) for check in checks)
    yield f"| checks of the gate that hold | {len(checks)} | {passed} |"
    if waived:
        yield f"| checks that do not hold and are waived | | {waived} |"


def _generalised(columns: Sequence[Part]) -> Iterator[str]:
    coarsened = {one["name"]: one["levels"][0]["name"] for one in columns if one["role"] != "quasi" and one["levels"]}
    coarsened = {name: how for name, how in coarsened.items() if how != AS_COLLECTED}
    for name, how in coarsened.items():
        yield f"- {code(name)}, before everything else: {plain(how)}"
    changed = [column for column in columns if any(level["level"] for level in column["levels"])]
    for column in changed:
        levels = ", ".join(f"{plain(level['name'])}: {level['rows']:,} rows" for level in column["levels"])
        cells = sum(level["rows"] for level in column["levels"] if level["level"])
        yield f"- {code(column['name'])}, {cells:,} cells ({levels})"
    if not changed and not coarsened:
        yield "- nothing"


def _waived(checks: Sequence[Part]) -> Iterator[str]:
    """Yield every failed check, once for all files with the same measurement."""
    listed = dict.fromkeys(
        (check["name"], check["observed"], check["required"], check["waived_by"])
        for check in checks
        if not check["passed"]
    )
    if listed:
        yield "Checks that do not hold, and are waived:"
        yield ""
        for name, observed, required, person in listed:
            yield (
                f"- {plain(name)}: measured {_figure(observed)}, required {_figure(required)}; waived by "
                f"{plain(person or 'no person')}"
            )
        yield ""


def _answered_for(privacy: Part) -> Iterator[str]:
    """Yield acceptances, waivers and raised limits, with the people who answer for them."""
    listed = [
        (f"{'patterns' if one.get('pattern') else 'published_uniqueness'} ({accepted_words(one)})", one)
        for one in privacy["accepted"]
    ]
    listed += [(one["check"], one) for one in privacy["waivers"]]
    listed += [(f"{one['limit']} raised to {_figure(one['value'])}", one) for one in privacy["raised"]]
    if listed:
        yield "Accepted, waived or raised by name:"
        yield ""
        for what, one in listed:
            needed = "needed" if one["needed"] else "not needed"
            yield f"- {plain(what)}: {plain(one['reason'])} ({plain(one['by'])}, until {one['until']}; {needed})"
        yield ""


def _figure(value: object) -> str:
    if value is None:
        return "(not public)"
    return f"{value:,.4g}" if isinstance(value, float) else plain(str(value))
