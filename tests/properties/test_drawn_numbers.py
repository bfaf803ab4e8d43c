"""The numbers that pictures of classes, risk and values draw, against plain counting."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.risk.rows_by_size import RowsBySize
from anon_core.report.plots.classes import risk_curve, rows_in_bins, size_bins
from anon_core.report.plots.drawing import named
from anon_core.report.plots.values import MAX_VALUES, value_bars
from tests.anon_core.report.drawable import by_value, classes
from tests.properties.tables import Cell

LONG = "x" + "9" * 5000  # More digits than Python reads as a number.


@pytest.mark.parametrize(
    ("values", "ordered"),
    [
        (["10", "9", "-1", None, "1e1", "0.5"], ["-1", "0.5", "9", "10", "1e1", "(gap)"]),
        (["10-19", "5-9", "100-109", "*", None], ["5-9", "10-19", "100-109", "*", "(gap)"]),
        (["b", "a", "ä", "B"], ["B", "a", "b", "ä"]),
        (["x10", "x009", LONG], ["x009", "x10", named(LONG)]),
        ([], []),
    ],
)
def test_values_are_in_their_order_and_a_gap_is_last(values: list[Cell], ordered: list[str]) -> None:
    found = by_value(values, list(range(len(values))), [1] * len(values))
    assert [bar.label for bar in value_bars(found, show_values=True)] == ordered


@given(
    rows=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).filter(any), max_size=90),
    show=st.booleans(),
)
def test_the_bars_hold_every_row_once(rows: list[tuple[int, int]], show: bool) -> None:
    safe, at_risk = [one for one, _ in rows], [two for _, two in rows]
    drawn = value_bars(by_value([f"v{n:02}" for n in range(len(rows))], safe, at_risk), show_values=show)
    assert len(drawn) == min(len(rows), MAX_VALUES + 1)
    assert sum(bar.safe for bar in drawn) == sum(safe)
    assert sum(bar.at_risk for bar in drawn) == sum(at_risk)
    if len(rows) > MAX_VALUES:
        largest = sorted(map(sum, rows), reverse=True)
        assert [bar.rows for bar in drawn[:-1]] == largest[:MAX_VALUES]
        assert drawn[-1].rows == sum(largest[MAX_VALUES:])
    else:
        assert [(bar.safe, bar.at_risk) for bar in drawn] == rows


SIZES = st.integers(1, 30) | st.integers(1, 3_000_000)
CLASSES = st.lists(SIZES, max_size=30)


def of_classes(every: list[int]) -> RowsBySize:
    rows: dict[int, int] = {}
    for size in every:
        rows[size] = rows.get(size, 0) + size
    return classes(rows)


@given(every=CLASSES, k=st.integers(1, 60) | st.integers(1, 5_000_000))
def test_bins_hold_every_row_once_and_one_starts_at_k(every: list[int], k: int) -> None:
    bins = size_bins(k, max(every, default=1))
    found = rows_in_bins(of_classes(every), bins)
    assert bins[0].first == 1
    assert k in [one.first for one in bins]
    assert all(one.last == two.first - 1 for one, two in pairwise(bins))
    for one, rows in zip(bins, found.tolist(), strict=True):
        assert rows == sum(size for size in every if one.first <= size <= (one.last or 10**12))
    assert found.sum() == sum(every)
    assert found[[one.first < k for one in bins]].sum() == sum(size for size in every if size < k)
    assert len(bins) <= 16


@given(every=CLASSES, at=st.integers(1, 400), lowest=st.sampled_from([0.01, 0.25, 0.0001]))
def test_the_curve_of_risk_is_the_share_of_rows_above_it(every: list[int], at: int, lowest: float) -> None:
    curve = risk_curve(of_classes(every), lowest)
    assert curve.risks[0] == lowest
    assert curve.risks[-1] == 1
    assert curve.shares[-1] == 0
    assert (np.diff(curve.risks) > 0).all()
    # Between two whole numbers: at the very edge of a step a float of 1/size may be on either side.
    asked = Fraction(2, 2 * at + 1)
    if asked > Fraction(lowest):
        step = int(np.searchsorted(curve.risks, float(asked), side="right")) - 1
        above = sum(size for size in every if Fraction(1, size) > asked)
        assert curve.shares[step] == pytest.approx(above / max(sum(every), 1), abs=1e-12)
