"""Which original became which label, by a plan or by the witness: needed to find cells that other columns restore."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

import numpy as np
import pyarrow as pa

from anon_core import kernels
from anon_core.engines.engine import Engine
from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import AnyCodes, Integers
from anon_core.measures.removal import Kept
from anon_core.measures.restored import Paired
from anon_core.models.subject import Pairing
from anon_core.plan import RecodingPlan


def pairing_of_plan(
    plan: RecodingPlan, engine: Engine, published: Sequence[str], recoded: Collection[str] = ()
) -> Pairing:
    """
    Return the pairing of a plan: each recoded column as collected, beside its labels and all other published columns.

    The ``engine`` has the rows as collected; they are counted at the first call. Columns that the plan does not have
    are published as collected. Removed rows are left out. Columns ``recoded`` have classes of k people.
    """

    @cache
    def counted() -> _Counted:
        return _Counted(plan, engine, published, frozenset(recoded))

    return Pairing(
        paired=lambda name: counted().paired(name) if name in plan.frequencies.names else None,
        kept=lambda columns: _kept_by(plan, engine, columns),
    )


def _kept_by(plan: RecodingPlan, engine: Engine, columns: Sequence[str]) -> Kept:
    """Return what a plan makes of the original classes over some columns; the plan may lack some of them."""
    beside = [name for name in columns if name not in plan.frequencies.names]
    rows, collected = engine.count([*plan.frequencies.names, *beside]), engine.count(columns)
    quasi = len(plan.frequencies.names)
    tuples = kernels.join(rows.codes[:quasi], plan.frequencies.codes, [len(one) for one in plan.frequencies.domains])
    own = [rows.codes[rows.names.index(name)] for name in columns]
    classes = kernels.join(own, collected.codes, [len(domain) for domain in collected.domains])
    if tuples is None or classes is None:
        raise InternalError("rows that the plan does not know", "recode.pairing")
    removed = plan.removed[tuples.member]
    as_collected = np.ones(len(collected.weights), np.bool_)
    for at, (name, ladder) in enumerate(zip(plan.frequencies.names, plan.ladders, strict=True)):
        if name in columns:
            same = plan.released_codes(at) == ladder.maps[0, plan.frequencies.codes[at]]
            as_collected[classes.member[~removed & ~same[tuples.member]]] = False
    return Kept(
        people=engine.people(columns).class_sizes(),
        gone=kernels.weigh(classes.member, len(collected.weights), np.where(removed, rows.weights, 0)),
        as_collected=as_collected,
    )


class _Counted:
    """The published columns of every kept row, and its tuple in the plan."""

    def __init__(self, plan: RecodingPlan, engine: Engine, published: Sequence[str], recoded: frozenset[str]) -> None:
        self.plan, self.recoded = plan, recoded
        self.published = published
        quasi = plan.frequencies.names
        self.others = [name for name in published if name not in quasi]
        table = engine.people([*quasi, *self.others])
        sizes = [len(domain) for domain in plan.frequencies.domains]
        joined = kernels.join(table.codes[: len(quasi)], plan.frequencies.codes, sizes)
        if joined is None:
            raise InternalError("rows that the plan does not know", "recode.pairing")
        kept = ~plan.removed[joined.member]
        self.member = joined.member[kept]
        self.weights = table.weights[kept]
        self.units = None if table.units is None else table.units[kept]
        self.codes = dict(zip(self.others, (codes[kept] for codes in table.codes[len(quasi) :]), strict=True))
        self.sizes = dict(zip(self.others, map(len, table.domains[len(quasi) :]), strict=True))
        for at, name in enumerate(quasi):
            if name in published:
                self.codes[name] = plan.released_codes(at)[self.member]
                self.sizes[name] = len(plan.ladders[at].labels)

    def paired(self, name: str) -> Paired:
        at = self.plan.frequencies.names.index(name)
        ladder = self.plan.ladders[at]
        values = self.plan.frequencies.codes[at][self.member]
        levels: list[AnyCodes] = [ladder.maps[level, values] for level in range(ladder.height)]
        if levels and ladder.unmapped.any():  # They are at the root on every level, but had a value.
            levels[0] = np.where(ladder.unmapped[values], len(ladder.labels) + values, levels[0])
        others = [one for one in self.published if one != name and one in self.codes]
        return Paired(
            column=name,
            levels=tuple(levels),
            label=self.plan.released_codes(at)[self.member],
            names=tuple(others),
            codes=tuple(self.codes[one] for one in others),
            sizes=tuple(self.sizes[one] for one in others),
            weights=self.weights,
            units=self.units,
            recoded=self.recoded,
        )


def pairing_of_witness(
    before: Engine,
    witness: Engine,
    ladders: Sequence[Ladder],
    *,
    beside: Mapping[str, str],
    published: Sequence[str],
    recoded: Collection[str] = (),
) -> Pairing:
    """
    Return the pairing of a witness, whose rows have their values as collected beside their labels.

    ``ladders`` were built over ``before``, the table as collected; ``beside[name]`` is the column with the values of a
    recoded one. The caller has compared the witness with the originals, so it has only their values and labels.
    """
    by_name = {ladder.column: ladder for ladder in ladders}

    @cache
    def counted() -> FrequencyTable:
        return witness.people([*published, *(beside[name] for name in by_name)])

    def paired(name: str) -> Paired | None:
        if name not in by_name:
            return None
        ladder, table = by_name[name], counted()
        at = {column: i for i, column in enumerate(table.names)}
        values = _places(before.column(name).domain, table.domains[at[beside[name]]])[table.codes[at[beside[name]]]]
        others = [one for one in published if one != name]
        levels: list[AnyCodes] = [ladder.maps[level, values] for level in range(ladder.height)]
        if levels and ladder.unmapped.any():
            levels[0] = np.where(ladder.unmapped[values], len(ladder.labels) + values, levels[0])
        return Paired(
            column=name,
            levels=tuple(levels),
            label=_places(ladder.labels, table.domains[at[name]])[table.codes[at[name]]],
            names=tuple(others),
            codes=tuple(table.codes[at[one]] for one in others),
            sizes=tuple(len(table.domains[at[one]]) for one in others),
            weights=table.weights,
            units=table.units,
            recoded=frozenset(recoded),
        )

    def kept(columns: tuple[str, ...]) -> Kept:
        return _kept(before, witness, ladders, beside, columns)

    return Pairing(paired=paired, kept=kept)


def _kept(
    before: Engine, witness: Engine, ladders: Sequence[Ladder], beside: Mapping[str, str], columns: Sequence[str]
) -> Kept:
    """Return what became of the original classes over some columns; rows are counted on both sides."""
    as_now = [beside.get(name, name) for name in columns]
    recoded = [ladder for ladder in ladders if ladder.column in columns]
    collected = before.count(columns)
    released = witness.count(list(dict.fromkeys([*as_now, *(ladder.column for ladder in recoded)])))
    position = released.names.index
    values = [
        _places(domain, released.domains[position(now)])[released.codes[position(now)]]
        for domain, now in zip(collected.domains, as_now, strict=True)
    ]
    joined = kernels.join(values, collected.codes, [len(domain) for domain in collected.domains])
    if joined is None:
        raise InternalError("released rows that were never collected", "recode.pairing")
    published: Integers = np.zeros(len(collected.weights), np.int64)
    np.add.at(published, joined.member, released.weights)
    same = np.ones(len(released.weights), np.bool_)
    for ladder in recoded:
        domain = before.column(ladder.column).domain
        at, now = position(beside[ladder.column]), position(ladder.column)
        labels = _places(ladder.labels, released.domains[now])[released.codes[now]]
        same &= ladder.maps[0, _places(domain, released.domains[at])[released.codes[at]]] == labels
    every = np.ones(len(collected.weights), np.bool_)
    every[joined.member[~same]] = False
    return Kept(people=before.people(columns).class_sizes(), gone=collected.weights - published, as_collected=every)


def _places(words: pa.Array, among: pa.Array) -> Integers:
    """Return the position of each word in a list that has them all."""
    at = {word: place for place, word in enumerate(words.to_pylist())}
    return np.array([at[word] for word in among.to_pylist()], np.int64)
