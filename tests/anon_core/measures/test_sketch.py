"""Figures from one pass in bounded memory: exact as long as everything is kept, else within the stated errors."""

from __future__ import annotations

import datetime
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.detection.roles import propose_from
from anon_core.detection.roles.sampling import Sample
from anon_core.measures.profile import profile
from anon_core.measures.sketch import Sketched, hashes_of, sketch
from anon_core.table import from_arrow
from tests.properties.tables import Cell

GOLDEN = 917830811112249501
CELLS = st.lists(
    st.one_of(st.none(), st.sampled_from(["a", "b", "1", "2.5", "é😀", ""]), st.text(max_size=3)), max_size=40
)


def in_batches(cells: list[Cell], size: int, *, kept: int = 64) -> Sketched:
    table = pa.table({"c": pa.array(cells, pa.string())})
    return sketch(table.to_batches(max_chunksize=size) or [table], kept=kept)[0]


@settings(max_examples=150, deadline=None)
@given(cells=CELLS, size=st.integers(1, 40))
def test_while_everything_is_kept_the_figures_are_exact(cells: list[Cell], size: int) -> None:
    exact = profile(from_arrow(pa.table({"c": pa.array(cells, pa.string())})).column("c"))
    found = in_batches(cells, size)
    assert found.rows == len(cells)
    assert found.profile.entropy == pytest.approx(exact.entropy, abs=1e-9)
    assert found.profile.unique_share == pytest.approx(exact.unique_share)
    for figure in ("distinct", "missing", "type", "name"):
        assert getattr(found.profile, figure) == getattr(exact, figure)
    assert (found.distinct_error, found.unique_share_error, found.entropy_error) == (0, 0, 0)
    kept = dict(zip(found.values.to_pylist(), found.weights.tolist(), strict=True))
    assert kept == {cell: n for cell, n in Counter(cells).items() if cell is not None}


@settings(max_examples=80, deadline=None)
@given(cells=CELLS, size=st.integers(1, 40), kept=st.integers(3, 6))
def test_what_is_kept_has_all_its_rows_however_the_rows_are_cut(cells: list[Cell], size: int, kept: int) -> None:
    times = Counter(cell for cell in cells if cell is not None)
    found, whole = in_batches(cells, size, kept=kept), in_batches(cells, max(len(cells), 1), kept=kept)
    assert found.values.equals(whole.values)
    assert found.profile.distinct == whole.profile.distinct
    for value, weight in zip(found.values.to_pylist(), found.weights.tolist(), strict=True):
        assert times[value] == weight
    assert len(found.values) == min(kept, len(times))


def drawn(shape: str, rows: int) -> np.ndarray:
    draw = np.random.default_rng(5)
    if shape == "unique":
        return np.arange(rows)
    if shape == "even":
        return draw.integers(0, rows // 4, rows)
    if shape == "skewed":
        return draw.zipf(1.3, rows) % (10 * rows)
    return np.where(draw.random(rows) < 0.5, 7, np.arange(rows))


@pytest.mark.parametrize("shape", ["unique", "even", "skewed", "half one value"])
@pytest.mark.parametrize("size", [10_000, 100_000])
def test_beyond_that_they_lie_within_four_stated_errors(shape: str, size: int) -> None:
    table = pa.table({"c": pa.array(drawn(shape, 200_000)).cast(pa.string())})
    exact = profile(from_arrow(table).column("c"))
    found = sketch(table.to_batches(max_chunksize=size), kept=2048)[0]
    assert 0 < found.distinct_error < 0.03
    assert abs(found.profile.distinct - exact.distinct) <= 4 * found.distinct_error * exact.distinct
    assert abs(found.profile.unique_share - exact.unique_share) <= 4 * found.unique_share_error
    assert found.unique_share_error < 0.04
    assert abs(found.profile.entropy - exact.entropy) <= 4 * found.entropy_error + 1e-9
    assert found.entropy_error < 0.25
    assert found.profile.type == "integer"
    assert len(found.values) == 2048


def test_every_column_of_a_stream_has_its_own_figures_and_no_stream_has_none() -> None:
    batch = pa.record_batch({"a": pa.array(["x", None]), "b": pa.array(["1", "2"])})
    found = sketch([batch, batch])
    assert [(one.profile.name, one.profile.distinct, one.profile.missing) for one in found] == [
        ("a", 1, 2),
        ("b", 2, 0),
    ]
    assert sketch([]) == []


def test_a_role_can_be_proposed_from_what_was_kept() -> None:
    mails = pa.array([f"canary{n % 5000}@example.org" for n in range(20_000)])
    found = sketch(pa.table({"c": mails}).to_batches(max_chunksize=3000), kept=256)[0]
    sample = Sample(
        values=found.values, weights=found.weights, short=found.values, short_weights=found.weights, whole=False
    )
    role = propose_from(sample, found.profile, found.rows, today=datetime.date(2026, 7, 1))
    assert (role.role, role.kind) == ("identifier", "e-mail address")


def test_hashes_differ_and_do_not_depend_on_slices() -> None:
    texts = ["", "a", "b", "ab", "ba", "aa", "\x00", "\x00\x00", "é", "a" * 100_000, "a" * 99_999 + "b"]
    hashes = hashes_of(pa.array(texts)).tolist()
    assert len(set(hashes)) == len(texts)
    assert hashes_of(pa.array(["x", *texts]).slice(1)).tolist() == hashes
    assert hashes_of(pa.array(["a"], pa.large_string())).tolist() == [hashes[1]]
    assert hashes_of(pa.array([], pa.string())).tolist() == []
    assert hashes_of(pa.array(["anonflow"])).tolist() == [GOLDEN], "the same in every version and on every machine"


def test_hashes_are_spread_evenly() -> None:
    hashes = hashes_of(pa.array(np.arange(100_000)).cast(pa.string()))
    assert len(np.unique(hashes)) == 100_000
    sixteenths = np.bincount((hashes >> np.uint64(60)).astype(np.int64), minlength=16)
    assert abs(sixteenths - 6250).max() < 400, "five standard deviations"
