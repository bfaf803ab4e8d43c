"""Telling people how far long work is, every few seconds: a log is not a screen."""

from __future__ import annotations

import time
from collections.abc import Callable

from anon_airflow.run import cancellation

Progress = Callable[[str], None]
Teller = Callable[..., None]

SECONDS_BETWEEN = 5.0


def say(progress: Progress | None, text: str) -> None:
    """Say something, if anybody listens, and hear whether to go on."""
    cancellation.check()
    if progress:
        progress(text)


def seldom(progress: Progress | None) -> Teller:
    """
    Return what tells how far something is: a text, and what to put in its braces.

    >>> tell = seldom(print)
    >>> tell("searching: {:,} column sets so far", 2048)  # Nothing yet: it has only begun.
    """
    last = time.monotonic()

    def tell(text: str, *figures: object) -> None:
        nonlocal last
        cancellation.check()
        if time.monotonic() - last > SECONDS_BETWEEN:
            last = time.monotonic()
            say(progress, text.format(*figures))

    return tell
