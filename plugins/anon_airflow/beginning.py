"""The beginning of a run: on record before anything is read, and refused at once where it could only fail later."""

from __future__ import annotations

from datetime import date

from anon_airflow.audit.history import RUN, SEEN, History
from anon_airflow.four_eyes import CHANGED_BY, eyes_of
from anon_airflow.run import Run
from anon_core import __version__
from anon_core.errors import RefusedError
from anon_core.waivers import ended


def begin(run: Run, today: date) -> None:
    """
    Put on record that a run begins, by whom, and which day the record has seen before; close what was left open.

    :raises RefusedError: a waiver or an acceptance has ended, four eyes cannot be told, or the record does not hold.
    """
    publication = run.publication
    with run.audit() as audit:
        seen = audit.newest_day()
        for intent in audit.open_intents(run.dataset):
            if intent.run_id == run.run_id:  # An earlier attempt that never came back.
                audit.close(intent.id, "failed", outcome="begun again")
        eyes = eyes_of(publication, None, run.actor) if publication.approval.four_eyes else None
        audit.intend(
            run_id=run.run_id,
            dataset=run.dataset,
            verb=RUN,
            actor=run.actor,
            spec_digest=run.spec_digest,
            details={"period": run.period, "anonflow": __version__, SEEN: seen.isoformat() if seen else None}
            | ({CHANGED_BY: list(eyes.changed_by)} if eyes else {}),
        )
        over = ended_reasons(run, run.history(audit), today)
    if over or (eyes and eyes.problems):
        raise RefusedError("stage" if over else "approval", [*over, *(eyes.problems if eyes else ())])


def ended_reasons(run: Run, history: History, today: date) -> list[str]:
    """Return a sentence for each waiver and acceptance that has ended, and one if this worker's clock is behind."""
    over = [each.sentence for each in ended(run.publication.privacy, history.day(today))]
    return [*over, *clock_reasons(run, history, today)]


def clock_reasons(run: Run, history: History, today: date) -> list[str]:
    """Return a sentence if a waiver or acceptance has ended by the record, but not by this worker's clock."""
    policy = run.publication.privacy
    earlier = len(list(ended(policy, today)))
    return [history.clock_problem(today)] if len(list(ended(policy, history.day(today)))) > earlier else []
