"""Loops over the codes and words of a column: renumber them, mark those that occur, sort words by their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from anon_core.kernels.compiled import compiled


@compiled
def renumber(codes: Any, numbers: Any, out: Any) -> None:
    """Write the new number of every code; in place, if ``out`` is ``codes``."""
    for at in range(len(codes)):
        out[at] = numbers[codes[at]]


@compiled
def mark_used(codes: Any, used: Any) -> None:
    """Mark the codes that occur."""
    for code in codes:
        used[code] = True


@compiled
def eight_bytes(text: Any, starts: Any, skipped: int) -> Any:
    """Return eight bytes of every word, behind those skipped, as a number that sorts as they do; zeros fill it up."""
    keys = np.zeros(len(starts) - 1, np.uint64)
    for word in range(len(keys)):
        first = starts[word] + skipped
        for at in range(first, first + 8):
            keys[word] = (keys[word] << np.uint64(8)) | (np.uint64(text[at]) if at < starts[word + 1] else np.uint64(0))
    return keys
