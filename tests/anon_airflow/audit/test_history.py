"""What decides about a release is proven by the chain when it is read, on SQLite and on PostgreSQL."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from anon_airflow import steps
from anon_airflow.approval.decision import revoke
from anon_airflow.audit import AuditStore, chain, history
from anon_airflow.audit.clock import SeenDay
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey
from anon_airflow.run.context import Run
from anon_airflow.run.home import Home
from anon_core.errors import RefusedError
from tests.anon_airflow.approval.approvals import answer
from tests.anon_airflow.audit.audit_databases import audit_url, drop_triggers, postgresql, run_sql  # noqa: F401 (fixtures)
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import versions_of, write_publication

KEY, NEXT = SigningKey.of(b"k" * 32), SigningKey.of(b"n" * 32)
OLD: dict[str, Any] = {"run_id": "old", "dataset": "people"}
RUN: dict[str, Any] = {"run_id": "run 1", "dataset": "people"}
INTENT = (
    "INSERT INTO intents (id, run_id, dataset, verb, actor, details, at) "
    "VALUES ({}, 'run 1', 'people', '{}', 'x', '{}', '2026')"
)


@pytest.fixture
def store(url: str, tmp_path: Path) -> Any:
    """Links 1 to 3 are of another run; 4 begins ours, 7 is an approval, 8 another run's publication, 10 the last."""
    ticks = (datetime(2026, 11, 1, tzinfo=UTC) + timedelta(days=day) for day in itertools.count())
    with AuditStore.open(url, tmp_path, KEY, clock=lambda: next(ticks)) as opened:
        for _ in range(3):
            opened.intend(**OLD, verb="run", actor="ada")
        opened.intend(**RUN, verb="run", actor="ada")
        opened.close(opened.intend(**RUN, verb="stage", actor="ada"), "done", rows=7, sha256="0")
        opened.append("approvals", **RUN, receipt_digest="0", person="bea", decision="approved", mac="0")
        opened.close(opened.intend(**OLD, verb="publish", actor="ada"), "failed")
        opened.append("refusals", **RUN, by="gate", reasons=["k is 2"])
        drop_triggers(url)
        yield opened


def shown(store: AuditStore) -> dict[str, Any]:
    """The rows of the run as they are shown; what was withdrawn later, perhaps by nobody's run, is no part of it."""
    return {name: found for name, found in store.run("run 1", "people").items() if name != "withdrawals"}


def refused(store: AuditStore) -> str:
    with pytest.raises(RefusedError) as caught:
        store.history("run 1", "people")
    assert caught.value.by == "audit store"
    assert "anon audit verify" in str(caught.value)
    return str(caught.value)


def test_an_untouched_part_of_the_chain_gives_the_rows_of_the_run(store):
    found = store.history("run 1", "people")
    assert found.rows == shown(store)
    assert found.begun_at == 4
    assert found.staged == {"rows": 7, "sha256": "0"}
    assert [row["id"] for row in found.published] == [8]
    assert found.answered == {5}
    assert found.seen == SeenDay(date(2026, 11, 10), 10)
    assert store.history("nobody's", "people").rows["intents"] == []


@pytest.mark.parametrize(
    ("statement", "link"),
    [
        (INTENT.format(900_000, "run", "{}"), 900_000),
        (INTENT.format(-5, "run", "{}"), -5),
        (INTENT.format(11, "approve", "{}"), 11),
        ("INSERT INTO outcomes (id, intent_id, status, details, at) VALUES (11, 8, 'refused', '{}', '2026')", 11),
        ("UPDATE intents SET actor = 'somebody else' WHERE id = 4", 4),
        ("UPDATE intents SET verb = 'x' WHERE id = 4", 4),
        ("UPDATE outcomes SET details = '{\"rows\": 70}' WHERE id = 6", 6),
        ("UPDATE approvals SET run_id = 'run 2' WHERE id = 7", 7),
        ("UPDATE intents SET dataset = 'others' WHERE id = 8", 8),
        ("UPDATE chain SET previous_mac = '0' WHERE seq = 4", 4),
        ("UPDATE chain SET at = '2020-01-01' WHERE seq = 9", 9),
        ("DELETE FROM approvals WHERE id = 7", 7),
        ("DELETE FROM intents WHERE id = 8", 8),
        ("DELETE FROM chain WHERE seq = 7", 7),
    ],
)
def test_whatever_is_done_to_it_by_somebody_without_the_key_is_refused_with_the_link(store, url, statement, link):
    run_sql(url, statement)
    assert f"link {link}: " in refused(store)


def test_a_row_removed_together_with_its_link_is_missed(store, url):
    run_sql(url, "DELETE FROM approvals WHERE id = 7", "DELETE FROM chain WHERE seq = 7")
    assert "link 7: its chain entry and its row were removed" in refused(store)


def test_a_run_whose_beginning_was_removed_is_nobodys(store, url):
    """The first row that is left then begins the walk, and all that follows holds."""
    run_sql(url, "DELETE FROM intents WHERE id = 4", "DELETE FROM chain WHERE seq = 4")
    assert "the beginning of run run 1 is not on record" in refused(store)


def test_rows_that_nobody_can_read_do_not_get_out(store, url):
    run_sql(
        url,
        "DELETE FROM approvals WHERE id = 7",
        "DELETE FROM chain WHERE seq = 7",
        "UPDATE intents SET details = 'no JSON' WHERE id = 8",
    )
    assert "link 7: " in refused(store)


def test_what_happened_before_the_run_began_is_neither_read_nor_judged(store, url, monkeypatch):
    run_sql(url, "UPDATE intents SET actor = 'somebody else' WHERE id = 2")
    walked = []

    def counted(*arguments):
        for position in chain.walk(*arguments):
            walked.append(position.number)
            yield position

    monkeypatch.setattr(history, "walk", counted)
    assert store.history("run 1", "people").begun_at == 4
    assert walked == list(range(4, 11))
    assert store.verify().broken_seq == 2


def test_a_walk_of_several_pages_holds_and_breaks_alike(store, url, monkeypatch):
    monkeypatch.setattr(chain, "_PAGE", 2)
    assert store.history("run 1", "people").rows == shown(store)
    run_sql(url, INTENT.format(900_000, "run", "{}"))
    assert "link 900000: " in refused(store)


def test_a_run_goes_on_over_a_change_of_keys_if_the_old_one_is_known(store, url, tmp_path):
    with AuditStore.open(url, tmp_path, KeyRing(NEXT, (KEY,))) as rotated:
        rotated.append("refusals", **RUN, by="gate", reasons=[])
        assert len(rotated.history("run 1", "people").rows["refusals"]) == 2
    with AuditStore.open(url, tmp_path, NEXT) as forgetful:
        assert "name a file with it in ANON_RETIRED_KEYS_FILE" in refused(forgetful)
    with AuditStore.open(url, tmp_path, KEY) as outdated:
        assert f"names key {NEXT.key_id}, which is not here" in refused(outdated)


def test_the_newest_day_is_believed_only_if_it_is_signed(store, url):
    assert store.newest_day() == date(2026, 11, 10)
    run_sql(url, "UPDATE chain SET at = '2020-01-01T00:00:00' WHERE seq = 10")
    with pytest.raises(RefusedError, match="link 10, the newest, was edited"):
        store.newest_day()


def waiting(tmp_path: Path, url: str, **approval: Any) -> Run:
    spec = write_publication(tmp_path, approval={"required": True, **approval})
    run = replace(run_of(spec, tmp_path / "home"), home=Home(tmp_path / "home", url), actor="anna")
    take(run, *UNTIL_GATE)
    steps.ask(run)
    return run


def shut(run: Run, step: Any, *arguments: Any) -> str:
    with pytest.raises(RefusedError) as caught:
        step(run, *arguments)
    assert caught.value.by == "audit store"
    assert rows(run)["refusals"][-1]["by"] == "audit store"
    assert versions_of(run.publication.file) == []
    return str(caught.value)


@pytest.mark.parametrize(
    "statement", [INTENT.format(900_000, "run", "{}"), "UPDATE intents SET actor = 'x' WHERE verb = 'run'"]
)
def test_nobody_approves_an_own_run_by_writing_that_somebody_else_began_it(tmp_path, url, monkeypatch, statement):
    monkeypatch.setenv("ANON_SPEC_CHANGED_BY", "carla")
    run = waiting(tmp_path, url, four_eyes=True, users=["anna", "bea"])
    drop_triggers(url)
    run_sql(url, statement.replace("run 1", run.run_id))
    shut(run, answer)
    shut(run, steps.ask)
    shut(run, steps.publish)


def test_a_withdrawal_that_was_deleted_publishes_nothing_and_nothing_else_can_be_withdrawn(tmp_path, url):
    run = waiting(tmp_path, url)
    answer(run)
    with run.audit() as audit:
        revoke(audit, run.signing_key(), run.run_id, run.dataset, person="dpo", reason="wrong month")
    drop_triggers(url)
    run_sql(url, "DELETE FROM approvals WHERE decision = 'revoked'")
    assert "approvals row" in shut(run, steps.publish)
    with run.audit() as audit, pytest.raises(RefusedError, match="anon audit verify"):
        revoke(audit, run.signing_key(), run.run_id, run.dataset, person="dpo", reason="wrong month")


def test_a_publication_of_another_run_that_was_struck_from_the_record_is_missed(tmp_path, url):
    spec = write_publication(tmp_path)
    home = Home(tmp_path / "home", url)
    slow = replace(run_of(spec, tmp_path / "home", "slow"), home=home)
    take(slow, *UNTIL_GATE)
    with slow.audit() as audit:
        struck = audit.intend(
            run_id="quick", dataset="people", verb="publish", actor="x", details={"content_digest": "0"}
        )
        audit.close(struck, "done")
    drop_triggers(url)
    run_sql(
        url, f"INSERT INTO outcomes (id, intent_id, status, details, at) VALUES (-1, {struck}, 'refused', '{{}}', '')"
    )
    with pytest.raises(RefusedError, match="run quick has published"):
        steps.publish(slow)
    run_sql(url, f"DELETE FROM intents WHERE id = {struck}")
    shut(slow, steps.publish)
