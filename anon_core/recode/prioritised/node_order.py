"""Classes by the order of nodes: the cheapest node first, the groups that are safe there are frozen, and so on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.recode.prioritised.encoding import Encoded
from anon_core.recode.prioritised.nodes import Nodes
from anon_core.recode.prioritised.partition import Partition

if TYPE_CHECKING:
    from anon_core.kernels.compiled.local_classes import HashTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """The partition that an order of nodes gives, and which of the nodes froze something."""

    partition: Partition
    hits: Integers


def mean_prices(encoded: Encoded, costs: Floats) -> Floats:
    """Return what each slot costs a row that has to be recoded, on average."""
    rows = encoded.weights[encoded.open]
    return np.asarray(rows @ costs[encoded.open] / max(int(rows.sum()), 1))


def by_node_order(encoded: Encoded, nodes: Nodes, prices: Floats, some: Integers | None = None) -> Ordered:
    """
    Put the open tuples into classes, the nodes (or some of them) in the order of what they cost by the prices.

    What is left when no group is safe any more is in no class. Ties go to the node that comes first.
    """
    from anon_core.kernels.compiled.local_classes import Cells, freeze, hash_table, next_groups, number_groups

    some = np.arange(len(nodes.levels)) if some is None else some
    order = some[np.argsort(np.round(nodes.costs(encoded.base, prices)[some], 12), kind="stable")]
    slots = nodes.slots(encoded.base)[order]
    requirements, members = encoded.task.requirements, encoded.open
    cells = Cells(encoded.keys, np.zeros((0, 0)), encoded.weights, encoded.base, encoded.empty)
    table = hash_table(len(members))
    classes = np.full(len(encoded.weights), -1, np.int64)
    left, found, node, hits = len(members), 0, 0, []
    rows = int(encoded.weights[members].sum())
    while rows >= requirements.k:
        node = next_groups(cells, slots, node, members, left, table, requirements.k)
        if node == len(slots):
            break
        if requirements.others:
            before, found = found, _judge(encoded, table, members[:left], found)
        else:
            before, found = found, number_groups(table, left, requirements.k, found)
        if found > before:
            hits.append(int(order[node]))
            left = freeze(members, left, table, classes)
            rows = int(encoded.weights[members[:left]].sum())
        node += 1
    return Ordered(partition=Partition(classes=classes, count=found), hits=np.array(hits, np.int64))


def _judge(encoded: Encoded, table: HashTable, members: Integers, found: int) -> int:
    """Number the groups that are safe, sensitive values included; return the next free number."""
    places = table.places[: len(members)]
    large = np.flatnonzero(table.sums[places] >= encoded.task.k)
    used, group = np.unique(places[large], return_inverse=True)
    safe = used[encoded.task.requirements.safe(members[large], group, len(used))]
    table.numbers[safe] = found + np.arange(len(safe))
    return found + len(safe)
