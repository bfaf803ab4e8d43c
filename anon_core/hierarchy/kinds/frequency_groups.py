"""A hierarchy by frequency: what few rows have becomes one label, the more the higher the level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from anon_core.errors import HierarchyError
from anon_core.hierarchy.levels import Levels

OTHER = "other"


def by_frequency(rows: Mapping[str, int], thresholds: Sequence[int]) -> Levels:
    """
    Return a level per threshold on which values that fewer rows have become "other".

    Where these have fewer rows together than the threshold, the next rarest join them until they have as many, so that
    "other" is no small class itself. Ties go by the value. A value that stays stands for itself. Where the data has a
    value "other", the label is another one.

    >>> by_frequency({"AO": 90, "TO": 40, "MI": 6, "RM": 1}, [5, 50]).paths["MI"]
    ['other', 'other (level 2)']
    >>> by_frequency({"AO": 90, "TO": 40, "MI": 6, "RM": 1}, [5, 50]).paths["TO"]
    ['TO', 'other (level 2)']

    :raises HierarchyError: thresholds below 2, or that do not grow.
    """
    check_growing("frequency", thresholds)
    rarest = sorted(rows, key=lambda value: (rows[value], value))
    paths: dict[str | None, list[str]] = {value: [] for value in rows}
    joined, label = 0, ""
    for level, threshold in enumerate(thresholds, 1):
        before, joined = joined, _joined([rows[value] for value in rarest], threshold)
        if joined > before:  # The same values keep their one name on every level.
            label = OTHER if not before else f"{OTHER} (level {level})"
            while label in rows:
                label += "'"
        for at, value in enumerate(rarest):
            paths[value].append(label if at < joined else value)
    return Levels(
        paths={**paths}, names=[f"values of fewer than {threshold} rows together" for threshold in thresholds]
    )


def _joined(rows: Sequence[int], threshold: int) -> int:
    """Return how many of the rarest values become one."""
    joined, together = 0, 0
    for count in rows:
        if count >= threshold and (not joined or together >= threshold):
            break
        joined, together = joined + 1, together + count
    return joined


def check_growing(what: str, sizes: Sequence[int]) -> None:
    """:raises HierarchyError: there are none, one is below 2, or they do not grow."""
    problems = [] if sizes else ["there is no number of rows"]
    problems += [f"{size} is too few rows; at least 2 make a group" for size in sizes if size < 2]
    problems += [f"{high} does not lie above {low}" for low, high in pairwise(sizes) if high <= low]
    if problems:
        raise HierarchyError(what, problems)
