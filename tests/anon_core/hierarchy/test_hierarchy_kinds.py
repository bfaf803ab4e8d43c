"""Hierarchies made from a column: cut points, frequency, neighbours, dates and numbers of every form."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anon_core.errors import HierarchyError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.kinds.dates import DateForm, by_date, form_of
from anon_core.hierarchy.kinds.frequency_groups import by_frequency
from anon_core.hierarchy.kinds.intervals import group_numbers
from anon_core.hierarchy.kinds.ordered_groups import Order, in_order, ordering_of
from anon_core.hierarchy.kinds.published_groups import read_groups
from anon_core.hierarchy.kinds.widths import by_cuts, by_intervals
from anon_core.hierarchy.numbers import reading_of
from anon_core.spec import Years
from tests.properties.tables import spelled, table_of

WORDS = st.one_of(
    st.sampled_from(["other", "other'", "other (level 2)", "*", "é", "", "[a, b]", "a", "b"]), st.text(max_size=3)
)
CELLS = st.lists(st.one_of(WORDS, st.integers(-3, 12).map(str), st.sampled_from(["5.0", "05", "1E1"])), min_size=1)
SIZES = st.sets(st.integers(2, 9), min_size=1, max_size=3).map(sorted)


@settings(max_examples=150, deadline=None)
@given(cells=CELLS, thresholds=SIZES)
def test_rare_values_become_other_until_other_is_no_small_class(cells: list[str], thresholds: list[int]) -> None:
    rows = Counter(cells)
    paths = by_frequency(rows, thresholds).paths
    for level, threshold in enumerate(thresholds):
        # By definition: the rare ones; then, as long as they are too few, the rarest of the others.
        joined = {value for value in rows if rows[value] < threshold}
        while joined and sum(rows[value] for value in joined) < threshold and len(joined) < len(rows):
            joined.add(min((value for value in rows if value not in joined), key=lambda v: (rows[v], v)))
        labels = {paths[value][level] for value in joined}
        assert len(labels) == bool(joined)
        assert not labels & set(rows), "the label is one of the values"
        assert all(label.startswith("other") for label in labels)
        assert all(paths[value][level] == value for value in rows if value not in joined)
    assert all(len(path) == len(thresholds) for path in paths.values())


def test_other_keeps_its_name_where_it_stays_the_same_and_gets_another_where_it_grows() -> None:
    rows = {"a": 1, "b": 2, "c": 30, "d": 400}
    assert by_frequency(rows, [3, 30, 40]).paths["a"] == ["other", "other (level 2)", "other (level 3)"]
    assert by_frequency(rows, [2, 3, 40]).paths["a"] == ["other", "other", "other (level 3)"]
    assert by_frequency(rows, [3]).paths == {"a": ["other"], "b": ["other"], "c": ["c"], "d": ["d"]}
    assert by_frequency({"x": 1, "y": 1, "z": 1}, [2]).paths == {"x": ["other"], "y": ["other"], "z": ["other"]}
    assert by_frequency({"x": 1, "y": 5}, [2]).paths == {"x": ["other"], "y": ["other"]}, "the next rarest joins"


def place_of(cells: list[str]) -> dict[str, tuple[int, Decimal | str]]:
    """Numbers by size, and texts in their own order after them; none of these where most cells are numbers.

    What a number is, the column decides (`,0` may be one): the tests of that stand below. The cells have no dates.
    """
    read = reading_of(cells)
    places: dict[str, tuple[int, Decimal | str]] = {}
    for cell in cells:
        number = read(cell)
        places[cell] = (1, cell) if number is None else (0, number)
    numbers = {cell: place for cell, place in places.items() if place[0] == 0}
    return numbers if len(numbers) * 2 > len(places) else places


@settings(max_examples=150, deadline=None)
@given(cells=CELLS, sizes=SIZES)
@example(cells=["other", "0", ",0"], sizes=[2])
@example(cells=["other", "*", "*", ",0"], sizes=[2])
def test_neighbours_are_merged_until_a_group_has_enough_rows(cells: list[str], sizes: list[int]) -> None:
    rows = Counter(cells)
    paths = in_order(rows, sizes).paths
    place = place_of(cells)
    rows = Counter({value: count for value, count in rows.items() if value in place})
    assert set(paths) == set(place)
    # What is merged next: first the spellings of one place, then the groups of the level below.
    groups = [{v for v in rows if place[v] == here} for here in sorted(set(place.values()))]
    for level, size in enumerate(sizes):
        merged: list[set[str]] = [set()]
        for group in groups:
            if sum(rows[v] for v in merged[-1]) >= size:
                merged.append(set())
            merged[-1] |= group
        if len(merged) > 1 and sum(rows[v] for v in merged[-1]) < size:
            last = merged.pop()
            merged[-1] |= last
        groups = merged
        by_label: dict[str, set[str]] = {}
        for value in rows:
            by_label.setdefault(paths[value][level], set()).add(value)
        assert sorted(map(sorted, by_label.values())) == sorted(map(sorted, groups))


def test_a_group_is_named_by_its_ends_and_a_single_value_by_itself() -> None:
    named = in_order({"-3": 2, "4": 2, "10": 2, "11.5": 2, "90": 5}, [4]).paths
    assert [named[value] for value in ("-3", "4", "10", "11.5", "90")] == [
        ["[-3, 4]"], ["[-3, 4]"], ["10-11.5"], ["10-11.5"], ["90"],
    ]  # fmt: skip
    assert in_order({"Aosta": 1, "Bard": 1, "Cogne": 9}, [2]).paths["Bard"] == ["[Aosta, Bard]"]
    assert in_order({"5": 9, "5.0": 9}, [2]).paths == {"5": ["5-5"], "5.0": ["5-5"]}, "one number is never split"


def test_days_are_merged_in_the_order_of_time() -> None:
    rows = {"03.02.2020": 1, "01.03.2020": 1, "02.01.2019": 1, "31.12.2021": 1}
    assert in_order(rows, [2]).paths["02.01.2019"] == ["[02.01.2019, 03.02.2020]"]


def test_among_dates_what_is_no_date_of_their_form_has_no_place() -> None:
    rows = {"13/02/1970": 2, "01/07/1963": 2, "14/05/1980": 2, "1970": 1, "1963-07-01": 1, "30/02/1970": 1, "": 1}
    paths = in_order(rows, [4]).paths
    assert paths == {day: ["[01/07/1963, 14/05/1980]"] for day in ("13/02/1970", "01/07/1963", "14/05/1980")}


def test_dates_of_which_the_month_cannot_be_told_are_not_put_in_the_order_of_letters() -> None:
    assert in_order({"03/04/2019": 2, "05/06/2018": 2}, [2]).paths == {}


def test_half_of_the_values_being_numbers_is_not_enough_for_their_order() -> None:
    assert ordering_of(["9", "10", "b", "a"]).order is Order.LETTERS
    assert sorted(ordering_of(["9", "10", "b", "a"]).places.values()) == [
        (0, Decimal(9), "9"), (0, Decimal(10), "10"), (2, "a", "a"), (2, "b", "b"),
    ]  # fmt: skip
    assert ordering_of(["9", "10", "a"]).order is Order.SIZE


def test_an_order_that_is_given_goes_before_every_other() -> None:
    rows = {"licenza": 1, "diploma": 1, "laurea": 3, "altro": 1}
    paths = in_order(rows, [2], ["licenza", "media", "diploma", "laurea"]).paths
    assert paths == {"licenza": ["[licenza, diploma]"], "diploma": ["[licenza, diploma]"], "laurea": ["laurea"]}
    with pytest.raises(HierarchyError, match="names a value twice"):
        in_order(rows, [2], ["laurea", "laurea"])


@pytest.mark.parametrize("build", [by_frequency, in_order])
@pytest.mark.parametrize(
    ("sizes", "said"),
    [([], "there is no number of rows"), ([1], "1 is too few rows"), ([5, 5], "5 does not lie above 5")],
)
def test_numbers_of_rows_must_make_sense(build: object, sizes: list[int], said: str) -> None:
    with pytest.raises(HierarchyError, match=said):
        build({"a": 1}, sizes)  # type: ignore[operator]


@settings(max_examples=100, deadline=None)
@given(
    numbers=st.lists(st.one_of(st.integers(-9, 40).map(str), st.sampled_from(["17.5", "18.0", "1E1"])), min_size=1),
    points=st.sets(st.sampled_from([Decimal(n) for n in ("-5", "0", "2.5", "18", "19", "30")]), min_size=1).map(sorted),
    data=st.data(),
)
def test_a_number_is_between_the_cut_points_next_to_it(
    numbers: list[str], points: list[Decimal], data: st.DataObject
) -> None:
    fewer = sorted(data.draw(st.sets(st.sampled_from(points), min_size=1)))
    paths = by_cuts([*numbers, "x"], [points, fewer]).paths
    assert set(paths) == set(numbers)
    for value in numbers:
        for level, cuts in enumerate([points, fewer]):
            label, number = paths[value][level], Decimal(value)
            if number < cuts[0]:
                assert label == f"<{cuts[0]}"
            elif number >= cuts[-1]:
                assert label == f">={cuts[-1]}"
            else:
                low, high = next((a, b) for a, b in pairwise(cuts) if a <= number < b)
                assert label in (f"[{low}, {high})", f"{low}-{high - 1}")
                whole = all(Decimal(n) % 1 == 0 for n in [*numbers, *points])
                assert label.startswith("[") == (not whole or low < 0)


@pytest.mark.parametrize(
    ("cuts", "said"),
    [
        ([], "there are none"),
        ([[]], "level 1 needs cut points"),
        ([[Decimal("nan")]], "level 1 needs cut points"),
        ([[Decimal(5), Decimal(5)]], "the cut points of level 1 do not grow: an interval would cover nothing"),
        ([[Decimal(5), Decimal(9)], [Decimal(7)]], "level 2 cuts at 7, level 1 does not: they would not nest"),
    ],
)
def test_cut_points_must_make_sense(cuts: list[list[Decimal]], said: str) -> None:
    with pytest.raises(HierarchyError, match=said):
        by_cuts(["1"], cuts)


@pytest.mark.parametrize("width", ["0", "-5", "nan", "inf"])
def test_an_interval_width_must_be_a_positive_number(width: str) -> None:
    with pytest.raises(HierarchyError, match="is no interval width"):
        by_intervals(["1"], [Decimal(width)])
    with pytest.raises(HierarchyError, match="15 is no multiple of 10"):
        by_intervals(["1"], [Decimal(5), Decimal(10), Decimal(15)])


def test_the_groups_of_a_release_are_read_from_its_labels() -> None:
    born = table_of(["born"], [("1950",), ("1952",), ("1960",), (None,)]).column("born")
    assert spelled(read_groups(born, ["1950-1952", "1960", None, "*"]))[1] == ["1950-1952", "1950-1952", "1960", None]
    with pytest.raises(HierarchyError, match=r"ranges of the released table overlap \(1 pair of neighbours\)"):
        read_groups(born, ["1950-1952", "1951-1960"])


def test_means_cannot_be_compared_with_the_values_they_stand_for() -> None:
    years = [(str(year),) for year in range(1950, 1960)]
    grouped = group_numbers(FrequencyTable.of(table_of(["born"], years)), Years(column="born", size=5, replace="mean"))
    means = [label for label in grouped.labels.to_pylist() if label is not None and label.startswith("~")]
    assert means == ["~1952.0", "~1957.0"]
    with pytest.raises(HierarchyError) as caught:
        read_groups(table_of(["born"], years).column("born"), [*means, "*", None])
    assert "a column replaced by means cannot be compared with its original" in str(caught.value)
    assert "2 distinct labels" in str(caught.value)
    assert "1952" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "text", "number"),
    [
        (["3,5"], "3,5", "3.5"),
        (["3,5", "1,234"], "1,234", "1.234"),
        (["0,123"], "0,123", "0.123"),
        ([",5"], ",5", "0.5"),
        (["other", "0", ",0"], ",0", "0"),
        (["1234,567"], "1234,567", "1234.567"),
        (["-3,5", "7"], "7", "7"),
        (["1,234"], "1,234", None),
        (["1,234", "56"], "56", "56"),
        (["3,5", "2.5"], "3,5", None),
        (["3,5", "1,234,567"], "3,5", None),
        (["3,5", "1,234.5"], "3,5", None),
        (["3,5", "1.234,5"], "1.234,5", None),
        (["3,5", "x,y"], "x,y", None),
        (["3,5", "21.01.1949"], "3,5", "3.5"),
    ],
)
def test_a_column_decides_once_whether_its_comma_is_a_decimal_one(
    column: list[str], text: str, number: str | None
) -> None:
    read = reading_of(column)(text)
    assert read == (None if number is None else Decimal(number))
    assert reading_of(column[::-1])(text) == read


def test_intervals_of_a_column_with_decimal_commas_are_written_with_points() -> None:
    assert by_intervals(["1,5", "12"], [Decimal(5)]).paths == {"1,5": ["[0, 5)"], "12": ["[10, 15)"]}


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["2019-05-15", "x"], DateForm.ISO),
        (["21.01.1949", "1.2.1950 10:00"], DateForm.DOTS),
        (["21/01/1949", "03/04/1950"], DateForm.DAY_FIRST),
        (["21-01-1949", "03-04-1950"], DateForm.DAY_FIRST),
        (["01/21/1949", "03/04/1950"], DateForm.MONTH_FIRST),
        (["03/04/1950"], DateForm.UNDECIDED),
        (["21/01/1949", "01/21/1949"], DateForm.UNDECIDED),
        (["21.01.1949", "2019-05-15"], DateForm.ISO),
        (["21.01.1949", "22.01.1949", "2019-05-15"], DateForm.DOTS),
        ([], DateForm.ISO),
    ],
)
def test_a_column_decides_once_how_its_dates_are_written(values: list[str], form: DateForm) -> None:
    assert form_of(values) is form is form_of(values[::-1])


@settings(max_examples=100, deadline=None)
@given(
    days=st.lists(st.dates(datetime.date(1000, 1, 1)), min_size=1),
    write=st.sampled_from(["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y 10:30", "%Y-%m-%d"]),
    stray=st.sampled_from(["", "x", "99.99.2019", "2019"]),
)
def test_a_date_is_never_taken_for_another(days: list[datetime.date], write: str, stray: str) -> None:
    written = {day.strftime(write).zfill(10): day for day in days}
    for value, (label, year) in by_date([*written, stray], ["day", "year"]).paths.items():
        assert label == written[str(value)].isoformat()
        assert year == f"{written[str(value)].year:04}"
    if write[1] in "dm" and "." in write:
        assert set(by_date(list(written), ["day"]).paths) == set(written)


def test_dates_of_which_the_day_cannot_be_told_are_not_read_and_the_reason_is_said() -> None:
    assert by_date(["03/04/2019", "05/06/2019"], ["year"]).paths == {}
    assert "does not tell whether the day or the month comes first" in form_of(["03/04/2019"]).wanted
