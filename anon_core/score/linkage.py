"""The four k's: how well people hide in a release, by what an adversary knows.

``exact`` is k-anonymity [Sweeney2002]_: the smallest class. ``link`` counts the published rows that whoever knows a
person finds, ``source`` the people whom a published row may be, and ``concealment`` counts of the former only those
that no comparison of all rows with all people rules out. exact >= k implies the other three.

Sweeney: k-anonymity: a model for protecting privacy, 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import kernels
from anon_core.comparison import Comparison, Pairs
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.kernels import Integers
from anon_core.score.covering import Covering, covering
from anon_core.score.crowds import Crowds, met
from anon_core.score.matching import hidden_among, perfect_matching
from anon_core.score.rows_by_size import rows_by_size
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class KAnonymity:
    """Where a table stands over its quasi-identifiers: ``k`` is its smallest class."""

    k: int
    singletons: int
    classes: int
    rows: int
    rows_below: int


def k_anonymity(frequencies: FrequencyTable, quasi_identifiers: Sequence[str], *, k: int = 2) -> KAnonymity:
    """
    Measure k-anonymity; ``*`` and gaps are taken literally, so a row alone in having one is alone.

    ``rows_below`` counts the rows (or units, each once) in classes smaller than the wanted ``k``. Without
    quasi-identifiers all rows are one class.

    :raises UnknownColumnError: a quasi-identifier is not in the table.
    :raises InvalidInputError: there are no rows, so any k would hold.
    """
    projected = frequencies.project(quasi_identifiers)
    sizes = projected.class_sizes()
    if not len(sizes):
        raise InvalidInputError("k-anonymity of a table without rows is not defined")
    return KAnonymity(
        k=int(sizes.min()),
        singletons=projected.singletons,
        classes=len(sizes),
        rows=frequencies.rows,
        rows_below=rows_by_size(projected).below(k),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FourK:
    """
    The four k's of a release, and how many rows each leaves below the wanted k.

    ``concealment`` is None where no way of assigning the published rows to the originals exists; ``reason`` says so.
    ``paired`` tells whether it was known which row became which, ``removed`` how many originals are not published.
    """

    exact: int
    link: int
    source: int
    concealment: int | None
    reason: str | None
    paired: bool
    removed: int
    rows_below: dict[str, int | None]


def four_k(comparison: Comparison, *, k: int = 2) -> FourK:
    """
    Measure the four k's of a release beside its originals. They range over the rows that are published.

    Where the pairing is known, originals that are not published take no part. Where it is not, every original that some
    published row covers may be a published one. A gap is a value: a gap covers a gap, and the root covers everything.

    :raises InvalidInputError: nothing is published, so any k would hold.
    """
    exact = k_anonymity(comparison.after, comparison.after.names, k=k)
    before = Crowds.of(comparison.before, comparison.published)
    after = Crowds.of(comparison.after, comparison.after.weights)
    edges = covering(comparison.ladders, before.codes, after.codes)
    link = met(edges.before, edges.after, before, after, k=k, everybody=comparison.pairs is not None)
    source = met(edges.after, edges.before, after, before, k=k, everybody=True)
    possible = _possible(comparison, edges, before, after)
    hidden = None
    if not isinstance(possible, str):
        hidden = met(edges.before[possible], edges.after[possible], before, after, k=k, everybody=False)
    return FourK(
        exact=exact.k,
        link=link.fewest,
        source=source.fewest,
        concealment=hidden.fewest if hidden else None,
        reason=possible if isinstance(possible, str) else None,
        paired=comparison.pairs is not None,
        removed=comparison.rows_removed,
        rows_below={
            "exact": exact.rows_below,
            "link": link.below,
            "source": source.below,
            "concealment": hidden.below if hidden else None,
        },
    )


def _possible(comparison: Comparison, edges: Covering, before: Crowds, after: Crowds) -> Mask | str:
    """Return which edges lie in some perfect matching, or why there is none."""
    if comparison.pairs is None:
        matched = perfect_matching(edges, before.sizes, after.sizes)
        if matched is None:
            return "the published rows cannot all have been made from different rows of the original"
        removed = before.sizes - kernels.weigh(edges.before, len(before.sizes), matched)
    else:
        known = _paired(comparison.pairs, edges, before, after)
        if isinstance(known, str):
            return known
        matched, removed = known, np.zeros(len(before.sizes), np.int64)
    return hidden_among(edges, matched, len(before.sizes), len(after.sizes), removed=removed)


def _paired(pairs: Pairs, edges: Covering, before: Crowds, after: Crowds) -> Integers | str:
    """Return how many rows each edge carries in the known pairing, or how many rows are not covered by their own."""
    width = len(after.sizes)
    keys = edges.before * width + edges.after
    order = np.argsort(keys)
    wanted = before.member[pairs.before] * width + after.member[pairs.after]
    at = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
    own = keys[order][at] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
    if not own.all():
        rows = int(pairs.weights[~own].sum())
        return f"{rows} rows are published as something that does not cover what they were made from"
    return kernels.weigh(order[at], len(keys), pairs.weights)
