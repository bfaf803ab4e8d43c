"""Groups of numbers as a release shows them: the ladder that leads to its ranges, read from their labels."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise

from anon_core.errors import HierarchyError
from anon_core.hierarchy.kinds.intervals import MEAN
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.hierarchy.numbers import number_in
from anon_core.table import Column
from anon_core.wording import counted

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_RANGE = re.compile(rf"([0-9.]+)-([0-9.]+)|\[({_NUMBER}), ({_NUMBER})\]")


def ladders_leading_to(column: Column, labels: Sequence[str | None], declared: Ladder) -> list[Ladder]:
    """
    Return the ladders that may have led to the labels of a column for which grouping by its own values was allowed.

    Only the release shows whether it was done: its declared hierarchy knows all labels, or the labels name groups. If
    both fit, it is not known, and the caller uses the worse result.

    :raises HierarchyError: neither; see :func:`read_groups`.
    """
    shown = set(labels)
    known = shown <= set(declared.labels.to_pylist())
    try:
        groups = read_groups(column, labels)
    except HierarchyError:
        if known:
            return [declared]
        raise
    if not known:
        return [groups]
    return [declared, groups] if shown <= set(groups.labels.to_pylist()) else [declared]


def read_groups(column: Column, labels: Iterable[str | None]) -> Ladder:
    """
    Build the ladder of a column that was grouped by its own values, from the labels of the release.

    Groups are named after the rows that are published, so the original alone does not tell their names. Labels that are
    no closed range lead nowhere. A mean does not tell which values it stands for.

    >>> import numpy as np, pyarrow as pa
    >>> years = Column(name="born", codes=np.arange(3, dtype=np.int32), domain=pa.array(["1950", "1952", "1960"]))
    >>> ladder = read_groups(years, ["1950-1952", "1960"])
    >>> [ladder.labels[int(code)].as_py() for code in ladder.maps[1]]
    ['1950-1952', '1950-1952', '1960']

    :raises HierarchyError: groups are shown by their means, or two ranges overlap and a number would have two groups.
    """
    shown = {label for label in labels if label is not None}
    means = sum(label.startswith(MEAN) for label in shown.difference(column.domain.to_pylist()))
    if means:
        raise HierarchyError(
            f"column {column.name!r}",
            [
                f"the released table has the means of groups ({counted(means, 'distinct label')} with {MEAN}), and a "
                "mean does not tell which values it stands for: a column replaced by means cannot be compared with its "
                "original; leave it out of the comparison, or publish with `replace: range`"
            ],
        )
    ranges = sorted((*ends, label) for label in shown if (ends := _ends(label)))
    overlapping = sum(after[0] <= before[1] for before, after in pairwise(ranges))
    if overlapping:
        raise HierarchyError(
            f"column {column.name!r}",
            [f"ranges of the released table overlap ({counted(overlapping, 'pair')} of neighbours)"],
        )
    lows = [low for low, _, _ in ranges]
    paths: dict[str | None, Sequence[str]] = {}
    for value in column.domain.to_pylist():
        number = number_in(value)
        if number is not None:
            at = bisect_right(lows, number) - 1
            paths[value] = [ranges[at][2] if at >= 0 and number <= ranges[at][1] else value]
    return climb(column.name, column.domain, paths, ["groups as published", "suppressed"])


def _ends(label: str) -> tuple[Decimal, Decimal] | None:
    match = _RANGE.fullmatch(label)
    if not match:
        return None
    low, high = (number_in(text) for text in match.groups() if text is not None)
    return (low, high) if low is not None and high is not None and low <= high else None
