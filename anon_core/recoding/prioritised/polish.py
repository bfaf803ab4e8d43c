"""A better recoding of small tables where people have several rows: exact, or class by class.

A person counts in every class in which they have rows, so a class may lose a tuple of a person and still count them.
Orders of nodes and neighbourhoods use little of that where there are few tuples. With at most twelve tuples every way
to put them into classes is tried. With more, single tuples change their class, then a few classes at a time are built
anew.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition
from anon_core.recoding.prioritised.every_way import MAX_ITEMS, cheapest
from anon_core.recoding.prioritised.node_order import mean_prices
from anon_core.recoding.prioritised.orders import Found
from anon_core.recoding.prioritised.prices import Objective
from anon_core.table import Mask

MAX_TUPLES = 60
"""Larger tables have so many classes that single tuples make little difference."""
MAX_TRIED = 4_000
"""At most so many moves are measured, each in about a millisecond."""
MAX_SOLVED = 150
"""At most so many times a few classes are built anew, each in some ten milliseconds."""

_MAX_ITEMS = 8
"""At most so many tuples, and rests of classes, change their class together."""
_MAX_NEAREST = 4
"""So many of the nearest classes are built anew with each class, one after the other and all at once."""
_MIN_GAIN = 1e-12
"""Smaller gains are rounding."""


def polished(encoded: Encoded, objective: Objective, found: Found) -> Found:
    """
    Return the best classes for few tuples; for more tuples, classes at least as good as those found. Every row is open.

    Tuples that have k people of their own are never removed. The task requires k alone.
    """
    tuples = len(encoded.weights)
    if encoded.task.people is None or tuples > MAX_TUPLES:
        return found
    every = np.arange(tuples)
    may_go = encoded.task.requirements.sizes(every, every, tuples) < encoded.task.k
    apart = TuplePartition(classes=every, count=tuples)
    if tuples <= MAX_ITEMS:
        exact = cheapest(encoded, objective, apart, list(every[:, None]), may_go)
        if exact is not None:
            return Found.measured(encoded, objective, exact)
    best = _climbed(encoded, objective, found, may_go)
    if best.breaks:  # Other starting points: every tuple by itself, and all together.
        for start in (apart, TuplePartition(classes=0 * every, count=1)):
            other = _climbed(encoded, objective, Found.measured(encoded, objective, start), may_go)
            best = other if other.is_better_than(best) and not _unsafe(encoded, other.partition) else best
    return _rearranged(encoded, objective, best, may_go)


def _rearranged(encoded: Encoded, objective: Objective, best: Found, may_go: Mask) -> Found:
    """Build every class anew with its nearest ones in the way that loses least, until no step gains any more."""
    solved, better = 0, True
    while better and solved < MAX_SOLVED:
        better, seen = False, set()
        for first in range(len(encoded.weights)):  # Classes are visited by their tuples, because their numbers change.
            for items in _near(encoded, best, first, may_go):
                key = tuple(tuple(item.tolist()) for item in items)
                if key in seen or solved >= MAX_SOLVED:
                    continue
                seen.add(key)
                solved += 1
                partition = cheapest(encoded, objective, best.partition, items, may_go)
                if partition is None:
                    continue
                moved = Found.measured(encoded, objective, partition)
                if (moved.breaks, moved.cost) < (best.breaks, best.cost - _MIN_GAIN):
                    best, better = moved, True
                    break
    return best


def _near(encoded: Encoded, found: Found, first: int, may_go: Mask) -> Iterator[list[Integers]]:
    """
    Yield the items that are built anew with the class of a tuple: the tuples of the class and of one or more near ones.

    It yields only for the first tuple of a class, and for a removed tuple. If there are too many tuples, those nearest
    to the other classes may move one by one, and the others of their class stay together.
    """
    partition, costs = found.partition, found.costs
    numbers = np.where(partition.classes < 0, partition.count + np.arange(len(partition.classes)), partition.classes)
    own = np.flatnonzero(numbers == numbers[first])
    if own[0] != first:
        return
    prices = mean_prices(encoded, costs)
    others = [np.flatnonzero(numbers == number) for number in np.unique(numbers) if number != numbers[first]]
    others.sort(key=lambda other: (round(_price(encoded, prices, np.append(own, other)), 12), int(other[0])))
    for other in others[:_MAX_NEAREST]:
        yield _items(encoded, prices, [own, other])
    together = [own]
    for other in others[:_MAX_NEAREST]:
        if sum(map(len, together)) + len(other) <= _MAX_ITEMS:
            together.append(other)
    if len(together) > 2:
        yield _items(encoded, prices, together)


def _items(encoded: Encoded, prices: Floats, groups: list[Integers]) -> list[Integers]:
    """Return the tuples of some classes one by one, up to the limit; the rest of each class is one item."""
    if sum(map(len, groups)) <= _MAX_ITEMS:
        return [np.array([member]) for member in np.sort(np.concatenate(groups)).tolist()]
    items: list[Integers] = []
    for at, group in enumerate(groups):
        others = np.concatenate([other for i, other in enumerate(groups) if i != at])
        near = sorted(group.tolist(), key=lambda one: (round(_price(encoded, prices, np.append(others, one)), 12), one))
        free = near[: _MAX_ITEMS // len(groups) - 1] if len(group) > _MAX_ITEMS // len(groups) else near
        rest = np.setdiff1d(group, free)
        items += [np.array([member]) for member in sorted(free)]
        items += [rest] if len(rest) else []
    return items


def _price(encoded: Encoded, prices: Floats, members: Integers) -> float:
    """Return the mean cost of a row if some tuples are one class."""
    classes = np.full(len(encoded.weights), -1, np.int64)
    classes[members] = 0
    levels = TuplePartition(classes=classes, count=1).class_levels(encoded)[0]
    return float(prices[levels + encoded.base[:-1]].sum())


def _climbed(encoded: Encoded, objective: Objective, best: Found, may_go: Mask) -> Found:
    """Move tuples and merge classes, each time by the first move that loses less and breaks nothing."""
    unsafe, tried = _unsafe(encoded, best.partition), 0
    while True:
        better = None
        for classes in _moves(best.partition, may_go):
            tried += 1
            if tried > MAX_TRIED:
                return best
            partition = TuplePartition.numbered(classes)
            now = _unsafe(encoded, partition)
            if now > unsafe:  # Fewer suppressed rows are no reason to break this.
                continue
            moved = Found.measured(encoded, objective, partition)
            if (now, moved.breaks, moved.cost) < (unsafe, best.breaks, best.cost - _MIN_GAIN * (now == unsafe)):
                better, unsafe = moved, now
                break
        if better is None:
            return best
        best = better


def _unsafe(encoded: Encoded, partition: TuplePartition) -> int:
    """Return how many rows are in classes that are not safe."""
    members = partition.members
    numbers = partition.classes[members]
    safe = encoded.task.requirements.safe(members, numbers, partition.count)
    return int(encoded.weights[members[~safe[numbers]]].sum())


def _moves(partition: TuplePartition, may_go: Mask) -> Iterator[Integers]:
    """Yield the classes after each move: a tuple to another class, to a new one, or to none; two classes into one."""
    for member, own in enumerate(partition.classes.tolist()):
        for number in range(-1, partition.count + 1):
            if number != own and (number >= 0 or may_go[member]):
                classes = partition.classes.copy()
                classes[member] = number
                yield classes
    for one in range(partition.count):
        for other in range(one + 1, partition.count):
            yield np.where(partition.classes == other, one, partition.classes)
