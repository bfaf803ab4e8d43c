"""What was sent and what was withdrawn is proven, from the first link on, before anything is decided by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anon_airflow.audit import AuditStore
from anon_airflow.keys.signing import SigningKey
from anon_airflow.release.publish import refuse_withdrawn
from anon_core.errors import RefusedError
from anon_core.publishing.release import Distribution, Release, data_digest
from tests.anon_airflow.audit.audit_databases import audit_url, drop_triggers, postgresql, run_sql  # noqa: F401 (fixtures)

KEY = SigningKey.of(b"k" * 32)
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "people"}
OUT = {"version": "v1", "content_digest": "c0ffee", "data_digest": data_digest({"people.csv": "data"})}


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


def release(content: str, data: str, *, dataset: str = "people") -> Release:
    path = Path("people.csv")
    table = Distribution(name=path.name, path=path, media_type="text/csv", sha256=data, bytes=1, rows=1)
    return Release(
        dataset=dataset,
        title="People",
        version="v2",
        period=None,
        distributions=(table,),
        report={},
        metadata={},
        manifest={},
        content_digest=content,
    )


def withdraw(store: AuditStore, *, words_only: bool) -> None:
    intent = store.intend(**RUN, verb="withdraw", actor="ada", details={"words_only": words_only})
    store.close(intent, "done", versions=["v1"])


def test_withdrawn_content_is_refused_whatever_it_is_called(store):
    with pytest.raises(RefusedError, match="withdrawn, as version v1: wrong month"):
        refuse_withdrawn(store, release("c0ffee", "other data"))
    refuse_withdrawn(store, release("other", "other data"))
    refuse_withdrawn(store, release("c0ffee", "data", dataset="others"))


def test_withdrawn_data_is_refused_whatever_is_said_about_it(store):
    with pytest.raises(RefusedError, match="withdrawn, as version v1: wrong month"):
        refuse_withdrawn(store, release("other", "data"))


def test_data_may_come_back_if_only_words_were_withdrawn(store):
    withdraw(store, words_only=True)
    refuse_withdrawn(store, release("other", "data"))
    with pytest.raises(RefusedError, match="withdrawn, as version v1"):
        refuse_withdrawn(store, release("c0ffee", "data"))


def test_data_that_was_withdrawn_once_does_not_come_back_because_words_were_too(store):
    for words_only in (False, True):
        withdraw(store, words_only=words_only)
    with pytest.raises(RefusedError, match="withdrawn, as version v1"):
        refuse_withdrawn(store, release("other", "data"))


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
        refuse_withdrawn(store, release("other", "other data"))


def test_a_row_of_other_tables_does_not_stop_every_dataset(store, url):
    run_sql(url, "UPDATE refusals SET reasons = '[]' WHERE id = 1")
    refuse_withdrawn(store, release("other", "other data"))
