"""How many sensitive values an attacker who knows all classes of a person cannot rule out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable, different
from anon_core.kernels import Integers, Words
from anon_core.measures.classes import SensitiveClasses, sensitive_classes

_BITS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonValuesFigures:
    """
    The fewest values that all classes of one person have in common, counted up to the number that is required.

    ``fewest`` is None where people have several values of the column: then their classes do not narrow one value down.
    ``changing`` counts these people.
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

    :raises InvalidInputError: the table counts rows, or there are none.
    """
    classes = sensitive_classes(people, quasi_identifiers, sensitive)
    if classes.units is None:
        raise InvalidInputError("the classes of a person are not known without a unit")
    known = np.flatnonzero(classes.units > UNKNOWN_PERSON)
    units, of_class = classes.units[known], np.repeat(np.arange(classes.classes), classes.sizes)[known]
    if changing := _changing(people, sensitive):
        return CommonValuesFigures(fewest=None, people=different(units), people_failing=0, changing=changing)
    order = np.argsort(units, kind="stable")
    of_class = of_class[order]
    starts = np.flatnonzero(np.diff(units[order], prepend=-1))
    found = _in_all_classes(classes, of_class, starts, need)
    return CommonValuesFigures(
        fewest=int(found.min()) if len(found) else None,
        people=len(found),
        people_failing=int(np.count_nonzero(found < need)),
        changing=0,
    )


def _changing(people: FrequencyTable, sensitive: str) -> int:
    """Return how many people have several values of a column."""
    found = people.project([sensitive])
    assert found.units is not None
    values = np.bincount(found.units)
    return int(np.count_nonzero(values[UNKNOWN_PERSON + 1 :] > 1))


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
