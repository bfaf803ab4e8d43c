"""Being told to stop, by Ctrl-C, by a signal or by Airflow: heard once, never forgotten, and never half way.

Python raises an interrupt only once, wherever it happens to be, and a destructor, a callback of a compiled library or a
library's ``except:`` may drop it. So it is kept in mind too, and whoever begins a step or tells how far it is asks
again. What comes after the first is not heard: it would interrupt the cleaning up. Nor is what comes too late.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

_asked = False
_deaf = False
_held = 0


def listen() -> None:
    """Begin anew: nobody has asked to stop."""
    global _asked, _deaf, _held
    _asked = _deaf = False
    _held = 0


def stop() -> None:
    """
    Stop what is at work, from a signal handler; it is put on record and its staging area is removed.

    :raises KeyboardInterrupt: the first time, unless it is too late. What was being handled may quote a cell, so
        nothing is told of it.
    """
    global _asked
    if not _asked and not _deaf:
        _asked = True
        check()


def check() -> None:
    """:raises KeyboardInterrupt: somebody has asked to stop, and it is not too late."""
    if _asked and not _deaf and not _held:
        raise KeyboardInterrupt from None


@contextlib.contextmanager
def held() -> Iterator[None]:
    """
    Let a stop wait until the end of this block, for what is short and must not be torn.

    An interrupt that falls into the opening or closing of a transaction leaves it open, with its lock on the database,
    for as long as the interrupt is on its way; and on that way the end of the run is to be put on record.
    """
    global _held
    _held += 1
    try:
        yield
    finally:
        _held -= 1
        check()


def too_late() -> None:
    """From here on the work is finished, or cleaned up, whoever asks to stop."""
    global _deaf
    _deaf = True


def was_asked() -> bool:
    """Tell whether somebody asked to stop in time."""
    return _asked
