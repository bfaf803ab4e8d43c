"""The best local recoding of a table of a few tuples by trying every way to put them into classes: exact, and slow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.measures.utility.cells import RecodedCells
from anon_core.measures.utility.entropy import entropy
from anon_core.plan import RecodingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """A table: its tuples, the people behind each (a row per entry), its ladders, and how many rows may go."""

    frequencies: FrequencyTable
    ladders: tuple[Ladder, ...]
    behind: tuple[tuple[str | None, ...], ...]
    weights: dict[str, float]
    k: int
    allowed: int


def partitions(items: int) -> Iterator[list[int]]:
    """Yield every way to put items into classes: the class of each, numbered in the order of first members."""

    def extend(so_far: list[int], used: int) -> Iterator[list[int]]:
        if len(so_far) == items:
            yield list(so_far)
            return
        for number in range(used + 1):
            yield from extend([*so_far, number], max(used, number + 1))

    yield from extend([], 0)


def people_of(slow: Slow, members: list[int]) -> int:
    """How many people tuples have; rows of nobody known are one person where there is no other."""
    persons = {person for member in members for person in slow.behind[member]}
    return len(persons - {None}) or 1


def is_safe(slow: Slow, members: list[int]) -> bool:
    """Whether tuples may be one class: k people, none of whom has more than half of the rows, and more than one."""
    rows = [person for member in members for person in slow.behind[member] if person is not None]
    most = max((rows.count(person) for person in set(rows)), default=0)
    return people_of(slow, members) >= slow.k and (most <= 1 or 2 * most <= len(rows))


def levels_of(slow: Slow, members: list[int]) -> list[int]:
    """The lowest levels at which tuples have one label in every column."""
    return [
        next(level for level, labels in enumerate(ladder.maps) if len(set(labels[codes[members]].tolist())) == 1)
        for ladder, codes in zip(slow.ladders, slow.frequencies.codes, strict=True)
    ]


def most_information(slow: Slow) -> float | None:
    """
    The most information by priority that any safe local recoding keeps, None where there is none.

    The class with number 0 of a tuple that stands for nothing holds the tuples that are removed; it may be empty. Only
    tuples without k people of their own may be removed.
    """
    tuples, best = len(slow.frequencies.weights), None
    safe: dict[tuple[int, ...], bool] = {}
    for numbers in partitions(tuples + 1):
        classes = [[at for at in range(tuples) if numbers[at + 1] == one] for one in range(max(numbers) + 1)]
        gone, kept = classes[0], [members for members in classes[1:] if members]
        if sum(int(slow.frequencies.weights[at]) for at in gone) > slow.allowed or not kept:
            continue
        if any(people_of(slow, [at]) >= slow.k for at in gone):
            continue
        for members in kept:
            if tuple(members) not in safe:
                safe[tuple(members)] = is_safe(slow, members)
        if not all(safe[tuple(members)] for members in kept):
            continue
        levels = np.zeros((len(slow.ladders), tuples), np.int8)
        for members in kept:
            levels[:, members] = np.array(levels_of(slow, members), np.int8)[:, None]
        removed = np.zeros(tuples, np.bool_)
        removed[gone] = True
        plan = RecodingPlan(frequencies=slow.frequencies, ladders=slow.ladders, levels=levels, removed=removed)
        if plan.rows_removed + plan.rows_blanked > slow.allowed:
            continue
        left = entropy(RecodedCells.by(plan), slow.weights).weighted
        best = left if best is None else max(best, left)
    return best
