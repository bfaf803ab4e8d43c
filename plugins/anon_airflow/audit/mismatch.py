"""Mismatches: Airflow shows that a run succeeded, and the record that nothing was published, or the other way round.

Users of Airflow can set the state of a run after it has ended, and `record` cannot run twice. So the next run of the
dataset compares its latest runs with what Airflow shows, and puts each difference on record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from anon_airflow.audit.history import RUN, Row, begun

AIRFLOW, ON_RECORD = "airflow", "on_record"
MAX_COMPARED = 50
"""How many of the latest runs are compared: each costs a question to Airflow."""
MISMATCH = "mismatch"
"""The verb under which the comparison of a run is on record."""
OPEN = "open"
PUBLISHED = ("published", "unchanged")
"""How a run ends of which Airflow may say that it succeeded."""


def agree(airflow: object, on_record: object) -> bool:
    """
    Tell whether the state that Airflow shows of a run that has ended is what is on record.

    >>> agree("success", "refused"), agree("failed", "refused"), agree("failed", "published")
    (False, True, False)
    """
    return (airflow == "success") == (on_record in PUBLISHED)


def mismatches(
    rows: Mapping[str, Sequence[Row]], dataset: str, but: str, state_of: Callable[[str], str | None]
) -> Iterator[dict[str, str]]:
    """
    Yield what is new: of each of the latest runs its id, what Airflow shows, and what is on record.

    ``state_of`` returns the state that Airflow shows of a run; None if it knows no such run, as of one by hand.
    ``rows`` are the intents, outcomes and publications of all runs. A run that is at work, and the run ``but``, are
    not compared. A difference that is on record is not yielded again; a run that agrees by now is yielded once.
    """
    mine = [row for row in rows["intents"] if row["dataset"] == dataset]
    runs = dict.fromkeys(row["run_id"] for row in reversed(mine) if row["verb"] == RUN and row["run_id"] != but)
    for run_id in list(runs)[:MAX_COMPARED]:
        airflow = state_of(run_id)
        if airflow not in ("success", "failed"):
            continue
        own = [row for row in mine if row["run_id"] == run_id]
        found = {AIRFLOW: airflow, ON_RECORD: _on_record(own, rows)}
        known = [row["details"] for row in own if row["verb"] == MISMATCH]
        before = {key: known[-1].get(key) for key in found} if known else None
        if found != before and not (before is None and agree(**found)):
            yield {"run_id": run_id, **found}


def _on_record(own: Sequence[Row], rows: Mapping[str, Sequence[Row]]) -> str:
    """Return how the last attempt of a run ended: its outcome, or that it was published and never closed."""
    start: Any = begun({"intents": own})
    ended = [row for row in rows["outcomes"] if row["intent_id"] == start["id"]]
    if ended:
        return str(ended[-1]["details"].get("outcome", ended[-1]["status"]))
    sent = [row for row in rows["publications"] if row["run_id"] == start["run_id"] and row["id"] > start["id"]]
    status = [row["status"] for row in sent if row["dataset"] == start["dataset"]]
    return str(status[-1]) if status else OPEN
