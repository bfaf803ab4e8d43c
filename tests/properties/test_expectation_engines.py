"""Random tables: pandas and SQLite, rows and frequencies, say what counting by hand says."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.anon_airflow.expectations.expectation_engines import (  # noqa: F401 (some are fixtures)
    Cells,
    expectation_context,
    in_sqlite,
)

NASTY = ["a", "A", "a ", "", "01", "1", "1.0", "NA", "nan", "é", "e\u0301", "*", "👩", "a\0b", "%", "'"]
CELL = st.one_of(st.none(), st.sampled_from(NASTY), st.text(st.characters(codec="utf-8"), max_size=2))
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.tuples(*[CELL] * width), min_size=1, max_size=12).map(
        lambda rows: Cells(["A b", "%", "ç"][:width], rows, [str] * width)
    )
)
SOME = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SOME
@given(table=TABLES, k=st.integers(1, 4))
def test_classes_are_what_a_counter_counts(sqlite_database, table, k):
    sizes = Counter(table.rows).values()
    found = sqlite_database.agreed("expect_k_anonymity", table, columns=list(table.names), k=k)
    below = sum(size for size in sizes if size < k)
    assert found.success is (min(sizes) >= k)
    assert found.result["observed_value"] == {
        "k": min(sizes),
        "classes": len(sizes),
        "rows": len(table.rows),
        "rows_below_k": below,
    }


@SOME
@given(table=TABLES, max_share=st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_minimal_sets_that_single_out_are_what_a_counter_finds(sqlite_database, table, max_share):
    names, rows = list(table.names), table.rows
    expected: dict[tuple[str, ...], int] = {}
    for size in range(1, len(names) + 1):
        for at in combinations(range(len(names)), size):
            alone = sum(n == 1 for n in Counter(tuple(row[i] for i in at) for row in rows).values())
            chosen = tuple(names[i] for i in at)
            if alone > max_share * len(rows) and not any(set(smaller) < set(chosen) for smaller in expected):
                expected[chosen] = alone
    found = sqlite_database.agreed(
        "expect_published_uniqueness",
        table,
        columns=names,
        max_size=len(names),
        max_share=max_share,
        accepted=[],
        together=[],
        protected=[],
        quasi=[],
    )
    sets = {tuple(one["columns"]): one["singletons"] for one in found.result["observed_value"]["offending"]}
    assert sets == expected and found.success is (not expected)


@SOME
@given(table=TABLES.filter(lambda table: len(table.names) > 1), l=st.integers(1, 3))
def test_distinct_values_in_classes_are_what_sets_hold(sqlite_database, table, l):  # noqa: E741
    *columns, sensitive = table.names
    values: dict[tuple[str | None, ...], set[str | None]] = {}
    for *known, cell in table.rows:
        values.setdefault(tuple(known), set()).add(cell)
    asked = {"columns": columns, "sensitive": sensitive, "values": "each", "kind": "distinct", "l": l, "c": None}
    found = sqlite_database.agreed("expect_l_diversity", table, **asked)
    assert found.result["observed_value"]["worst"] == pytest.approx(min(map(len, values.values())))
    assert found.success is (min(map(len, values.values())) >= l)
