"""Notifications from tasks: who is notified is in the publication file, or was before it broke."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from anon_core.errors import AnonError
from anon_core.spec import Event, load_spec

if TYPE_CHECKING:
    from airflow.sdk import Context

    from anon_airflow.run.progress import Progress


def tell(spec: str, context: Context, event: Event, *, progress: Progress | None = None, **facts: Any) -> None:
    """Notify people of what became of the run of a publication file, also where the file cannot be read any more."""
    from anon_airflow.run import last_known
    from anon_airflow.run.home import Home
    from anon_airflow.run.notify import Facts, notify

    try:
        known: last_known.LastKnown | None = last_known.of(load_spec(Path(spec)))
    except AnonError:
        known = last_known.recall(Home.find(), Path(spec))
    if known is None:
        return
    values = cast("Mapping[str, Any]", context)
    run: Any = values.get("dag_run")
    start = getattr(run, "data_interval_start", None)
    found = Facts(
        event=event,
        dataset=known.dataset,
        title=known.title,
        run_id=str(getattr(run, "run_id", "")),
        period=start.date().isoformat() if start else "",
        **facts,
    )
    notify(known.notifications(event), found, values, progress)


def late(spec: str, context: Mapping[str, Any]) -> None:
    """Notify people that a run is not at its end by its deadline: an executor of Airflow calls this."""
    tell(spec, cast("Context", context), Event.LATE)
