"""`measure` against counting by hand, and what it refuses."""

from __future__ import annotations

from collections import Counter, defaultdict

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anon_core as ac

FEW = st.sampled_from(["a", "b", None])
ROWS = st.lists(
    st.tuples(st.integers(0, 4), FEW, FEW, st.sampled_from(["flu", "cold", "gout"])), min_size=1, max_size=12
)
QUASI = ["sex", "town"]


def frame_of(rows):
    return pd.DataFrame(rows, columns=["person", "sex", "town", "disease"])


@given(rows=ROWS)
def test_k_by_rows_and_by_people_is_what_counting_gives(rows):
    frame, people = frame_of(rows), defaultdict(set)
    for person, sex, town, _ in rows:
        people[sex, town].add(person)
    by_rows = ac.measure(frame, ac.KAnonymity(k=2), quasi=QUASI)
    by_people = ac.measure(frame, ac.KAnonymity(k=2), quasi=QUASI, unit="person")
    assert by_rows.observed == min(Counter((sex, town) for _, sex, town, _ in rows).values())
    assert by_people.observed == min(map(len, people.values()))
    assert (by_rows.counted, by_people.counted) == ("rows", "people")


@given(rows=ROWS)
def test_distinct_l_is_the_fewest_values_of_a_class(rows):
    values = defaultdict(set)
    for _, sex, town, disease in rows:
        values[sex, town].add(disease)
    found = ac.measure(frame_of(rows), ac.LDiversity(l=2), quasi=QUASI, sensitive="disease")
    assert found.passed == (min(map(len, values.values())) >= 2)


@given(rows=ROWS)
def test_several_models_give_what_each_gives_alone(rows):
    frame, models = frame_of(rows), (ac.KAnonymity(k=2), ac.Singletons(max_singletons=1), ac.MaxRisk(max_risk=0.5))
    found = ac.measure(frame, *models, quasi=QUASI, unit="person")
    assert list(found) == [ac.measure(frame, one, quasi=QUASI, unit="person") for one in models]
    assert found.holds == all(one.passed for one in found)
    assert found.rows == len({person for person, *_ in rows})


def test_columns_of_a_model_count_before_those_of_the_call():
    frame = frame_of([(1, "a", "b", "flu"), (2, "a", "c", "flu")])
    found = ac.measure(frame, ac.KAnonymity(k=2), ac.KAnonymity(k=2, columns=("sex",)), quasi=QUASI)
    assert [(one.columns, one.observed) for one in found] == [(("sex", "town"), 1), (("sex",), 2)]


def test_a_model_of_the_whole_table_is_about_all_columns_but_the_unit():
    frame = frame_of([(1, "a", "b", "flu"), (2, "a", "c", "flu")])
    assert ac.measure(frame, ac.UniqueWithSensitive, unit="person").columns == ("sex", "town", "disease")
    assert ac.measure(frame, ac.UniqueWithSensitive).columns == ("person", "sex", "town", "disease")


def test_two_columns_tell_people_apart_together():
    frame = frame_of([(1, "a", "x", "flu"), (1, "b", "x", "flu"), (1, "a", "x", "flu")])
    assert ac.measure(frame, ac.KAnonymity(k=2), quasi="town", unit=["person", "sex"]).observed == 2


def test_what_needs_people_does_not_hold_without_a_unit():
    found = ac.measure(frame_of([(1, "a", "b", "flu")]), ac.HalfOfClass, quasi=QUASI)
    assert not found.measured and not found.holds
    assert "no column says whose the rows are" in found.sentence


def test_what_does_not_hold_is_raised_by_name():
    frame = frame_of([(1, "a", "b", "flu"), (2, "a", "c", "flu")])
    found = ac.measure(frame, ac.KAnonymity(k=2), ac.Singletons(max_singletons=2), quasi=QUASI)
    with pytest.raises(ac.RefusedError, match="k_anonymity") as refused:
        found.raise_if_unsafe()
    assert len(refused.value.reasons) == 1
    ac.measure(frame, ac.Singletons(max_singletons=2), quasi=QUASI).raise_if_unsafe()


K, L = ac.KAnonymity(k=2), ac.LDiversity(l=2)
REFUSED = [
    ((), {}, "no model is given"),
    ((K,), {}, "give quasi="),
    ((K,), {"quasi": []}, "give quasi="),
    ((L,), {"quasi": QUASI}, "give sensitive="),
    ((K,), {"quasi": QUASI, "sensitive": "disease"}, "sensitive= would have no effect"),
    ((ac.PersonalPatterns,), {"quasi": QUASI}, "quasi= would have no effect"),
    ((ac.KAnonymity(k=2, columns=("sex",)),), {"quasi": QUASI}, "quasi= would have no effect"),
    ((ac.KAnonymity,), {"quasi": QUASI}, r"write KAnonymity\(k=...\)"),
    (("k_anonymity",), {"quasi": QUASI}, "a model is wanted"),
    ((K,), {"quasi": "born"}, "no column named 'born'"),
    ((K,), {"quasi": QUASI, "unit": "born"}, "no column named 'born'"),
    ((K,), {"quasi": ["sex", "person"], "unit": "person"}, "person says who is counted"),
    ((K,), {"quasi": ["sex", "sex"]}, "named twice"),
    ((L,), {"quasi": QUASI, "sensitive": "sex"}, "named twice"),
]


@pytest.mark.parametrize(("models", "arguments", "words"), REFUSED)
def test_a_call_that_cannot_be_meant_is_refused(models, arguments, words):
    with pytest.raises(ac.InvalidInputError, match=words):
        ac.measure(frame_of([(1, "a", "b", "flu")]), *models, **arguments)


def test_a_model_that_needs_the_original_is_refused():
    from anon_core.models.restored_values import RestoredValues

    with pytest.raises(ac.InvalidInputError, match="needs more than the table"):
        ac.measure(frame_of([(1, "a", "b", "flu")]), RestoredValues(limit=0), quasi=QUASI)


def test_a_suite_without_columns_is_refused():
    with pytest.raises(TypeError, match="columns"):
        ac.KAnonymity.of_arguments({"k": 5})
