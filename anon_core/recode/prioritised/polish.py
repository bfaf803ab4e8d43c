"""The slack used up: where people have several rows, single tuples of a small table change their class.

A person counts in every class in which they have rows, so what one class does without another may still count. Orders
of nodes and neighbourhoods see little of that where tuples are few.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anon_core.kernels import Integers
from anon_core.recode.prioritised.encoding import Encoded, Partition
from anon_core.recode.prioritised.orders import Found
from anon_core.recode.prioritised.prices import Objective
from anon_core.table import Mask

MAX_TUPLES = 60
"""Larger tables have so many classes that single tuples matter little."""
MAX_TRIED = 4_000
"""Moves that are measured, each in about a millisecond."""

_LEAST = 1e-12
"""Gains below this are rounding."""


def polished(encoded: Encoded, objective: Objective, found: Found) -> Found:
    """
    Move tuples, and merge classes, as long as that loses less and breaks nothing: the first move that does is made.

    Tuples that have k people of their own are never removed.
    """
    if encoded.task.people is None or len(encoded.weights) > MAX_TUPLES:
        return found
    every = np.arange(len(encoded.weights))
    may_go = encoded.task.requirements.sizes(every, every, len(every)) < encoded.task.k
    best = _climbed(encoded, objective, found, may_go)
    if best.breaks:  # Another way up: every tuple by itself.
        apart = Found.measured(encoded, objective, Partition(classes=every, count=len(every)))
        other = _climbed(encoded, objective, apart, may_go)
        best = other if other.is_better_than(best) and not _unsafe(encoded, other.partition) else best
    return best


def _climbed(encoded: Encoded, objective: Objective, best: Found, may_go: Mask) -> Found:
    unsafe, tried = _unsafe(encoded, best.partition), 0
    while True:
        better = None
        for classes in _moves(best.partition, may_go):
            tried += 1
            if tried > MAX_TRIED:
                return best
            partition = Partition.numbered(classes)
            now = _unsafe(encoded, partition)
            if now > unsafe:  # Never in exchange for fewer rows that are suppressed.
                continue
            moved = Found.measured(encoded, objective, partition)
            if (now, moved.breaks, moved.cost) < (unsafe, best.breaks, best.cost - _LEAST * (now == unsafe)):
                better, unsafe = moved, now
                break
        if better is None:
            return best
        best = better


def _unsafe(encoded: Encoded, partition: Partition) -> int:
    """Return how many rows are in classes that are not safe."""
    members = partition.members
    numbers = partition.classes[members]
    safe = encoded.task.requirements.safe(members, numbers, partition.count)
    return int(encoded.weights[members[~safe[numbers]]].sum())


def _moves(partition: Partition, may_go: Mask) -> Iterator[Integers]:
    """Yield the classes after each move: a tuple to another class, to one of its own, or out; two classes into one."""
    for member, own in enumerate(partition.classes.tolist()):
        for number in range(-1, partition.count + 1):
            if number != own and (number >= 0 or may_go[member]):
                classes = partition.classes.copy()
                classes[member] = number
                yield classes
    for one in range(partition.count):
        for other in range(one + 1, partition.count):
            yield np.where(partition.classes == other, one, partition.classes)
