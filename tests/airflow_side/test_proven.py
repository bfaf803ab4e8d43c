"""What was sent and what was withdrawn is proven, from the first link on, before anything is decided by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anon_airflow.audit import AuditStore
from anon_airflow.gone import refuse_withdrawn
from anon_airflow.signing import SigningKey
from anon_core.errors import RefusedError
from tests.airflow_side.audit_databases import audit_url, drop_triggers, postgresql, run_sql  # noqa: F401 (fixtures)

KEY = SigningKey.of(b"k" * 32)
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "people"}
OUT = {"version": "v1", "content_digest": "c0ffee", "portal": {"folder": "/portal"}}


@pytest.fixture
def store(url: str, tmp_path: Path) -> Any:
    """Link 2 says that version v1 was sent, link 4 that it was withdrawn; 1, 3 and 5 are of no interest."""
    with AuditStore.open(url, tmp_path, KEY) as opened:
        opened.append("refusals", **RUN, by="gate", reasons=["k is 2"])
        opened.intend(**RUN, verb="publish", actor="ada", details=OUT)
        opened.append("refusals", **RUN, by="gate", reasons=["k is 3"])
        opened.append("withdrawals", dataset="people", version="v1", reason="wrong month", person="ada")
        opened.append("refusals", **RUN, by="gate", reasons=["k is 4"])
        drop_triggers(url)
        yield opened


def test_withdrawn_content_is_refused_whatever_it_is_called(store):
    with pytest.raises(RefusedError, match="withdrawn, as version v1: wrong month"):
        refuse_withdrawn(store, "people", "c0ffee")
    refuse_withdrawn(store, "people", "other")
    refuse_withdrawn(store, "others", "c0ffee")


@pytest.mark.parametrize(
    ("statements", "link"),
    [
        (["DELETE FROM withdrawals"], 4),
        (["DELETE FROM withdrawals", "DELETE FROM chain WHERE seq = 4"], 5),
        (["UPDATE withdrawals SET version = 'v2'"], 4),
        (["UPDATE withdrawals SET dataset = 'others'"], 4),
        (["UPDATE intents SET details = '{}'"], 2),
        (["DELETE FROM withdrawals", "UPDATE chain SET table_name = 'refusals' WHERE seq = 4"], 4),
        (["DELETE FROM withdrawals", "UPDATE chain SET mac = 'f' WHERE seq = 4"], 4),
        (["INSERT INTO withdrawals (id, dataset, version, reason, person, at) VALUES (9, 'p', 'v', 'r', 'x', 'y')"], 9),
    ],
)
def test_a_touched_store_is_not_believed(store, url, statements, link):
    for statement in statements:
        run_sql(url, statement)
    with pytest.raises(RefusedError, match=rf"link {link}: .*anon audit verify"):
        refuse_withdrawn(store, "people", "other")


def test_a_row_of_other_tables_does_not_stop_every_dataset(store, url):
    run_sql(url, "UPDATE refusals SET reasons = '[]' WHERE id = 1")
    refuse_withdrawn(store, "people", "other")
