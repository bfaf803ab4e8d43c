"""Which published tuples cover which originals: each published value equals or generalises the original one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Covering:
    """
    Edges between distinct tuples: ``after[e]`` covers ``before[e]``.

    They are sorted by pattern of levels (``starts`` has the first edge of each pattern), then by ``after``. At most one
    tuple of a pattern covers an original.
    """

    before: Integers
    after: Integers
    starts: Integers

    @classmethod
    def joined(cls, parts: Sequence[Covering]) -> Covering:
        """Return the edges of several patterns together, with 32-bit integers for their ends."""
        lengths = [len(part.before) for part in parts]
        return cls(
            before=np.concatenate([np.zeros(0, np.int32), *(part.before.astype(np.int32) for part in parts)]),
            after=np.concatenate([np.zeros(0, np.int32), *(part.after.astype(np.int32) for part in parts)]),
            starts=np.concatenate([[0], np.cumsum(lengths)])[: len(parts)].astype(np.int64),
        )


def coverings(ladders: Sequence[Ladder], before: Sequence[AnyCodes], after: Sequence[AnyCodes]) -> Iterator[Covering]:
    """
    Yield every pair of a distinct original tuple and a distinct published tuple that covers it, pattern by pattern.

    Published tuples are grouped by their pattern of levels. Generalised to the levels of a pattern, an original becomes
    one tuple, and only this tuple of the pattern covers it. So one join per pattern finds all pairs.
    """
    originals, published = _length(before), _length(after)
    first_edge = np.zeros(1, np.int64)
    if not originals or not published:
        return
    if not ladders:
        # Without quasi-identifiers there is one tuple on each side, and the published one covers the original.
        yield Covering(before=np.zeros(1, np.int64), after=np.zeros(1, np.int64), starts=first_edge)
        return
    levels = [ladder.lowest[codes] for ladder, codes in zip(ladders, after, strict=True)]
    patterns = kernels.group(levels, [ladder.height + 1 for ladder in ladders])
    order = np.argsort(patterns.member, kind="stable")
    ends = np.cumsum(np.bincount(patterns.member))
    for pattern, first in enumerate(patterns.first.tolist()):
        members = order[ends[pattern - 1] if pattern else 0 : ends[pattern]]
        covered = _join(ladders, [int(level[first]) for level in levels], before, [codes[members] for codes in after])
        edges = np.flatnonzero(covered >= 0)
        covers = members[covered[edges]]
        sorted_by_after = np.argsort(covers, kind="stable")
        if len(edges):
            yield Covering(before=edges[sorted_by_after], after=covers[sorted_by_after], starts=first_edge)


def _length(codes: Sequence[AnyCodes]) -> int:
    return len(codes[0]) if codes else 1


def _join(
    ladders: Sequence[Ladder], pattern: Sequence[int], before: Sequence[AnyCodes], after: Sequence[AnyCodes]
) -> Integers:
    """Return for each original the published tuple of a pattern that covers it; -1 where there is none."""
    # A column at the root says nothing: all values are equal there.
    told = [i for i, level in enumerate(pattern) if level < ladders[i].height or not ladders[i].height]
    originals, published = len(before[0]), len(after[0])
    if not told:
        return np.zeros(originals, np.int64)
    sizes = [len(ladders[i].labels) for i in told]
    lifted = [ladders[i].maps[pattern[i]][before[i]] for i in told]
    wanted: AnyCodes
    keys: AnyCodes
    if sum(map(kernels.bits_of, sizes)) > 64:
        both = [np.concatenate([up, after[i]]) for up, i in zip(lifted, told, strict=True)]
        member = kernels.group(both, sizes).member
        wanted, keys = member[:originals], member[originals:]
    else:
        wanted = kernels.pack(lifted, sizes)[0]
        keys = kernels.pack([after[i] for i in told], sizes)[0]
    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(keys[order], wanted), published - 1)
    return np.where(keys[order][at] == wanted, order[at], -1)
