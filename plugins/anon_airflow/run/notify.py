"""Notifications: people are told what became of a release, by any notifier of Airflow."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from anon_airflow.run.home import Home
from anon_airflow.run.last_known import LastKnown, recall
from anon_airflow.run.last_known import of as known_of
from anon_airflow.run.progress import Progress, say
from anon_core.errors import AnonError
from anon_core.spec import Event, Notification, load_spec

if TYPE_CHECKING:
    from airflow.sdk import Context

FACTS = "anonflow"
"""The name under which the templates of a notifier find the facts."""
_WORDS = {
    Event.REFUSED: "refused, nothing was published",
    Event.FAILED: "failed, nothing was published",
    Event.APPROVAL: "waits for approval",
    Event.LATE: "late",
    Event.PUBLISHED: "published",
    Event.WITHDRAWN: "withdrawn",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """
    What templates of a notifier may use, as ``anonflow.title`` and so on: counts and names, never a cell.

    ``reasons`` are those of a refusal or a failure, or the reason of a withdrawal.
    """

    event: Event
    dataset: str
    title: str
    run_id: str = ""
    period: str = ""
    version: str = ""
    page: str = ""
    reasons: Sequence[str] = ()

    @property
    def subject(self) -> str:
        """A line for the subject of a message."""
        return f"{self.title}: {_WORDS[self.event]}"

    @property
    def text(self) -> str:
        """All that is known, one fact per line."""
        facts = (("Dataset", self.dataset), ("Period", self.period), ("Version", self.version), ("Page", self.page))
        lines = [self.subject, *(f"{name}: {value}" for name, value in facts if value)]
        lines += [f"- {reason}" for reason in self.reasons]
        return "\n".join([*lines, *([f"Run: {self.run_id}"] if self.run_id else [])])

    def as_mapping(self) -> dict[str, Any]:
        """Return the facts for templates; ``html`` is the text with line breaks."""
        words = {"subject": self.subject, "text": self.text, "html": escape(self.text).replace("\n", "<br>\n")}
        return {**asdict(self), "event": self.event.value, "reasons": list(self.reasons), **words}


def notify(
    notifications: Sequence[Notification], facts: Facts, context: Mapping[str, Any], progress: Progress | None = None
) -> None:
    """
    Call each notifier; one that fails is named by its class in the log, and stops nothing.

    The text of its error is withheld: it may quote an address or a password.
    """
    for one in notifications:
        try:
            made_of(one)({**context, FACTS: facts.as_mapping()})
        except Exception as error:  # noqa: BLE001 - A notifier may fail in any way.
            say(progress, f"WARNING: the notifier {one.notifier} failed ({type(error).__name__}): {facts.subject}")


def made_of(notification: Notification) -> Any:
    """Return the notifier that an entry names."""
    module, _, name = notification.notifier.rpartition(".")
    return getattr(importlib.import_module(module), name)(**notification.arguments)


def tell(spec: str, context: Context, event: Event, *, progress: Progress | None = None, **facts: Any) -> None:
    """Notify people of what became of the run of a publication file, also where the file cannot be read any more."""
    try:
        known: LastKnown | None = known_of(load_spec(Path(spec)))
    except AnonError:
        known = recall(Home.find(), Path(spec))
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
