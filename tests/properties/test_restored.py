"""Restored values against their definition, person by person."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.measures.restored import MAX_CHANCE, SUPPORTS, Paired, restored

Row = tuple[Any, ...]
TOWNS = {town: (f"{town}", f"{town // 2}x", f"{town // 4}y") for town in range(8)}
"""Level 0, 1 and the root of each."""


@st.composite
def published(draw: st.DrawFn) -> list[Row]:
    """People: who (several rows may be one's), the town, the level that is published, and three other columns."""
    rows = draw(st.integers(2, 40))
    kind = draw(st.sampled_from(["code", "free", "code for some", "two together"]))
    level = draw(st.sampled_from([1, 2, None]))
    drawn = []
    for number in range(rows):
        town = draw(st.integers(0, 7))
        first, second = draw(st.integers(0, 3)), draw(st.integers(0, 2))
        third = {"code": town, "free": draw(st.integers(0, 9)), "code for some": town if town < 3 else 9}.get(kind, 0)
        if kind == "two together":
            first, second = town % 4, town // 4
        own = draw(st.integers(0, 2)) if level is None else level
        drawn.append((draw(st.integers(0, number)), town, own, first, second, third))
    return drawn * draw(st.sampled_from([1, 1, 3]))


def as_paired(rows: list[Row], people: bool) -> Paired:
    labels = sorted({label for path in TOWNS.values() for label in path})
    code = {label: number for number, label in enumerate(labels)}
    counts = Counter(dict.fromkeys(rows, 1)) if people else Counter((0, *row[1:]) for row in rows)
    listed = sorted(counts)
    return Paired(
        column="town",
        levels=tuple(np.array([code[TOWNS[row[1]][level]] for row in listed]) for level in range(2)),
        label=np.array([code[TOWNS[row[1]][row[2]]] for row in listed]),
        names=("a", "b", "c"),
        codes=tuple(np.array([row[3 + at] for row in listed]) for at in range(3)),
        sizes=(4, 3, 10),
        weights=np.array([counts[row] for row in listed]),
        units=np.array([row[0] for row in listed]) if people else None,
    )


def by_hand(rows: list[Row], people: bool, recoded: str = "") -> tuple[int, int, int, dict[tuple[str, ...], int]]:
    """Restored, hidden, and what each rule restores, by plain counting over all people."""
    cells = {(row[0] if people else at, *row[1:]) for at, row in enumerate(rows)}
    path = {cell: TOWNS[cell[1]] for cell in cells}

    def told(of: dict[Any, set[Any]], same: dict[Any, set[Any]], group: Any, value: Any) -> bool:
        others = len(of[group]) - 1
        return others > 0 and 20 * (len(same[group, value]) - 1) >= 19 * others

    def counted(key: Any, value: Any) -> tuple[dict[Any, set[Any]], dict[Any, set[Any]]]:
        of, same = defaultdict(set), defaultdict(set)
        for cell in cells:
            of[key(cell)].add(cell[0])
            same[key(cell), value(cell)].add(cell[0])
        return of, same

    def label(cell: Row) -> str:
        return path[cell][cell[2]]

    wanted, hidden = {cell: (label(cell), 0, path[cell][0]) for cell in cells}, set()
    for level in range(2):
        of, same = counted(label, lambda cell, level=level: path[cell][level])
        for cell in cells:
            # A level that reads like the label, or lies above one that does, is not finer.
            finer = label(cell) not in path[cell][: level + 1]
            if finer and not told(of, same, label(cell), path[cell][level]):
                hidden.add(cell)
                wanted[cell] = (label(cell), level, path[cell][level])
    of, same = counted(label, wanted.get)
    shares = {key: len(same[key]) / sum(len(s) for k, s in same.items() if k[0] == key[0]) for key in same}

    def rule(by: tuple[int, ...], tried: int) -> set[Row]:
        def key(cell: Row) -> Any:
            return (label(cell), *(cell[3 + at] for at in by))

        of, same = counted(key, wanted.get)
        right, wrong = defaultdict(Counter), Counter()
        for (group, value), whose in same.items():
            others = len(of[group]) - 1
            support = sum(others >= least for least in SUPPORTS)
            if not others:
                continue
            if told(of, same, group, value):
                if any(wanted[cell] == value and key(cell) == group and cell in hidden for cell in cells):
                    right[support][group, value] = len(whose)
            elif any(20 * len(same[g, v]) >= 19 * others for g, v in same if g == group and v != value):
                wrong[support] += len(whose)
        found = set()
        for support, groups in right.items():
            rights = sum(groups.values())
            chance = 0.0
            for group, value in groups:
                n = min(len(of[group]), 200)
                p = [share for (one, _), share in shares.items() if one == group[0]]
                if len(same[group, value]) == len(of[group]):
                    likely = sum(one**n for one in p)
                else:
                    likely = sum(
                        1.0 if one >= 0.95 else exp(-n * (0.95 * log(0.95 / one) + 0.05 * log(0.05 / (1 - one))))
                        for one in p
                    )
                chance += min(log(likely), 0.0)
            if 20 * rights >= 19 * (rights + wrong[support]) and chance <= log(MAX_CHANCE / tried):
                found |= {cell for cell in cells if (key(cell), wanted[cell]) in groups and cell in hidden}
        return found

    def size(some: set[Row]) -> int:
        return len({cell[0] for cell in some})

    def rare(found: set[Row], at: int) -> set[Row]:
        groups = defaultdict(set)
        for cell in cells:
            groups[label(cell), cell[3 + at]].add(cell[0])
        least = log(MAX_CHANCE / (3 * len(groups)))
        kept = set()
        for cell in found:
            people, p = groups[label(cell), cell[3 + at]], shares[label(cell), wanted[cell]]
            whole = {one for one in cells if (label(one), one[3 + at]) == (label(cell), cell[3 + at])}
            having = {one[0] for one in whole if wanted[one] == wanted[cell]}
            likely = len(people) * log(p)
            if len(having) < len(people):
                likely = -len(people) * (0.95 * log(0.95 / p) + 0.05 * log(0.05 / (1 - p)))
            level = wanted[cell][1]
            beside = [one for one in cells if one[3 + at] == cell[3 + at]]
            like = {one[0] for one in beside if path[one][level] == path[cell][level]}
            everywhere = 20 * len(like) >= 19 * len({one[0] for one in beside})
            if 10 * len(same[label(cell), wanted[cell]]) <= len(of[label(cell)]) and likely <= least and everywhere:
                kept.add(cell)
        return kept

    names, rules, all_found, unique = "abc", {}, set(), set()
    for at in range(3):
        if all_found != hidden:
            rules[(names[at],)] = rule((at,), 3)
    for found in rules.values():
        all_found |= found
    # Singles are tried until nothing is left at the beginning of their round.
    for at in range(3):
        sizes = defaultdict(set)
        for cell in cells:
            sizes[label(cell), cell[3 + at]].add(cell[0])
        if all(len(one) < 2 for one in sizes.values()):
            unique.add(at)
    pairs = list(combinations([at for at in range(3) if at not in unique], 2))
    before = set(all_found)
    for by in pairs if before != hidden else []:
        found = rule(by, len(pairs)) - before
        rules[tuple(names[at] for at in by)] = found
        all_found |= found
    beside = {by: found for by, found in rules.items() if set(by) - set(recoded)}
    together = 20 * size(set().union(*beside.values())) >= size(hidden)
    keys = {}
    for by, found in rules.items():
        if (20 if by in beside else 2) * size(found) >= size(hidden) or (together and by in beside):
            keys[by] = found
        elif by in beside and len(by) == 1:
            keys[by] = rare(found, names.index(by[0]))
    told = set().union(*keys.values())
    return size(told), size(all_found - told), size(hidden), {by: size(one) for by, one in keys.items() if one}


@settings(max_examples=300)
@given(published(), st.booleans(), st.sampled_from(["", "a", "ab", "abc"]))
def test_the_counts_are_those_of_the_definition(rows: list[Row], people: bool, recoded: str) -> None:
    found = restored(replace(as_paired(rows, people), recoded=frozenset(recoded)))
    expected = by_hand(rows, people, recoded)
    assert (found.people, found.loose, found.hidden, {one.by: one.people for one in found.rules}) == expected


def paired_towns(rows: int, *others: list[int]) -> Paired:
    """Twenty towns in five provinces, published as their province, beside columns by town, or by row."""
    towns = np.random.default_rng(1).integers(0, 20, rows)
    columns = [np.array(one)[towns] if len(one) == 20 else np.array(one) for one in others]
    return Paired(
        column="town",
        levels=(towns,),
        label=20 + towns // 4,
        names=tuple(f"column {n}" for n in range(len(columns))),
        codes=tuple(columns),
        sizes=tuple(int(one.max()) + 1 for one in columns),
        weights=np.ones(rows, np.int64),
    )


def test_a_code_beside_its_recoded_name_restores_every_cell() -> None:
    found = restored(paired_towns(1000, list(range(20))))
    assert (found.people, found.hidden) == (1000, 1000) and found.rules[0].by == ("column 0",)


def test_two_columns_that_are_a_code_together_restore_every_cell() -> None:
    found = restored(paired_towns(1000, [town % 2 for town in range(20)], [town // 2 % 2 for town in range(20)]))
    assert found.people == 1000 and [one.by for one in found.rules] == [("column 0", "column 1")]


def test_a_code_for_one_town_in_ten_restores_its_cells() -> None:
    found = restored(paired_towns(2000, [town if town < 2 else 19 for town in range(20)]))
    assert 100 < found.people < 300


def test_a_code_that_is_split_over_many_columns_restores_every_cell() -> None:
    """Each column tells the rows of one town, one in forty of the hidden cells; all together they tell them all."""
    towns = 40
    flags = [[int(town == one) for town in range(towns)] for one in range(towns)]
    rows = np.arange(4000) % towns
    paired = Paired(
        column="town",
        levels=(rows,),
        label=towns + rows // 8,
        names=tuple(f"in {one}" for one in range(towns)),
        codes=tuple(np.array(flag)[rows] for flag in flags),
        sizes=(2,) * towns,
        weights=np.ones(4000, np.int64),
    )
    found = restored(paired)
    assert (found.people, found.loose, found.hidden) == (4000, 0, 4000)


@pytest.mark.parametrize(("towns", "told"), [(40, 20), (5, 0)])
def test_a_flag_of_one_rare_town_restores_it_and_one_of_a_common_value_is_loose(towns: int, told: int) -> None:
    """Twenty people of 4,000 have the flag: of a town of one in 40 that is no habit, of one in 5 it may be one."""
    rows = np.arange(4000) % towns
    flag = ((rows == 0) & (np.arange(4000) < 20 * towns)).astype(np.int64)
    paired = Paired(
        column="town",
        levels=(rows,),
        label=np.full(4000, towns),
        names=("flag", "free"),
        codes=(flag, np.arange(4000) % 7),
        sizes=(2, 7),
        weights=np.ones(4000, np.int64),
    )
    found = restored(paired)
    assert (found.people, found.people + found.loose) == (told, 20)


def test_a_column_that_tells_a_rare_town_only_beside_the_label_is_no_flag_of_it() -> None:
    """As a year of birth does where one town is left under a label: other towns have people of that year, too."""
    rows = np.arange(4000) % 40
    year = np.where((rows == 0) | (np.arange(4000) % 50 == 1), 1, 0)
    label = np.where((year == 1) & (rows > 0), rows, 40)
    paired = Paired(
        column="town",
        levels=(rows,),
        label=label,
        names=("year", "free"),
        codes=(year, np.arange(4000) % 7),
        sizes=(2, 7),
        weights=np.ones(4000, np.int64),
    )
    found = restored(paired)
    assert (found.people, found.loose) == (0, 100)


@pytest.mark.parametrize(("towns", "told"), [(20, 1000), (4, 0)])
def test_a_recoded_column_is_a_key_if_it_tells_half(towns: int, told: int) -> None:
    """Classes over recoded columns have k people whatever a label stands for, so it takes more to refuse."""
    paired = paired_towns(1000, [min(town, towns) for town in range(20)])
    assert restored(paired).people > 100
    assert restored(replace(paired, recoded=frozenset(paired.names))).people == told


def test_columns_that_know_nothing_of_the_towns_restore_none() -> None:
    draw = np.random.default_rng(2)
    for rows in (30, 200, 5000):
        free = [draw.integers(0, size, rows).tolist() for size in (2, 10, 100, rows // 2, rows, 10 * rows)]
        found = restored(paired_towns(rows, *free))
        assert (found.people, found.loose) == (0, 0), rows


def test_what_the_label_says_alone_is_not_restored() -> None:
    one, codes = np.zeros(100, np.int64), np.zeros(100, np.int64)
    paired = Paired(
        column="town",
        levels=(one,),
        label=one + 1,
        names=("code",),
        codes=(codes,),
        sizes=(1,),
        weights=np.ones(100, np.int64),
    )
    assert restored(paired).hidden == 0


@given(published())
def test_a_column_that_is_the_same_for_all_restores_nothing(rows: list[Row]) -> None:
    assert restored(as_paired([(*row[:3], 0, 0, 0) for row in rows], people=True)).people == 0
