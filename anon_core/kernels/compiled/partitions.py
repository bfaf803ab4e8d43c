"""Stripped partitions on a stack: the rows that a growing list of columns leaves indistinguishable."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.compiled.bitsets import ZERO, size_of, within
from anon_core.kernels.grouping import AnyCodes, Integers, Words


class Arena(NamedTuple):
    """
    Partitions on a stack: level ``d + 1`` splits level ``d`` by one more column, and level 0 is one class of all rows.

    The members of level ``d`` are ``members[member_at[d]:member_at[d + 1]]``, class after class; its classes begin at
    ``starts[start_at[d]:start_at[d + 1]]``. Rows that are alone are left out. Inside a class rows keep their order.
    ``tally`` and ``place`` are work space, one cell per value, and ``tally`` is zero between calls.
    """

    codes: AnyCodes
    light: AnyCodes
    members: AnyCodes
    starts: AnyCodes
    member_at: Integers
    start_at: Integers
    tally: AnyCodes
    place: AnyCodes


@compiled
def has_room(arena: Arena, level: int) -> bool:
    """Whether a level can be refined into the next one without more space."""
    size = arena.member_at[level + 1] - arena.member_at[level]
    members = arena.member_at[level + 1] + size <= len(arena.members)
    return bool(members and arena.start_at[level + 1] + size // 2 + 1 <= len(arena.starts))


@compiled
def refine(arena: Arena, level: int, column: int) -> None:
    """Split the classes of a level by one more column into the next level; there must be room."""
    members, starts, codes = arena.members, arena.starts, arena.codes[column]
    tally, place = arena.tally, arena.place
    last = arena.member_at[level + 1]
    out = last
    classes = arena.start_at[level + 1]
    for at in range(arena.start_at[level], arena.start_at[level + 1]):
        begin = starts[at]
        end = starts[at + 1] if at + 1 < arena.start_at[level + 1] else last
        if end - begin == 2:
            one, other = members[begin], members[begin + 1]
            if codes[one] == codes[other]:
                starts[classes] = out
                classes += 1
                members[out] = one
                members[out + 1] = other
                out += 2
            continue
        for i in range(begin, end):
            tally[codes[members[i]]] += 1
        first = classes
        for i in range(begin, end):
            row = members[i]
            code = codes[row]
            size = tally[code]
            if size == 1:
                tally[code] = 0
                continue
            if size > 1:
                tally[code] = -1
                place[code] = out
                starts[classes] = out
                classes += 1
                out += size
            members[place[code]] = row
            place[code] += 1
        for i in range(first, classes):
            tally[codes[members[starts[i]]]] = 0
    arena.member_at[level + 2] = out
    arena.start_at[level + 2] = classes


@compiled
def crowd(arena: Arena, level: int) -> int:
    """Return how many light rows are not alone at a level; heavy ones are never alone and not counted here."""
    begin, end = arena.member_at[level], arena.member_at[level + 1]
    if not len(arena.light):
        return int(end - begin)
    total = 0
    for i in range(begin, end):
        total += arena.light[arena.members[i]]
    return total


@compiled
def crowd_exceeds(arena: Arena, level: int, column: int, allowed: int) -> bool:
    """Whether more light rows than allowed would not be alone if a level were refined by a column; stops early."""
    members, starts, codes, light = arena.members, arena.starts, arena.codes[column], arena.light
    tally, place = arena.tally, arena.place
    total = 0
    for at in range(arena.start_at[level], arena.start_at[level + 1]):
        begin = starts[at]
        end = starts[at + 1] if at + 1 < arena.start_at[level + 1] else arena.member_at[level + 1]
        i = begin
        while i < end and total <= allowed:
            row = members[i]
            code = codes[row]
            tally[code] += 1
            if tally[code] == 1:
                place[code] = row
            else:
                total += light[row] if len(light) else 1
                if tally[code] == 2:
                    total += light[place[code]] if len(light) else 1
            i += 1
        for j in range(begin, i):
            tally[codes[members[j]]] = 0
        if total > allowed:
            return True
    return False


@compiled
def copy_some(arena: Arena, level: int, wanted: int, turn: int) -> None:
    """
    Copy a level, or some neighbouring classes and rows of it, into the next one; there must be room.

    At least ``wanted`` light rows are copied where there are so many; ``turn`` says where to begin.
    """
    members, starts, light = arena.members, arena.starts, arena.light
    last = arena.member_at[level + 1]
    first, past = arena.start_at[level], arena.start_at[level + 1]
    out, classes = last, past
    at = first + turn % (past - first)
    for _ in range(past - first):
        stop = starts[at + 1] if at + 1 < past else last
        starts[classes] = out
        classes += 1
        for i in range(starts[at], stop):
            members[out] = members[i]
            out += 1
            wanted -= light[members[i]] if len(light) else 1
            if wanted <= 0 and out > starts[classes - 1] + 1:
                break
        if wanted <= 0:
            break
        at = at + 1 if at + 1 < past else first
    arena.member_at[level + 2] = out
    arena.start_at[level + 2] = classes


@compiled
def take_place(arena: Arena, level: int) -> None:
    """Move the level above onto this one."""
    shift = arena.member_at[level + 1] - arena.member_at[level]
    begin, end = arena.member_at[level + 1], arena.member_at[level + 2]
    for i in range(begin, end):
        arena.members[i - shift] = arena.members[i]
    arena.member_at[level + 1] = end - shift
    first = arena.start_at[level]
    for i in range(arena.start_at[level + 1], arena.start_at[level + 2]):
        arena.starts[first] = arena.starts[i] - shift
        first += 1
    arena.start_at[level + 1] = first


def new_arena(codes: AnyCodes, light: AnyCodes, levels: int, room: int) -> Arena:
    """Return an arena for so many levels, with level 0 in place and room for so many times all rows."""
    rows = codes.shape[1]
    values = int(codes.max()) + 1
    arena = Arena(
        codes=codes,
        light=light,
        members=np.empty(room * rows + 2, np.int32),
        starts=np.empty(room * rows // 2 + 2, np.int32),
        member_at=np.zeros(levels + 4, np.int64),
        start_at=np.zeros(levels + 4, np.int64),
        tally=np.zeros(values, np.int32),
        place=np.empty(values, np.int32),
    )
    arena.members[:rows] = np.arange(rows, dtype=np.int32)
    arena.starts[0] = 0
    arena.member_at[1] = rows
    arena.start_at[1] = 1
    return arena


def enlarge(arena: Arena) -> None:
    """Give the arena more room, in place: a copy beside the old one would take twice the memory for a moment."""
    for array in (arena.members, arena.starts):
        array.resize(len(array) + len(array) // 4 + 2, refcheck=False)


@compiled
def compare(codes: AnyCodes, one: int, other: int, differ: Words) -> None:
    """Write the columns in which two rows differ."""
    for i in range(len(differ)):
        word = ZERO
        for bit in range(min(64, len(codes) - 64 * i)):
            column = 64 * i + bit
            word |= np.uint64(codes[column, one] != codes[column, other]) << np.uint64(bit)
        differ[i] = word


@compiled
def differences(arena: Arena, level: int, sets: Words, begin: int, limit: int) -> int:
    """
    Write the difference sets of neighbours in the classes of a level, and return how many there are now.

    Neighbours follow each other in the order of their tuples, so they agree on more than chance would have it. Where
    there are more than ``limit``, they are taken at equal steps over all classes.
    """
    members, starts, codes = arena.members, arena.starts, arena.codes
    last = arena.member_at[level + 1]
    first, past = arena.start_at[level], arena.start_at[level + 1]
    pairs = last - arena.member_at[level] - (past - first)
    step = max(1, (pairs + limit - 1) // limit)
    end, skip = begin, 0
    for at in range(first, past):
        stop = starts[at + 1] if at + 1 < past else last
        i = starts[at] + skip
        while i + 1 < stop:
            one, other = members[i], members[i + 1]
            compare(codes, one, other, sets[end])
            end += 1
            i += step
        skip = i + 1 - stop
    return end


@compiled
def keep_minimal(sets: Words, end: int) -> int:
    """Keep, of the sets before ``end``, those that contain no other, smallest first; return how many."""
    sizes = np.empty(end, np.int64)
    for i in range(end):
        sizes[i] = size_of(sets[i])
    kept = 0
    for size in range(64 * sets.shape[1] + 1):
        for i in range(kept, end):
            if sizes[i] == size and is_minimal(sets, kept, i):
                # It changes places with one that is larger, or of this size and not minimal.
                swap(sets, kept, i)
                sizes[i] = sizes[kept]
                kept += 1
    return kept


@compiled
def is_minimal(sets: Words, end: int, candidate: int) -> bool:
    """Whether none of the sets before ``end`` lies in a candidate."""
    for i in range(end):  # noqa: SIM110 - numba compiles no generator expression.
        if within(sets[i], sets[candidate]):
            return False
    return True


@compiled
def swap(sets: Words, one: int, other: int) -> None:
    """Let two sets change places."""
    for i in range(sets.shape[1]):
        sets[one, i], sets[other, i] = sets[other, i], sets[one, i]
