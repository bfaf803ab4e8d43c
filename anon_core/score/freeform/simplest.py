"""Attacks told with as little as they need: whatever is observed for nothing is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anon_core.frequency import FrequencyTable
from anon_core.score.freeform.breaches import Attack, ColumnBreaches
from anon_core.score.freeform.values import ROUNDING, GuardedColumn
from anon_core.table import Mask


def simplest_attacks(
    published: FrequencyTable, columns: Sequence[GuardedColumn], found: ColumnBreaches, count: int
) -> list[Attack]:
    """
    Return up to ``count`` of the attacks that were found, each with the root wherever that does not lower its threat.

    Columns are tried in their order. Attacks that come to the same are told once. A larger threat cannot come of it
    where the worst attack is among those found: none is larger.
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
