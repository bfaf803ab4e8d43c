"""Tuples that are left when no group is safe any more: they join the nearest classes, or are removed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition
from anon_core.recoding.requirements import Requirements


def with_leftovers_placed(encoded: Encoded, costs: Floats, partition: TuplePartition) -> TuplePartition:
    """
    Return the partition without homeless tuples and without rows at the roots, unless it is cheaper to suppress these.

    Homeless tuples are in no class. They stay so, and are removed, if the policy allows that and it costs less than to
    join each to its nearest class. A class at the roots in every column says nothing: if it has more rows than may be
    suppressed, it is dissolved, and its tuples join other classes. A class that is not safe any more joins its nearest
    class. Classes that were safe as collected take in tuples as well.
    """
    partition = _without_blank(encoded, partition)
    homeless = partition.homeless(encoded)
    if not len(homeless):
        return partition
    if encoded.task.people is not None:  # Otherwise tuples of k rows are classes by themselves.
        own = encoded.task.requirements.sizes(homeless, np.arange(len(homeless)), len(homeless))
        if (own >= encoded.task.k).any():  # They may not be removed: k alone would keep them.
            every = partition.with_settled(encoded)
            if not every.count:
                return partition
            groups = homeless[own >= encoded.task.k][:, None]
            every = merged(encoded, costs, _nearest(encoded, costs, every, groups), encoded.task.requirements)
            partition = every.without_settled(encoded)
            homeless = partition.homeless(encoded)
    together = joined(encoded, costs, partition)
    may_go = int(encoded.weights[homeless].sum()) + _blank_rows(encoded, partition) <= encoded.task.allowed
    return partition if may_go and _cost(encoded, costs, partition) <= _cost(encoded, costs, together) else together


def _blank_rows(encoded: Encoded, partition: TuplePartition) -> int:
    return int(encoded.weights[partition.blank(encoded)].sum())


def _without_blank(encoded: Encoded, partition: TuplePartition) -> TuplePartition:
    """Return the partition without classes at the roots, unless their rows may be suppressed."""
    if _blank_rows(encoded, partition) <= encoded.task.allowed or partition.count + encoded.settled.sum() == 1:
        return partition
    return TuplePartition.numbered(np.where(partition.blank(encoded), -1, partition.classes))


def _cost(encoded: Encoded, costs: Floats, partition: TuplePartition) -> float:
    roots = costs[:, encoded.base[:-1] + encoded.heights].sum(axis=1)
    homeless = partition.homeless(encoded)
    return float(partition.class_costs(encoded, costs).sum() + encoded.weights[homeless] @ roots[homeless])


def joined(encoded: Encoded, costs: Floats, partition: TuplePartition) -> TuplePartition:
    """
    Return the partition with homeless tuples in their nearest classes.

    Classes that are not safe then join the nearest safe class, all at once, until all are safe or one is left.
    """
    every = partition.with_settled(encoded)
    homeless = encoded.within_reach(every.classes, partition.homeless(encoded))
    if not every.count or not len(homeless):
        return partition
    partition = _nearest(encoded, costs, every, homeless[:, None])
    return merged(encoded, costs, partition, encoded.task.requirements).without_settled(encoded)


def merged(encoded: Encoded, costs: Floats, partition: TuplePartition, requirements: Requirements) -> TuplePartition:
    """
    Return the partition with unsafe classes merged with their nearest safe ones, round by round, until all are safe.

    In a round each safe class takes in the one unsafe class that costs least, so that no class takes in all the others;
    it takes in several only if very few classes are safe. If no class is safe, all become one.
    """
    from anon_core.kernels.compiled.local_classes import nearest_classes

    count, classes, members = partition.count, partition.classes.copy(), partition.members
    safe = requirements.safe(members, classes[members], count)
    alive = np.ones(count, np.bool_)
    nearest: Integers = np.full(count, -1, np.int64)
    added: Floats = np.full(count, np.inf)
    while len(unsafe := np.flatnonzero(alive & ~safe)):
        takes = alive & safe
        near = _Nearness(encoded, costs, TuplePartition(classes=classes, count=count))
        wanting = unsafe[nearest[unsafe] < 0]
        nearest_classes(near.cells, wanting, takes, near.levels, near.firsts, near.sums, nearest, added)
        unsafe = unsafe[nearest[unsafe] >= 0]
        if not len(unsafe):
            return TuplePartition.numbered(np.where(classes >= 0, 0, -1))
        taken = unsafe[
            _cheapest(nearest[unsafe], added[unsafe], most=max(1, len(unsafe) // (_MAX_UNSAFE_PER_SAFE * takes.sum())))
        ]
        number = np.arange(count)
        number[taken] = nearest[taken]
        classes = np.where(classes >= 0, number[classes], -1)
        alive[taken] = False
        grown = np.unique(nearest[taken])
        inside = members[np.isin(classes[members], grown)]
        safe[grown] = requirements.safe(inside, np.searchsorted(grown, classes[inside]), len(grown))
        nearest[np.isin(nearest, grown)] = -1
    return TuplePartition.numbered(classes)


_MAX_UNSAFE_PER_SAFE = 16
"""With more unsafe classes than this for each safe one, a safe class takes in several of them in a round."""


def _cheapest(group: Integers, costs: Floats, *, most: int) -> Integers:
    """
    Return the positions of the cheapest entries of each group; of equal ones, the first.

    >>> _cheapest(np.array([1, 0, 1, 1]), np.array([3.0, 1.0, 2.0, 2.0]), most=1).tolist()
    [1, 2]
    """
    order = np.lexsort((costs, group))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return np.sort(order[place < most])


class _Nearness:
    """The data for the distance of tuples to every class: the levels, first members and costs of the classes."""

    def __init__(self, encoded: Encoded, costs: Floats, partition: TuplePartition) -> None:
        from anon_core.kernels.compiled.local_classes import Cells, common_levels
        from anon_core.kernels.compiled.neighbourhoods import costs_of_classes

        self.cells = Cells(encoded.keys, costs, encoded.weights, encoded.base, encoded.empty)
        self.levels: Integers = np.zeros((partition.count, encoded.columns), np.int64)
        self.firsts: Integers = np.full(partition.count, -1, np.int64)
        self.sums: Floats = np.zeros((partition.count, encoded.keys.shape[1]))
        members = partition.members
        common_levels(self.cells, partition.classes, self.levels, self.firsts)
        costs_of_classes(self.cells, members, partition.classes[members], self.sums)


def _nearest(encoded: Encoded, costs: Floats, partition: TuplePartition, groups: Iterable[Integers]) -> TuplePartition:
    """Return the partition with groups of homeless tuples in the classes nearest to the first tuple of each group."""
    from anon_core.kernels.compiled.local_classes import join_nearest

    near = _Nearness(encoded, costs, partition)
    classes, groups = partition.classes.copy(), list(groups)
    first = np.array([group[0] for group in groups], np.int64)
    join_nearest(near.cells, first, classes, near.levels, near.firsts, near.sums)
    for group in groups:
        classes[group] = classes[group[0]]
    return TuplePartition.numbered(classes)
