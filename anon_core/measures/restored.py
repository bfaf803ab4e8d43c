"""Generalised cells that other published columns restore: a municipality's code beside its recoded name.

C, one or two other published columns, restores the cell of a person if three things hold. Of the *other* people with
the same values of C and the same published label, at least 95 % have one original. This is the original of the person.
And the label alone does not give it already.

This also happens by chance, where two people share C and a birth year. So C must be a reliable rule. People are divided
by the number of others that agree about them (1, 2, 3 to 4, 5 to 9, 10 to 19, or more). In each division the rule must
be right for 95 %, and the chance that so many groups agree must be below one in a thousand, over all rules tried.

Rules that restore few of the hidden cells show how columns depend on each other (most lorry drivers are men). They are
no key to what was generalised, and their cells are counted apart, as ``loose``. Few means fewer than one in twenty, by
the rule alone and by all rules together. For rules of recoded columns only, it means fewer than half: their classes
have k people in any case.

One kind of cell counts even if there are few: one column gives away something rare, such as who lives in one town. At
most one in ten people with the label have it, the group alone is no chance, and nearly all people with that value of
the column have it, with any label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from anon_core import kernels
from anon_core.kernels import AnyCodes, Floats, Integers
from anon_core.table import Mask

PER_OTHERS = 20
MIN_AGREEING = 19
"""19 of 20 others must agree, or more."""
SUPPORTS = (1, 2, 3, 5, 10, 20)
"""A rule is judged apart from each of these numbers of others on."""
MAX_CHANCE = 0.001
"""The largest probability of chance that is accepted, over all rules that are tried for a column."""
KEY_ONE_IN = 20
"""Rules that restore at least one in so many of the hidden cells, alone or together, are a key to them."""
RECODED_KEY_ONE_IN = 2
"""The same for a rule of recoded columns only, whose classes have k people."""
RARE_ONE_IN = 10
"""An original is rare if at most one in so many people with its label have it."""
MAX_CELLS_PER_ENTRY = 8
"""Keys are counted in an array of at most so many cells for each entry; beyond that they are sorted."""
MAX_GROUP_PEOPLE = 200
"""Larger groups are computed as if they had this size: the probability of chance is close to 0 anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """
    One recoded ``column``, as collected and as published, beside all other published columns.

    Entry ``i`` has the value ``levels[f][i]`` at level ``f`` of the hierarchy, the finest first, and the published
    ``label[i]``, all codes into one list of labels. ``codes`` are those of the other published columns ``names``, as
    published, ``sizes`` how many values each can have. The ``recoded`` ones have classes of k people together with the
    column. ``weights`` are rows. With ``units`` there is one entry for each person and tuple, and people are counted.
    """

    column: str
    levels: tuple[AnyCodes, ...]
    label: AnyCodes
    names: tuple[str, ...]
    codes: tuple[AnyCodes, ...]
    sizes: tuple[int, ...]
    weights: Integers
    units: AnyCodes | None = None
    recoded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredBy:
    """How many people's cells one or two columns restore; of two columns, only cells that neither restores alone."""

    by: tuple[str, ...]
    people: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """
    The generalised cells of a column that other columns restore: those of ``people``, out of the ``hidden`` cells.

    ``hidden`` cells are those that the label alone does not give away. ``rules`` say which columns restore them, most
    people first; ``loose`` more cells are restored by rules that restore few of them, and nothing rare.
    """

    column: str
    people: int
    loose: int
    hidden: int
    rules: tuple[RestoredBy, ...]


def restored(paired: Paired) -> Restored:
    """Return which cells of a column are restored; none if no cell is generalised, or no other column is published."""
    search = _Search(_person_by_person(paired))
    rules, told = [], np.zeros(len(paired.weights), np.bool_)
    if search.hidden.any():
        alone = [(name,) for name in paired.names]
        singles = list(search.by_rules(alone))
        useful = [by[0] for by, _ in singles if by[0] not in search.unique]
        pairs = search.by_rules(list(combinations(useful, 2)))
        hidden = search.people(search.hidden)
        found_by = [*singles, *pairs]
        beside = [found.all for by, found in found_by if not paired.recoded.issuperset(by)]
        together = bool(beside) and KEY_ONE_IN * search.people(np.logical_or.reduce(beside)) >= hidden
        for by, found in found_by:
            recoded = paired.recoded.issuperset(by)
            enough = (RECODED_KEY_ONE_IN if recoded else KEY_ONE_IN) * search.people(found.all) >= hidden
            mask = found.all if enough or (together and not recoded) else found.rare
            if people := search.people(mask):
                rules.append(RestoredBy(by=by, people=people))
                told |= mask
    rules.sort(key=lambda one: (-one.people, len(one.by), one.by))
    return Restored(
        column=paired.column,
        people=search.people(told),
        loose=search.people(search.restored & ~told),
        hidden=search.people(search.hidden),
        rules=tuple(rules),
    )


def _person_by_person(paired: Paired) -> Paired:
    """Return the same entries sorted by person, where people are counted, so that each counts once for a key."""
    if paired.units is None:
        return paired
    order = np.argsort(paired.units, kind="stable")
    return replace(
        paired,
        levels=tuple(codes[order] for codes in paired.levels),
        label=paired.label[order],
        codes=tuple(codes[order] for codes in paired.codes),
        weights=paired.weights[order],
        units=paired.units[order],
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """The entries that a rule restores, and those of them whose original is rare."""

    all: Mask
    rare: Mask


class _Search:
    """
    The rules of one column, tried one after the other.

    ``wanted`` numbers what a rule has to restore of each entry: its label, and its value at the coarsest level that the
    label does not give away; the numbers of one label are consecutive.
    """

    def __init__(self, paired: Paired) -> None:
        self.paired = paired
        self.columns = dict(zip(paired.names, zip(paired.codes, paired.sizes, strict=True), strict=True))
        labels = int(paired.label.max(initial=0)) + 1
        target, self.level, self.hidden = self._targets(labels)
        groups = kernels.group([paired.label, target], [labels, int(target.max(initial=0)) + 1])
        self.wanted, self.values = groups.member, len(groups.first)
        self.label_of = paired.label[groups.first].astype(np.int64)
        self.hidden_values = self.hidden[groups.first]
        self.restored: Mask = np.zeros(len(paired.weights), np.bool_)
        self.unique: set[str] = set()
        people = self._people_of(self.wanted, self.values).astype(np.float64)
        of_label = np.bincount(self.label_of, people, minlength=labels)
        self.shares = people / np.maximum(of_label[self.label_of], 1)
        self.rare_values = RARE_ONE_IN * people <= of_label[self.label_of]

    def people(self, mask: Mask) -> int:
        units = self.paired.units
        return int(self.paired.weights[mask].sum()) if units is None else len(np.unique(units[mask]))

    def _people_of(self, member: Integers, groups: int) -> Integers:
        """Return how many people each group has."""
        units, weights = self.paired.units, self.paired.weights
        if units is None:
            return np.bincount(member, weights, minlength=groups).astype(np.int64)
        return kernels.people_of_keys(member, groups, units)

    def _targets(self, labels: int) -> tuple[Integers, Integers, Mask]:
        """Return what a rule has to restore of each entry, its level, and where the label does not give it away."""
        paired = self.paired
        levels = len(paired.levels)
        span = max((int(codes.max(initial=0)) + 1 for codes in paired.levels), default=1)
        target = paired.levels[0].astype(np.int64) if levels else paired.label.astype(np.int64)
        wanted = np.zeros(len(paired.weights), np.int64)
        hidden = np.zeros(len(paired.weights), np.bool_)
        own = self._people_of(paired.label.astype(np.int64), labels)[paired.label]
        finer = np.ones(len(paired.weights), np.bool_)
        for level, codes in enumerate(paired.levels):  # The coarsest one that is hidden is written last.
            finer &= codes != paired.label
            groups = kernels.group([paired.label, codes], [labels, span])
            same = self._people_of(groups.member, len(groups.first))[groups.member]
            tells = finer & ~((own > 1) & (PER_OTHERS * (same - 1) >= MIN_AGREEING * (own - 1)))
            target[tells] = level * span + codes[tells]
            wanted[tells] = level
            hidden |= tells
        return target, wanted, hidden

    def by_rules(self, rules: Sequence[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], _Told]]:
        """Yield rules with the entries that each restores and that no rule of fewer columns restores."""
        before = self.restored.copy()
        for by in rules:
            if not (self.hidden & ~before).any():
                return
            found = self._by(by, len(rules))
            self.restored |= found.all & ~before
            yield by, _Told(found.all & ~before, found.rare & ~before)

    def _by(self, by: tuple[str, ...], tried: int) -> _Told:
        """Return the entries that a rule restores."""
        key, size = self._key(by)
        groups = _Groups.of(key, size * self.values, self.paired.weights, self.paired.units)
        columns = groups.keys // self.values
        value = groups.keys - columns * self.values
        label = self.label_of[value]
        starts = _starts(columns, label)
        first = np.flatnonzero(starts)
        people = groups.together(first)
        if len(by) == 1 and int(people.max(initial=0)) < 2:
            self.unique.update(by)
        at = np.cumsum(starts) - 1
        others = people[at] - 1
        agreed = (others > 0) & (PER_OTHERS * (groups.people - 1) >= MIN_AGREEING * others)
        right = agreed & self.hidden_values[value]
        if right.any():
            # People with the key of a large enough group, but another original, count as wrongly restored.
            large = PER_OTHERS * groups.people >= MIN_AGREEING * others
            wrong = (others > 0) & ~agreed & (np.add.reduceat(large.astype(np.int64), first)[at] > large)
            right = self._relied_on(right, wrong, groups.people, others, label, tried)
        nothing: Mask = np.zeros(len(key), np.bool_)
        if not right.any():
            return _Told(nothing, nothing)
        found: Mask = np.isin(key, groups.keys[right])
        rare = right & self.rare_values[value]
        if len(by) > 1 or self.paired.recoded.issuperset(by) or not rare.any():
            return _Told(found, nothing)
        chance = _all_have(self.shares[value[rare]], others[rare] + 1, groups.people[rare] > others[rare])
        rare[rare] = chance <= np.log(MAX_CHANCE / (tried * len(first)))
        return _Told(found, np.isin(key, groups.keys[rare]) & self._whatever_the_label(by[0]))

    def _whatever_the_label(self, name: str) -> Mask:
        """Return the entries whose value of a column goes with what is wanted of them, with any label."""
        codes, values = self.columns[name]
        people = self._people_of(codes.astype(np.int64), values)[codes]
        goes: Mask = np.zeros(len(codes), np.bool_)
        for level, originals in enumerate(self.paired.levels):
            groups = kernels.group([codes, originals], [values, int(originals.max(initial=0)) + 1])
            same = self._people_of(groups.member, len(groups.first))[groups.member]
            goes |= (self.level == level) & (PER_OTHERS * same >= MIN_AGREEING * people)
        return goes

    def _key(self, by: tuple[str, ...]) -> tuple[Integers, int]:
        key, size = np.zeros(len(self.wanted), np.int64), 1
        for name in by:
            codes, values = self.columns[name]
            key, size = key * values + codes, size * values
        if size * self.values >= 1 << 62:  # Too many for 64 bits: only keys that occur are numbered.
            found = kernels.group([key], [size])
            key, size = found.member, len(found.first)
        return key * self.values + self.wanted, size

    def _relied_on(
        self, right: Mask, wrong: Mask, people: Integers, others: Integers, label: Integers, tried: int
    ) -> Mask:
        """Return which of the entries that a rule gets right are reliable."""
        support = np.digitize(others, SUPPORTS)
        rights = np.bincount(support[right], people[right], minlength=len(SUPPORTS) + 1)
        wrongs = np.bincount(support[wrong], people[wrong], minlength=len(SUPPORTS) + 1)
        trusted = (rights > 0) & (PER_OTHERS * rights >= MIN_AGREEING * (rights + wrongs))
        found: Mask = right & trusted[support]
        if not found.any():
            return found
        chances = self._chances(
            label[found], np.minimum(others[found] + 1, MAX_GROUP_PEOPLE), people[found] > others[found]
        )
        chance = np.bincount(support[found], chances, minlength=len(SUPPORTS) + 1)
        no_chance: Mask = chance <= np.log(MAX_CHANCE / max(tried, 1))
        found &= no_chance[support]
        return found

    def _chances(self, label: Integers, size: Integers, pure: Mask) -> Floats:
        """
        Return the log probability that so many people with a label have one original by chance, or 95 % of them.

        For all of n people it is the sum over originals v of p(v)^n; for 95 % of them Chernoff's bound.
        """
        each = np.stack([label, size, pure.astype(np.int64)])
        distinct, back = np.unique(each, axis=1, return_inverse=True)
        found = np.zeros(distinct.shape[1])
        for at, (one, many, whole) in enumerate(distinct.T.tolist()):
            p = self.shares[self.label_of == one]
            likely = np.exp(_all_have(p, np.full(len(p), many), np.full(len(p), bool(whole))))
            found[at] = np.log(max(float(likely.sum()), 1e-300))
        return np.minimum(found, 0.0)[back.reshape(-1)]


def _all_have(p: Floats, people: Integers, whole: Mask) -> Floats:
    """
    Return the log probability that all of so many people have by chance what a share p has, or 95 % of them.

    It is exact where the ``whole`` group has it, else Chernoff's bound.
    """
    p = np.clip(p, 1e-12, 1 - 1e-12)
    share = MIN_AGREEING / PER_OTHERS
    apart = share * np.log(share / p) + (1 - share) * np.log((1 - share) / (1 - p))
    nearly = np.where(p >= share, 0.0, -people * apart)
    return np.asarray(np.where(whole, people * np.log(p), nearly))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """The keys that occur, in order, and how many people have each; ``member`` is the key of each entry."""

    keys: Integers
    people: Integers
    units: AnyCodes | None
    member: Integers | None = None

    @classmethod
    def of(cls, key: Integers, size: int, weights: Integers, units: AnyCodes | None) -> _Groups:
        if units is not None:
            if size > MAX_CELLS_PER_ENTRY * len(key):
                keys, member = np.unique(key, return_inverse=True)
            else:
                there = np.zeros(size, np.bool_)
                there[key] = True
                keys = np.flatnonzero(there)
                member = (np.cumsum(there) - 1)[key]
            return cls(keys=keys, people=kernels.people_of_keys(member, len(keys), units), units=units, member=member)
        if size <= 4 * len(key):
            people = np.bincount(key, weights, minlength=size).astype(np.int64)
            keys = np.flatnonzero(people)
            return cls(keys=keys, people=people[keys], units=None)
        if int(weights.max(initial=1)) == 1:
            ordered, counts = np.sort(key), None
        else:
            order = np.argsort(key)
            ordered, counts = key[order], weights[order]
        first = np.flatnonzero(_starts(ordered))
        people = np.diff(first, append=len(ordered)) if counts is None else np.add.reduceat(counts, first)
        return cls(keys=ordered[first], people=people, units=None)

    def together(self, first: Integers) -> Integers:
        """Return how many people all groups of one label have together; ``first`` is where each label begins."""
        if self.units is None or self.member is None:
            ends = np.append(first[1:], len(self.keys)) - 1
            together: Integers = np.diff(np.cumsum(self.people)[ends], prepend=0)
            return together
        starts = np.zeros(len(self.keys), np.int64)
        starts[first[1:]] = 1
        return kernels.people_of_keys(np.cumsum(starts)[self.member], len(first), self.units)


def _starts(*ordered: Integers) -> Mask:
    """Return where one of some sorted keys differs from the one before it."""
    starts = np.zeros(len(ordered[0]), np.bool_)
    starts[:1] = True
    for keys in ordered:
        starts[1:] |= keys[1:] != keys[:-1]
    return starts
