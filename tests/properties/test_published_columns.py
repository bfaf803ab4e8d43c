"""What published columns show together, against sets of people in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core import kernels
from anon_core.detection import joint as joint_module
from anon_core.detection import shared_values as shared_module
from anon_core.detection.joint import joint
from anon_core.detection.shared_values import shared_values
from anon_core.frequency import FrequencyTable
from anon_core.measures.diversity.homogeneity import homogeneity
from tests.properties.tables import table_of

NAMES = ("a", "b", "c")
VALUES = ("x", "y", None)
Rows = list[tuple[Hashable, ...]]
"""Three cells and the person, None where nobody knows whose row it is."""


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """People with 1 to 6 rows each, and rows of nobody known."""
    people = draw(st.integers(1, 8))
    owners = [person for person in range(people) for _ in range(draw(st.integers(1, 6)) if draw(st.booleans()) else 1)]
    owners += [None] * draw(st.integers(0, 4))
    return [(*(draw(st.sampled_from(VALUES)) for _ in NAMES), owner) for owner in owners]


def counted(rows: Rows, *, people: bool) -> FrequencyTable:
    owners = [None if row[3] is None else f"p{row[3]}" for row in rows]
    table = table_of((*NAMES, "who"), [(*row[:3], owner) for row, owner in zip(rows, owners, strict=True)])
    return FrequencyTable.of(table, NAMES, unit="who" if people else None)


def crowd(owners: Iterable[Hashable]) -> set[Hashable]:
    """Whom a class has: the people known, or one whom nobody knows."""
    known = {one for one in owners if one is not None}
    return known or {None}


def classes(rows: Rows, at: Sequence[int]) -> dict[tuple[Hashable, ...], set[Hashable]]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[i] for i in at)].append(row[3])
    return {key: crowd(owners) for key, owners in found.items()}


def as_people(rows: Rows, *, people: bool) -> Rows:
    return rows if people else [(*row[:3], at) for at, row in enumerate(rows)]


@settings(max_examples=300)
@given(rows=tables(), people=st.booleans(), k=st.integers(2, 4))
def test_people_with_values_that_too_few_share_are_found_like_by_hand(rows: Rows, people: bool, k: int) -> None:
    plain = as_people(rows, people=people)
    single = [classes(plain, [at]) for at in range(3)]
    known: set[Hashable] = set()
    strange: set[Hashable] = set()
    for at in [(0,), (1,), (2,), *combinations(range(3), 2)]:
        for key, owners in classes(plain, at).items():
            common = len(at) == 1 or all(len(single[i][value,]) >= k for i, value in zip(at, key, strict=True))
            if len(owners) < k and common:
                known |= owners - {None}
                if owners == {None}:
                    strange |= {row[:3] for row in plain if tuple(row[i] for i in at) == key}
    found = shared_values(counted(rows, people=people), NAMES, k=k)
    assert found.alone == len(known) + len(strange)
    assert found.rows == (len({row[3] for row in rows} - {None}) or 1 if people else len(rows))


@settings(max_examples=100)
@given(rows=tables(), people=st.booleans(), k=st.integers(2, 4))
def test_how_pairs_are_counted_does_not_matter(rows: Rows, people: bool, k: int) -> None:
    table = counted(rows, people=people)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_module, "_FEW_CELLS", 0)
        patch.setattr(shared_module, "_MAX_CELLS_PER_ENTRY", 0)
        patch.setattr(kernels, "compiled_is_worth", lambda _: False)
        ways = [shared_values(table, NAMES, k=k)]
        patch.undo()
        patch.setattr(kernels, "compiled_is_worth", lambda _: False)
        ways.append(shared_values(table, NAMES, k=k))
        patch.setattr(kernels, "compiled_is_worth", lambda _: True)
        ways.append(shared_values(table, NAMES, k=k))
    assert ways[0] == ways[1] == ways[2]


@settings(max_examples=300)
@given(rows=tables(), people=st.booleans())
def test_values_that_a_class_gives_away_are_counted_like_by_hand(rows: Rows, people: bool) -> None:
    plain = as_people(rows, people=people)
    of_class, of_pair, of_value = classes(plain, (0, 1)), classes(plain, (0, 1, 2)), classes(plain, (2,))
    commonest = max(map(len, of_value.values()))
    chosen: dict[str, set[tuple[Hashable, ...]]] = {"certain": set(), "uncommon": set(), "mostly": set()}
    for (*quasi, value), owners in of_pair.items():
        whole = of_class[tuple(quasi)]
        having = len(owners & whole)
        if having == len(whole):
            chosen["certain"].add(tuple(quasi))
            if len(of_value[value,]) < commonest:
                chosen["uncommon"].add(tuple(quasi))
        if having * 10 >= len(whole) * 9:
            chosen["mostly"].add(tuple(quasi))
    found = homogeneity(counted(rows, people=people), ("a", "b"), "c")
    for name, keys in chosen.items():
        known = {one for key in keys for one in of_class[key] if one is not None}
        assert getattr(found, name) == len(known) + sum(of_class[key] == {None} for key in keys), name


@settings(max_examples=200)
@given(rows=tables(), people=st.booleans(), k=st.integers(2, 4))
def test_the_smallest_set_to_leave_out_is_the_smallest_one(rows: Rows, people: bool, k: int) -> None:
    plain, others = as_people(rows, people=people), (1, 2)
    found = joint(counted(rows, people=people), ["b", "c"], k=k)

    def k_without(names: Iterable[int]) -> int:
        return min(map(len, classes(plain, [at for at in range(3) if at not in names]).values()))

    assert found.k == k_without(())
    sizes = [len(names) for size in (1, 2) for names in combinations(others, size) if k_without(names) >= k]
    if found.k < k:
        assert {tuple(NAMES.index(name) for name in names): reached for names, reached in found.without.items()} == {
            names: k_without(names) for size in (1, 2) for names in combinations(others, size)
        }
        assert (found.smallest is None) == (not sizes)
        if found.smallest is not None:
            assert found.proven and len(found.smallest) == min(sizes)


def test_with_many_columns_they_are_left_out_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_module, "MAX_SETS_TRIED", 0)
    rows = [(str(at % 2), str(at), str(at), at) for at in range(12)]
    found = joint(counted(rows, people=False), ["b", "c"], k=3)
    assert (found.smallest, found.proven, found.k, found.alone) == (("b", "c"), False, 1, 12)


def test_a_person_with_many_rows_is_one_of_those_who_share_a_value() -> None:
    rows = [("x", "x", "x", at) for at in range(20)] + [("x", "y", "x", 3)] * 9
    assert shared_values(counted(rows, people=False), NAMES, k=5).alone == 0
    assert shared_values(counted(rows, people=True), NAMES, k=5).alone == 1


def test_nothing_is_alone_in_a_table_of_one_value() -> None:
    table = FrequencyTable.of(table_of(NAMES, [("x", "x", "x")] * 5))
    assert shared_values(table, NAMES, k=5).alone == 0
