"""Group tuples that are lifted to a node of the lattice, and freeze the groups that are large enough.

A node is a level per column. ``keys[t, slot]`` is the part of tuple ``t``'s key that its label at one level of one
column makes up; the slots of a column begin at ``base[column]``. The parts of a node, put together by exclusive or, are
the key of the tuple there: equal labels, equal keys.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.grouping import AnyCodes, Integers, Words

_ONE = np.uint64(1)
_HALF = np.uint64(33)
_QUARTER = np.uint64(29)
_SPREAD = np.uint64(0xFF51AFD7ED558CCD)


class Cells(NamedTuple):
    """
    The tuples to be recoded: their keys, what each cell costs at each level, and their rows.

    From the slot ``empty[column]`` on, the labels of a column say nothing.
    """

    keys: Words
    costs: AnyCodes
    weights: Integers
    base: Integers
    empty: Integers


class HashTable(NamedTuple):
    """
    A hash table that is never cleared: a place is in use if its ``stamps`` has the stamp of the current node.

    ``sums`` has the rows of the group at a place, ``numbers`` the class that it becomes, -1 for none. ``places`` has
    the place of every tuple that was grouped last.
    """

    keys: Words
    stamps: AnyCodes
    sums: Integers
    numbers: AnyCodes
    places: AnyCodes


def hash_table(tuples: int) -> HashTable:
    """Return a table for so many tuples at most."""
    size = 1 << max(4, (tuples + tuples // 2).bit_length())
    return HashTable(
        keys=np.zeros(size, np.uint64),
        stamps=np.zeros(size, np.int32),
        sums=np.zeros(size, np.int64),
        numbers=np.zeros(size, np.int32),
        places=np.zeros(max(tuples, 1), np.int32),
    )


@compiled
def group_at(cells: Cells, slots: Integers, members: Integers, count: int, table: HashTable, stamp: int) -> int:
    """Group the first ``count`` members by some slots; return the rows of the largest group."""
    keys, weights = cells.keys, cells.weights
    used, stamps, sums, numbers, places = table.keys, table.stamps, table.sums, table.numbers, table.places
    mask = np.uint64(len(used) - 1)
    largest = 0
    for i in range(count):  # The table is looked up in place: passing it to another function takes longer than that.
        member = members[i]
        key = np.uint64(0)
        for slot in slots:
            key ^= keys[member, slot]
        mixed = (key ^ (key >> _HALF)) * _SPREAD
        place = (mixed ^ (mixed >> _QUARTER)) & mask
        while stamps[place] == stamp and used[place] != key:
            place = (place + _ONE) & mask
        if stamps[place] != stamp:
            stamps[place] = stamp
            used[place] = key
            sums[place] = 0
            numbers[place] = -1
        sums[place] += weights[member]
        largest = max(largest, sums[place])
        places[i] = place
    return largest


@compiled
def next_groups(
    cells: Cells, slots: AnyCodes, first: int, members: Integers, count: int, table: HashTable, least: int
) -> int:
    """Return the first node from ``first`` on that has a group of ``least`` rows, grouped; their number if none has."""
    for node in range(first, len(slots)):
        if group_at(cells, slots[node], members, count, table, node + 1) >= least:
            return node
    return len(slots)


@compiled
def number_groups(table: HashTable, count: int, least: int, classes: int) -> int:
    """Number the groups that are large enough, in the order of their first members; return the next free number."""
    for i in range(count):
        place = table.places[i]
        if table.sums[place] >= least and table.numbers[place] < 0:
            table.numbers[place] = classes
            classes += 1
    return classes


@compiled
def freeze(members: Integers, count: int, table: HashTable, classes: Integers) -> int:
    """Give the members of numbered groups their class and take them out; return how many are left."""
    left = 0
    for i in range(count):
        number = table.numbers[table.places[i]]
        if number >= 0:
            classes[members[i]] = number
        else:
            members[left] = members[i]
            left += 1
    return left


@compiled
def raise_to_common(cells: Cells, member: int, first: int, levels: Integers) -> None:
    """Raise levels until a tuple has the labels of another one at all of them."""
    for column in range(len(levels)):
        slot = cells.base[column] + levels[column]
        while cells.keys[member, slot] != cells.keys[first, slot]:
            slot += 1
        levels[column] = slot - cells.base[column]


@compiled
def common_levels(cells: Cells, classes: Integers, levels: AnyCodes, firsts: Integers) -> None:
    """Write the lowest levels at which each class has common labels (0 before), and its first member (-1 before)."""
    for member in range(len(classes)):
        number = classes[member]
        if number >= 0:
            if firsts[number] < 0:
                firsts[number] = member
            raise_to_common(cells, member, firsts[number], levels[number])


@compiled
def added_costs(cells: Cells, member: int, levels: AnyCodes, firsts: Integers, sums: AnyCodes, added: AnyCodes) -> None:
    """
    Write how much more expensive each class becomes by one more tuple.

    Infinity where it would say nothing in any column.
    """
    columns = levels.shape[1]
    for number in range(len(firsts)):
        total, blank = 0.0, True
        for column in range(columns):
            before = cells.base[column] + levels[number, column]
            slot = before
            while cells.keys[member, slot] != cells.keys[firsts[number], slot]:
                slot += 1
            total += sums[number, slot] - sums[number, before]
            total += cells.weights[member] * cells.costs[member, slot]
            blank = blank and slot >= cells.empty[column]
        added[number] = np.inf if blank else total


@compiled
def join_nearest(
    cells: Cells, members: Integers, classes: Integers, levels: AnyCodes, firsts: Integers, sums: AnyCodes
) -> None:
    """
    Put each of some tuples into the class that this makes least more expensive; the first of equal ones.

    ``sums[class, slot]`` adds up what its rows cost at a slot; all of it is kept up to date.
    """
    columns = levels.shape[1]
    for member in members:
        best, nearest = np.inf, -1
        for number in range(len(firsts)):
            added = 0.0
            for column in range(columns):
                before = cells.base[column] + levels[number, column]
                slot = before
                while cells.keys[member, slot] != cells.keys[firsts[number], slot]:
                    slot += 1
                added += sums[number, slot] - sums[number, before]
                added += cells.weights[member] * cells.costs[member, slot]
                if added >= best:
                    break
            if added < best:
                best, nearest = added, number
        if nearest >= 0:
            classes[member] = nearest
            raise_to_common(cells, member, firsts[nearest], levels[nearest])
            for slot in range(sums.shape[1]):
                sums[nearest, slot] += cells.weights[member] * cells.costs[member, slot]
