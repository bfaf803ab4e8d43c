"""Dissolve neighbouring classes and build them again by the order of nodes, many neighbourhoods in one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.compiled.local_classes import (
    Behind,
    Cells,
    Crowd,
    HashTable,
    common_levels,
    count_people,
    crowd_of,
    freeze,
    group_at,
    join_nearest,
    number_groups,
    raise_to_common,
)
from anon_core.kernels.grouping import AnyCodes, Integers
from anon_core.kernels.splitmix import STEP, mixed

MAX_NEARBY_NODES = 1536
"""Nodes tried in one neighbourhood; of a larger lattice so many are drawn."""

CHEAPEST_NODE_TRIED = 0.5
"""Nodes that would cost all members less than this share of what they cost so far have no large groups: not tried."""

LEVEL_NOISE = 0.3
"""How far single levels are disturbed, as a share of the noise of whole columns; found by trying on Adult."""

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
    if total <= MAX_NEARBY_NODES:
        nodes = np.zeros((int(total), len(tops)), np.int64)
        for number in range(1, len(nodes)):
            nodes[number] = nodes[number - 1]
            column = 0
            while nodes[number, column] == tops[column]:
                nodes[number, column] = 0
                column += 1
            nodes[number, column] += 1
        return nodes
    nodes = np.zeros((MAX_NEARBY_NODES, len(tops)), np.int64)
    for number in range(MAX_NEARBY_NODES):
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
            prices[slot] *= factor * (1.0 + LEVEL_NOISE * noise * (2.0 * draw(state) - 1.0))
    return prices


@compiled
def costs_of_classes(cells: Cells, members: Integers, classes: Integers, sums: AnyCodes) -> None:
    """Add up what the rows of each class cost at each slot."""
    for i in range(len(members)):
        if classes[i] >= 0:
            for slot in range(sums.shape[1]):
                sums[classes[i], slot] += cells.weights[members[i]] * cells.costs[members[i], slot]


@compiled
def nodes_in_order(
    cells: Cells, members: Integers, tops: Integers, noise: float, state: AnyCodes, before: float
) -> AnyCodes:
    """Return the nodes to try, those that cost the members least first; they cost ``before`` so far."""
    prices = prices_of(cells, members, tops, noise, state)
    nodes = nodes_below(tops, state)
    costs = np.zeros(len(nodes))
    for number in range(len(nodes)):
        for column in range(len(tops)):
            costs[number] += prices[cells.base[column] + nodes[number, column]]
    tried = np.flatnonzero(costs >= CHEAPEST_NODE_TRIED * before)
    return nodes[tried[np.argsort(costs[tried], kind="mergesort")]]


class Frozen(NamedTuple):
    """The class of each tuple, -1 for those that are ``left``, how many classes there are, and the last stamp."""

    classes: Integers
    found: int
    left: Integers
    stamp: int


@compiled
def freeze_in_order(
    own: Cells, crowd: Crowd, nodes: AnyCodes, tops: Integers, least: int, table: HashTable, stamp: int
) -> Frozen:
    """Freeze groups of at least so many people, node by node, until fewer rows than that are left."""
    classes = np.full(len(own.weights), -1, np.int64)
    left, count, found = np.arange(len(own.weights)), len(own.weights), 0
    rows = own.weights.sum()
    slots = np.zeros(len(tops), np.int64)
    for node in nodes:
        if rows < least:
            break
        told = 0
        for column in range(len(tops)):
            if node[column] < tops[column]:  # At the top all are equal.
                slots[told] = own.base[column] + node[column]
                told += 1
        stamp += 1
        if group_at(own, slots[:told], left, count, table, stamp) >= least and (
            crowd.of_rows or count_people(crowd, left, count, table) >= least
        ):
            found = number_groups(table, count, least, found)
            count = freeze(left, count, table, classes)
            rows = own.weights[left[:count]].sum()
    return Frozen(classes, found, left[:count], stamp)


@compiled
def place_leftovers(own: Cells, frozen: Frozen) -> float:
    """Put the tuples that are left into their nearest classes; return what all tuples cost then."""
    columns = len(own.base) - 1
    levels, firsts = np.zeros((frozen.found, columns), np.int64), np.full(frozen.found, -1, np.int64)
    sums = np.zeros((frozen.found, own.keys.shape[1]))
    common_levels(own, frozen.classes, levels, firsts)
    costs_of_classes(own, np.arange(len(own.weights)), frozen.classes, sums)
    join_nearest(own, frozen.left, frozen.classes, levels, firsts, sums)
    total = 0.0
    for number in range(frozen.found):
        for column in range(columns):
            total += sums[number, own.base[column] + levels[number, column]]
    return total


class Rebuilt(NamedTuple):
    """The class of each member, counted from 0, what they cost now (infinity without classes), and the last stamp."""

    classes: Integers
    cost: float
    stamp: int


@compiled
def rebuild(
    cells: Cells,
    behind: Behind,
    members: Integers,
    least: int,
    noise: float,
    state: AnyCodes,
    table: HashTable,
    stamp: int,
    before: float,
) -> Rebuilt:
    """Build one neighbourhood again."""
    tops = np.zeros(len(cells.base) - 1, np.int64)
    for member in members:
        raise_to_common(cells, member, members[0], tops)
    nodes = nodes_in_order(cells, members, tops, noise, state, before)
    own = Cells(cells.keys[members], cells.costs[members], cells.weights[members], cells.base, cells.empty)
    frozen = freeze_in_order(own, crowd_of(behind, members), nodes, tops, least, table, stamp)
    return Rebuilt(frozen.classes, place_leftovers(own, frozen) if frozen.found else np.inf, frozen.stamp)


@compiled
def rebuild_all(
    cells: Cells,
    behind: Behind,
    places: Neighbourhoods,
    some: Integers,
    least: int,
    noise: float,
    table: HashTable,
    classes: Integers,
) -> None:
    """
    Build some neighbourhoods again and write the new class of each member, counted from 0 in its neighbourhood.

    Where that does not make it cheaper, nothing is written.
    """
    stamp = table.stamps.max() + 0  # The sum has 64 bits, as all later stamps have.
    for i in some:
        begin, end = places.starts[i], places.starts[i + 1]
        state = np.array([places.seeds[i]], np.uint64)
        members = places.members[begin:end]
        rebuilt = rebuild(cells, behind, members, least, noise, state, table, stamp, places.costs[i])
        stamp = rebuilt.stamp
        if rebuilt.cost < places.costs[i] * (1.0 - 1e-9):
            classes[begin:end] = rebuilt.classes
