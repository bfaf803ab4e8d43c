"""Which rows of a person stay where only so many may: against lists, row by row."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.recoding.surplus_rows import cap_rows
from anon_core.table import Table
from tests.properties.persons import persons, projected
from tests.properties.tables import Cell, Row, table_of

NAMES = ("town", "sex", "illness")
QUASI = NAMES[:2]
ROWS = st.lists(
    st.tuples(st.sampled_from(["Alba", "Elva", None]), st.sampled_from("FM"), st.sampled_from("abc")),
    min_size=1,
    max_size=40,
)


def cells(table: Table) -> list[Row]:
    columns = [[one.domain.to_pylist()[code] for code in one.codes.tolist()] for one in table.columns]
    return list(zip(*columns, strict=True))


def shared_by(rows: list[Row], people: list[Cell]) -> dict[Row, int]:
    """Return how many people have each tuple of quasi-identifiers; rows of nobody known are one where there is none."""
    found: dict[Row, set[Cell]] = defaultdict(set)
    for row, person in zip(rows, people, strict=True):
        found[row[:2]] |= {person} - {None}
    return {key: max(len(some), 1) for key, some in found.items()}


def by_hand(rows: list[Row], people: list[Cell], most: int) -> Counter[Row]:
    """Sort the rows of each person, those first that most people share, a gap after all words, and keep the first."""
    shared, own = shared_by(rows, people), defaultdict(list)
    for row, person in zip(rows, people, strict=True):
        own[person].append(row)
    kept: Counter[Row] = Counter()
    for person, some in own.items():
        some.sort(key=lambda row: (-shared[row[:2]], [(cell is None, cell or "") for cell in row]))
        kept.update((*row, person) for row in (some if person is None else some[:most]))
    return kept


@settings(max_examples=200, deadline=None)
@given(rows=ROWS, most=st.integers(1, 4), data=st.data())
def test_so_many_rows_of_each_person_stay_those_that_most_people_share_first(
    rows: list[Row], most: int, data: st.DataObject
) -> None:
    people = data.draw(persons(len(rows)))
    whole = table_of((*NAMES, "whose"), projected(rows, people))
    capped = cap_rows(whole, NAMES, QUASI, unit="whose", most=most)
    assert Counter(cells(capped.kept)) == by_hand(rows, people, most)
    assert Counter(cells(capped.kept)) + Counter(cells(capped.left_out)) == Counter(projected(rows, people))
    assert capped.people == sum(times > most for person, times in Counter(people).items() if person is not None)


@settings(max_examples=100, deadline=None)
@given(rows=ROWS, most=st.integers(1, 4), data=st.data())
def test_neither_the_order_of_rows_nor_the_numbers_of_people_decide_which_stay(
    rows: list[Row], most: int, data: st.DataObject
) -> None:
    people = data.draw(persons(len(rows)))
    order = data.draw(st.permutations(range(len(rows))))
    names = sorted({person for person in people if person is not None})
    other = dict(zip(names, data.draw(st.permutations(names)), strict=True))

    def kept(rows: list[Row], people: list[Cell]) -> Counter[Row]:
        table = table_of((*NAMES, "whose"), projected(rows, people))
        return Counter(row[:-1] for row in cells(cap_rows(table, NAMES, QUASI, unit="whose", most=most).kept))

    renamed = [other.get(person) for person in people]
    assert kept(rows, people) == kept([rows[at] for at in order], [renamed[at] for at in order])


def test_without_quasi_identifiers_the_cells_decide() -> None:
    table = table_of((*NAMES, "whose"), [("Elva", "F", "b", "1"), ("Alba", "M", "a", "1"), ("Alba", "F", "c", "2")])
    kept = cap_rows(table, NAMES, (), unit="whose", most=1).kept
    assert Counter(cells(kept)) == Counter([("Alba", "M", "a", "1"), ("Alba", "F", "c", "2")])
    assert np.array_equal(np.sort(kept.columns[3].codes), [0, 1])
