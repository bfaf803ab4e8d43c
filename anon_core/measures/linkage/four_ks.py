"""The four k's: how well people hide in a release, by what an adversary knows.

``exact`` is k-anonymity [Sweeney2002]_: the smallest class. ``link`` counts the published rows that an adversary finds
who knows a person, ``source`` the people to whom a published row may belong. ``concealment`` counts as ``link`` does,
but leaves out the rows that a comparison of all rows with all people rules out. exact >= k implies the other three.

Sweeney: k-anonymity: a model for protecting privacy, 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anon_core import kernels
from anon_core.comparison import Comparison, Pairs, how_many, rows_of_entries
from anon_core.errors import InvalidInputError
from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable, people_weights
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.linkage.covering import Covering, coverings
from anon_core.measures.linkage.matching import MAX_ROWS, hidden_among, perfect_matching
from anon_core.measures.risk.rows_by_size import rows_by_size
from anon_core.table import Mask

MAX_PAIRS = 30_000_000
"""More pairs of tuples are counted, but not compared with each other: it would take more than two gigabytes."""

BY_PEOPLE = "concealment compares rows, and cannot count people yet"
UNPAIRED = "to count people beside the original, it must be known which row became which: same_order=True or key=COLUMN"
Edges = tuple[Integers, Integers]

_MAX_ENTRIES_AT_ONCE = 20_000_000
"""So many pairs of tuple and unit are held in memory at a time."""
MEANINGS = ("link", "source", "concealment")
"""The k's that depend on the hierarchies; exact k does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KFigures:
    """The k-anonymity of a table over its quasi-identifiers: ``k`` is the size of its smallest class."""

    k: int
    singletons: int
    classes: int
    rows: int
    rows_below: int


def k_anonymity(frequencies: FrequencyTable, quasi_identifiers: Sequence[str], *, k: int = 2) -> KFigures:
    """
    Measure k-anonymity; ``*`` and gaps are values like any other, so the only row with a gap is alone.

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

    ``concealment`` is None where the published rows cannot be assigned to different originals (``fits`` is False),
    where there are too many pairs to compare, or where people are counted; ``reason`` says which. ``paired``: it was
    known which row became which. ``removed`` is how many originals are not published.

    Where people are counted and it is not known which row became which, only ``exact`` is measured. ``unmeasured`` says
    why the others are None, and ``reason``, ``fits`` and ``removed`` are about rows.
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
        """Return these four k's for a table of people without a pairing: exact k of people, the others not measured."""
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
    Measure the four k's of a release beside its originals, over the rows that are published.

    Where the pairing is known, originals that are not published are left out. Where it is not known, every original
    that some published row covers may be a published one. A gap is a value: a gap covers a gap, and the root covers
    all.

    :raises InvalidInputError: nothing is published, so any k would hold.
    """
    exact = k_anonymity(comparison.after, comparison.after.names, k=k)
    before = TuplesWithPeople.of(comparison.before, comparison.published)
    after = TuplesWithPeople.of(comparison.after, rows_of_entries(comparison.after))
    link, source = Overlaps(before, after), Overlaps(after, before)
    kept: list[Covering] = []
    pairs = 0
    for part in coverings(comparison.ladders, before.codes, after.codes):
        link.add(part.before, part.after)
        source.add(part.after, part.before)
        pairs += len(part.before)
        if pairs <= MAX_PAIRS:
            kept.append(part)
        else:
            kept.clear()

    def edges() -> Iterator[Covering]:
        yield from kept if pairs <= MAX_PAIRS else coverings(comparison.ladders, before.codes, after.codes)

    known = comparison.pairs is not None
    linked = link.met(lambda: ((part.before, part.after) for part in edges()), k=k, count_all=known)
    covered = source.met(lambda: ((part.after, part.before) for part in edges()), k=k, count_all=True)
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
    """Among how many rows people are concealed, or the reason why that was not measured."""

    met: Overlap | None = None
    reason: str | None = None
    fits: bool = True


def _concealment(
    comparison: Comparison, edges: Covering, pairs: int, before: TuplesWithPeople, after: TuplesWithPeople, *, k: int
) -> _Concealed:
    """Count only edges in some perfect matching. Where people are counted, only check that known pairs are covered."""
    by_people = comparison.before.units is not None or comparison.after.units is not None
    if by_people and comparison.pairs is None:
        return _Concealed(reason=BY_PEOPLE)
    if pairs > MAX_PAIRS:
        most = f"{MAX_PAIRS:,}"
        return _Concealed(reason=f"{pairs:,} pairs of tuples cover each other, and at most {most} are compared")
    if int(before.sizes.sum()) > MAX_ROWS:
        return _Concealed(reason=f"more than {MAX_ROWS:,} rows are not compared with each other")
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
    meetings = Overlaps(before, after)
    meetings.add(mine, others)
    return _Concealed(met=meetings.met(lambda: [(mine, others)], k=k, count_all=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paired:
    """How many rows each edge has in the known pairing; ``astray`` rows do not cover their own original."""

    rows: Integers
    astray: int


def _paired(pairs: Pairs, edges: Covering, before: TuplesWithPeople, after: TuplesWithPeople) -> _Paired:
    width = len(after.sizes)
    keys = edges.before.astype(np.int64) * width + edges.after
    order = np.argsort(keys)
    wanted = before.member[pairs.before] * width + after.member[pairs.after]
    at = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
    own = keys[order][at] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
    rows = kernels.weigh(order[at[own]], len(keys), pairs.weights[own])
    return _Paired(rows=rows, astray=int(pairs.weights[~own].sum()))


@dataclass(frozen=True, slots=True, kw_only=True)
class TuplesWithPeople:
    """
    The distinct tuples of one side that have rows, or people, and who these are.

    ``sizes`` counts the rows of each tuple, or its people; ``member`` is the tuple of each entry of the input, -1 for
    an entry without weight. ``people[starts[t]:starts[t + 1]]`` are the units of tuple ``t``: the known people, or,
    where there are none, one entry for an unknown person.
    """

    codes: tuple[AnyCodes, ...]
    sizes: Integers
    member: Integers
    people: AnyCodes | None
    starts: Integers

    @classmethod
    def of(cls, frequencies: FrequencyTable, weights: Integers) -> TuplesWithPeople:
        """Return the tuples of the entries with a weight."""
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
        """Return how many rows the chosen tuples have; people count once each."""
        if self.people is None:
            return int(self.sizes[chosen].sum())
        people = self.people[np.repeat(chosen, self.sizes)]
        return how_many(people, np.ones(len(people), np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The fewest rows that one tuple overlaps with; and ``below``: how many rows are in tuples that have fewer than k.

    Where people are counted, both are people.
    """

    fewest: int
    below: int


class Overlaps:
    """With how many rows, or people, of the other side each tuple overlaps, added up edge by edge."""

    def __init__(self, own: TuplesWithPeople, other: TuplesWithPeople) -> None:
        self._own, self._other = own, other
        self._most: Integers = np.zeros(len(own.sizes), np.int64)
        self._least: Integers = np.zeros(len(own.sizes), np.int64)

    def add(self, mine: Integers, others: Integers) -> None:
        """Count edges that lead from tuple ``mine[e]`` to ``others[e]`` of the other side."""
        sizes = self._other.sizes[others]
        np.add.at(self._most, mine, sizes)
        np.maximum.at(self._least, mine, sizes)

    def met(self, edges: Callable[[], Iterable[Edges]], *, k: int, count_all: bool) -> Overlap:
        """
        Return the smallest overlap of a tuple. ``edges`` yields all edges that were added once more.

        Rows are added up; a unit counts once, however many of its rows overlap. With ``count_all`` a tuple without an
        edge counts with an overlap of 0, else it is left out. If all are left out, the overlap is 0.
        """
        most = self._most
        counted = np.ones(len(most), np.bool_) if count_all else most > 0
        if not counted.any():
            return Overlap(fewest=0, below=0)
        if self._other.people is not None:
            most = self._distinct_people(self._other.people, edges, counted, k)
        return Overlap(fewest=int(most[counted].min()), below=self._own.behind(counted & (most < k)))

    def _distinct_people(
        self, units: AnyCodes, edges: Callable[[], Iterable[Edges]], counted: Mask, k: int
    ) -> Integers:
        """
        Return with how many different units each tuple overlaps, exactly where that is below k or the smallest of all.

        The largest tuple that it overlaps with is a lower bound, the sum of all of them an upper bound. A tuple whose
        lower bound reaches k, and is above the upper bound of another tuple, is not counted exactly.
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
            different = np.bincount(owner[pairs[people[pairs] > UNKNOWN_PERSON]], minlength=len(most))
            result[mine[some]] = np.maximum(different[mine[some]], 1)  # Unknown people alone count as one person.
        return result


def _portions(owners: Integers, sizes: Integers) -> list[slice]:
    """Cut edges that are sorted by owner into portions that fit into memory, with each owner in one portion."""
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    ends, portions, begin = np.append(first[1:], len(owners)), [], 0
    total = np.concatenate([[0], np.cumsum(sizes)])
    for start, end in zip(first.tolist(), ends.tolist(), strict=True):
        if total[end] - total[begin] > _MAX_ENTRIES_AT_ONCE and start > begin:
            portions.append(slice(begin, start))
            begin = start
    if len(owners):
        portions.append(slice(begin, len(owners)))
    return portions


def worst_case(comparisons: Sequence[Comparison], *, k: int, means: Sequence[str] = MEANINGS) -> Comparison:
    """
    Return, of comparisons of one release by different hierarchies, the one with the smallest k's.

    Only the k's in ``means`` count. A comparison by which the rows cannot have been made from the original is left out,
    unless that is so for all.
    """
    if len(comparisons) == 1:
        return comparisons[0]
    found = [four_k(one, k=k) for one in comparisons]
    possible = [at for at, one in enumerate(found) if one.fits] or list(range(len(found)))
    return comparisons[min(possible, key=lambda at: _fewest(found[at], means))]


def _fewest(found: FourK, means: Sequence[str]) -> int:
    """Return the smallest of some k's; one that was not measured counts as 0."""
    measured = {"link": found.link, "source": found.source, "concealment": found.concealment}
    return min(measured[one] or 0 for one in means)
