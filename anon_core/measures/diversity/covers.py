"""The smallest set of values that covers all people of a class: distinct diversity where people have several values.

A set of values covers a class if every person of the class has at least one of them. The smallest such set is a minimum
hitting set. It is found exactly, but only up to the size that a requirement needs: all classes are searched at once, as
arrays, one value deeper at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.classes import SensitiveClasses
from anon_core.table import Mask

_MAX_ENTRIES_AT_ONCE = 4_000_000
"""So many entries of branches are held in memory at a time."""


def smallest_covers(classes: SensitiveClasses, need: int) -> Integers:
    """
    Return how many values the smallest cover of each class has.

    Where each person of a class has one value, that is the number of values. For other classes ``need`` stands for
    ``need`` or more.
    """
    found = classes.distinct
    if classes.units is None or classes.holders is None:
        return found
    values_of = np.bincount(classes.holders, minlength=len(classes.units))
    of_person = np.repeat(np.arange(classes.classes), classes.sizes)
    several = np.zeros(classes.classes, np.bool_)
    several[of_person[values_of > 1]] = True
    if not several.any():
        return found
    found = np.where(several, max(need, 1), found)
    left = several & (_fewest_imaginable(classes, values_of) < need)
    for size in range(1, need):
        chosen = np.flatnonzero(left)
        if not len(chosen):
            break
        covered = _coverable(_branches(classes, left), size)
        found[chosen[covered]] = size
        left[chosen[covered]] = False
    return np.asarray(found)


def _fewest_imaginable(classes: SensitiveClasses, values_of: Integers) -> Integers:
    """Return a lower bound for the size of a cover: values that are a person's only one, or people per value."""
    assert classes.holders is not None
    pair = np.repeat(np.arange(len(classes.counts)), classes.counts)
    forced = np.zeros(len(classes.counts), np.bool_)
    forced[pair[values_of[classes.holders] == 1]] = True
    only = np.add.reduceat(forced.astype(np.int64), classes.starts)
    most = np.maximum.reduceat(classes.counts, classes.starts)
    return np.maximum(only, -(-classes.sizes // most))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Branches:
    """
    The people who are not covered yet, branch by branch, and their values.

    Entries are sorted by branch and value; the people of branch ``b`` are ``first[b]`` to ``first[b + 1]``.
    """

    branch: Integers
    value: AnyCodes
    person: Integers
    first: Integers

    @property
    def number(self) -> int:
        return len(self.first) - 1


def _branches(classes: SensitiveClasses, chosen: Mask) -> _Branches:
    """Return one branch for each of some classes."""
    assert classes.holders is not None
    of_pair = np.repeat(chosen, classes.distinct)
    of_entry = np.repeat(of_pair, classes.counts)
    branch = np.cumsum(chosen) - 1
    people = np.repeat(chosen, classes.sizes)
    return _Branches(
        branch=np.repeat(branch[classes.member], classes.counts)[of_entry],
        value=np.repeat(classes.values, classes.counts)[of_entry],
        person=(np.cumsum(people) - 1)[classes.holders[of_entry]],
        first=np.concatenate([[0], np.cumsum(classes.sizes[chosen])]),
    )


def _coverable(branches: _Branches, size: int) -> Mask:
    """Return which branches can be covered by ``size`` values."""
    people = np.diff(branches.first)
    most = _most_with_one_value(branches)
    covered: Mask = (people == 0) | (most == people)
    if size == 1:
        return covered
    open_ones = ~covered & (-(-people // np.maximum(most, 1)) <= size)
    for some in _portions(branches, open_ones):
        deeper, parent = _one_value_chosen(branches, some)
        covered[parent[_coverable(deeper, size - 1)]] = True
    return covered


def _most_with_one_value(branches: _Branches) -> Integers:
    """Return how many people of each branch have its commonest value."""
    most = np.zeros(branches.number, np.int64)
    if len(branches.branch):
        starts = np.flatnonzero(_changes(branches.branch) | _changes(branches.value))
        lengths = np.diff(starts, append=len(branches.branch))
        np.maximum.at(most, branches.branch[starts], lengths)
    return most


def _changes(column: AnyCodes) -> Mask:
    changes = np.ones(len(column), np.bool_)
    changes[1:] = column[1:] != column[:-1]
    return changes


def _portions(branches: _Branches, chosen: Mask) -> list[Integers]:
    """Return the chosen branches in portions whose next step fits into memory."""
    at = np.flatnonzero(chosen)
    if not len(at):
        return []
    entries = np.bincount(branches.branch, minlength=branches.number)
    tried = entries[at] * np.minimum(_fewest_values(branches)[at], entries[at])
    portion = (np.cumsum(tried) - tried) // _MAX_ENTRIES_AT_ONCE
    return np.split(at, np.flatnonzero(np.diff(portion)) + 1)


def _fewest_values(branches: _Branches) -> Integers:
    """Return how many values the person with the fewest values has in each branch; 0 in an empty branch."""
    fewest = np.zeros(branches.number, np.int64)
    some = np.flatnonzero(np.diff(branches.first))
    if len(some):
        values_of = np.bincount(branches.person, minlength=int(branches.first[-1]))
        fewest[some] = np.minimum.reduceat(values_of, branches.first[some])
    return fewest


def _one_value_chosen(branches: _Branches, chosen: Integers) -> tuple[_Branches, Integers]:
    """
    Return, for each chosen branch, one new branch for each value of the person with the fewest values; and its parent.

    A cover needs one of the values of that person, so one of the new branches leads to a smallest cover.
    """
    tried = _values_of_one_person(branches, chosen)
    parent = branches.branch[tried]
    begins = np.searchsorted(branches.branch, parent)
    lengths = np.searchsorted(branches.branch, parent, side="right") - begins
    branch = np.repeat(np.arange(len(tried)), lengths)
    entry = np.arange(len(branch)) - np.repeat(np.cumsum(lengths) - lengths - begins, lengths)
    people = branches.first[parent + 1] - branches.first[parent]
    first = np.concatenate([[0], np.cumsum(people)])
    person = branches.person[entry] - np.repeat(branches.first[parent] - first[:-1], lengths)
    left = np.ones(int(first[-1]), np.bool_)
    left[person[branches.value[entry] == np.repeat(branches.value[tried], lengths)]] = False
    kept = left[person]
    number = np.concatenate([[0], np.cumsum(left)])
    deeper = _Branches(
        branch=branch[kept], value=branches.value[entry[kept]], person=number[person[kept]], first=number[first]
    )
    return deeper, parent


def _values_of_one_person(branches: _Branches, chosen: Integers) -> Integers:
    """Return the entries of the person with the fewest values in each chosen branch; of several, the first."""
    values_of = np.bincount(branches.person, minlength=int(branches.first[-1]))
    fewest = _fewest_values(branches)
    branch = np.repeat(np.arange(branches.number), np.diff(branches.first))
    candidates = np.flatnonzero(values_of == fewest[branch])
    one = candidates[_changes(branch[candidates])]
    wanted, picked = np.zeros(branches.number, np.bool_), np.zeros(len(values_of), np.bool_)
    wanted[chosen] = True
    picked[one[wanted[branch[one]]]] = True
    return np.flatnonzero(picked[branches.person])
