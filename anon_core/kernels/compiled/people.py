"""Pairs of tuple and person from sorted keys, and the people of each class, in one pass each."""

from __future__ import annotations

from typing import Any

from anon_core.kernels.compiled import compiled


@compiled
def split_pairs(keys: Any, bits: int, tuples: Any, member: Any, units: Any, rows: Any) -> Any:
    """
    Write the pairs of sorted keys, whose lowest ``bits`` are the unit, and how many keys each has.

    ``tuples`` are the different rests, ``member`` the tuple of each pair. Unit 0 is left out where another one follows
    in its tuple. Return how many tuples and pairs there are.
    """
    mask = (1 << bits) - 1
    found, pairs, at, last = 0, 0, 0, -1
    while at < len(keys):
        end = at + 1
        while end < len(keys) and keys[end] == keys[at]:
            end += 1
        unit, rest = keys[at] & mask, keys[at] >> bits
        if unit != 0 or end == len(keys) or keys[end] >> bits != rest:
            if rest != last:
                tuples[found] = rest
                found += 1
                last = rest
            member[pairs] = found - 1
            units[pairs] = unit
            rows[pairs] = end - at
            pairs += 1
        at = end
    return found, pairs


@compiled
def count_people(keys: Any, units: Any, last: Any, people: Any) -> None:
    """Count the people of each key, from entries that stand person by person; ``last`` is -1 for every key."""
    for i in range(len(units)):
        if last[keys[i]] != units[i]:
            last[keys[i]] = units[i]
            people[keys[i]] += 1


@compiled
def meet(member: Any, units: Any, last: Any, place: Any, first: Any, who: Any) -> int:
    """
    Number the people of each class in the order in which they are met; entries stand class by class.

    ``who`` is the number of each entry, ``first`` the entry in which each was met. ``last`` is -1 for every unit.
    """
    met = 0
    for i in range(len(units)):
        unit = units[i]
        if last[unit] != member[i]:
            last[unit] = member[i]
            place[unit] = met
            first[met] = i
            met += 1
        who[i] = place[unit]
    return met
