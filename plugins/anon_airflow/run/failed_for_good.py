"""How a task ends that must not be tried again: its reasons stand in its log, one per line, and no traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anon_core.errors import AnonError, RefusedError

if TYPE_CHECKING:
    from airflow.sdk.types import Logger


class FailedForGood(SystemExit):
    """
    Ends a task for good; ``str`` is the reason, for callbacks.

    Airflow writes a traceback of every other exception, which would hide the reasons. It takes an exit for a failed
    task that may be tried again, so the retry policy of our operators says that this one may not.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(1)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


def log_reasons(log: Logger, error: AnonError) -> None:
    """Write an error of ours to the log of the task; of a refusal first who refused, then one line per reason."""
    if isinstance(error, RefusedError):
        log.error("REFUSED by the %s, nothing was published:", error.by)
        for reason in error.reasons:
            log.error("- %s", reason)
    else:
        for line in str(error).splitlines():
            log.error("%s", line)
