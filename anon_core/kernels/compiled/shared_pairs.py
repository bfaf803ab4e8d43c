"""Find the entries whose pair of values too few people have, one value of the first column after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.grouping import AnyCodes, Integers


class Ordered(NamedTuple):
    """
    Entries in the order of a first column, those of each value together, and within a value those of each unit.

    Value ``v`` has the entries from ``starts[v]`` to ``starts[v + 1]``; ``order`` has their places, ``units`` whose
    they are (0 for unknown people; all 0 where rows are counted) and ``weights`` their rows.
    """

    starts: Integers
    order: Integers
    units: AnyCodes
    weights: Integers
    by_unit: bool


@compiled
def ordered(codes: AnyCodes, values: int) -> tuple[Integers, Integers]:
    """Return where the entries of each value begin, and all entries sorted by value, otherwise in their order."""
    starts = np.zeros(values + 1, np.int64)
    for code in codes:
        starts[code + 1] += 1
    for value in range(values):
        starts[value + 1] += starts[value]
    free = starts[:-1].copy()
    order = np.zeros(len(codes), np.int64)
    for i in range(len(codes)):
        order[free[codes[i]]] = i
        free[codes[i]] += 1
    return starts, order


@compiled
def rare_pairs(first: Ordered, codes: AnyCodes, values: int, k: int, found: AnyCodes, met: AnyCodes, stamp: int) -> int:
    """
    Mark the entries whose pair of values fewer than k people have, and return how many people they are of.

    ``codes`` are those of the second column; 0 is left out of both. An entry of unknown people is marked if no known
    person has the pair. ``met[unit] == stamp`` says that a unit is counted already.
    """
    people, last, seen = np.zeros(values, np.int64), np.zeros(values, np.int64), np.zeros(values, np.int64)
    own = codes[first.order]
    total = 0
    for value in range(1, len(first.starts) - 1):
        begin, end = first.starts[value], first.starts[value + 1]
        for i in range(begin, end):
            code = own[i]
            if seen[code] != value:
                seen[code], people[code], last[code] = value, 0, 0
            if not first.by_unit:
                people[code] += first.weights[i]
            elif last[code] != first.units[i]:
                people[code] += 1
                last[code] = first.units[i]
        for i in range(begin, end):
            code, unit = own[i], first.units[i]
            if code == 0 or people[code] >= k or (first.by_unit and unit == 0 and people[code] > 0):
                continue
            found[first.order[i]] = True
            if not first.by_unit:
                total += first.weights[i]
            elif unit == 0:
                total += 1
            elif met[unit] != stamp:
                met[unit] = stamp
                total += 1
    return total
