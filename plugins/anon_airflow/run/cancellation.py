"""Stop a run on Ctrl-C, a signal or a request of Airflow: once, reliably, and never in the middle of a rename.

Python raises ``KeyboardInterrupt`` only once, and a destructor, a callback of a compiled library or a library's
``except:`` may drop it. So the request is also stored in this module, and every step checks it when it begins and when
it reports progress. A second request is ignored, because it would interrupt the clean-up. So is a request that arrives
after the work is finished.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

_requested = False
_ignored = False
_deferred = 0


def reset() -> None:
    """Forget earlier requests: a new step or command begins."""
    global _requested, _ignored, _deferred
    _requested = _ignored = False
    _deferred = 0


def stop() -> None:
    """
    Stop the work; called by signal handlers. The run goes on record and its staging area is removed.

    :raises KeyboardInterrupt: on the first request, unless the work is finished. It has no cause and no context: the
        error that was being handled may quote a cell.
    """
    global _requested
    if not _requested and not _ignored:
        _requested = True
        check()


def check() -> None:
    """:raises KeyboardInterrupt: a stop was requested before the work was finished."""
    if _requested and not _ignored and not _deferred:
        raise KeyboardInterrupt from None


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """
    Delay a stop until the end of this block, for short work that must not be interrupted.

    An interrupt while a transaction opens or closes would leave it open, with its lock on the database. The handlers of
    the interrupt need that database to put the end of the run on record.
    """
    global _deferred
    _deferred += 1
    try:
        yield
    finally:
        _deferred -= 1
        check()


def ignore_stops() -> None:
    """Ignore stop requests from here on: the work is finished, or being cleaned up."""
    global _ignored
    _ignored = True


def was_requested() -> bool:
    """Whether a stop was requested before the work was finished."""
    return _requested
