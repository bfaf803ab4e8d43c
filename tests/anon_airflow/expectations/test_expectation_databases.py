"""What expectations ask of a database: one group-by, nothing but groups, by any name, and of no other database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import pytest
import sqlalchemy as sa

from anon_airflow.expectations import OURS
from anon_airflow.expectations.inputs import originals
from anon_airflow.expectations.metrics import sql_cells
from tests.anon_airflow.audit.audit_databases import postgresql  # noqa: F401 (a fixture)
from tests.anon_airflow.expectations.expectation_cases import (  # noqa: F401 (one is a fixture)
    BESIDE,
    CASES,
    REGISTER,
    TWO_CLASSES,
    K,
    given_inputs,
)
from tests.anon_airflow.expectations.expectation_engines import (  # noqa: F401 (some are fixtures)
    WEIGHT,
    Cells,
    each_database,
    expectation_context,
    in_postgresql,
    in_sqlite,
    judged,
    people,
)

pytestmark = pytest.mark.usefixtures("second_inputs")
NAMES = [case.name for case in CASES]


class Asked:
    """What went to a database and what came back."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.rows = 0

    @property
    def groupings(self) -> int:
        return sum("GROUP BY" in statement for statement in self.statements)


@contextmanager
def watched(batch: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """Count the statements and the fetched rows of a batch, below SQLAlchemy: in the driver's cursor."""
    engine, asked = batch.data.execution_engine.engine, Asked()
    with engine.connect():
        pass  # The first connection asks for the server's version, and more.

    def fetching(name: str, original: Any) -> Any:
        def fetched(strategy: Any, result: Any, cursor: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(strategy, result, cursor, *args, **kwargs)
            asked.rows += found is not None if name == "fetchone" else len(found)
            return found

        return fetched

    strategy = sa.engine.cursor.CursorFetchStrategy
    for name in ("fetchone", "fetchmany", "fetchall"):
        monkeypatch.setattr(strategy, name, fetching(name, getattr(strategy, name)))

    def seen(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.statements.append(statement)

    sa.event.listen(engine, "before_cursor_execute", seen)
    try:
        yield asked
    finally:
        sa.event.remove(engine, "before_cursor_execute", seen)
        monkeypatch.undo()


@pytest.mark.parametrize("counted", [False, True], ids=["rows", "frequencies"])
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_one_statement_groups_and_only_groups_are_fetched(case, counted, database, monkeypatch):
    wide = Cells(case.table.names, [row for row in case.table.rows for _ in range(50)])
    table, weight = (wide.counted(), WEIGHT) if counted else (wide, None)
    batch = database.batch(database.write(table))
    more = {"rows_before": 50 * case.holds["rows_before"]} if "rows_before" in case.holds else {}
    with watched(batch, monkeypatch) as asked:
        result = judged(batch, case.name, weight_column=weight, **{**case.holds, **more})
    assert "not measured" not in result.result["sentence"]
    measured = case.name != "expect_no_undeclared_column"
    distinct = len({tuple(row[case.table.names.index(name)] for name in _asked_for(case)) for row in wide.rows})
    assert asked.statements and asked.groupings == measured
    assert asked.rows == (distinct if measured else 1)


def _asked_for(case):
    return [*case.holds["columns"], *(case.holds[key] for key in ("sensitive", "unit_column") if key in case.holds)]


def test_one_group_by_serves_all_expectations_over_the_same_columns(database, monkeypatch):
    import great_expectations as gx

    batch = database.batch(database.write(TWO_CLASSES))
    wanted = [
        OURS["expect_k_anonymity"](**K, k=2, weight_column=None),
        OURS["expect_no_singletons"](**K, max_singletons=0, weight_column=None),
        OURS["expect_risk_below"](**K, max_risk=0.5, weight_column=None),
    ]
    with watched(batch, monkeypatch) as asked:
        answer = batch.validate(gx.ExpectationSuite(name="three", expectations=wanted), result_format="BASIC")
    assert answer.success and answer.statistics["evaluated_expectations"] == 3
    assert asked.groupings == 1 and asked.rows == 2


STRANGE = [
    "%",
    "%s",
    "%(a)s",
    'quo"te',
    "quo'te",
    "CAPITALS",
    "Mixed Case",
    "select",
    "group",
    "a.b",
    "a:b",
    ":bound",
    "?",
    "città",
    "列",
    "👩",
    "count_1",
    "sum_1",
    "rowid",
    "back\\slash",
    "(x)",
    "[y]",
    "`z`",
]


@pytest.mark.parametrize("name", STRANGE)
def test_a_column_of_any_name_is_counted(database, name):
    table = Cells([name, "other"], [("a", "x"), ("a", "y"), ("b", "y")])
    found = database.agreed("expect_k_anonymity", table, columns=[name], k=1)
    assert found.success and found.result["observed_value"]["classes"] == 2
    assert database.agreed("expect_no_undeclared_column", table, columns=["other", name]).success


def test_names_that_differ_in_case_alone_are_different_columns(postgresql_database):
    table = Cells(["Town", "town"], [("a", "x"), ("b", "x")])
    assert postgresql_database.agreed("expect_k_anonymity", table, columns=["town"], k=2).success
    assert not postgresql_database.agreed("expect_k_anonymity", table, columns=["Town"], k=2).success


def test_a_name_in_another_case_is_no_column_of_the_table(database):
    found = database.agreed("expect_k_anonymity", TWO_CLASSES, columns=["SEX"], k=1)
    assert found.result["sentence"].endswith("the table has no column SEX")


def test_a_name_that_is_not_there_is_never_taken_for_a_text(sqlite_database):
    """SQLite reads an unknown name in double quotes as a text, which would be one large class."""
    found = sqlite_database.judge("expect_k_anonymity", TWO_CLASSES, columns=["street"], k=5)
    assert not found.success and "no column street" in found.result["sentence"]


def test_a_query_is_measured_like_a_table(database):
    name = database.write(people(("F", "Enna", 3), ("M", "Enna", 2), ("M", "Noto", 1)))
    batch = database.query_batch(f"SELECT * FROM {name} WHERE town LIKE 'E%'")
    found = judged(batch, "expect_k_anonymity", **K, k=2)
    assert found.success and found.result["observed_value"] == {"k": 2, "classes": 2, "rows": 5, "rows_below_k": 0}
    assert judged(batch, "expect_no_undeclared_column", columns=["town", "sex"]).success


def test_one_partition_of_a_table_is_measured_alone(database):
    days = [date(2025, 5, 1), date(2026, 1, 1), date(2026, 2, 1)]
    name = database.write(Cells(["sex", "day"], [("F", days[0]), ("F", days[1]), ("F", days[2])]))
    yearly = database.source.add_table_asset(f"by year {name}", table_name=name).add_batch_definition_yearly("y", "day")
    batch = yearly.get_batch({"year": 2026})
    found = judged(batch, "expect_k_anonymity", columns=["sex"], k=2)
    assert found.success and found.result["observed_value"]["rows"] == 2


def test_a_query_with_a_column_twice_is_refused(database):
    """SQLite calls the second one by another name, and the first can be measured."""
    name = database.write(TWO_CLASSES)
    batch = database.query_batch(f"SELECT sex, town, sex FROM {name}")
    assert judged(batch, "expect_k_anonymity", **K, k=1).success is (database.kind == "sqlite")
    found = judged(batch, "expect_no_undeclared_column", columns=["sex", "town"])
    assert not found.success and found.result["observed_value"]["undeclared_at"] == [3]


def test_a_table_of_another_schema_is_measured(database):
    if database.kind == "sqlite":
        schema = "main"
    else:
        database.run("CREATE SCHEMA land_registry")
        schema = "land_registry"
    name = database.write(TWO_CLASSES, schema=schema)
    found = judged(database.batch(name, schema=schema), "expect_k_anonymity", **K, k=2)
    assert found.success and found.result["observed_value"]["rows"] == 5


def test_the_original_is_found_in_the_same_database(database):
    original = database.write(REGISTER)
    table = people(("F", "*", 2), ("M", "*", 2))
    asked = {**BESIDE, "original": original, "k": 2}
    found = database.judge("expect_k_anonymity_beside_original", table, **asked)
    with originals({original: REGISTER.frame()}):
        given = database.agreed("expect_k_anonymity_beside_original", table, **asked)
    assert found.success and found.result == given.result


def test_an_original_that_is_not_there_is_refused_without_a_word_of_the_database(database):
    asked = {**BESIDE, "original": "nowhere", "k": 2}
    found = database.judge("expect_k_anonymity_beside_original", people(("F", "*", 4)), **asked)
    assert not found.success and "its text is withheld" in found.result["sentence"]


class Elsewhere:
    """Great Expectations' engine of a database that we know nothing about."""

    def __init__(self, dialect: str) -> None:
        self.dialect_name = dialect

    def get_connection(self) -> Any:
        raise AssertionError("it was asked")


@pytest.mark.parametrize("dialect", ["mysql", "mssql", "oracle", "snowflake", "bigquery", "redshift", "databricks"])
def test_another_database_is_refused_before_it_is_asked(dialect):
    for ask in (
        lambda: sql_cells.counted(Elsewhere(dialect), sa.table("t"), ["sex"], None),
        lambda: sql_cells.column_names(Elsewhere(dialect), sa.table("t")),
    ):
        with pytest.raises(sql_cells.NotMeasurableError, match="postgresql and sqlite, not in this kind of database"):
            ask()


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_another_dialect_shuts_every_expectation(case, sqlite_database, monkeypatch):
    batch = sqlite_database.batch(sqlite_database.write(case.table))
    monkeypatch.setattr(type(batch.data.execution_engine), "dialect_name", property(lambda _: "mysql"))
    found = judged(batch, case.name, **case.holds)
    assert not found.success and "not in this kind of database" in found.result["sentence"]


@pytest.mark.parametrize("name", NAMES)
def test_what_a_driver_says_is_withheld(name, database, monkeypatch, caplog, capfd):
    case = next(case for case in CASES if case.name == name)
    batch = database.batch(database.write(case.table))

    def explode(_conn, _cursor, statement, *_):
        raise RuntimeError("CANARY-of-a-cell")

    engine = batch.data.execution_engine.engine
    sa.event.listen(engine, "before_cursor_execute", explode)
    try:
        found = judged(batch, name, **case.holds, result_format="COMPLETE")
    finally:
        sa.event.remove(engine, "before_cursor_execute", explode)
    assert not found.success and "unexpected RuntimeError; its text is withheld" in found.result["sentence"]
    captured = capfd.readouterr()
    assert "CANARY" not in f"{found.to_json_dict()}{caplog.text}{captured.out}{captured.err}"
