"""Classes that k alone would have kept as collected, and that are missing or coarser in the release.

Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing, 2007.
Cohen: Attacks on deidentification's defenses, 2022 (downcoding).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.comparison import Comparison, Pairs
from anon_core.frequency import UNKNOWN_PERSON
from anon_core.kernels import Integers
from anon_core.measures.linkage.covering import coverings
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalFigures:
    """
    Of the ``classes`` of the original with k people, how many are ``missing``, at least in part, or only ``coarser``.

    ``rows`` is how many rows of these classes are not published. ``exact``: it is known which row became which; if not,
    only classes that are certainly missing or coarser are counted.
    """

    classes: int
    missing: int
    coarser: int
    rows: int
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """
    What became of each class of the original: its ``people`` as collected, and how many of its rows are ``gone``.

    ``as_collected`` says for which classes all published rows still have their values as collected. Without ``exact``
    it is not known which row became which, and only rows that are certainly gone or coarser count.
    """

    people: Integers
    gone: Integers
    as_collected: Mask
    exact: bool = True


def removal(kept: Kept, k: int) -> RemovalFigures:
    """Count the classes of the original that k alone would have kept: those with at least ``k`` people."""
    large = kept.people >= k
    missing = large & (kept.gone > 0)
    return RemovalFigures(
        classes=int(np.count_nonzero(large)),
        missing=int(np.count_nonzero(missing)),
        coarser=int(np.count_nonzero(large & ~missing & ~kept.as_collected)),
        rows=int(kept.gone[large].sum()),
        exact=kept.exact,
    )


def kept_of(comparison: Comparison, people: Integers | None = None) -> Kept:
    """
    Return what became of the classes of an original, as far as a comparison shows it.

    ``people`` is how many people each class has, where the comparison counts rows and people have several.
    """
    before = comparison.before
    classes = kernels.group(before.codes, [len(domain) for domain in before.domains])
    rows = before.weights if before.unit_rows is None else before.unit_rows
    if people is None:
        each = rows if before.units is None else (before.units > UNKNOWN_PERSON).astype(np.int64)
        # Rows whose person is not known are one person in a class without known people.
        people = np.maximum(kernels.weigh(classes.member, len(classes.first), each), 1)
    if comparison.pairs is None:
        gone, equal = _certainly(comparison, kernels.weigh(classes.member, len(classes.first), rows), classes.first)
    else:
        gone = _gone(comparison.pairs, rows, classes.member)
        equal = _as_collected(comparison, comparison.pairs, classes.member, len(classes.first))
    return Kept(
        people=people,
        gone=gone,
        as_collected=equal,
        exact=comparison.pairs is not None,
    )


def _gone(pairs: Pairs, rows: Integers, member: Integers) -> Integers:
    """Return how many rows of each original class are not published; it is known which row became which."""
    published: Integers = np.zeros(len(rows), np.int64)
    np.add.at(published, pairs.before, pairs.weights)  # Rows, also where people are counted.
    return kernels.weigh(member, int(member.max(initial=-1)) + 1, rows - published)


def _as_collected(comparison: Comparison, pairs: Pairs, member: Integers, classes: int) -> Mask:
    """Return which original classes are published with all values as collected."""
    same = np.ones(len(pairs.before), np.bool_)
    for ladder, values, labels in zip(comparison.ladders, comparison.before.codes, comparison.after.codes, strict=True):
        same &= ladder.maps[0, values[pairs.before]] == labels[pairs.after]
    every = np.ones(classes, np.bool_)
    every[member[pairs.before[~same]]] = False
    return every


def _certainly(comparison: Comparison, rows: Integers, first: Integers) -> tuple[Integers, Mask]:
    """Return how many rows of each original class are certainly gone, and which classes may be as collected."""
    before, after = comparison.before, comparison.after
    covering: Integers = np.zeros(len(first), np.int64)
    equal: Integers = np.zeros(len(first), np.int64)
    values = [codes[first] for codes in before.codes]
    weights = after.weights if after.unit_rows is None else after.unit_rows
    for part in coverings(comparison.ladders, values, after.codes):
        np.add.at(covering, part.before, weights[part.after])
        same = np.ones(len(part.before), np.bool_)
        for ladder, own, labels in zip(comparison.ladders, values, after.codes, strict=True):
            same &= ladder.maps[0, own[part.before]] == labels[part.after]
        np.add.at(equal, part.before[same], weights[part.after[same]])
    return np.maximum(rows - covering, 0), equal >= rows
