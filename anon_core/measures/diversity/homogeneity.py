"""The people whose sensitive value follows from their class alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable
from anon_core.kernels import Integers
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class HomogeneityFigures:
    """
    How many of the ``rows`` people are in a class whose people all have one value (``certain``).

    ``uncommon`` of them are in a class where that value is not the commonest of the table. ``mostly`` is how many
    people are in a class in which 90 % or more have one value.
    """

    rows: int
    certain: int
    uncommon: int
    mostly: int


def homogeneity(frequencies: FrequencyTable, quasi_identifiers: Sequence[str], sensitive: str) -> HomogeneityFigures:
    """
    Count the people in classes that give a value of a sensitive column away; a gap is a value.

    A person may be in several classes, and counts once. Rows whose person is not known add no person to a class with
    known people, and are one person in a class without. Several values may be the commonest of the table.

    >>> import pyarrow as pa
    >>> codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0])]
    >>> table = FrequencyTable.from_codes(["sex", "ill"], codes, [pa.array(["F", "M"]), pa.array(["flu", "cold"])])
    >>> homogeneity(table, ["sex"], "ill")
    HomogeneityFigures(rows=4, certain=2, uncommon=0, mostly=2)
    """
    table = frequencies.project([*quasi_identifiers, sensitive])
    *quasi, values = table.codes
    sizes = [len(domain) for domain in table.domains]
    member = kernels.group(quasi, sizes[:-1]).member if quasi else np.zeros(len(values), np.int64)
    pair = kernels.group([*quasi, values], sizes)
    classes = int(member.max(initial=-1)) + 1
    people = _people(table, member, classes)
    having = _people(table, pair.member, len(pair.first), strangers=people.known[member[pair.first]] == 0)
    of_class, value = member[pair.first], values[pair.first]
    commonest = _people(table, values, sizes[-1]).counted
    certain = (having.counted == people.counted[of_class]) & (having.counted > 0)
    mostly = having.counted * 10 >= people.counted[of_class] * 9
    uncommon = certain & (commonest[value] < commonest.max(initial=0))

    def in_classes(of_pairs: Mask) -> int:
        chosen = np.zeros(classes, np.bool_)
        chosen[of_class[of_pairs]] = True
        return _people_in(table, member, chosen, people)

    return HomogeneityFigures(
        rows=frequencies.rows, certain=in_classes(certain), uncommon=in_classes(uncommon), mostly=in_classes(mostly)
    )


@dataclass(frozen=True, slots=True)
class _People:
    """How many people each group has, and how many of them are known; a group without known people has one."""

    counted: Integers
    known: Integers


def _people(table: FrequencyTable, member: Integers, groups: int, strangers: Mask | None = None) -> _People:
    """Count the people of each group of entries; groups outside ``strangers`` (default: all) have no unknown person."""
    if table.units is None:
        rows = kernels.weigh(member, groups, table.weights)
        return _People(rows, rows)
    known = np.flatnonzero(table.units > UNKNOWN_PERSON)
    first = kernels.group([member[known], table.units[known]], [groups, int(table.units.max(initial=0)) + 1]).first
    people = np.bincount(member[known][first], minlength=groups)
    one = (people == 0) if strangers is None else (people == 0) & strangers
    return _People(np.where(one, 1, people), people)


def _people_in(table: FrequencyTable, member: Integers, chosen: Mask, people: _People) -> int:
    if table.units is None:
        return int(people.counted[chosen].sum())
    met = table.units[chosen[member] & (table.units > UNKNOWN_PERSON)]
    return len(np.unique(met)) + int(np.count_nonzero(chosen & (people.known == 0)))
