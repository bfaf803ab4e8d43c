"""Applying a plan to rows: what is published, in which order, and that nothing of the source's order is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core import kernels
from anon_core.engines import arrow, release
from anon_core.engines.arrow import ArrowEngine
from anon_core.engines.engine import engine_named
from anon_core.engines.recount import recount
from anon_core.errors import InternalError, InvalidInputError, UnknownColumnError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.kernels import joining
from anon_core.plan import RecodingPlan
from anon_core.publishing.distribution import write_csv
from anon_core.registry import ENGINES
from anon_core.table import Column, Table
from tests.anon_core.table.table_files import assert_same
from tests.properties.plans import expected, plans
from tests.properties.tables import Cell, Row, Small, covers, rows_of, small_tables, table_of
from tests.properties.tiers import TIERS, tier


def in_order(row: Row) -> list[tuple[bool, Cell]]:
    """Values in order, a gap last."""
    return [(cell is None, cell or "") for cell in row]


@settings(max_examples=80, deadline=None)
@given(planned=plans())
def test_the_published_rows_are_those_of_the_plan_sorted_by_their_own_values(
    planned: tuple[Small, RecodingPlan],
) -> None:
    small, plan = planned
    table = small.table
    before = table.to_arrow()
    released = ArrowEngine(table=table).apply(plan, small.names)
    rows = rows_of(released)
    assert Counter(rows) == Counter(new for _, new in expected(small, plan) if new is not None)
    assert rows == sorted(rows, key=in_order)
    assert released.rows == len(rows)
    assert table.to_arrow().equals(before), "the input was changed"
    for at, column in enumerate(released.columns):
        assert set(column.domain.to_pylist()) == {row[at] for row in rows}, "a value is kept that no row has"


@settings(max_examples=80, deadline=None)
@given(planned=plans())
def test_rows_that_keep_their_order_are_those_of_the_source_one_by_one(planned: tuple[Small, RecodingPlan]) -> None:
    small, plan = planned
    kept = ArrowEngine(table=small.table).apply(plan, small.names, keep_order=True)
    assert rows_of(kept) == [new for _, new in expected(small, plan) if new is not None]


@settings(max_examples=80, deadline=None)
@given(planned=plans())
def test_released_rows_counted_again_are_those_of_the_plan(planned: tuple[Small, RecodingPlan]) -> None:
    small, plan = planned
    released = ArrowEngine(table=small.table).apply(plan, small.names)
    assert sorted(recount(ArrowEngine(table=released), plan).weights.tolist()) == sorted(
        plan.released().weights.tolist()
    )


def test_a_table_that_is_not_what_the_plan_says_is_found_out() -> None:
    table = table_of(["sex", "town"], [("f", "a"), ("f", "a"), ("m", "b"), ("m", "b")])
    frequencies = FrequencyTable.of(table)
    ladders = [climb(one.name, one.domain, {v: [] for v in one.domain.to_pylist()}, ["root"]) for one in table.columns]
    plan = RecodingPlan.unchanged(frequencies, ladders)
    recount(ArrowEngine(table=table), plan)
    for rows in (
        [("f", "a"), ("f", "a"), ("m", "b")],  # One row is missing.
        [("f", "a"), ("f", "b"), ("m", "a"), ("m", "b")],  # As many of every value, in other classes.
        [("f", "a"), ("f", "a"), ("m", "c"), ("m", "c")],  # Classes of the same sizes, with a label of their own.
    ):
        with pytest.raises(InternalError, match="differ from the plan"):
            recount(ArrowEngine(table=table_of(["sex", "town"], rows)), plan)


@settings(max_examples=80, deadline=None)
@given(planned=plans())
def test_every_published_value_equals_or_generalises_the_original(planned: tuple[Small, RecodingPlan]) -> None:
    small, plan = planned
    stands_for = [covers(ladder) for ladder in plan.ladders]
    domains = [column.domain.to_pylist() for column in small.table.columns]
    codes = list(zip(*(codes.tolist() for codes in plan.frequencies.codes), strict=True))
    for j, original in enumerate(codes):
        for i, code in enumerate(original):
            published = plan.ladders[i].labels[int(plan.released_codes(i)[j])].as_py()
            assert code in stands_for[i][published]
            assert published != domains[i][code] or stands_for[i][published] == {code}


@settings(max_examples=60, deadline=None)
@given(planned=plans(), order=st.randoms(use_true_random=False))
def test_the_same_bytes_are_written_whatever_the_order_of_the_source(
    tmp_path_factory: pytest.TempPathFactory, planned: tuple[Small, RecodingPlan], order: Random
) -> None:
    small, plan = planned
    shuffled = list(small.rows)
    order.shuffle(shuffled)
    other = table_of(small.names, shuffled)
    again = RecodingPlan(
        frequencies=FrequencyTable.of(other), ladders=plan.ladders, levels=plan.levels, removed=plan.removed
    )
    folder = tmp_path_factory.getbasetemp()
    released = ArrowEngine(table=small.table).apply(plan, small.names)
    write_csv(released, folder / "one.csv")
    write_csv(ArrowEngine(table=other).apply(again, small.names), folder / "other.csv")
    assert (folder / "one.csv").read_bytes() == (folder / "other.csv").read_bytes()
    assert_same(released, ArrowEngine(table=other).apply(again, small.names))


def test_columns_outside_the_plan_are_published_as_they_are_and_others_not_at_all() -> None:
    table = table_of(["id", "sex", "points"], [("1", "M", "30"), ("2", "F", None), ("3", "F", "20")])
    engine = ArrowEngine(table=table)
    plan = RecodingPlan(
        frequencies=engine.count(["sex"]),
        ladders=(climb("sex", table.column("sex").domain, {"F": [], "M": []}, ["suppressed"]),),
        levels=np.zeros((1, 2), np.int8),
        removed=np.array([False, True]),
    )
    released = engine.apply(plan, ["points", "sex"])
    assert released.names == ("points", "sex")
    assert rows_of(released) == [("20", "F"), (None, "F")]


def test_without_quasi_identifiers_every_row_is_published() -> None:
    table = table_of(["a", "b"], [("y", "1"), ("x", None), ("x", "2")])
    engine = ArrowEngine(table=table)
    released = engine.apply(RecodingPlan.unchanged(engine.count([]), []), ["a", "b"])
    assert rows_of(released) == [("x", "2"), ("x", None), ("y", "1")]


def test_a_column_that_is_not_there_cannot_be_published() -> None:
    engine = ArrowEngine(table=table_of(["a"], [("x",)]))
    with pytest.raises(UnknownColumnError, match="'b'"):
        engine.apply(RecodingPlan.unchanged(engine.count([]), []), ["b"])


def plainly(table: Table, plan: RecodingPlan, published: list[str], *, keep_order: bool) -> Table:
    """What a plan publishes, by numpy alone: labels of every row, rows that stay, rows in order."""
    chosen = table.select(plan.frequencies.names).columns
    member = kernels.group([c.codes for c in chosen], [len(c.domain) for c in chosen]).member
    columns = []
    for column in table.select(published).columns:
        if column.name in plan.frequencies.names:
            at = plan.frequencies.names.index(column.name)
            codes = plan.released_codes(at)[member].astype(np.int32)
            column = Column(name=column.name, codes=codes, domain=plan.ladders[at].labels)
        columns.append(column)
    kept = Table(columns=tuple(columns), rows=table.rows).keep(~plan.removed[member])
    order = np.arange(kept.rows) if keep_order else np.lexsort([c.codes for c in reversed(kept.columns)])
    ordered = tuple(Column(name=c.name, codes=c.codes[order], domain=c.domain) for c in kept.columns)
    return Table(columns=ordered, rows=kept.rows)


@settings(max_examples=150, deadline=None)
@given(
    planned=plans(),
    way=st.sampled_from(TIERS),
    keep_order=st.booleans(),
    most_keys=st.sampled_from([0, joining.MAX_KEYS]),
    key_bits=st.sampled_from([0, release.KEY_BITS]),
    data=st.data(),
)
def test_every_way_to_apply_a_plan_publishes_the_same_as_the_plain_one(
    planned: tuple[Small, RecodingPlan], way: str, keep_order: bool, most_keys: int, key_bits: int, data: st.DataObject
) -> None:
    small, plan = planned
    others = data.draw(
        st.lists(
            st.tuples(*[st.sampled_from(["x", "y", "z", None])] * 2), min_size=len(small.rows), max_size=len(small.rows)
        )
    )
    names = [*small.names, "v", "w"]
    table = table_of(names, [(*row, *other) for row, other in zip(small.rows, others, strict=True)])
    published = data.draw(st.permutations(names))[: data.draw(st.integers(1, len(names)))]
    with (
        tier(way),
        mock.patch.object(joining, "MAX_KEYS", most_keys),
        mock.patch.object(release, "KEY_BITS", key_bits),
    ):
        released = ArrowEngine(table=table).apply(plan, published, keep_order=keep_order)
    assert_same(released, plainly(table, plan, published, keep_order=keep_order))


@pytest.mark.parametrize("published", [["town", "age"], ["pay", "town", "age"], ["age", "pay"]])
@pytest.mark.parametrize("keep_order", [False, True])
def test_rows_of_a_large_table_are_published_in_threads_as_the_plain_way_does(
    published: list[str], keep_order: bool
) -> None:
    draw, rows = np.random.default_rng(5), 600_000
    columns = [
        Column(
            name=name, codes=draw.integers(0, n, rows, np.int32), domain=pa.array([f"{name} {i:03}" for i in range(n)])
        )
        for name, n in (("age", 90), ("town", 300), ("pay", 40))
    ]
    table = Table(columns=tuple(columns), rows=rows)
    ladders = [
        climb(one.name, one.domain, {v: [f"{v[:-1]}+"] for v in one.domain.to_pylist()}, ["ten", "root"])
        for one in columns[:2]
    ]
    frequencies = FrequencyTable.of(table, ["age", "town"])
    plan = RecodingPlan(
        frequencies=frequencies,
        ladders=tuple(ladders),
        levels=draw.integers(0, 3, (2, frequencies.tuples)).astype(np.int8),
        removed=frequencies.codes[0] == 7,
    )
    with tier("compiled"):
        released = ArrowEngine(table=table).apply(plan, published, keep_order=keep_order)
    assert_same(released, plainly(table, plan, published, keep_order=keep_order))


@pytest.mark.parametrize("way", TIERS)
def test_a_plan_for_another_table_is_not_applied(way: str) -> None:
    table = table_of(["sex", "town"], [("f", "a"), ("m", "b")])
    other = table_of(["sex", "town"], [("f", "a"), ("m", "b"), ("m", "a")])
    ladders = [climb(one.name, one.domain, {v: [] for v in one.domain.to_pylist()}, ["root"]) for one in table.columns]
    plan = RecodingPlan.unchanged(FrequencyTable.of(table), ladders)
    with tier(way), pytest.raises(InternalError, match="rows that the plan does not know"):
        ArrowEngine(table=other).apply(plan, ["sex", "town"])


def same_arrays(one: FrequencyTable, other: FrequencyTable) -> bool:
    pairs = zip((*one.codes, one.weights), (*other.codes, other.weights), strict=True)
    same = all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)
    return (
        same and one.names == other.names and all(a.equals(b) for a, b in zip(one.domains, other.domains, strict=True))
    )


@settings(max_examples=60, deadline=None)
@given(small=small_tables(), data=st.data())
def test_whatever_was_counted_before_a_count_is_the_one_from_the_rows(small: Small, data: st.DataObject) -> None:
    rows = [*small.rows, *small.rows, *small.rows]  # Few tuples for many rows, so that counts are taken from counts.
    engine = ArrowEngine(table=table_of(small.names, rows))
    asked = data.draw(st.lists(st.lists(st.sampled_from(small.names), unique=True), max_size=12))
    for columns in asked:
        assert same_arrays(engine.count(columns), FrequencyTable.of(engine.table, columns))


def test_rows_are_counted_once_and_fewer_columns_from_their_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    work = FrequencyTable.of

    def count(table: Table, columns: Sequence[str], *, unit: str | None = None) -> FrequencyTable:
        asked.append(tuple(columns))
        return work(table, columns, unit=unit)

    monkeypatch.setattr(FrequencyTable, "of", count)
    engine = ArrowEngine(table=table_of(["sex", "town", "id"], [("f", "a", "1"), ("f", "a", "1"), ("m", "b", "2")] * 4))
    for columns in (["sex", "town"], ["town", "sex"], ["sex"], ["sex", "town"], ["id", "sex"], ["id"]):
        engine.count(columns)
    assert asked == [("sex", "town"), ("id", "sex")]
    whose = ArrowEngine(table=engine.table, unit="id")
    assert whose.names == ("sex", "town")
    whose.people(["sex"])
    whose.count(["sex"])
    assert asked[2:] == [("sex",), ("sex",)], "people are never counted from rows, nor rows from people"
    for size in range(20):
        engine.count(engine.names[: size % 4])
    assert len(engine._counted) <= arrow.MAX_TABLES_KEPT


def test_auto_takes_the_first_engine_that_reads_the_source_and_others_are_taken_by_name(tmp_path: Path) -> None:
    class Parquet(ArrowEngine):
        @classmethod
        def reads(cls, path: Path) -> bool:
            return path.suffix == ".parquet"

    with ENGINES.registered("parquet_only", Parquet):
        assert engine_named(source=tmp_path / "people.parquet") is ArrowEngine
        assert engine_named("parquet_only", source=tmp_path / "people.parquet") is Parquet
        with pytest.raises(InvalidInputError, match=r"the engine `parquet_only` does not read people\.csv"):
            engine_named("parquet_only", source=tmp_path / "people.csv")
    with pytest.raises(InvalidInputError, match="engine: no installed package brings the engine `parquet_only`"):
        engine_named("parquet_only", source=tmp_path / "people.parquet")


def test_nothing_in_the_product_counts_a_table_but_the_arrow_engine() -> None:
    root = Path(__file__).resolve().parents[3]
    files = [path for folder in ("anon_core", "plugins", "dags") for path in (root / folder).rglob("*.py")]
    counting = [path.name for path in files if "FrequencyTable.of(" in path.read_text(encoding="utf-8")]
    assert counting == ["arrow.py"]
