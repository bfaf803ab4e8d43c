"""`anon audit verify` sees what was done to the tables themselves, on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_airflow.audit import AuditStore
from anon_airflow.keys.signing import SigningKey
from anon_core.errors import StorageError
from tests.anon_airflow.audit.audit_databases import audit_url, postgresql, run_sql  # noqa: F401 (fixtures)

KEY = SigningKey.of(b"k" * 32)
SAME_NAME = (
    "CREATE TRIGGER intents_no_update BEFORE UPDATE ON intents WHEN 0 BEGIN SELECT RAISE(ABORT, 'x'); END",
    "CREATE TRIGGER intents_append_only BEFORE UPDATE ON intents FOR EACH ROW WHEN (false) "
    "EXECUTE FUNCTION anonflow_append_only()",
)


def made(url: str, home: Path) -> None:
    with AuditStore.open(url, home, KEY) as store:
        store.intend(run_id="run 1", dataset="people", verb="run", actor="ada")
        found = store.verify()
        assert found.ok and found.schema == ()


def problems(url: str, home: Path) -> str:
    with AuditStore.open(url, home, KEY, create=False) as store:
        found = store.verify()
    assert not found.ok and found.broken_seq is None
    return "; ".join(found.schema)


def trigger(url: str, name: str = "intents") -> tuple[str, str]:
    return (f"{name}_no_update", "") if url.startswith("sqlite") else (f"{name}_append_only", f" ON {name}")


def test_an_added_column_is_seen(url: str, tmp_path: Path) -> None:
    made(url, tmp_path)
    run_sql(url, "ALTER TABLE intents ADD COLUMN secret TEXT")
    assert problems(url, tmp_path) == "column secret of table intents was added"


def test_a_missing_table_is_seen_and_stops_a_worker(url: str, tmp_path: Path) -> None:
    made(url, tmp_path)
    run_sql(url, "DROP TABLE refusals")
    assert "table refusals is missing" in problems(url, tmp_path)
    with AuditStore.open(url, tmp_path, KEY) as store, pytest.raises(StorageError) as caught:
        store.append("refusals", run_id="run 1", dataset="people", by="gate", reasons=[])
    assert "not the tables that anonflow made" in str(caught.value) and "room" not in str(caught.value)


def test_a_store_without_its_version_is_not_made_anew_around_what_is_there(url: str, tmp_path: Path) -> None:
    made(url, tmp_path)
    run_sql(url, "DROP TABLE schema_version")
    with pytest.raises(StorageError, match="not its version"):
        AuditStore.open(url, tmp_path, KEY)
    assert "table schema_version is missing" in problems(url, tmp_path)


def test_a_trigger_that_was_dropped_is_seen(url: str, tmp_path: Path) -> None:
    made(url, tmp_path)
    name, on = trigger(url)
    run_sql(url, f"DROP TRIGGER {name}{on}")
    assert f"trigger {name} is missing" in problems(url, tmp_path)


def test_the_triggers_that_a_table_has_lost_are_one_sentence(url: str, tmp_path: Path) -> None:
    from anon_airflow.audit.models import metadata

    made(url, tmp_path)
    verbs = ("no_delete", "no_replace", "no_update") if url.startswith("sqlite") else ("append_only",)
    for table in metadata.tables:
        for verb in verbs:
            run_sql(url, f"DROP TRIGGER {table}_{verb}" + ("" if url.startswith("sqlite") else f" ON {table}"))
    found = problems(url, tmp_path).split("; ")
    assert len(found) == len(metadata.tables)
    assert all(f"{table}_{verb}" in found[at] for at, table in enumerate(sorted(metadata.tables)) for verb in verbs)


def test_a_trigger_that_was_made_harmless_is_seen(url: str, tmp_path: Path) -> None:
    made(url, tmp_path)
    name, on = trigger(url)
    run_sql(url, f"DROP TRIGGER {name}{on}", SAME_NAME[0 if url.startswith("sqlite") else 1])
    assert f"trigger {name} was changed" in problems(url, tmp_path)


def test_a_trigger_that_was_switched_off_is_seen(url: str, tmp_path: Path) -> None:
    if url.startswith("sqlite"):
        pytest.skip("SQLite cannot switch a trigger off")
    made(url, tmp_path)
    run_sql(url, "ALTER TABLE intents DISABLE TRIGGER intents_append_only")
    assert problems(url, tmp_path) == "trigger intents_append_only was switched off"


def test_a_function_that_refuses_nothing_any_more_is_seen(url: str, tmp_path: Path) -> None:
    if url.startswith("sqlite"):
        pytest.skip("SQLite has no functions of its own")
    made(url, tmp_path)
    body = "$$ BEGIN RETURN NULL; END $$"
    run_sql(url, f"CREATE OR REPLACE FUNCTION anonflow_append_only() RETURNS trigger LANGUAGE plpgsql AS {body}")
    assert "function anonflow_append_only was changed" in problems(url, tmp_path)


def test_a_column_of_another_type_is_seen(url: str, tmp_path: Path) -> None:
    if url.startswith("sqlite"):
        pytest.skip("SQLite has no way to change a type but to write the schema by hand")
    made(url, tmp_path)
    run_sql(url, "ALTER TABLE intents ALTER COLUMN actor TYPE varchar(80)", "ALTER TABLE checks ALTER passed TYPE text")
    assert "column actor of table intents has another type" in problems(url, tmp_path)
