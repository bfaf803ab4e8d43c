"""When the compiled loops are worth loading.

Importing numba takes half a second, and compiling some ten once after installation. Both tiers give the same answers.
"""

from __future__ import annotations

import sys

MIN_LARGE_ROWS = 10_000
"""A search over fewer rows than this begins without the compiled loops."""
MAX_CODES_IN_NUMPY = 30_000_000
"""So many codes handled in numpy take longer than loading the compiled loops, and the rest would too."""

_COMPILED = "anon_core.kernels.compiled"
_handled = 0


def compiled_is_worth(rows: int) -> bool:
    """Whether a long search over so many rows should use the compiled loops: they are many, or loaded anyway."""
    return rows >= MIN_LARGE_ROWS or _COMPILED in sys.modules


def spend(codes: int, rows: int = MIN_LARGE_ROWS) -> bool:
    """Note that so many codes are about to be handled, and return whether to do it in the compiled loops.

    It pays to load them if this process has handled many codes so far, or if they are loaded anyway. For a small table
    the limit is ten times as high: the user of a small table should not wait for a compiler.
    """
    global _handled  # What this process has spent so far.
    _handled += codes
    return (
        _handled >= (MAX_CODES_IN_NUMPY if rows >= MIN_LARGE_ROWS else 10 * MAX_CODES_IN_NUMPY)
        or _COMPILED in sys.modules
    )
