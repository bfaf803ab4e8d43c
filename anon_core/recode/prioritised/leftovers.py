"""What is left when no group is safe any more: joined to the nearest classes, or removed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.recode.prioritised.encoding import Encoded, Partition

TRIED = 40
"""Classes that a homeless tuple is tried in, the nearest ones, where sensitive values are looked at."""


def housed(encoded: Encoded, costs: Floats, partition: Partition) -> Partition:
    """
    Return the partition with as few homeless tuples and rows at the roots as it takes.

    Homeless tuples stay so, and will be removed, if the policy allows that and it costs less than to join each to its
    nearest class. A class at the roots everywhere says nothing: where it is more than may be suppressed, it is
    dissolved like that too. A class that is not safe any more is joined to its nearest one. Classes that were safe as
    collected take others in as well.
    """
    partition = _without_blank(encoded, partition)
    homeless = partition.homeless(encoded)
    if not len(homeless):
        return partition
    together = joined(encoded, costs, partition)
    may_go = int(encoded.weights[homeless].sum()) + _blank_rows(encoded, partition) <= encoded.task.allowed
    if any(model.relative for model in encoded.task.requirements.others):
        may_go = False  # Without them the whole table would be another one, to which classes are not close.
    return partition if may_go and _cost(encoded, costs, partition) <= _cost(encoded, costs, together) else together


def _blank_rows(encoded: Encoded, partition: Partition) -> int:
    return int(encoded.weights[partition.blank(encoded)].sum())


def _without_blank(encoded: Encoded, partition: Partition) -> Partition:
    """Return the partition without classes at the roots, unless so many rows may be suppressed."""
    if _blank_rows(encoded, partition) <= encoded.task.allowed or partition.count + encoded.settled.sum() == 1:
        return partition
    return Partition.numbered(np.where(partition.blank(encoded), -1, partition.classes))


def _cost(encoded: Encoded, costs: Floats, partition: Partition) -> float:
    roots = costs[:, encoded.base[1:] - 1].sum(axis=1)
    homeless = partition.homeless(encoded)
    return float(partition.class_costs(encoded, costs).sum() + encoded.weights[homeless] @ roots[homeless])


def joined(encoded: Encoded, costs: Floats, partition: Partition) -> Partition:
    """
    Return the partition with the homeless in their nearest classes.

    Where something is required of sensitive columns, in the nearest of those that stay safe. Whoever finds none joins
    the nearest one; classes that are not safe after that join the nearest safe one, all of them at once, until all are
    safe or one is left.
    """
    every, homeless = partition.with_settled(encoded), partition.homeless(encoded)
    if not every.count or not len(homeless):
        return partition
    if encoded.task.requirements.others:
        every = _joined_safely(encoded, costs, every, homeless)
        homeless = homeless[every.classes[homeless] < 0]
        if not len(homeless):
            return every.without_settled(encoded)
    partition = _nearest(encoded, costs, every, homeless[:, None])
    while partition.count > 1:
        members = partition.members
        numbers = partition.classes[members]
        unsafe = np.flatnonzero(~encoded.task.requirements.safe(members, numbers, partition.count))
        if not len(unsafe):
            break
        if len(unsafe) == partition.count:  # No class is safe: all are one.
            return Partition.numbered(np.where(partition.classes >= 0, 0, -1)).without_settled(encoded)
        groups = [members[numbers == number] for number in unsafe.tolist()]
        rest = np.where(np.isin(partition.classes, unsafe), -1, partition.classes)
        partition = _nearest(encoded, costs, Partition.numbered(rest), groups)
    return partition.without_settled(encoded)


def _joined_safely(encoded: Encoded, costs: Floats, partition: Partition, homeless: Integers) -> Partition:
    """Return the partition with each homeless tuple in the nearest of a few classes that stay safe with it, if any."""
    from anon_core.kernels.compiled.local_classes import added_costs, raise_to_common

    near = _Nearness(encoded, costs, partition)
    classes = partition.classes.copy()
    inside = [members.tolist() for members in np.split(partition.members, np.cumsum(near.sizes)[:-1])]
    added = np.zeros(partition.count)
    for member in homeless.tolist():
        added_costs(near.cells, member, near.levels, near.firsts, near.sums, added)
        tried = np.argsort(added, kind="stable")[:TRIED]
        tried = tried[np.isfinite(added[tried])]
        if not len(tried):
            continue
        lengths = [len(inside[number]) + 1 for number in tried]
        tuples = np.array([one for number in tried for one in (*inside[number], member)])
        safe = encoded.task.requirements.safe(tuples, np.repeat(np.arange(len(tried)), lengths), len(tried))
        if safe.any():
            number = int(tried[np.flatnonzero(safe)[0]])
            classes[member] = number
            inside[number].append(member)
            raise_to_common(near.cells, member, int(near.firsts[number]), near.levels[number])
            near.sums[number] += encoded.weights[member] * costs[member]
    return Partition(classes=classes, count=partition.count)


class _Nearness:
    """What it takes to tell how near a tuple is to every class: their levels, first members, sizes and costs."""

    def __init__(self, encoded: Encoded, costs: Floats, partition: Partition) -> None:
        from anon_core.kernels.compiled.local_classes import Cells, common_levels
        from anon_core.kernels.compiled.neighbourhoods import costs_of_classes

        self.cells = Cells(encoded.keys, costs, encoded.weights, encoded.base, encoded.empty)
        self.levels: Integers = np.zeros((partition.count, encoded.columns), np.int64)
        self.firsts: Integers = np.full(partition.count, -1, np.int64)
        self.sums: Floats = np.zeros((partition.count, encoded.keys.shape[1]))
        members = partition.members
        self.sizes: Integers = np.bincount(partition.classes[members], minlength=partition.count)
        common_levels(self.cells, partition.classes, self.levels, self.firsts)
        costs_of_classes(self.cells, members, partition.classes[members], self.sums)


def _nearest(encoded: Encoded, costs: Floats, partition: Partition, groups: Iterable[Integers]) -> Partition:
    """Return the partition with groups of homeless tuples in the classes that are nearest to their first ones."""
    from anon_core.kernels.compiled.local_classes import join_nearest

    near = _Nearness(encoded, costs, partition)
    classes, groups = partition.classes.copy(), list(groups)
    first = np.array([group[0] for group in groups], np.int64)
    join_nearest(near.cells, first, classes, near.levels, near.firsts, near.sums)
    for group in groups:
        classes[group] = classes[group[0]]
    return Partition.numbered(classes)
