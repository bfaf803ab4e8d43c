"""What several rows of one person give away, against sets of people and their classes in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.measures.diversity.common_values import common_values
from anon_core.measures.dominance import contribution, dominance
from anon_core.measures.row_sets import row_sets
from tests.properties.persons import entries, everybody, members
from tests.properties.sensitive import Question, people_of, questions
from tests.properties.tables import table_of
from tests.properties.tiers import TIERS, tier

BY_PEOPLE = questions(max_rows=24, always=True)
MANY = settings(max_examples=200, deadline=None)


def classes_of(question: Question) -> dict[Hashable, set[Hashable]]:
    """The classes that each person has rows in; rows of nobody known take no part."""
    found: dict[Hashable, set[Hashable]] = {}
    for key, person in zip(question.small.project(question.quasi), people_of(question), strict=True):
        if person is not None:
            found.setdefault(person, set()).add(key)
    return found


@MANY
@given(question=BY_PEOPLE, way=st.sampled_from(TIERS))
def test_the_share_of_one_person_is_of_the_rows_of_all_people_of_the_class(question: Question, way: str) -> None:
    keys, people = question.small.project(question.quasi), people_of(question)
    inside = members(keys, people)
    rows: dict[Hashable, Counter[Hashable]] = {key: Counter() for key in inside}
    for key, person in zip(keys, people, strict=True):
        of = ("nobody", key) if person is None else person
        if of in inside[key]:
            rows[key][of] += 1
    shares = {key: [Fraction(n, own.total()) for n in own.values() if n > 1] for key, own in rows.items()}
    failing = [key for key, some in shares.items() if any(share > Fraction(1, 2) for share in some)]
    with tier(way):
        found = dominance(question.frequencies.project(question.quasi))
    assert found.largest_share == float(max((share for some in shares.values() for share in some), default=0))
    assert (found.classes, found.classes_failing) == (len(inside), len(failing))
    assert found.people == len(everybody(inside.values()))
    assert found.people_failing == len(everybody(inside[key] for key in failing))


@MANY
@given(question=BY_PEOPLE, need=st.integers(1, 4), way=st.sampled_from(TIERS))
def test_common_values_are_what_intersecting_sets_leaves(question: Question, need: int, way: str) -> None:
    people = people_of(question)
    values = [row[0] for row in question.small.project([question.sensitive])]
    own: dict[Hashable, set[object]] = {}
    for person, value in zip(people, values, strict=True):
        if person is not None:
            own.setdefault(person, set()).add(value)
    with tier(way):
        found = common_values(question.frequencies, question.quasi, question.sensitive, need)
    changing = sum(len(some) > 1 for some in own.values())
    assert (found.changing, found.people) == (changing, len(own))
    inside = entries(question.small.project(question.quasi), values, people)
    left = {
        person: set.intersection(*({value for _, value in inside[key]} for key in keys))
        for person, keys in classes_of(question).items()
    }
    times = Counter(person for person in people if person is not None)
    if 20 * changing > sum(rows > 1 for rows in times.values()) or not left:
        assert (found.fewest, found.people_failing) == (None, 0)
        return
    judged = {person: some for person, some in left.items() if len(own[person]) == 1}
    assert all(own[person] <= some for person, some in judged.items()), "a person's own value is always among them"
    assert found.fewest == min(min(len(some), need) for some in judged.values())
    assert found.people_failing == sum(len(some) < need for some in judged.values())


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 99), need=st.integers(2, 60))
def test_more_values_than_a_word_has_bits_are_intersected_too(seed: int, need: int) -> None:
    rng = np.random.default_rng(seed)
    who, values = rng.integers(0, 400, 2000), rng.zipf(1.2, 400) % 300
    rows = [(str(q), str(values[p]), str(p)) for q, p in zip(rng.integers(0, 8, 2000), who, strict=True)]
    inside: dict[str, set[str]] = {}
    of: dict[str, set[str]] = {}
    for q, s, p in rows:
        inside.setdefault(q, set()).add(s)
        of.setdefault(p, set()).add(q)
    left = [len(set.intersection(*(inside[q] for q in own))) for own in of.values()]
    table = FrequencyTable.of(table_of(["q", "s", "p"], rows), unit="p")
    found = common_values(table, ["q"], "s", need)
    assert (found.fewest, found.people_failing) == (min(min(left), need), sum(n < need for n in left))


@MANY
@given(question=BY_PEOPLE, k=st.integers(1, 5))
def test_row_sets_are_what_comparing_everybody_with_everybody_says(question: Question, k: int) -> None:
    own = classes_of(question)
    found = row_sets(question.frequencies.project(question.quasi), k)
    assert found.people == len(own)
    assert found.by_all == sum(sum(mine == other for other in own.values()) < k for mine in own.values())
    assert found.by_two == sum(
        any(sum(set(two) <= other for other in own.values()) < k for two in combinations(mine, 2))
        for mine in own.values()
    )


def test_too_many_pairs_of_classes_are_not_compared_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("x", "1"), ("y", "1"), ("x", "2")]
    table = FrequencyTable.of(table_of(["q", "p"], rows), unit="p")
    monkeypatch.setattr("anon_core.measures.row_sets.MAX_PAIRS", 0)
    assert row_sets(table, 2).by_two is None


@MANY
@given(question=BY_PEOPLE, allowed=st.integers(1, 5))
def test_what_a_person_contributes_is_how_many_rows_they_have(question: Question, allowed: int) -> None:
    people = people_of(question)
    known = Counter(person for person in people if person is not None)
    times = list(known.values()) or [len(people)]
    found = contribution(question.frequencies, allowed)
    assert (found.most, found.people) == (max(times), len(times))
    assert found.people_above == sum(n > allowed for n in times)


def test_without_a_unit_none_of_it_is_measured() -> None:
    table = FrequencyTable.of(table_of(["q", "s"], [("x", "a")]))
    for measure in (
        lambda: dominance(table),
        lambda: contribution(table, 1),
        lambda: row_sets(table, 2),
        lambda: common_values(table, ["q"], "s", 2),
    ):
        with pytest.raises(InvalidInputError, match="without a unit"):
            measure()
