"""Group tuples that are lifted to a node of the lattice, and freeze the groups of enough people.

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


class Behind(NamedTuple):
    """
    The people of the tuples: tuple ``t`` has the people ``units[starts[t]:starts[t + 1]]``.

    ``rows`` is how many rows each of them has there. Without ``starts`` every row is another person. Rows whose person
    is not known have no entry.
    """

    starts: Integers
    units: Integers
    rows: Integers


class Crowd(NamedTuple):
    """
    The pairs of person and tuple, person by person, and the rows of each.

    ``of_rows``: there are none, and rows are counted, each of which is another person.
    """

    of_rows: bool
    units: Integers
    tuples: Integers
    rows: Integers


class HashTable(NamedTuple):
    """
    A hash table that is never cleared: a place is in use if its ``stamps`` has the stamp of the current node.

    ``sums`` has the people of the group at a place, ``numbers`` the class that it becomes, -1 for none. ``places`` has
    the place of every tuple that was grouped last. Where people are not rows, ``at`` has the place of a tuple by its
    number, -1 for those that are in no group any more, and ``latest`` the person that was counted last at a place, of
    whom there are ``own`` rows so far. ``largest`` are the most rows of one person there, ``known`` those of all.
    """

    keys: Words
    stamps: AnyCodes
    sums: Integers
    numbers: AnyCodes
    places: AnyCodes
    at: Integers
    latest: Integers
    own: Integers
    largest: Integers
    known: Integers


def hash_table(tuples: int, numbered: int = 0) -> HashTable:
    """Return a table for so many tuples at most, ``numbered`` below that where people are not rows."""
    size = 1 << max(4, (tuples + tuples // 2).bit_length())
    return HashTable(
        keys=np.zeros(size, np.uint64),
        stamps=np.zeros(size, np.int32),
        sums=np.zeros(size, np.int64),
        numbers=np.zeros(size, np.int32),
        places=np.zeros(max(tuples, 1), np.int32),
        at=np.full(numbered, -1, np.int64),
        latest=np.zeros(size if numbered else 0, np.int64),
        own=np.zeros(size if numbered else 0, np.int64),
        largest=np.zeros(size if numbered else 0, np.int64),
        known=np.zeros(size if numbered else 0, np.int64),
    )


@compiled
def crowd_of(behind: Behind, members: Integers) -> Crowd:
    """Return the people behind some tuples, person by person; the tuples are numbered as they stand there."""
    if len(behind.starts) == 0:
        return Crowd(True, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
    pairs = 0
    for member in members:
        pairs += behind.starts[member + 1] - behind.starts[member]
    units, tuples, rows, at = np.zeros(pairs, np.int64), np.zeros(pairs, np.int64), np.zeros(pairs, np.int64), 0
    for number in range(len(members)):
        for place in range(behind.starts[members[number]], behind.starts[members[number] + 1]):
            units[at], tuples[at], rows[at] = behind.units[place], number, behind.rows[place]
            at += 1
    order = np.argsort(units, kind="mergesort")
    return Crowd(False, units[order], tuples[order], rows[order])


@compiled
def count_people(crowd: Crowd, members: Integers, count: int, table: HashTable) -> int:
    """
    Replace the rows of each group that was just made by its people; return the people of the largest group.

    A group counts 0 people if one person has several of its rows, and more than half of them.
    """
    for i in range(count):
        place = table.places[i]
        table.at[members[i]] = place
        table.sums[place] = 0
        table.latest[place] = -1
        table.largest[place] = 0
        table.known[place] = 0
    for i in range(len(crowd.units)):
        place = table.at[crowd.tuples[i]]
        if place < 0:
            continue
        if table.latest[place] != crowd.units[i]:
            table.latest[place] = crowd.units[i]
            table.own[place] = 0
            table.sums[place] += 1
        table.own[place] += crowd.rows[i]
        table.known[place] += crowd.rows[i]
        table.largest[place] = max(table.largest[place], table.own[place])
    most = 0
    for i in range(count):
        place = table.places[i]
        if table.largest[place] > 1 and 2 * table.largest[place] > table.known[place]:
            table.sums[place] = 0
        most = max(most, table.sums[place])
    return most


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
    cells: Cells, crowd: Crowd, slots: AnyCodes, first: int, members: Integers, count: int, table: HashTable, least: int
) -> int:
    """Return the first node from ``first`` on with a group of ``least`` people, grouped; their number if none has."""
    for node in range(first, len(slots)):
        if group_at(cells, slots[node], members, count, table, node + 1) >= least and (
            crowd.of_rows or count_people(crowd, members, count, table) >= least
        ):
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
            if len(table.at):
                table.at[members[i]] = -1
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


@compiled
def nearest_classes(
    cells: Cells,
    wanting: Integers,
    takes: AnyCodes,
    levels: AnyCodes,
    firsts: Integers,
    sums: AnyCodes,
    nearest: Integers,
    added: AnyCodes,
) -> None:
    """
    Write for each wanting class which class that ``takes`` it costs least to merge with, and how much; -1 if none does.

    Of equal ones the first. ``sums[class, slot]`` adds up what the rows of a class cost at a slot.
    """
    columns = levels.shape[1]
    for one in wanting:
        nearest[one], added[one] = -1, np.inf
        for number in range(len(firsts)):
            if number == one or not takes[number]:
                continue
            more = 0.0
            for column in range(columns):
                mine, its = cells.base[column] + levels[one, column], cells.base[column] + levels[number, column]
                slot = max(mine, its)
                while cells.keys[firsts[one], slot] != cells.keys[firsts[number], slot]:
                    slot += 1
                more += sums[one, slot] - sums[one, mine] + sums[number, slot] - sums[number, its]
                if more >= added[one]:
                    break
            if more < added[one]:
                added[one], nearest[one] = more, number
