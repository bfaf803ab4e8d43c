"""A hierarchy of neighbours: values in order, merged until a group has enough rows, and the groups again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from anon_core.hierarchy.kinds.frequency_groups import check_growing
from anon_core.hierarchy.kinds.orders import Place, ordering_of
from anon_core.hierarchy.levels import Levels


def in_order(rows: Mapping[str, int], sizes: Sequence[int], given: Sequence[str] = ()) -> Levels:
    """
    Return a level per size on which neighbouring values are merged until a group has at least so many rows.

    For the order see :mod:`~anon_core.hierarchy.kinds.orders`; what has no place in it has no path. Spellings of one
    number (5 and 5.0) or day are never split. What is left at the end joins the last group. Every level merges whole
    groups of the one below. A group is named by its first and last value, both as collected; a single value stands for
    itself.

    >>> in_order({"3": 9, "21": 4, "22": 6, "80": 5}, [10, 14]).paths
    {'3': ['3-21', '3-80'], '21': ['3-21', '3-80'], '22': ['22-80', '3-80'], '80': ['22-80', '3-80']}

    :raises HierarchyError: sizes below 2, or that do not grow; a given order that names a value twice.
    """
    check_growing("groups", sizes)
    place = ordering_of(list(rows), given).places
    groups = _same(sorted(place, key=place.__getitem__), place)
    paths: dict[str | None, list[str]] = {value: [] for value in rows if value in place}
    for size in sizes:
        groups = _merged(groups, rows, size)
        taken: set[str] = set()
        for group in groups:
            name = _name(group, place)
            while name in taken:
                name += "'"
            taken.add(name)
            for value in group:
                paths[value].append(name)
    return Levels(paths={**paths}, names=[f"groups of at least {size} rows" for size in sizes])


def _same(values: Sequence[str], place: Mapping[str, Place]) -> list[list[str]]:
    """Return values in order, spellings of one number or day together."""
    groups: list[list[str]] = []
    before: tuple[int, Any] | None = None
    for value in values:
        here = place[value][:2]
        if here[0] < 2 and here == before:
            groups[-1].append(value)
        else:
            groups.append([value])
        before = here
    return groups


def _merged(groups: Sequence[list[str]], rows: Mapping[str, int], size: int) -> list[list[str]]:
    """Return neighbours merged until each has enough rows."""
    merged: list[list[str]] = []
    filled = size
    for group in groups:
        if filled >= size:
            merged.append([])
            filled = 0
        merged[-1].extend(group)
        filled += sum(rows[value] for value in group)
    if len(merged) > 1 and filled < size:
        last = merged.pop()
        merged[-1].extend(last)
    return merged


def _name(group: Sequence[str], place: Mapping[str, Place]) -> str:
    if len(group) == 1:
        return group[0]
    (low_kind, low, _), (high_kind, high, _) = place[group[0]], place[group[-1]]
    if (low_kind, high_kind) == (0, 0) and isinstance(low, Decimal) and isinstance(high, Decimal):
        high = max(low, high)  # of two spellings of one number the first
        return f"{low:f}-{high:f}" if low >= 0 else f"[{low:f}, {high:f}]"
    return f"[{group[0]}, {group[-1]}]"
