"""``anon audit``: the history, and its proof."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

from click.testing import CliRunner

from anon_airflow.audit import AuditStore
from anon_airflow.cli import anon as commands
from anon_airflow.keys.signing import SigningKey
from tests.faults.anon_process import anon
from tests.faults.publications import portal_of, write_publication


def test_audit_lists_shows_verifies_and_exports(tmp_path, home):
    good, bad = write_publication(tmp_path), write_publication(tmp_path, dataset="others", recode={"method": "none"})
    version = anon("run", good, "--json", home=home).json["release"]
    anon("run", bad, home=home)
    runs = anon("audit", "list", "--json", home=home).json["runs"]
    told = [(run["dataset"], run["verdict"], run["by"]) for run in runs]
    assert told == [("others", "refused", "gate"), ("people", "published", None)]
    lines = anon("audit", "list", home=home).out.splitlines()
    assert "by" in lines[1].split() and lines[2].split()[2:4] == ["refused", "gate"]
    assert len(anon("audit", "list", "--dataset", "people", "--json", home=home).json["runs"]) == 1
    for name in (runs[1]["run_id"], version, "people"):
        shown = anon("audit", "show", name, "--json", home=home).json
        assert shown["verdict"] == "published"
        assert shown["report"]["outcome"] == "published"
    assert "PUBLISHED" in anon("audit", "show", "people", "--summary", home=home).out
    assert "REFUSED" in anon("audit", "show", "others", home=home).out
    verified = anon("audit", "verify", "--json", home=home).json
    assert verified["ok"] is True
    assert verified["open_intents"] == []
    manifest = portal_of(good) / "people/latest/manifest.json"
    assert anon("audit", "verify", "--anchor", manifest, home=home).code == 0
    lines = anon("audit", "export", home=home).out.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, verified["entries"] + 1))
    assert anon("audit", "export", "--json", home=home).json["entries"] == [json.loads(line) for line in lines]


def test_show_lists_the_record_in_the_order_of_the_chain_and_names_what_an_outcome_ends(tmp_path, monkeypatch):
    """All of it within one second, in which the tables by name would stand in another order."""
    secret, run = "a key that is as long as keys have to be", {"run_id": "run 1", "dataset": "people"}
    monkeypatch.setenv("ANON_HOME", str(tmp_path))
    monkeypatch.setenv("ANON_SIGNING_KEY", secret)
    tmp_path.chmod(0o700)
    second = datetime(2026, 10, 1, tzinfo=UTC)
    with AuditStore.open(None, tmp_path, SigningKey.of(secret.encode()), clock=lambda: second) as store:
        gate = store.intend(**run, verb="gate", actor="ada")
        store.append("receipts", **run, digest="0123456789abcdef" * 4, body="{}")
        store.close(gate, "done")
        publish = store.intend(**run, verb="publish", actor="ada")
        store.append("publications", **run, version="1", portal="folder", status="published", location="x",
                     content_digest="0")  # fmt: skip
        store.close(publish, "done")
    shown = CliRunner().invoke(commands, ["audit", "show", "run 1"]).output.splitlines()[2:]
    told = [line.split() for line in shown]
    assert [(words[0], words[2]) for words in told] == [
        ("1", "intents"),
        ("2", "receipts"),
        ("3", "outcomes"),
        ("4", "intents"),
        ("5", "publications"),
        ("6", "outcomes"),
    ]
    assert "verb: gate, status: done" in shown[2] and "verb: publish, status: done" in shown[5]
    assert told[1][3:] == ["receipt:", "0123456789ab"]


def test_audit_verify_ends_with_1_and_names_the_broken_link(tmp_path, home):
    import sqlite3

    anon("run", write_publication(tmp_path), home=home)
    with sqlite3.connect(home / "audit.db") as database:
        database.execute("DROP TRIGGER intents_no_update")
        database.execute("UPDATE intents SET actor = 'somebody else' WHERE id = 1")
    database.close()
    ended = anon("audit", "verify", home=home)
    assert ended.code == 1
    assert "BROKEN at entry 1" in ended.err
    assert anon("audit", "verify", "--json", home=home).json["broken_seq"] == 1


def test_an_anchor_that_is_a_device_or_far_too_large_is_refused(tmp_path, home):
    anon("run", write_publication(tmp_path), home=home)
    large = tmp_path / "manifest.json"
    large.touch()
    os.truncate(large, 1 << 40)
    for path, words in (("/dev/zero", "is a device"), (large, "beyond the limit of 16,777,216 bytes")):
        ended = anon("audit", "verify", "--anchor", path, home=home)
        assert (ended.code, words in ended.err) == (2, True), ended.err


def test_audit_without_a_store_says_where_it_looked(home):
    ended = anon("audit", "list", home=home)
    assert ended.code == 2
    assert str(home) in ended.err
    assert not (home / "audit.db").exists()


def test_audit_show_of_nothing_known_ends_with_2(tmp_path, home):
    anon("run", write_publication(tmp_path), home=home)
    assert anon("audit", "show", "nothing", home=home).code == 2


def test_audit_verify_goes_through_several_keys_and_tells_of_them(tmp_path, home):
    """The way of docs/gate.md: the new key in, the old one into the file of the retired, and the next run tells."""
    spec = write_publication(tmp_path)
    retired = tmp_path / "retired.keys"
    retired.touch(mode=0o600)
    keys = ["first key, as long as keys have to be", "second key, as long as keys have to be", "third key " * 4]
    for number, key in enumerate(keys):
        environ = {"ANON_SIGNING_KEY": key, **({"ANON_RETIRED_KEYS_FILE": str(retired)} if number else {})}
        assert anon("run", spec, home=home, environ=environ).code == 0
        retired.write_text(retired.read_text() + key.strip() + "\n") if number < 2 else None
    verified = anon("audit", "verify", home=home, environ=environ)
    assert verified.code == 0
    assert verified.out.count("then retired") == 2 and verified.out.count("  key ") == 3
    assert len(anon("audit", "verify", "--json", home=home, environ=environ).json["keys"]) == 3
    manifest = portal_of(spec) / "people/latest/manifest.json"
    assert anon("audit", "verify", "--anchor", manifest, home=home, environ=environ).code == 0
    alone = anon("audit", "verify", home=home, environ={"ANON_SIGNING_KEY": keys[2]})
    assert alone.code == 1 and "ANON_RETIRED_KEYS_FILE" in alone.err
    old = anon("run", spec, home=home, environ={"ANON_SIGNING_KEY": keys[0]})
    assert old.code == 2 and "was retired from the audit store" in old.err
    assert not any(key.strip() in text for key in keys for text in (verified.out, alone.err, old.err))


def test_audit_verify_names_a_command_for_the_key_that_fails_without_its_output(tmp_path, home):
    spec = write_publication(tmp_path)
    ended = anon("run", spec, home=home, environ={"ANON_SIGNING_KEY_CMD": "sh -c 'echo my-secret; exit 1'"})
    assert ended.code == 2
    assert "ended with code 1" in ended.err and "my-secret" not in ended.err + ended.out
