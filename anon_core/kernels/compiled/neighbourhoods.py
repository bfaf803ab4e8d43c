"""Dissolve neighbouring classes and build them again by the order of nodes, many neighbourhoods in one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.compiled.local_classes import (
    Cells,
    HashTable,
    common_levels,
    freeze,
    group_at,
    join_nearest,
    number_groups,
    raise_to_common,
)
from anon_core.kernels.grouping import AnyCodes, Integers
from anon_core.kernels.splitmix import STEP, mixed

MOST_NEARBY_NODES = 4096
"""Nodes tried in one neighbourhood; of a larger lattice so many are drawn."""

CHEAPEST_NODE_TRIED = 0.5
"""Nodes that would cost all members less than this share of what they cost so far have no large groups: not tried."""

_BITS_TOO_MANY = np.uint64(11)  # Of 64 bits a float between 0 and 1 holds 53.
_UNIT = 1.0 / (1 << 53)

_mixed = compiled(mixed)


class Neighbourhoods(NamedTuple):
    """Neighbourhood ``i`` has the tuples ``members[starts[i]:starts[i + 1]]``, and they cost ``costs[i]`` so far."""

    members: Integers
    starts: Integers
    costs: AnyCodes
    seeds: AnyCodes


@compiled
def draw(state: AnyCodes) -> float:
    """Return the next number from 0 to 1 (SplitMix64): the same on every machine and for any number of threads."""
    state[0] += STEP
    return float(_mixed(state[0]) >> _BITS_TOO_MANY) * _UNIT


@compiled
def nodes_below(tops: Integers, state: AnyCodes) -> AnyCodes:
    """Return all nodes up to some levels, or so many drawn from them and the highest one."""
    total = 1.0
    for top in tops:
        total *= top + 1
    if total <= MOST_NEARBY_NODES:
        nodes = np.zeros((int(total), len(tops)), np.int64)
        for number in range(1, len(nodes)):
            nodes[number] = nodes[number - 1]
            column = 0
            while nodes[number, column] == tops[column]:
                nodes[number, column] = 0
                column += 1
            nodes[number, column] += 1
        return nodes
    nodes = np.zeros((MOST_NEARBY_NODES, len(tops)), np.int64)
    for number in range(MOST_NEARBY_NODES):
        for column in range(len(tops)):
            nodes[number, column] = int(draw(state) * (tops[column] + 1)) if number else tops[column]
    return nodes


@compiled
def prices_of(cells: Cells, members: Integers, tops: Integers, noise: float, state: AnyCodes) -> AnyCodes:
    """Return what each slot costs the members together, disturbed a little."""
    prices = np.zeros(cells.keys.shape[1])
    for member in members:
        for column in range(len(tops)):
            for slot in range(cells.base[column], cells.base[column] + tops[column] + 1):
                prices[slot] += cells.weights[member] * cells.costs[member, slot]
    for column in range(len(tops)):
        factor = 1.0 + noise * (2.0 * draw(state) - 1.0)
        for slot in range(cells.base[column], cells.base[column] + tops[column] + 1):
            prices[slot] *= factor * (1.0 + 0.3 * noise * (2.0 * draw(state) - 1.0))
    return prices


@compiled
def costs_of_classes(cells: Cells, members: Integers, classes: Integers, sums: AnyCodes) -> None:
    """Add up what the rows of each class cost at each slot."""
    for i in range(len(members)):
        if classes[i] >= 0:
            for slot in range(sums.shape[1]):
                sums[classes[i], slot] += cells.weights[members[i]] * cells.costs[members[i], slot]


@compiled
def rebuild(
    cells: Cells,
    members: Integers,
    least: int,
    noise: float,
    state: AnyCodes,
    table: HashTable,
    stamp: int,
    before: float,
) -> tuple[AnyCodes, float, int]:
    """Return the class of each member, counted from 0, what they cost now, and the last stamp; infinity if it fails."""
    columns = len(cells.base) - 1
    tops = np.zeros(columns, np.int64)
    for member in members:
        raise_to_common(cells, member, members[0], tops)
    prices = prices_of(cells, members, tops, noise, state)
    nodes = nodes_below(tops, state)
    costs = np.zeros(len(nodes))
    for number in range(len(nodes)):
        for column in range(columns):
            costs[number] += prices[cells.base[column] + nodes[number, column]]
    worth = np.flatnonzero(costs >= CHEAPEST_NODE_TRIED * before)
    order = worth[np.argsort(costs[worth], kind="mergesort")]
    classes = np.full(len(members), -1, np.int64)
    left, rows = np.arange(len(members)), 0
    own = Cells(cells.keys[members], cells.costs[members], cells.weights[members], cells.base)
    for member in range(len(members)):
        rows += own.weights[member]
    count, found = len(members), 0
    slots = np.zeros(columns, np.int64)
    for at in range(len(order)):
        if rows < least:
            break
        told = 0
        for column in range(columns):
            if nodes[order[at], column] < tops[column]:  # At the top all are equal.
                slots[told] = cells.base[column] + nodes[order[at], column]
                told += 1
        stamp += 1
        if group_at(own, slots[:told], left, count, table, stamp) >= least:
            found = number_groups(table, count, least, found)
            count = freeze(left, count, table, classes)
            rows = 0
            for i in range(count):
                rows += own.weights[left[i]]
    if found == 0:
        return classes, np.inf, stamp
    levels, firsts = np.zeros((found, columns), np.int64), np.full(found, -1, np.int64)
    sums = np.zeros((found, cells.keys.shape[1]))
    common_levels(own, classes, levels, firsts)
    costs_of_classes(own, np.arange(len(members)), classes, sums)
    join_nearest(own, left[:count], classes, levels, firsts, sums)
    total = 0.0
    for number in range(found):
        for column in range(columns):
            total += sums[number, cells.base[column] + levels[number, column]]
    return classes, total, stamp


@compiled
def rebuild_all(
    cells: Cells, places: Neighbourhoods, some: Integers, least: int, noise: float, table: HashTable, classes: Integers
) -> None:
    """
    Build some neighbourhoods again and write the new class of each member, counted from 0 in its neighbourhood.

    Where that does not make it cheaper, nothing is written.
    """
    stamp = table.stamps.max()
    for i in some:
        begin, end = places.starts[i], places.starts[i + 1]
        state = np.array([places.seeds[i]], np.uint64)
        members = places.members[begin:end]
        found, cost, stamp = rebuild(cells, members, least, noise, state, table, stamp, places.costs[i])
        if cost < places.costs[i] * (1.0 - 1e-9):
            classes[begin:end] = found
