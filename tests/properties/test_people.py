"""The people of tuples and classes, in numpy and in compiled loops, against sets in plain Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.frequency import UNKNOWN_PERSON, FrequencyTable, people_weights
from anon_core.measures.risk.rows_by_size import rows_by_size
from tests.properties.persons import alone, everybody, members, persons, projected
from tests.properties.tables import Small, small_tables, table_of
from tests.properties.tiers import TIERS, tier

MANY = settings(max_examples=200, deadline=None)


@MANY
@given(small=small_tables(max_rows=24), data=st.data(), way=st.sampled_from(TIERS))
def test_classes_have_the_people_of_their_rows(small: Small, data: st.DataObject, way: str) -> None:
    people = data.draw(persons(len(small.rows)))
    columns = tuple(data.draw(st.lists(st.sampled_from(small.names), unique=True)))
    table = table_of([*small.names, "person"], projected(small.rows, people))
    keys = small.project(columns)
    inside = members(keys, people)
    with tier(way):
        found = FrequencyTable.of(table, unit="person").project(columns)
        direct = FrequencyTable.of(table, columns, unit="person")
        assert sorted(found.class_sizes().tolist()) == sorted(map(len, inside.values()))
        assert found.tuples == len(inside)
        assert found.singletons == len(alone(keys, people))
        assert found.people == len(everybody(inside.values()))
        assert found.rows == (len({person for person in people if person is not None}) or 1)
        by_size = rows_by_size(found)
    assert direct.class_sizes().tolist() == found.class_sizes().tolist()
    assert by_size.total == found.people
    assert by_size.classes == found.tuples
    # The rows of nobody known that stand beside people are left out, and no other row.
    idle = sum(person is None and ("nobody", key) not in inside[key] for key, person in zip(keys, people, strict=True))
    assert direct.unit_rows is not None
    assert int(direct.unit_rows.sum()) == len(small.rows) - idle


@MANY
@given(codes=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=20))
def test_a_pair_of_nobody_weighs_nothing_where_its_tuple_has_people(codes: list[tuple[int, int, int]]) -> None:
    first, second, units = (np.array(column) for column in zip(*sorted(set(codes)), strict=True))
    known = {pair[:2] for pair in codes if pair[2] != UNKNOWN_PERSON}
    expected = [int(unit != UNKNOWN_PERSON or (a, b) not in known) for a, b, unit in sorted(set(codes))]
    assert people_weights([first, second], [3, 2], units).tolist() == expected


@MANY
@given(small=small_tables(max_rows=16), data=st.data(), way=st.sampled_from(TIERS))
def test_merging_classes_never_lowers_how_many_people_they_have(small: Small, data: st.DataObject, way: str) -> None:
    people = data.draw(persons(len(small.rows)))
    merged = {key: data.draw(st.integers(0, 1)) for key in dict.fromkeys(small.rows)}
    inside = members(small.rows, people)
    together = [(str(merged[key]), person) for key, person in zip(small.rows, people, strict=True)]
    with tier(way):
        sizes = FrequencyTable.of(table_of(["m", "person"], together), unit="person").class_sizes().tolist()
    for number, size in zip(sorted(set(merged.values())), sizes, strict=True):
        assert size >= max(len(inside[key]) for key, into in merged.items() if into == number)


def test_weights_are_rows_and_never_people() -> None:
    domain = pa.array(["a", "b"])
    for way in TIERS:
        with tier(way):
            found = FrequencyTable.from_codes(
                ["q"], [np.array([0, 0, 1])], [domain], np.array([3, 4, 5]), np.array([1, 1, UNKNOWN_PERSON])
            )
        assert found.unit_rows is not None
        assert (found.unit_rows.tolist(), found.class_sizes().tolist()) == ([7, 5], [1, 1])
