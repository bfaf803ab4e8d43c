"""Find which of some distinct keys each row has, by a hash table, and pass what is known of the keys on to the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from anon_core.kernels.compiled import compiled

EMPTY = -1
"""What an empty slot holds; no key is negative."""

_MIX = np.uint64(0x9E3779B97F4A7C15)


@compiled
def enter(keys: Any, shift: int, slots: Any, entries: Any) -> None:
    """Enter distinct keys into a table of ``1 << (64 - shift)`` empty slots, more than there are keys."""
    last, down = len(slots) - 1, np.uint64(shift)
    for entry in range(len(keys)):
        slot = np.int64((np.uint64(keys[entry]) * _MIX) >> down)
        while slots[slot] != EMPTY:
            slot = (slot + 1) & last
        slots[slot] = keys[entry]
        entries[slot] = entry


@compiled
def find(keys: Any, shift: int, slots: Any, entries: Any, found: Any) -> bool:
    """Write which entry each key is; whether all of them are one."""
    last, down = len(slots) - 1, np.uint64(shift)
    for i in range(len(keys)):
        key = keys[i]
        slot = np.int64((np.uint64(key) * _MIX) >> down)
        while slots[slot] != key:
            if slots[slot] == EMPTY:
                return False
            slot = (slot + 1) & last
        found[i] = entries[slot]
    return True


@compiled
def tally_members(members: Any, counts: Any) -> None:
    """Count the rows of each entry."""
    for i in range(len(members)):
        counts[members[i]] += 1


@compiled
def gather(values: Any, members: Any, out: Any) -> None:
    """Write the value of each row's entry."""
    for i in range(len(members)):
        out[i] = values[members[i]]


@compiled
def add(values: Any, members: Any, out: Any) -> None:
    """Add the value of each row's entry."""
    for i in range(len(members)):
        out[i] += values[members[i]]


@compiled
def mark_kept(codes: Any, members: Any, kept: Any, used: Any) -> None:
    """Mark the codes that occur in rows of kept entries."""
    for i in range(len(codes)):
        if kept[members[i]]:
            used[codes[i]] = True


@compiled
def cut_out(keys: Any, shift: int, mask: int, out: Any) -> None:
    """Write some bits of each key."""
    for i in range(len(keys)):
        out[i] = (keys[i] >> shift) & mask
