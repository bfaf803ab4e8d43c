"""What is left when no group is safe any more: joined to the nearest classes, or removed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.policy import TCloseness
from anon_core.recode.prioritised.encoding import Encoded
from anon_core.recode.prioritised.partition import Partition


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
    if any(isinstance(required, TCloseness) for required, _ in encoded.task.requirements.others):
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

    Classes that are not safe after that join the nearest safe one, all of them at once, until all are safe or one is
    left.
    """
    every, homeless = partition.with_settled(encoded), partition.homeless(encoded)
    if not every.count or not len(homeless):
        return partition
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


def _nearest(encoded: Encoded, costs: Floats, partition: Partition, groups: Iterable[Integers]) -> Partition:
    """Return the partition with groups of homeless tuples in the classes that are nearest to their first ones."""
    from anon_core.kernels.compiled.local_classes import Cells, common_levels, join_nearest
    from anon_core.kernels.compiled.neighbourhoods import costs_of_classes

    classes, groups = partition.classes.copy(), list(groups)
    cells = Cells(encoded.keys, costs, encoded.weights, encoded.base)
    levels = np.zeros((partition.count, encoded.columns), np.int64)
    firsts = np.full(partition.count, -1, np.int64)
    sums = np.zeros((partition.count, encoded.keys.shape[1]))
    common_levels(cells, classes, levels, firsts)
    members = partition.members
    costs_of_classes(cells, members, classes[members], sums)
    join_nearest(cells, np.array([group[0] for group in groups], np.int64), classes, levels, firsts, sums)
    for group in groups:
        classes[group] = classes[group[0]]
    return Partition.numbered(classes)
