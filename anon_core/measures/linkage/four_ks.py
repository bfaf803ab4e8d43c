"""The four k's: how well people hide in a release, by what an adversary knows.

``exact`` is k-anonymity [Sweeney2002]_: the smallest class. ``link`` counts the published rows that whoever knows a
person finds, ``source`` the people whom a published row may be, and ``concealment`` counts of the former only those
that no comparison of all rows with all people rules out. exact >= k implies the other three.

Sweeney: k-anonymity: a model for protecting privacy, 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anon_core import kernels
from anon_core.comparison import Comparison, Pairs, how_many, rows_of_entries
from anon_core.errors import InvalidInputError
from anon_core.frequency import NOBODY, FrequencyTable, people_weights
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.linkage.covering import Covering, coverings
from anon_core.measures.linkage.matching import MOST_ROWS, hidden_among, perfect_matching
from anon_core.measures.risk.rows_by_size import rows_by_size
from anon_core.table import Mask

MOST_PAIRS = 30_000_000
"""More pairs of tuples than these are counted, but not compared with each other: about two gigabytes."""

BY_PEOPLE = "concealment compares rows, and has no meaning by people yet"
UNPAIRED = "people beside their originals need to know which row became which: same_order=True or key=COLUMN"
Edges = tuple[Integers, Integers]

_AT_ONCE = 20_000_000
"""Pairs of tuple and unit that are held in memory at a time."""
MEANINGS = ("link", "source", "concealment")
"""The k's that depend on the hierarchies; exact k does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KFigures:
    """Where a table stands over its quasi-identifiers: ``k`` is its smallest class."""

    k: int
    singletons: int
    classes: int
    rows: int
    rows_below: int


def k_anonymity(frequencies: FrequencyTable, quasi_identifiers: Sequence[str], *, k: int = 2) -> KFigures:
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
    return KFigures(
        k=int(sizes.min()),
        singletons=projected.singletons,
        classes=len(sizes),
        rows=projected.people,
        rows_below=rows_by_size(projected).below(k),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FourK:
    """
    The four k's of a release, and how many rows each leaves below the wanted k.

    ``concealment`` is None where no way of assigning the published rows to the originals exists (``fits`` is False),
    where there is too much to compare, or where people are counted; ``reason`` says so. ``paired`` tells whether it was
    known which row became which, ``removed`` how many originals are not published.

    Where people of a table are counted without that knowledge only ``exact`` is measured: ``unmeasured`` says why the
    others are None, and ``reason``, ``fits`` and ``removed`` are about rows.
    """

    exact: int
    link: int | None
    source: int | None
    concealment: int | None
    reason: str | None
    fits: bool
    paired: bool
    removed: int
    rows_below: dict[str, int | None]
    unmeasured: str | None = None

    def of_people(self, exact: KFigures) -> FourK:
        """Return what is left of the four k's of rows where people are counted and their originals are not known."""
        return replace(
            self,
            exact=exact.k,
            link=None,
            source=None,
            concealment=None,
            rows_below={"exact": exact.rows_below, "link": None, "source": None, "concealment": None},
            unmeasured=UNPAIRED,
        )


def four_k(comparison: Comparison, *, k: int = 2) -> FourK:
    """
    Measure the four k's of a release beside its originals. They range over the rows that are published.

    Where the pairing is known, originals that are not published take no part. Where it is not, every original that some
    published row covers may be a published one. A gap is a value: a gap covers a gap, and the root covers everything.

    :raises InvalidInputError: nothing is published, so any k would hold.
    """
    exact = k_anonymity(comparison.after, comparison.after.names, k=k)
    before = Crowds.of(comparison.before, comparison.published)
    after = Crowds.of(comparison.after, rows_of_entries(comparison.after))
    link, source = Meetings(before, after), Meetings(after, before)
    kept: list[Covering] = []
    pairs = 0
    for part in coverings(comparison.ladders, before.codes, after.codes):
        link.add(part.before, part.after)
        source.add(part.after, part.before)
        pairs += len(part.before)
        if pairs <= MOST_PAIRS:
            kept.append(part)
        else:
            kept.clear()

    def edges() -> Iterator[Covering]:
        yield from kept if pairs <= MOST_PAIRS else coverings(comparison.ladders, before.codes, after.codes)

    known = comparison.pairs is not None
    linked = link.met(lambda: ((part.before, part.after) for part in edges()), k=k, everybody=known)
    covered = source.met(lambda: ((part.after, part.before) for part in edges()), k=k, everybody=True)
    concealed = _concealment(comparison, Covering.joined(kept), pairs, before, after, k=k)
    hidden = concealed.met
    return FourK(
        exact=exact.k,
        link=linked.fewest,
        source=covered.fewest,
        concealment=hidden.fewest if hidden else None,
        reason=concealed.reason,
        fits=concealed.fits,
        paired=known,
        removed=comparison.rows_removed,
        rows_below={
            "exact": exact.rows_below,
            "link": linked.below,
            "source": covered.below,
            "concealment": hidden.below if hidden else None,
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Concealed:
    """Among how many rows people are hidden, or why that cannot be told."""

    met: Met | None = None
    reason: str | None = None
    fits: bool = True


def _concealment(
    comparison: Comparison, edges: Covering, pairs: int, before: Crowds, after: Crowds, *, k: int
) -> _Concealed:
    """Count only the edges that lie in some perfect matching. Of people only known pairs are held to be covered."""
    by_people = comparison.before.units is not None or comparison.after.units is not None
    if by_people and comparison.pairs is None:
        return _Concealed(reason=BY_PEOPLE)
    if pairs > MOST_PAIRS:
        most = f"{MOST_PAIRS:,}"
        return _Concealed(reason=f"{pairs:,} pairs of tuples cover each other, and at most {most} are compared")
    if int(before.sizes.sum()) > MOST_ROWS:
        return _Concealed(reason=f"more than {MOST_ROWS:,} rows are not compared with each other")
    if comparison.pairs is None:
        matched = perfect_matching(edges, before.sizes, after.sizes)
        if matched is None:
            reason = "the published rows cannot all have been made from different rows of the original"
            return _Concealed(reason=reason, fits=False)
        removed = before.sizes - kernels.weigh(edges.before, len(before.sizes), matched)
    else:
        paired = _paired(comparison.pairs, edges, before, after)
        if paired.astray:
            rows = f"{paired.astray:,} of the published rows do"
            return _Concealed(reason=f"{rows} not cover what they were made from", fits=False)
        if by_people:
            return _Concealed(reason=BY_PEOPLE)
        matched, removed = paired.rows, np.zeros(len(before.sizes), np.int64)
    possible = hidden_among(edges, matched, len(before.sizes), len(after.sizes), removed=removed)
    mine, others = edges.before[possible], edges.after[possible]
    meetings = Meetings(before, after)
    meetings.add(mine, others)
    return _Concealed(met=meetings.met(lambda: [(mine, others)], k=k, everybody=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paired:
    """How many rows each edge carries in the known pairing, and how many rows are not covered by their own."""

    rows: Integers
    astray: int


def _paired(pairs: Pairs, edges: Covering, before: Crowds, after: Crowds) -> _Paired:
    width = len(after.sizes)
    keys = edges.before.astype(np.int64) * width + edges.after
    order = np.argsort(keys)
    wanted = before.member[pairs.before] * width + after.member[pairs.after]
    at = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
    own = keys[order][at] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
    rows = kernels.weigh(order[at[own]], len(keys), pairs.weights[own])
    return _Paired(rows=rows, astray=int(pairs.weights[~own].sum()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowds:
    """
    The distinct tuples of one side that somebody is behind, and who.

    ``sizes`` counts the rows of each tuple, or its people; ``member`` is the tuple of each entry that came in, -1 where
    nobody is behind it. ``people[starts[t]:starts[t + 1]]`` are the units of tuple ``t``: those known, or one nobody.
    """

    codes: tuple[AnyCodes, ...]
    sizes: Integers
    member: Integers
    people: AnyCodes | None
    starts: Integers

    @classmethod
    def of(cls, frequencies: FrequencyTable, weights: Integers) -> Crowds:
        """Return the tuples of which ``weights`` leaves something."""
        kept = np.flatnonzero(weights)
        codes, sizes = [column[kept] for column in frequencies.codes], [len(domain) for domain in frequencies.domains]
        units = None if frequencies.units is None else frequencies.units[kept]
        counts = weights[kept] if units is None else people_weights(codes, sizes, units)
        found = kernels.group(codes, sizes, counts)
        member = np.full(len(weights), -1, np.int64)
        member[kept] = found.member
        people = None
        if units is not None:
            order = np.argsort(found.member, kind="stable")
            people = units[order[counts[order] > 0]]
        return cls(
            codes=tuple(column[found.first] for column in codes),
            sizes=found.weights,
            member=member,
            people=people,
            starts=np.concatenate([[0], np.cumsum(found.weights)]) if people is not None else np.zeros(1, np.int64),
        )

    def behind(self, chosen: Mask) -> int:
        """Return how many rows are behind the chosen tuples; of people, each counts once."""
        if self.people is None:
            return int(self.sizes[chosen].sum())
        people = self.people[np.repeat(chosen, self.sizes)]
        return how_many(people, np.ones(len(people), np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """The fewest that a tuple meets, and how many rows (units) lie behind tuples that meet fewer than wanted."""

    fewest: int
    below: int


class Meetings:
    """Whom every tuple of one side meets on the other, added up edge by edge."""

    def __init__(self, own: Crowds, other: Crowds) -> None:
        self._own, self._other = own, other
        self._most: Integers = np.zeros(len(own.sizes), np.int64)
        self._least: Integers = np.zeros(len(own.sizes), np.int64)

    def add(self, mine: Integers, others: Integers) -> None:
        """Count edges that lead from tuple ``mine[e]`` to ``others[e]`` of the other side."""
        sizes = self._other.sizes[others]
        np.add.at(self._most, mine, sizes)
        np.maximum.at(self._least, mine, sizes)

    def met(self, edges: Callable[[], Iterable[Edges]], *, k: int, everybody: bool) -> Met:
        """
        Return the fewest that a tuple meets. ``edges`` gives all that were added once more.

        Rows are added up; of units, each counts once however many of its rows are met. With ``everybody`` a tuple
        without an edge has met nobody, else it is left out. If all are left out, nobody is met.
        """
        most = self._most
        counted = np.ones(len(most), np.bool_) if everybody else most > 0
        if not counted.any():
            return Met(fewest=0, below=0)
        if self._other.people is not None:
            most = self._distinct_people(self._other.people, edges, counted, k)
        return Met(fewest=int(most[counted].min()), below=self._own.behind(counted & (most < k)))

    def _distinct_people(
        self, units: AnyCodes, edges: Callable[[], Iterable[Edges]], counted: Mask, k: int
    ) -> Integers:
        """
        Return how many different units each tuple meets, exactly wherever that is below k or the smallest of all.

        One tuple that it meets has at least so many units, all together at most ``most``: whoever surely meets k, and
        more than somebody else at most, is not looked at more closely.
        """
        other, least, most = self._other, self._least, self._most
        close = counted & (least < max(k, int(most[counted].min()) + 1))
        result = np.where(close, most, least)
        chosen = [(mine[looked], others[looked]) for mine, others in edges() if (looked := close[mine]).any()]
        if not chosen:
            return result
        mine, others = (np.concatenate(ends) for ends in zip(*chosen, strict=True))
        order = np.argsort(mine, kind="stable")
        mine, others = mine[order], others[order]
        for some in _portions(mine, other.sizes[others]):
            sizes = other.sizes[others[some]]
            owner = np.repeat(mine[some], sizes)
            within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            people = units[np.repeat(other.starts[others[some]], sizes) + within]
            pairs = kernels.group([owner, people], [int(owner.max()) + 1, int(people.max()) + 1]).first
            different = np.bincount(owner[pairs[people[pairs] > NOBODY]], minlength=len(most))
            result[mine[some]] = np.maximum(different[mine[some]], 1)  # Of nobody known, one person.
        return result


def _portions(owners: Integers, sizes: Integers) -> list[slice]:
    """Cut edges that are sorted by owner into portions that fit into memory; no owner is in two of them."""
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    ends, portions, begin = np.append(first[1:], len(owners)), [], 0
    total = np.concatenate([[0], np.cumsum(sizes)])
    for start, end in zip(first.tolist(), ends.tolist(), strict=True):
        if total[end] - total[begin] > _AT_ONCE and start > begin:
            portions.append(slice(begin, start))
            begin = start
    if len(owners):
        portions.append(slice(begin, len(owners)))
    return portions


def worst_case(comparisons: Sequence[Comparison], *, k: int, means: Sequence[str] = MEANINGS) -> Comparison:
    """
    Return, of comparisons of one release by different hierarchies, the one by which people hide worst.

    That is the one with the smallest of the k's that are meant. One by which the rows cannot have been made from the
    original is left out, unless all are like that.
    """
    if len(comparisons) == 1:
        return comparisons[0]
    found = [four_k(one, k=k) for one in comparisons]
    possible = [at for at, one in enumerate(found) if one.fits] or list(range(len(found)))
    return comparisons[min(possible, key=lambda at: _fewest(found[at], means))]


def _fewest(found: FourK, means: Sequence[str]) -> int:
    """Return the smallest of some k's; one that was not measured is none at all."""
    measured = {"link": found.link, "source": found.source, "concealment": found.concealment}
    return min(measured[one] or 0 for one in means)
