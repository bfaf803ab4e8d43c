"""Freeform breaches against every valueset and every target."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.frequency import FrequencyTable
from anon_core.measures.freeform import Definition, GuardedColumn, check_freeform, simplest_attacks
from tests.properties.freeform import Guarded, attacks, guarded_tables

quietly = settings(max_examples=200, deadline=None)


def any_cells(table: Guarded, data: st.DataObject) -> FrequencyTable:
    """The table with every cell at any level: labels lie within labels then, as after local recoding."""
    frequencies = FrequencyTable.of(table.small.table)
    codes = []
    for ladder, own in zip(table.ladders, frequencies.codes, strict=True):
        levels = data.draw(st.lists(st.integers(0, ladder.height), min_size=len(own), max_size=len(own)))
        codes.append(ladder.maps[levels, own])
    domains = [ladder.labels for ladder in table.ladders]
    return FrequencyTable.from_codes(frequencies.names, codes, domains, frequencies.weights)


@quietly
@given(table=guarded_tables(), definition=st.sampled_from(Definition), data=st.data())
def test_verdict_and_largest_threat_are_those_of_trying_everything(
    table: Guarded, definition: Definition, data: st.DataObject
) -> None:
    published = any_cells(table, data)
    check = check_freeform(published, table.columns, table.sigma_t, definition=definition)
    every = attacks(table, published, definition)
    largest = max((threat for _, threat in every), default=Fraction(0))
    assert check.holds == (float(largest) <= table.sigma_t + 1e-12)
    assert (check.worst.threat if check.worst else 0.0) == pytest.approx(float(largest), abs=1e-12)
    for at, name in enumerate(table.small.names):
        own = max((threat for target, threat in every if target == at), default=Fraction(0))
        found = [column.threat for column in check.columns if column.column == name]
        assert sum(found) == pytest.approx(float(own), abs=1e-12)


@quietly
@given(table=guarded_tables(), data=st.data())
def test_generalising_never_adds_an_extended_breach(table: Guarded, data: st.DataObject) -> None:
    """Corollary 3.1, which is about cuts: every value at one level in all its rows."""
    lower = [
        data.draw(st.lists(st.integers(0, ladder.height), min_size=len(values), max_size=len(values)))
        for ladder, values in zip(table.ladders, [ladder.maps[0] for ladder in table.ladders], strict=True)
    ]
    lower = [[max(levels)] * len(levels) if levels else [] for levels in lower]
    higher = [
        [min(level + data.draw(st.integers(0, 2)), ladder.height) for level in levels]
        for ladder, levels in zip(table.ladders, lower, strict=True)
    ]
    higher = [[max(levels)] * len(levels) if levels else [] for levels in higher]
    below = check_freeform(table.published(lower), table.columns, table.sigma_t)
    above = check_freeform(table.published(higher), table.columns, table.sigma_t)
    assert above.holds or not below.holds
    threats = {column.column: column.threat for column in below.columns}
    assert all(column.threat <= threats[column.column] + 1e-12 for column in above.columns)


@quietly
@given(table=guarded_tables(), data=st.data())
def test_attacks_are_told_with_no_more_than_they_need(table: Guarded, data: st.DataObject) -> None:
    published, columns = any_cells(table, data), table.columns
    check = check_freeform(published, columns, table.sigma_t, attacks=20)
    for found in check.columns:
        at = table.small.names.index(found.column)
        threats = [round(one.threat, 9) for one in found.attacks]
        assert threats == sorted(threats, reverse=True)
        told = simplest_attacks(published, columns, found, 3)
        assert len({(one.observed, one.target) for one in told}) == len(told) <= 3
        for one in told:
            assert threat_of(published, columns, at, one.observed, one.target) == pytest.approx(one.threat)
            assert one.threat <= found.threat + 1e-12
            for other, column in enumerate(columns):
                if one.rows == one.matched and other != at and one.observed[other] != column.taxonomy.root:
                    fewer = (*one.observed[:other], column.taxonomy.root, *one.observed[other + 1 :])
                    assert threat_of(published, columns, at, fewer, one.target) < one.threat
        if told:
            assert told[0].threat == pytest.approx(found.threat)


def threat_of(
    published: FrequencyTable, columns: list[GuardedColumn], at: int, observed: tuple[int, ...], target: int
) -> float:
    """The threat of one attack, row by row."""
    matched = rows = 0
    for n, weight in enumerate(published.weights.tolist()):
        paths = [column.taxonomy.path(int(codes[n])) for column, codes in zip(columns, published.codes, strict=True)]
        if all(label in path for i, (label, path) in enumerate(zip(observed, paths, strict=True)) if i != at):
            matched += weight
            rows += weight * (target in paths[at])
    return rows / matched * float(columns[at].sensitivity[target])
