"""How many sensitive values an attacker who knows all classes of a person cannot rule out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable, different
from anon_core.kernels import Integers, Words
from anon_core.measures.classes import SensitiveClasses, sensitive_classes, share_above

MAX_CHANGING_SHARE = 0.05
"""The largest share of the people with several rows who may have several values of the column."""
_BITS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonValuesFigures:
    """
    The fewest values that all classes of one person have in common, counted up to the number that is required.

    ``fewest`` is None where the column changes from row to row of a person: then their classes do not narrow one value
    down. ``changing`` counts the people who have several values of the column. Where they are few they are left out,
    and the others are judged.
    """

    fewest: int | None
    people: int
    people_failing: int
    changing: int


def common_values(
    people: FrequencyTable, quasi_identifiers: Sequence[str], sensitive: str, need: int
) -> CommonValuesFigures:
    """
    Intersect the values of all classes of each person.

    A column counts as constant for each person if at most one in twenty people with several rows has several values of
    it: a mistake in a register does not make a column a changing one, and an attacker who takes it for constant is
    right about all others.

    :raises InvalidInputError: the table counts rows, or there are none.
    """
    classes = sensitive_classes(people, quasi_identifiers, sensitive)
    if classes.units is None:
        raise InvalidInputError("the classes of a person are not known without a unit")
    values = _values_of_people(people, sensitive)
    changing, number = int(np.count_nonzero(values > 1)), different(classes.units)
    if share_above(np.array([changing]), np.array([_with_several_rows(people)]), MAX_CHANGING_SHARE).any():
        return CommonValuesFigures(fewest=None, people=number, people_failing=0, changing=changing)
    of_person = np.repeat(np.arange(classes.classes), classes.sizes)
    judged = np.flatnonzero((classes.units > UNKNOWN_PERSON) & (values[classes.units] == 1))
    units, of_class = classes.units[judged], of_person[judged]
    order = np.argsort(units, kind="stable")
    of_class = of_class[order]
    starts = np.flatnonzero(np.diff(units[order], prepend=-1))
    found = _in_all_classes(classes, of_class, starts, need)
    return CommonValuesFigures(
        fewest=int(found.min()) if len(found) else None,
        people=number,
        people_failing=int(np.count_nonzero(found < need)),
        changing=changing,
    )


def _values_of_people(people: FrequencyTable, sensitive: str) -> Integers:
    """Return how many values of a column each person has, by unit; 0 for unknown people."""
    found = people.project([sensitive])
    assert found.units is not None
    values = np.bincount(found.units)
    values[UNKNOWN_PERSON] = 0
    return values


def _with_several_rows(people: FrequencyTable) -> int:
    """Return how many people have more than one row."""
    found = people.project([])
    assert found.units is not None and found.unit_rows is not None
    return int(np.count_nonzero((found.units > UNKNOWN_PERSON) & (found.unit_rows > 1)))


def _in_all_classes(classes: SensitiveClasses, of_class: Integers, starts: Integers, need: int) -> Integers:
    """
    Return how many values all classes of each person have in common; ``need`` stands for ``need`` or more.

    ``of_class[starts[p]:starts[p + 1]]`` are the classes of person ``p``. Values are bits of words, the values of most
    classes first, so that people with enough values in common are soon done.
    """
    found = np.zeros(len(starts), np.int64)
    left = np.arange(len(starts))
    lengths = np.diff(starts, append=len(of_class))
    for word in _words(classes):
        if not len(left):
            break
        both = np.bitwise_and.reduceat(word[of_class], starts)
        found[left] += np.bitwise_count(both)
        enough = found[left] >= need
        if enough.any():
            of_class = of_class[np.repeat(~enough, lengths)]
            left, lengths = left[~enough], lengths[~enough]
            starts = np.cumsum(lengths) - lengths
    return np.minimum(found, need)


def _words(classes: SensitiveClasses) -> Iterator[Words]:
    """Yield, 64 values at a time and the commonest first, a word for every class with the bits of its values."""
    times = np.bincount(classes.values, minlength=len(classes.domain))
    rank = np.empty(len(times), np.int64)
    rank[np.argsort(-times, kind="stable")] = np.arange(len(times))
    order = np.argsort(rank[classes.values], kind="stable")
    ranks, members = rank[classes.values][order], classes.member[order]
    ends = np.searchsorted(ranks, np.arange(_BITS, int(ranks[-1]) + _BITS + 1, _BITS))
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        word = np.zeros(classes.classes, np.uint64)
        bits = np.uint64(1) << (ranks[start:end] % _BITS).astype(np.uint64)
        np.bitwise_or.at(word, members[start:end], bits)
        yield word
