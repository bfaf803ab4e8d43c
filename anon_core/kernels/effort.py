"""When the compiled loops are worth loading."""

from __future__ import annotations

import sys

LARGE = 10_000
"""Fewer rows than this are done in numpy before numba is even imported (half a second, or ten when it compiles)."""

_COMPILED = "anon_core.kernels.compiled"


def compiled_is_worth(rows: int) -> bool:
    """Whether so many rows should go through the compiled loops: they are many, or the loops are loaded anyway."""
    return rows >= LARGE or _COMPILED in sys.modules
