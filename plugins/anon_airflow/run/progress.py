"""Progress messages for long work, at most one every few seconds: they also go to logs."""

from __future__ import annotations

import time
from collections.abc import Callable

from anon_airflow.run import cancellation

Progress = Callable[[str], None]
Teller = Callable[..., None]

SECONDS_BETWEEN = 5.0


def say(progress: Progress | None, text: str) -> None:
    """Report progress, if ``progress`` is given; raise KeyboardInterrupt if a stop was requested."""
    cancellation.check()
    if progress:
        progress(text)


def seldom(progress: Progress | None) -> Teller:
    """
    Return a function that reports progress at most every few seconds: a text, and the figures for its braces.

    >>> tell = seldom(print)
    >>> tell("searching: {:,} column sets so far", 2048)  # Prints nothing: the work has only begun.
    """
    last = time.monotonic()

    def tell(text: str, *figures: object) -> None:
        nonlocal last
        cancellation.check()
        if time.monotonic() - last > SECONDS_BETWEEN:
            last = time.monotonic()
            say(progress, text.format(*figures))

    return tell
