"""Which cells are the same and which are not, in pandas, SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from anon_airflow.expectations.evaluation import batch_of
from tests.anon_airflow.audit.audit_databases import postgresql  # noqa: F401 (a fixture)
from tests.anon_airflow.expectations.expectation_engines import (  # noqa: F401 (some are fixtures)
    WEIGHT,
    Cells,
    each_database,
    expectation_context,
    in_postgresql,
    in_sqlite,
    judged,
)

CELL = {"columns": ["cell"]}


def classes(database, *cells, kinds=None):
    """Return how many classes the cells are, wherever they are counted."""
    table = Cells(["cell"], [(cell,) for cell in cells], kinds)
    return database.agreed("expect_k_anonymity", table, **CELL, k=1).result["observed_value"]["classes"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("01", "1"),
        ("1", "1.0"),
        ("NA", None),
        ("", None),
        ("nan", None),
        ("null", None),
        ("", " "),
        ("a", "a "),
        ("a", "A"),
        ("é", "e\u0301"),
        ("ß", "ss"),
        ("ı", "i"),
        ("👩", "👩🏽"),
        ("👩\u200d🚀", "👩🚀"),
        ("a\u200b", "a"),
        ("a\nb", "a b"),
        ("'", '"'),
        ("%s", "%%s"),
        (":a", "a"),
        ("\\", "\\\\"),
        (1, 2),
        (1, None),
        (2**62, 2**62 + 1),
        (0.1, 0.1 + 2**-55),
        (1.5, None),
        (True, False),
        (True, None),
        (Decimal("1.0"), Decimal("1.00")),
        (Decimal("1.0"), None),
        (date(2026, 1, 1), date(2026, 1, 2)),
        (date(2026, 1, 1), None),
        (datetime(2026, 1, 1, 1), datetime(2026, 1, 1, 1, 0, 0, 1)),
        (datetime(2026, 1, 1), None),
    ],
)
def test_different_cells_are_different_classes_everywhere(database, one, other):
    assert classes(database, one, one, other) == 2


@pytest.mark.parametrize(
    "cell",
    ["", "é", "👩\u200d🚀", " ", "a\tb", "%", None, 0, -1, 2**63 - 1, 0.1, 1e300, True, Decimal("1.10"), date(1, 1, 1)],
)
def test_equal_cells_are_one_class_everywhere(database, cell):
    assert classes(database, cell, cell, cell) == 1


def test_minus_zero_is_a_value_of_its_own_in_pandas_and_postgresql(request):
    database = request.getfixturevalue("postgresql_database")
    assert classes(database, 0.0, -0.0) == 2


def test_sqlite_has_one_zero(sqlite_database):
    """It drops the sign when it stores and compares, so no text of the database ever shows it."""
    table = Cells(["cell"], [(0.0,), (-0.0,)])
    found = sqlite_database.judge("expect_k_anonymity", table, **CELL, k=1)
    assert found.result["observed_value"]["classes"] == 1


def test_text_that_ends_at_a_nul_elsewhere_does_not_end_in_pandas_and_sqlite(sqlite_database):
    """PostgreSQL cannot hold one."""
    assert classes(sqlite_database, "a\0b", "a\0c", "a") == 3


def test_different_kinds_in_one_sqlite_column_are_different_cells(sqlite_database):
    name = sqlite_database.write(Cells(["cell"], [(1,), (1.0,), ("1",), (b"1",), (None,), ("1",)]), types=["BLOB"])
    found = judged(sqlite_database.batch(name), "expect_no_singletons", **CELL, max_singletons=4)
    assert found.success and found.result["observed_value"] == {"singletons": 4, "classes": 5, "rows": 6}
    mixed = pd.DataFrame({"cell": pd.Series([1, 1.0, "1", b"1", None, "1"], dtype="object")})
    assert judged(batch_of(mixed), "expect_no_singletons", **CELL, max_singletons=4).result == found.result


@pytest.mark.parametrize("collation", ["NOCASE", "RTRIM"])
def test_a_collation_of_sqlite_merges_nothing(sqlite_database, collation):
    table = Cells(["cell"], [("a",), ("A",), ("a ",)])
    name = sqlite_database.write(table, types=[f"TEXT COLLATE {collation}"])
    found = judged(sqlite_database.batch(name), "expect_k_anonymity", **CELL, k=1)
    assert found.result["observed_value"]["classes"] == 3


def test_a_collation_of_postgresql_merges_nothing(postgresql_database):
    try:
        postgresql_database.run(
            "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
        )
    except Exception:
        pytest.skip("this PostgreSQL is built without ICU, so no collation of it calls different texts equal")
    name = postgresql_database.write(Cells(["cell"], [("e",), ("E",), ("é",)]), types=["TEXT COLLATE blind"])
    found = judged(postgresql_database.batch(name), "expect_k_anonymity", **CELL, k=1)
    assert found.result["observed_value"]["classes"] == 3


def test_padded_characters_of_postgresql_are_what_it_compares(postgresql_database):
    name = postgresql_database.write(Cells(["cell"], [("a",), ("a  ",), ("A",)]), types=["CHAR(3)"])
    found = judged(postgresql_database.batch(name), "expect_k_anonymity", **CELL, k=1)
    assert found.result["observed_value"] == {"k": 1, "classes": 2, "rows": 3, "rows_below_k": 0}


def test_nan_is_a_value_to_postgresql_and_no_gap(postgresql_database):
    for kind, nan in (("DOUBLE PRECISION", float("nan")), ("NUMERIC", Decimal("NaN"))):
        name = postgresql_database.write(Cells(["cell"], [(nan,), (None,)], [float]), types=[kind])
        found = judged(postgresql_database.batch(name), "expect_k_anonymity", **CELL, k=1)
        assert found.result["observed_value"]["classes"] == 2


@pytest.mark.parametrize(
    ("kind", "cells"), [("INTERVAL", ["24:00:00", "1 day"]), ("JSONB", ["1.0", "1.00"])], ids=["interval", "jsonb"]
)
def test_cells_that_only_the_database_tells_apart_are_refused(postgresql_database, kind, cells):
    postgresql_database.run(
        f"CREATE TABLE apart_{kind} (cell {kind})", *[f"INSERT INTO apart_{kind} VALUES ('{cell}')" for cell in cells]
    )
    found = judged(postgresql_database.batch(f"apart_{kind}".lower()), "expect_k_anonymity", **CELL, k=1)
    assert not found.success and "cast them to text" in found.result["sentence"]


@pytest.mark.parametrize("kind", ["JSON", "INTEGER[]", "XML", "POINT"])
def test_kinds_that_cannot_be_compared_are_refused(postgresql_database, kind):
    cell = {"JSON": "[1]", "INTEGER[]": "{1}", "XML": "<a/>", "POINT": "(1,2)"}[kind]
    name = f"uncompared_{kind.strip('[]').lower()}"
    postgresql_database.run(f"CREATE TABLE {name} (cell TEXT)", f"INSERT INTO {name} VALUES ('{cell}')")
    try:
        postgresql_database.run(f"ALTER TABLE {name} ALTER cell TYPE {kind} USING cell::{kind}")
    except Exception:
        pytest.skip(f"this PostgreSQL is built without {kind}")
    found = judged(postgresql_database.batch(name), "expect_k_anonymity", **CELL, k=1)
    assert not found.success and "not measured" in found.result["sentence"]


@pytest.mark.parametrize("cell", [[1], (1,), {"a": 1}, {1}, np.arange(9)], ids=lambda cell: type(cell).__name__)
def test_lists_in_cells_are_refused(cell):
    table = pd.DataFrame({"cell": pd.Series([None, None], dtype="object")})
    table.at[0, "cell"] = cell
    found = judged(batch_of(table), "expect_k_anonymity", **CELL, k=1)
    assert not found.success and "lists in its cells" in found.result["sentence"]


@pytest.mark.parametrize(
    "weights",
    [[5, -1], [5, 0], [5, None], [5.0, 5.0], [5.5, 5.0], ["5", "5"], [True, True], [Decimal("5"), Decimal("5")]],
    ids=str,
)
def test_weights_that_are_no_counts_are_refused_in_the_same_words(database, weights):
    if database.kind == "sqlite" and isinstance(weights[0], bool):
        pytest.skip("SQLite keeps booleans as the numbers 0 and 1")
    table = Cells(["cell", WEIGHT], list(zip("ab", weights, strict=True)))
    said = f"k-anonymity: not measured, column {WEIGHT} must hold whole numbers from 1 up, without gaps"
    here = database.judge("expect_k_anonymity", table, **CELL, k=1, weight_column=WEIGHT)
    there = judged(batch_of(table.frame()), "expect_k_anonymity", **CELL, k=1, weight_column=WEIGHT)
    assert (here.success, there.success) == (False, False)
    assert (here.result["sentence"], there.result["sentence"]) == (said, said)


@pytest.mark.parametrize("cells", ["ab", "aa"])
def test_weights_too_large_to_add_up_are_refused_in_the_same_words(database, cells):
    table = Cells(["cell", WEIGHT], [(cells[0], 2**62), (cells[1], 2**62)])
    said = f"k-anonymity: not measured, column {WEIGHT} holds numbers too large to add up"
    here = database.judge("expect_k_anonymity", table, **CELL, k=1, weight_column=WEIGHT)
    there = judged(batch_of(table.frame()), "expect_k_anonymity", **CELL, k=1, weight_column=WEIGHT)
    assert (here.result["sentence"], there.result["sentence"]) == (said, said)


def test_the_largest_weights_that_add_up_are_counted(database):
    table = Cells(["cell", WEIGHT], [("a", 2**62), ("b", 2**62 - 1)])
    here = database.judge("expect_k_anonymity", table, **CELL, k=2**62 - 1, weight_column=WEIGHT)
    there = judged(batch_of(table.frame()), "expect_k_anonymity", **CELL, k=2**62 - 1, weight_column=WEIGHT)
    assert here.success and there.success and here.result == there.result
