"""Coarsening: nothing is separated that was together, order stays, and doing it twice changes nothing."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.hierarchy.coarsen import Coarsened, coarsened
from anon_core.hierarchy.numbers import number_in
from anon_core.spec.columns import DeclaredColumn as Declared
from anon_core.table import from_arrow

NUMBERS = st.one_of(
    st.integers(-(10**7), 10**7).map(str),
    st.integers(-(10**40), 10**40).map(str),
    st.decimals(-(10**6), 10**6, places=2, allow_nan=False).map(lambda number: f"{number:f}"),
    st.sampled_from(["0", "-0", "499.5", "500", "-500", "1500", " 7 ", "1E3", "\u0661\u0662\u0663", "-0.5", "2.50"]),
)
CELLS = st.lists(st.one_of(NUMBERS, st.none()), max_size=30)
ROUNDS = st.sampled_from(
    [
        {"round": 1000, "top": 150000, "bottom": 0},
        {"round": 1000},
        {"round": 0.25, "top": 10},
        {"round": 0.1},
        {"round": 7, "bottom": -70},
    ]
)
KINDS = st.sampled_from([None, "decimal"])


def coarse(cells: list[str | None], folder: Path = Path(), **declared: Any) -> Coarsened:
    table = from_arrow(pa.table({"x": pa.array(cells, pa.string())}))
    return coarsened(table.columns[0], Declared.model_validate({"role": "sensitive", **declared}), folder)


def cells_of(found: Coarsened) -> list[str | None]:
    domain = found.column.domain.to_pylist()
    return [domain[code] for code in found.column.codes.tolist()]


def value(label: str | None) -> Decimal:
    number = number_in((label or "").split(" or ")[0])
    assert number is not None
    return number


@settings(max_examples=300, deadline=None)
@given(cells=CELLS, rule=ROUNDS, kind=KINDS)
def test_numbers_become_the_nearest_multiple_with_ends_together(
    cells: list[str | None], rule: dict[str, Any], kind: str | None
) -> None:
    found = coarse(cells, coarsen=rule, type=kind)
    width = Fraction(str(rule["round"]))
    for cell, label in zip(cells, cells_of(found), strict=True):
        if cell is None:
            assert label is None
            continue
        number = number_in(cell)
        assert number is not None
        steps = abs(Fraction(number)) / width
        nearest = (int(steps) + (steps - int(steps) >= Fraction(1, 2))) * (1 if number >= 0 else -1) * width
        top, bottom = rule.get("top"), rule.get("bottom")
        end = "or more" if top is not None and nearest >= top else "or less" if bottom is not None else ""
        end = end if end != "or less" or nearest <= bottom else ""
        expected = top if end == "or more" else bottom if end == "or less" else nearest
        assert Fraction(value(label)) == Fraction(str(expected)) if end else Fraction(value(label)) == nearest
        assert (label or "").endswith(end) if kind is None else number_in(label) is not None
    assert not found.unread.any()


@settings(max_examples=200, deadline=None)
@given(cells=CELLS, rule=ROUNDS, kind=KINDS)
def test_order_stays_equal_numbers_stay_together_and_twice_is_once(
    cells: list[str | None], rule: dict[str, Any], kind: str | None
) -> None:
    published = cells_of(coarse(cells, coarsen=rule, type=kind))
    known = [(number, label) for cell, label in zip(cells, published, strict=True) if (number := number_in(cell))]
    known.sort(key=lambda pair: pair[0])
    labels = [value(label) for _, label in known]
    assert labels == sorted(labels)
    assert len({(number, label) for number, label in known}) == len({number for number, _ in known})
    assert cells_of(coarse(published, coarsen=rule, type=kind)) == published


@settings(max_examples=100, deadline=None)
@given(
    days=st.lists(st.one_of(st.none(), st.dates()), max_size=20),
    part=st.sampled_from(["month", "quarter", "year", "decade"]),
)
def test_dates_keep_their_order_and_twice_is_once(days: list[Any], part: str) -> None:
    cells = [None if day is None else day.isoformat() for day in days]
    published = cells_of(coarse(cells, coarsen={"date": part}))
    pairs = sorted((cell, label) for cell, label in zip(cells, published, strict=True) if cell and label)
    assert len(pairs) == sum(day is not None for day in days)
    assert [label for _, label in pairs] == sorted(label for _, label in pairs)
    assert cells_of(coarse(published, coarsen={"date": part})) == published


@pytest.mark.parametrize(
    ("cells", "rule", "published"),
    [
        (["499", "500", "-500", "149499", "149500", "9e9"], {"round": 1000, "top": 150000},
         ["0", "1000", "-1000", "149000", "150000 or more", "150000 or more"]),
        (["0.05", "0.15", "0,3"], {"round": 0.1}, ["0.1", "0.2", "*"]),
        (["0,05", "3,25", "-7"], {"round": 0.5}, ["0.0", "3.5", "-7.0"]),
        (["2019-05-15", "2019-06", "31.12.2019"], {"date": "month"}, ["2019-05", "2019-06", "*"]),
        (["21/01/1949", "03/04/1950"], {"date": "quarter"}, ["1949-Q1", "1950-Q2"]),
        (["1994-05-15"], {"date": "decade"}, ["1990s"]),
    ],
)  # fmt: skip
def test_cells_are_published_like_this(cells: list[str], rule: dict[str, Any], published: list[str]) -> None:
    assert cells_of(coarse(list(cells), coarsen=rule)) == published


def test_a_number_in_which_a_point_may_divide_thousands_is_not_rounded() -> None:
    found = coarse(["15.000", "7.500", "12"], coarsen={"round": 1000})
    assert found.unread.sum() == 2 and "thousands" in found.wanted
    assert not coarse(["15.000", "7.5"], coarsen={"round": 1}).unread.any()


def test_a_category_is_published_at_its_level_and_a_label_of_that_level_stays(tmp_path: Path) -> None:
    (tmp_path / "ill.csv").write_text("flu;lung;any\ncold;lung;any\ngout;joint;any\nlung;lung;any\n")
    declared = {"hierarchy": {"file": "ill.csv"}, "coarsen": {"level": 1}}
    cells = ["flu", "cold", "gout", None, "scurvy"]
    once = cells_of(coarse(cells, tmp_path, **declared))
    assert once[0] == once[1] != once[2] == "joint" and once[3:] == [None, "*"]
    assert cells_of(coarse(once[:4], tmp_path, **declared)) == once[:4]
