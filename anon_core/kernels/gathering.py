"""What is known of tuples passed on to their rows, in threads where rows are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anon_core.kernels.counting import in_threads
from anon_core.kernels.effort import spend
from anon_core.kernels.grouping import AnyCodes, Integers, Mask


def gather(values: AnyCodes, member: AnyCodes) -> AnyCodes:
    """Return ``values[member]``."""
    if not spend(len(member)):
        return values[member]
    from anon_core.kernels.compiled import joining

    out: AnyCodes = np.empty(len(member), values.dtype)
    in_threads(lambda start, stop: joining.gather(values, member[start:stop], out[start:stop]), len(member))
    return out


def add_up(parts: Sequence[tuple[Integers, AnyCodes]]) -> Integers:
    """Return the sum of ``values[member]`` over pairs of both."""
    rows = len(parts[0][1])
    out: Integers = np.zeros(rows, np.int64)
    if not spend(rows * len(parts)):
        for values, member in parts:
            out += values[member]
        return out
    from anon_core.kernels.compiled import joining

    def some(start: int, stop: int) -> None:
        for values, member in parts:
            joining.add(values, member[start:stop], out[start:stop])

    in_threads(some, rows)
    return out


def cut_out(keys: Integers, shift: int, bits: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return so many bits of each key, above the lowest ``shift`` ones."""
    mask = (1 << bits) - 1
    if not spend(len(keys)):
        return ((keys >> shift) & mask).astype(np.int32)
    from anon_core.kernels.compiled import joining

    out = np.empty(len(keys), np.int32)
    in_threads(lambda start, stop: joining.cut_out(keys[start:stop], shift, mask, out[start:stop]), len(keys))
    return out


def used_by(codes: AnyCodes, cardinality: int, kept: Mask | None, member: AnyCodes) -> Mask:
    """Return which codes occur; given ``kept``, in rows whose tuple it holds of."""
    used: Mask = np.zeros(cardinality, np.bool_)
    if not spend(len(codes)):
        used[codes if kept is None else codes[kept[member]]] = True
        return used
    from anon_core.kernels.compiled import encoding, joining

    if kept is None:
        encoding.mark_used(codes, used)
    else:
        joining.mark_kept(codes, member, kept, used)
    return used
