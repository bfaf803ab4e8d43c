"""Split the classes of a partition by one more column, one pass over the members."""

from __future__ import annotations

from typing import Any

import numpy as np

from anon_core.kernels.compiled import compiled


@compiled
def refine(members: Any, offsets: Any, codes: Any, work: Any, weights: Any, units: Any) -> tuple[Any, Any, Any, int]:
    """
    Return the members, offsets and sizes of the split classes that hold more than one row, and how many held one.

    Class ``i`` is ``members[offsets[i] : offsets[i + 1]]``. It is as large as the weights of its members (1 each if
    ``weights`` is empty). With ``units`` (else empty) a class is kept if its members belong to at least two. ``work``
    has cells for each code; its counts are zero before and after.
    """
    count, size, place, several, touched = work
    codes_here = np.empty(len(members), np.int32)
    kept = np.empty(len(members), np.int32)
    starts = np.empty(len(members) + 1, np.int32)
    sizes = np.empty(len(members), np.int64)
    for i in range(len(members)):
        codes_here[i] = codes[members[i]]
    starts[0] = 0
    filled = 0
    classes = 0
    alone = 0
    for each in range(len(offsets) - 1):
        start, stop = offsets[each], offsets[each + 1]
        seen = 0
        for i in range(start, stop):
            code = codes_here[i]
            if count[code] == 0:
                touched[seen] = code
                seen += 1
            count[code] += 1
            if len(weights) > 0:
                size[code] += weights[members[i]]
        if len(units) > 0:
            _mark_several(members, units, codes_here, start, stop, place, several, touched[:seen])
        for i in range(seen):
            code = touched[i]
            rows = size[code] if len(weights) > 0 else count[code]
            if several[code] if len(units) > 0 else rows > 1:
                place[code] = filled
                filled += count[code]
                sizes[classes] = rows
                classes += 1
                starts[classes] = filled
            else:
                place[code] = -1
                alone += 1
            count[code] = 0
            size[code] = 0
        for i in range(start, stop):
            at = place[codes_here[i]]
            if at >= 0:
                kept[at] = members[i]
                place[codes_here[i]] = at + 1
    return kept[:filled].copy(), starts[: classes + 1].copy(), sizes[:classes].copy(), alone


@compiled
def count_alone(members: Any, offsets: Any, codes: Any, work: Any) -> int:
    """Return how many members, each one row, would be alone if their classes were split by one more column."""
    count, _, _, _, touched = work
    alone = 0
    for each in range(len(offsets) - 1):
        seen = 0
        for i in range(offsets[each], offsets[each + 1]):
            code = codes[members[i]]
            if count[code] == 0:
                touched[seen] = code
                seen += 1
            count[code] += 1
        for i in range(seen):
            if count[touched[i]] == 1:
                alone += 1
            count[touched[i]] = 0
    return alone


@compiled
def _mark_several(
    members: Any, units: Any, codes_here: Any, start: int, stop: int, first: Any, several: Any, touched: Any
) -> None:
    """Mark the codes whose members in this class belong to more than one unit; ``first`` is overwritten."""
    for i in range(len(touched)):
        first[touched[i]] = -1
        several[touched[i]] = False
    for i in range(start, stop):
        code, unit = codes_here[i], units[members[i]]
        if first[code] < 0:
            first[code] = unit
        elif first[code] != unit:
            several[code] = True
