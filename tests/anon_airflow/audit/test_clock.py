"""A clock that is set back, or ran ahead: the latest day that the whole chain carries is the one that counts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from anon_airflow.audit import AuditStore
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey
from anon_core.errors import RefusedError
from tests.anon_airflow.audit.audit_databases import audit_url, drop_triggers, postgresql, run_sql  # noqa: F401 (fixtures)
from tests.anon_airflow.run.step_runs import run_of, take
from tests.anon_airflow.run.test_waiver_runs import STOCK, today, waiver, waiving

KEY, NEXT = SigningKey.of(b"k" * 32), SigningKey.of(b"n" * 32)
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "people"}
AHEAD = datetime(2027, 3, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def write(url: str, home: Path, clock: datetime, key: SigningKey | KeyRing = KEY) -> None:
    with AuditStore.open(url, home, key, clock=lambda: clock) as store:
        store.append("refusals", **RUN, by="stage", reasons=[])


def newest_day(url: str, home: Path, key: SigningKey | KeyRing = KEY) -> date | None:
    with AuditStore.open(url, home, key) as store:
        return store.newest_day()


def test_an_ended_waiver_stays_ended_however_often_it_is_tried_with_a_clock_set_back(tmp_path: Path) -> None:
    spec = waiving(tmp_path, waiver(STOCK, 1))
    run = run_of(spec, tmp_path / "home")
    later = datetime.combine(today() + timedelta(3), datetime.min.time(), UTC)
    with AuditStore.open(None, run.home.root, run.key_ring(), clock=lambda: later) as store:
        store.append("refusals", run_id="another", dataset="others", by="gate", reasons=[])
    for number in range(3):
        with pytest.raises(RefusedError, match="expired on") as caught:
            take(run_of(spec, tmp_path / "home", f"try {number}") if number < 2 else run, "stage")
        assert f"link 1 of the audit store was written on {later.date()}" in str(caught.value)
        assert f"clock says {today()}" in str(caught.value)


def test_the_latest_day_counts_wherever_in_the_chain_it_is(url: str, tmp_path: Path) -> None:
    assert newest_day(url, tmp_path) is None
    for clock in (NOW, AHEAD, NOW, NOW):
        write(url, tmp_path, clock)
    assert newest_day(url, tmp_path) == AHEAD.date()
    with AuditStore.open(url, tmp_path, KEY) as store:
        store.intend(**RUN, verb="run", actor="ada")
        history = store.history("run 1", "people")
    assert history.seen is not None and history.seen.link == 2
    assert history.day(NOW.date()) == AHEAD.date()
    assert history.day(date(2028, 1, 1)) == date(2028, 1, 1)


@pytest.mark.parametrize("at", ["9999-12-31T00:00:00.000000+00:00", "zebra", "2031"])
def test_a_day_that_is_not_signed_is_refused_with_its_link_and_never_believed(
    url: str, tmp_path: Path, at: str
) -> None:
    for _ in range(3):
        write(url, tmp_path, NOW)
    drop_triggers(url)
    run_sql(url, f"UPDATE chain SET at = '{at}' WHERE seq = 2")
    with pytest.raises(RefusedError, match="link 2, which has the latest day, was edited: run `anon audit verify`"):
        newest_day(url, tmp_path)
    with AuditStore.open(url, tmp_path, KEY) as store, pytest.raises(RefusedError):
        store.history("run 1", "people")


def test_a_latest_day_under_a_key_that_is_not_here_is_refused_and_names_the_key(url: str, tmp_path: Path) -> None:
    write(url, tmp_path, AHEAD)
    write(url, tmp_path, NOW, KeyRing(NEXT, (KEY,)))
    assert newest_day(url, tmp_path, KeyRing(NEXT, (KEY,))) == AHEAD.date()
    with pytest.raises(RefusedError, match=f"signed with key {KEY.key_id}, which is not here.*ANON_RETIRED_KEYS_FILE"):
        newest_day(url, tmp_path, NEXT)


def test_two_links_are_read_by_an_index_whatever_the_length_of_the_chain(tmp_path: Path) -> None:
    url, statements = f"sqlite:///{tmp_path}/audit.db", []
    write(url, tmp_path, NOW)
    with AuditStore.open(url, tmp_path, KEY) as store:
        event.listen(store._database.engine, "before_cursor_execute", lambda *given: statements.append(given[2:4]))
        assert store.newest_day() == NOW.date()
    read = [(statement, values) for statement, values in statements if "FROM chain" in statement]
    assert len(read) == 2
    with closing(sqlite3.connect(tmp_path / "audit.db")) as database:
        plans = [database.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall() for statement, values in read]
    steps = [[row[-1] for row in plan] for plan in plans]
    assert [len(one) for one in steps] == [1, 1], steps
    assert any("USING INDEX chain_by_time" in one[0] for one in steps), steps
