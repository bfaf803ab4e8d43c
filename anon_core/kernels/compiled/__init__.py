"""The loops that numba compiles. Import a module of this package inside a function, and only when rows are many.

Compiled code is cached beside the source (or in the user's cache folder where that is not writable): it compiles once
after installation, and says so. All loops release the interpreter lock: two Python threads run two of them at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])


class _Announcement(event.Listener):
    """Say once per process that numba compiles; what comes from the cache is not announced."""

    said = False

    def on_start(self, _: Any) -> None:
        if not self.said:
            self.said = True
            logging.getLogger(__name__).warning(
                "compiling inner loops, each once after installation: this takes some seconds; "
                "`anon compile` compiles all of them ahead"
            )

    def on_end(self, _: Any) -> None:
        pass


announcement = _Announcement()
event.register("numba:compile", announcement)  # type: ignore[no-untyped-call]


def compiled(function: F) -> F:
    """Compile a loop at its first call, and cache the result where some folder can be written."""
    try:
        fast = numba.njit(function, cache=True, nogil=True, error_model="numpy")
    except RuntimeError:  # No folder for the cache: compiled anew in every process.
        fast = numba.njit(function, nogil=True, error_model="numpy")
    return fast  # type: ignore[no-any-return]
