"""What a reader makes of a release: each label spread evenly over the values that it may stand for [Xiao2006a]_.

Xiao, Tao: Anatomy: simple and effective privacy preservation, 2006, estimate counts from a generalised table like that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from anon_core import kernels
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Floats, Integers
from anon_core.score.utility.cells import covered


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The groups of some columns in the order of their codes, and how many rows (units) each has."""

    codes: tuple[AnyCodes, ...]
    rows: Integers


def counted(frequencies: FrequencyTable, columns: Sequence[str]) -> Counted:
    """Count by some columns; where units are counted, a unit counts once in each group that it is in."""
    projected = frequencies.project(columns)
    if projected.units is None:
        return Counted(codes=projected.codes, rows=projected.weights)
    groups = kernels.group(projected.codes, [len(domain) for domain in projected.domains], projected.weights)
    return Counted(codes=tuple(codes[groups.first] for codes in projected.codes), rows=groups.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """For every level and value of a column: the label there, and the share of its rows that falls to the value.

    A label that a value has on several levels counts on the lowest only.
    """

    labels: AnyCodes
    shares: Floats
    size: int

    @classmethod
    def of(cls, ladder: Ladder) -> Spread:
        levels = np.arange(ladder.height + 1)[:, None]
        shares = np.where(ladder.lowest[ladder.maps] == levels, 1 / np.maximum(covered(ladder), 1)[ladder.maps], 0.0)
        return cls(labels=ladder.maps, shares=shares, size=len(ladder.labels))


def estimates(spreads: Sequence[Spread], values: Sequence[AnyCodes], released: Counted) -> Floats:
    """
    Return how many rows a reader of the release expects in each group: ``values[i][q]`` is its value in column ``i``.

    Only the labels above a value can stand for it, so a group needs one look at the released counts for each
    combination of levels.
    """
    expected = np.zeros(len(values[0]))
    if not len(released.rows):
        return expected
    known = _keys(released.codes, spreads)
    for levels in product(*(range(len(spread.labels)) for spread in spreads)):
        wanted = _keys(
            [spread.labels[level, codes] for spread, level, codes in zip(spreads, levels, values, strict=True)], spreads
        )
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        part = np.where(known[at] == wanted, released.rows[at], 0).astype(np.float64)
        for spread, level, codes in zip(spreads, levels, values, strict=True):
            part *= spread.shares[level, codes]
        expected += part
    return expected


def _keys(codes: Sequence[AnyCodes], spreads: Sequence[Spread]) -> Integers:
    """Return one number for each tuple of labels, in the order of the tuples."""
    keys = np.zeros(len(codes[0]), np.int64)
    for column, spread in zip(codes, spreads, strict=True):
        keys = keys * spread.size + column
    return keys
