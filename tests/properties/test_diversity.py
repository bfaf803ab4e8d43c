"""l-diversity and (alpha,k)-anonymity against plain counting."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import InvalidInputError, UnknownColumnError
from anon_core.frequency import FrequencyTable
from anon_core.measures.classes import exact, sensitive_classes, share_above
from anon_core.measures.diversity.covers import smallest_covers
from anon_core.measures.diversity.diversity import (
    alpha_anonymity,
    distinct_diversity,
    entropy_diversity,
    l_diversity,
    recursive_diversity,
)
from anon_core.policy import Diversity
from tests.properties.sensitive import Class, Question, counted, failing, questions
from tests.properties.tables import Cell, Small, small_tables, table_of
from tests.properties.tiers import TIERS, tier

LIMITS = st.sampled_from([0.1, 0.25, 0.3, 1 / 3, 0.5, 0.6666666666666667, 1, 1.5, 2, 3.0000000000000004])


def measured(found: object) -> dict[str, int]:
    return {name: getattr(found, name) for name in ("classes_failing", "rows_failing")}


def perplexity(one: Class) -> float:
    return exp(-sum(share * log(share) for share in one.shares.values()))


def recursive(one: Class, c: float, l: int) -> bool:  # noqa: E741
    counts = sorted(one.counts.values(), reverse=True)
    return counts[0] < Fraction(str(c)) * sum(counts[l - 1 :])


@settings(max_examples=150, deadline=None)
@given(question=questions(), l=st.sampled_from([1, 2, 2.5, 3, 4]))
def test_distinct_diversity_is_what_counting_values_says(question: Question, l: float) -> None:  # noqa: E741
    classes = counted(question)
    found = distinct_diversity(question.classes, l=l)
    fewest = min(one.smallest_cover for one in classes)
    assert found.observed is not None
    assert found.observed <= fewest if found.at_least else found.observed == fewest
    assert not found.at_least or found.observed == ceil(l)
    if question.unit is None:
        assert (found.observed, found.at_least) == (min(len(one.counts) for one in classes), False)
    assert found.classes == len(classes)
    assert found.rows == len(frozenset().union(*(one.units for one in classes)))
    assert measured(found) == failing([one for one in classes if one.smallest_cover < l])
    assert found.holds == (found.observed >= l)


@settings(max_examples=150, deadline=None)
@given(question=questions(max_rows=24, values=tuple("abcdefgh")), need=st.integers(1, 9), way=st.sampled_from(TIERS))
def test_the_smallest_cover_of_each_class_is_what_trying_all_sets_of_values_finds(
    question: Question, need: int, way: str
) -> None:
    """Classes stand in another order here."""
    with tier(way):
        covers = smallest_covers(question.classes, need).tolist()
    several = [any(len(own) > 1 for own in one.values) for one in counted(question)]
    expected = [
        min(one.smallest_cover, need) if some else one.smallest_cover
        for one, some in zip(counted(question), several, strict=True)
    ]
    assert sorted(covers) == sorted(expected)


def test_classes_searched_in_many_portions_have_the_same_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    cells = (rng.integers(0, n, 3000) for n in (30, 12, 30))
    rows = [(str(q), str(s), str(p)) for q, s, p in zip(*cells, strict=True)]
    classes = sensitive_classes(FrequencyTable.of(table_of(["q", "s", "p"], rows), unit="p"), ["q"], "s")
    whole = smallest_covers(classes, 6)
    monkeypatch.setattr("anon_core.measures.diversity.covers._MAX_ENTRIES_AT_ONCE", 100)
    assert smallest_covers(classes, 6).tolist() == whole.tolist()
    assert len(set(whole.tolist())) > 1


@settings(max_examples=150, deadline=None)
@given(question=questions(), data=st.data())
def test_merging_classes_of_different_people_never_makes_them_less_diverse(
    question: Question, data: st.DataObject
) -> None:
    keys = question.small.project(question.quasi)
    merged = {key: data.draw(st.integers(0, 1)) for key in dict.fromkeys(keys)}
    classes = dict(zip(dict.fromkeys(keys), counted(question), strict=True))
    people = [unit for one in classes.values() for unit in one.units]
    if len(set(people)) < len(people) or any(isinstance(unit, tuple) for unit in people):
        return
    rows = [(str(merged[key]), *row) for key, row in zip(keys, question.small.rows, strict=True)]
    table = table_of(["m", *question.small.names], rows)
    together = FrequencyTable.of(table, ["m", question.sensitive], unit=question.unit)
    covers = smallest_covers(sensitive_classes(together, ["m"], question.sensitive), 9).tolist()
    for number, cover in zip(sorted(set(merged.values())), covers, strict=True):
        assert cover >= max(classes[key].smallest_cover for key, into in merged.items() if into == number)


def test_merging_classes_that_share_people_can_make_them_less_diverse() -> None:
    """Two people have a and b in one class and b and a in the other: in both together everybody has a."""
    rows = [("x", "a", "1"), ("x", "b", "2"), ("y", "b", "1"), ("y", "a", "2")]
    frequencies = FrequencyTable.of(table_of(["q", "s", "person"], rows), unit="person")
    assert distinct_diversity(sensitive_classes(frequencies, ["q"], "s"), l=2).holds
    found = distinct_diversity(sensitive_classes(frequencies, [], "s"), l=2)
    assert (found.observed, found.holds) == (1, False)


@settings(max_examples=150, deadline=None)
@given(question=questions(), l=st.sampled_from([1, 1.5, 2, 3]))
def test_entropy_diversity_is_e_to_the_entropy(question: Question, l: float) -> None:  # noqa: E741
    classes = counted(question)
    found = entropy_diversity(question.classes, l=l)
    assert found.observed == pytest.approx(min(map(perplexity, classes)), rel=1e-12)
    assert measured(found) == failing([one for one in classes if perplexity(one) < l - 1e-8])


@given(values=st.integers(1, 60), times=st.integers(1, 1000))
def test_values_that_are_equally_frequent_give_exactly_their_number(values: int, times: int) -> None:
    rows = [(f"v{n}",) for n in range(values)]
    once = FrequencyTable.of(table_of(["s"], rows))
    frequencies = FrequencyTable.from_codes(once.names, once.codes, once.domains, once.weights * times)
    found = entropy_diversity(sensitive_classes(frequencies, [], "s"), l=values)
    assert found.observed == values
    assert found.holds
    assert not entropy_diversity(sensitive_classes(frequencies, [], "s"), l=values + 1e-6).holds


def test_one_row_more_of_one_value_is_less_than_uniform() -> None:
    frequencies = FrequencyTable.of(table_of(["s"], [("a",), ("a",), ("b",), ("c",)]))
    found = entropy_diversity(sensitive_classes(frequencies, [], "s"), l=3)
    assert not found.holds
    assert found.observed == pytest.approx(2 ** (1.5))


@settings(max_examples=200, deadline=None)
@given(question=questions(), c=LIMITS, l=st.integers(1, 4))
def test_recursive_diversity_is_the_inequality_of_the_paper(question: Question, c: float, l: int) -> None:  # noqa: E741
    classes = counted(question)
    found = recursive_diversity(question.classes, c=c, l=l)
    assert measured(found) == failing([one for one in classes if not recursive(one, c, l)])
    assert found.holds == all(recursive(one, c, l) for one in classes)
    largest = [n for n in range(1, 20) if all(recursive(one, c, n) for one in classes)]
    assert found.largest_l == max(largest, default=0)
    if any(len(one.counts) < l for one in classes):
        assert found.observed is None
    else:
        assert found.observed is not None
        assert recursive_diversity(question.classes, c=found.observed * (1 + 1e-9), l=l).holds
        assert not recursive_diversity(question.classes, c=found.observed * (1 - 1e-9), l=l).holds


def test_recursive_diversity_is_strict_and_takes_c_as_it_is_written() -> None:
    rows: list[tuple[Cell, ...]] = [("a",)] * 55 + [("b",)] * 25
    classes = sensitive_classes(FrequencyTable.of(table_of(["s"], rows)), [], "s")
    assert 2.2 * 25 > 55, "binary floats say so"
    assert not recursive_diversity(classes, c=2.2, l=2).holds
    assert recursive_diversity(classes, c=2.2000000000000006, l=2).holds
    assert recursive_diversity(classes, c=2.2, l=2).observed == pytest.approx(2.2)


@settings(max_examples=150, deadline=None)
@given(question=questions(), alpha=LIMITS, k=st.integers(1, 4))
def test_alpha_is_the_largest_share_of_a_value(question: Question, alpha: float, k: int) -> None:
    classes = counted(question)
    found = alpha_anonymity(question.classes, alpha=alpha, k=k)
    shares = [Fraction(max(one.counts.values()), len(one.units)) for one in classes]
    assert found.observed == float(max(shares))
    assert found.k == min(len(one.units) for one in classes)
    bad = [
        one for one, share in zip(classes, shares, strict=True) if share > Fraction(str(alpha)) or len(one.units) < k
    ]
    assert measured(found) == failing(bad)


@settings(max_examples=80, deadline=None)
@given(small=small_tables(max_columns=5), data=st.data())
def test_knowing_one_more_column_never_makes_a_class_more_diverse(small: Small, data: st.DataObject) -> None:
    sensitive, *order = data.draw(st.permutations(small.names))
    frequencies = FrequencyTable.of(small.table)
    steps = [sensitive_classes(frequencies, order[:size], sensitive) for size in range(len(order) + 1)]
    for before, after in pairwise(steps):
        assert distinct_diversity(before, l=2).observed >= distinct_diversity(after, l=2).observed  # type: ignore[operator]
        assert before.sizes.min() >= after.sizes.min()
        assert alpha_anonymity(before, alpha=0.5).observed <= alpha_anonymity(after, alpha=0.5).observed  # type: ignore[operator]


def test_a_gap_is_a_value_of_its_own() -> None:
    frequencies = FrequencyTable.of(table_of(["q", "s"], [("x", "a"), ("x", None), ("y", None), ("y", None)]))
    found = distinct_diversity(sensitive_classes(frequencies, ["q"], "s"), l=2)
    assert (found.observed, found.classes_failing, found.rows_failing) == (1, 1, 2)


def test_a_person_with_two_values_counts_for_both_and_several_rows_of_one_person_once() -> None:
    rows = [("x", "a", "1"), ("x", "a", "1"), ("x", "b", "1"), ("x", "a", "2")]
    frequencies = FrequencyTable.of(table_of(["q", "s", "person"], rows), unit="person")
    classes = sensitive_classes(frequencies, ["q"], "s")
    assert classes.sizes.tolist() == [2]
    assert sorted(classes.counts.tolist()) == [1, 2]
    # Everybody in the class has value a, whatever else one of them has.
    assert alpha_anonymity(classes, alpha=0.9).observed == 1
    assert recursive_diversity(classes, c=2, l=2).observed == 2
    assert classes.certain.tolist() == [True, False]
    assert distinct_diversity(classes, l=2).observed == 1


def test_rows_of_nobody_known_bring_no_value_into_a_class_that_has_people() -> None:
    rows = [("x", "a", "1"), ("x", "a", "2"), ("x", "b", None), ("y", "a", None), ("y", "b", None)]
    frequencies = FrequencyTable.of(table_of(["q", "s", "person"], rows), unit="person")
    classes = sensitive_classes(frequencies, ["q"], "s")
    assert (classes.sizes.tolist(), classes.counts.tolist(), classes.rows) == ([2, 1], [2, 1, 1], 3)
    # All rows of y may be one person's, whose every value is certain.
    assert distinct_diversity(classes, l=2).classes_failing == 2


def test_one_row_is_a_class_without_any_diversity() -> None:
    classes = sensitive_classes(FrequencyTable.of(table_of(["q", "s"], [("x", "a")])), ["q"], "s")
    assert distinct_diversity(classes, l=2).observed == 1
    assert entropy_diversity(classes, l=2).observed == 1
    assert recursive_diversity(classes, c=3, l=2).observed is None
    assert recursive_diversity(classes, c=3, l=2).largest_l == 1
    assert alpha_anonymity(classes, alpha=0.5).observed == 1


def test_a_table_without_rows_and_a_column_that_is_not_there_are_refused() -> None:
    table = table_of(["q", "s"], [("x", "a")])
    with pytest.raises(InvalidInputError, match="without rows is not defined"):
        sensitive_classes(FrequencyTable.of(table.keep(np.array([False]))), ["q"], "s")
    with pytest.raises(UnknownColumnError, match="'nobody'"):
        sensitive_classes(FrequencyTable.of(table), ["q"], "nobody")


def test_each_kind_is_measured_as_asked() -> None:
    classes = sensitive_classes(FrequencyTable.of(table_of(["s"], [("a",), ("a",), ("b",)])), [], "s")
    assert l_diversity(classes, l=2) == distinct_diversity(classes, l=2)
    assert l_diversity(classes, kind=Diversity.ENTROPY, l=2) == entropy_diversity(classes, l=2)
    assert l_diversity(classes, kind=Diversity.RECURSIVE, l=2.0, c=3) == recursive_diversity(classes, c=3, l=2)
    for kind, l, c in (  # noqa: E741
        (Diversity.RECURSIVE, 2, None),
        (Diversity.DISTINCT, 2, 3.0),
        (Diversity.RECURSIVE, 2.5, 3.0),
        (Diversity.RECURSIVE, 0, 3.0),
        (Diversity.RECURSIVE, 2, 0.0),
    ):
        with pytest.raises(InvalidInputError):
            l_diversity(classes, kind=kind, l=l, c=c)


@given(part=st.integers(0, 2**40), whole=st.integers(1, 2**40), limit=st.floats(0, 2))
def test_shares_are_compared_exactly_however_many_digits_a_limit_has(part: int, whole: int, limit: float) -> None:
    above = share_above(np.array([part]), np.array([whole]), limit)
    assert above.tolist() == [Fraction(part, whole) > exact(limit)]
