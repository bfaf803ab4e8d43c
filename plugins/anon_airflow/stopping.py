"""Being told to stop, by Ctrl-C, by a signal or by Airflow: heard once, never forgotten, and never half way.

Python raises an interrupt only once, wherever it happens to be, and a destructor, a callback of a compiled library or a
library's ``except:`` may drop it. So it is kept in mind too, and whoever begins a step or tells how far it is asks
again. What comes after the first is not heard: it would interrupt the cleaning up. Nor is what comes too late.
"""

from __future__ import annotations

__all__ = ["check", "listen", "stop", "too_late", "was_asked"]

_asked = False
_deaf = False


def listen() -> None:
    """Begin anew: nobody has asked to stop."""
    global _asked, _deaf
    _asked = _deaf = False


def stop() -> None:
    """
    Stop what is at work, from a signal handler; it is put on record and its staging area is removed.

    :raises KeyboardInterrupt: the first time, unless it is too late. What was being handled may quote a cell, so
        nothing is told of it.
    """
    global _asked
    if not _asked and not _deaf:
        _asked = True
        raise KeyboardInterrupt from None


def check() -> None:
    """:raises KeyboardInterrupt: somebody has asked to stop, and it is not too late."""
    if _asked and not _deaf:
        raise KeyboardInterrupt from None


def too_late() -> None:
    """From here on the work is finished, or cleaned up, whoever asks to stop."""
    global _deaf
    _deaf = True


def was_asked() -> bool:
    """Tell whether somebody asked to stop in time."""
    return _asked
