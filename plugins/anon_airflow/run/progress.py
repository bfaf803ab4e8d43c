"""Progress messages for long work, at most one every few seconds: they also go to logs."""

from __future__ import annotations

import time
from collections.abc import Callable

from anon_airflow.run import cancellation

Progress = Callable[[str], None]
ThrottledProgress = Callable[..., None]

MIN_INTERVAL_S = 5.0


def say(progress: Progress | None, text: str) -> None:
    """Report progress, if ``progress`` is given; raise KeyboardInterrupt if a stop was requested."""
    cancellation.check()
    if progress:
        progress(text)


def throttled(progress: Progress | None) -> ThrottledProgress:
    """
    Return a function that reports progress at most every few seconds: a text, and the figures for its braces.

    >>> tell = throttled(print)
    >>> tell("searching: {:,} column sets so far", 2048)  # Prints nothing: the work has only begun.
    """
    last = time.monotonic()

    def tell(text: str, *figures: object) -> None:
        nonlocal last
        cancellation.check()
        if time.monotonic() - last > MIN_INTERVAL_S:
            last = time.monotonic()
            say(progress, text.format(*figures))

    return tell
