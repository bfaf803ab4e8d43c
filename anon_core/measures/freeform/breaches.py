"""All freeform attacks on a table, found by one group-by per column.

An attack X -> a observes X, a value at any level of every other column, and infers a. Its threat is P(a|X) * s(a).

*Floors.* Observability never falls going up, so what can be observed of a published value is the upper part of its
path; its floor is the lowest of these. X matches a row iff it covers the row's floor in every column. Fix X but for one
column j: unless X_j is itself the floor of some row, the rows that X matches are the disjoint union of those that are
matched with X_j replaced by each of the highest floors below it, so P(a|X) is a weighted mean of theirs, and one of
them is at least as large. Hence it is enough to try X whose every value is the floor of some row, where a row counts
for every floor at or above its own. For ordinary columns floors are the published values and nothing is nested: a row
counts once. Only columns with hidden values (or labels within labels) let a row count for more, as often as these are
nested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from anon_core import kernels
from anon_core.frequency import FrequencyTable
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.freeform.values import ROUNDING, Definition, GuardedColumn, Shares
from anon_core.table import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """
    One attack on a column, as codes of labels.

    ``observed`` has a label for every column, and -1 for the column of the target; a root says nothing. ``matched``
    rows match what is observed, and ``rows`` of them match the target too.
    """

    observed: tuple[int, ...]
    target: int
    threat: float
    rows: int
    matched: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBreaches:
    """
    The attacks on one column that are breaches: how many, and how many published rows they concern.

    One attack counts for every set of floors that can be observed; coarser observations that imply the same do not
    count. ``threat`` is the largest threat of all attacks, breaches or not; 0 where there is no attack. ``attacks`` are
    the worst ones, up to the number of the call: by threat, then by rows, then by the codes of what is observed and
    inferred.
    """

    column: str
    breaches: int
    rows: int
    threat: float
    attacks: tuple[Attack, ...]

    @property
    def attack(self) -> Attack | None:
        """The worst attack."""
        return self.attacks[0] if self.attacks else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeformCheck:
    """The freeform attacks on all columns of a table; the worst column is the first with the largest threat."""

    definition: Definition
    sigma_t: float
    columns: tuple[ColumnBreaches, ...]

    @property
    def breaches(self) -> int:
        return sum(column.breaches for column in self.columns)

    @property
    def holds(self) -> bool:
        """Whether there is no breach."""
        return not self.breaches

    @property
    def worst(self) -> ColumnBreaches | None:
        """The column with the largest threat; None where there is no attack."""
        return max(self.columns, key=lambda column: column.threat, default=None)


def check_freeform(
    published: FrequencyTable,
    columns: Sequence[GuardedColumn],
    sigma_t: float,
    *,
    definition: Definition = Definition.EXTENDED,
    attacks: int = 1,
) -> FreeformCheck:
    """
    Find all breaches: attacks whose threat is above ``sigma_t``; ``attacks`` says how many are returned per column.

    The codes of ``published`` are labels of the taxonomies, in their order; ``columns`` are in the order of the table.
    In a table without rows there is no attack.
    """
    found = [
        _breaches(published, columns, at, sigma_t, definition, attacks)
        for at, column in enumerate(columns)
        if column.has_secrets
    ]
    return FreeformCheck(definition=definition, sigma_t=sigma_t, columns=tuple(found))


def is_breached(published: FrequencyTable, columns: Sequence[GuardedColumn], sigma_t: float) -> bool:
    """Whether there is an extended breach; the search ends at the first column with one."""
    return any(
        _breaches(published, columns, at, sigma_t, Definition.EXTENDED, 0).breaches
        for at, column in enumerate(columns)
        if column.has_secrets
    )


def _breaches(
    published: FrequencyTable,
    columns: Sequence[GuardedColumn],
    at: int,
    sigma_t: float,
    definition: Definition,
    attacks: int,
) -> ColumnBreaches:
    """Find the breaches of one column: group by what is observed, and by what can be inferred from it."""
    name = columns[at].taxonomy.column
    observed = _Observed.of(published, columns, at)
    seen = kernels.group(observed.floors, [len(column.floors) for column in observed.columns], observed.weights)
    target = columns[at]
    spread = _targets(target, published.codes[at], definition)
    entry, labels = spread.of_codes(published.codes[at][observed.tuples])
    if not len(entry) or not len(seen.weights):
        return ColumnBreaches(column=name, breaches=0, rows=0, threat=0.0, attacks=())
    pairs = kernels.group(
        [seen.member[entry], labels], [len(seen.weights), len(target.floors)], observed.weights[entry]
    )
    of, inferred = seen.member[entry][pairs.first], labels[pairs.first]
    threats = pairs.weights / seen.weights[of] * target.sensitivity[inferred]
    breached = threats > sigma_t + ROUNDING
    return ColumnBreaches(
        column=name,
        breaches=int(np.count_nonzero(breached)),
        rows=_rows(published, observed.tuples[entry[breached[pairs.member]]]),
        threat=float(threats.max()),
        attacks=tuple(
            Attack(
                observed=observed.labels_of(int(seen.first[of[one]]), at),
                target=int(inferred[one]),
                threat=float(threats[one]),
                rows=int(pairs.weights[one]),
                matched=int(seen.weights[of[one]]),
            )
            for one in _largest(threats, pairs.weights, attacks)
        ),
    )


def _largest(threats: Shares, rows: Integers, count: int) -> list[int]:
    """Return the positions of the largest threats; of equal ones those with more rows first, then by their codes."""
    count = min(count, len(threats))
    if not count:
        return []
    least = np.partition(threats, len(threats) - count)[len(threats) - count]
    some = np.flatnonzero(threats >= least - ROUNDING)
    order = np.lexsort((some, -rows[some], -np.round(threats[some], 12)))
    return [int(one) for one in some[order[:count]]]


def _rows(published: FrequencyTable, tuples: Integers) -> int:
    concerned = np.zeros(len(published.weights), np.bool_)
    concerned[tuples] = True
    return int(published.weights[concerned].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """For every label, the labels that stand for it: those of label ``v`` are ``labels[starts[v]:starts[v + 1]]``."""

    starts: Integers
    labels: Integers

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> _Spread:
        lengths = [len(one) for one in lists]
        return cls(
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            labels=np.array([label for one in lists for label in one], np.int64),
        )

    @property
    def is_single(self) -> bool:
        return bool((np.diff(self.starts) <= 1).all())

    def of_codes(self, codes: AnyCodes) -> tuple[Integers, Integers]:
        """Return the positions of some codes, each repeated for every label that stands for it, and these labels."""
        lengths = np.diff(self.starts)[codes]
        entry = np.repeat(np.arange(len(codes)), lengths)
        at = np.repeat(self.starts[codes] - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(entry))
        return entry, self.labels[at]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Observed:
    """What can be observed of every tuple: floors of all columns but the target's, one entry for each combination."""

    columns: tuple[GuardedColumn, ...]
    floors: tuple[AnyCodes, ...]
    tuples: Integers
    weights: Integers

    @classmethod
    def of(cls, published: FrequencyTable, columns: Sequence[GuardedColumn], target: int) -> _Observed:
        tuples: Integers = np.arange(len(published.weights))
        floors: list[AnyCodes] = []
        others = [at for at in range(len(columns)) if at != target]
        for at in others:
            spread = _floors_above(columns[at], published.codes[at])
            if spread.is_single:
                floors.append(columns[at].floors[published.codes[at][tuples]])
                continue
            entry, labels = spread.of_codes(published.codes[at][tuples])
            tuples = tuples[entry]
            floors = [*(one[entry] for one in floors), labels]
        return cls(
            columns=tuple(columns[at] for at in others),
            floors=tuple(floors),
            tuples=tuples,
            weights=published.weights[tuples],
        )

    def labels_of(self, entry: int, target: int) -> tuple[int, ...]:
        found = [int(floors[entry]) for floors in self.floors]
        return (*found[:target], -1, *found[target:])


def _used(column: GuardedColumn, codes: AnyCodes) -> Mask:
    used = np.zeros(len(column.floors), np.bool_)
    used[codes] = True
    return used


def _floors_above(column: GuardedColumn, codes: AnyCodes) -> _Spread:
    """Return for every published label the floors at or above its own that some row has as its floor."""
    used = _used(column, codes)
    floors = np.zeros(len(used), np.bool_)
    floors[column.floors[used]] = True
    return _Spread.of(
        [
            [above for above in column.taxonomy.path(int(column.floors[label])) if floors[above]] if used[label] else []
            for label in range(len(used))
        ]
    )


def _targets(column: GuardedColumn, codes: AnyCodes, definition: Definition) -> _Spread:
    """Return for every published label what may be inferred from it: hidden labels with a sensitive leaf below."""
    used = _used(column, codes)
    wanted = column.hidden & (column.sensitivity > 0) & (used | (definition is Definition.EXTENDED))
    return _Spread.of(
        [
            [above for above in column.taxonomy.path(label) if wanted[above]] if used[label] else []
            for label in range(len(used))
        ]
    )


def simplest_attacks(
    published: FrequencyTable, columns: Sequence[GuardedColumn], found: ColumnBreaches, count: int
) -> list[Attack]:
    """
    Return up to ``count`` of the attacks that were found, with the root in every column where that keeps the threat.

    Columns are tried in their order. Attacks that become equal are returned once. If the worst attack is among those
    found, no simplified attack has a larger threat.
    """
    simple: dict[tuple[tuple[int, ...], int], Attack] = {}
    at = [column.taxonomy.column for column in columns].index(found.column)
    for attack in found.attacks:
        if len(simple) == count:
            break
        one = _simplest(published, columns, at, attack)
        simple.setdefault((one.observed, one.target), one)
    return list(simple.values())


def _simplest(published: FrequencyTable, columns: Sequence[GuardedColumn], at: int, attack: Attack) -> Attack:
    covered = [
        column.taxonomy.below(label)[codes] if label >= 0 else np.ones(len(codes), np.bool_)
        for column, label, codes in zip(columns, attack.observed, published.codes, strict=True)
    ]
    target = columns[at].taxonomy.below(attack.target)[published.codes[at]]
    least = attack.threat - ROUNDING
    for other, column in enumerate(columns):
        if other == at or attack.observed[other] == column.taxonomy.root:
            continue
        without = [*covered[:other], np.ones_like(target), *covered[other + 1 :]]
        observed = (*attack.observed[:other], column.taxonomy.root, *attack.observed[other + 1 :])
        coarser = _counted(published, columns[at], without, target, replace(attack, observed=observed))
        if coarser.threat >= least:
            attack, covered = coarser, without
    return attack


def _counted(
    published: FrequencyTable, column: GuardedColumn, covered: Sequence[Mask], target: Mask, attack: Attack
) -> Attack:
    matching = np.logical_and.reduce(covered)
    matched = int(published.weights[matching].sum())
    rows = int(published.weights[matching & target].sum())
    return replace(attack, rows=rows, matched=matched, threat=rows / matched * float(column.sensitivity[attack.target]))
