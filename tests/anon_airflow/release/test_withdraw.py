"""``anon withdraw``: a release goes from its portal, stays on record, and does not come back by itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.audit.models import ROWS, trigger_statements
from anon_core.errors import RefusedError
from tests.anon_airflow.audit.audit_databases import drop_triggers, run_sql
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take
from tests.faults.anon_process import anon
from tests.faults.publications import csv_text, files_below, people, portal_of, source_of, write_publication

REASON = "Somebody could be recognised"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_publication(tmp_path)


def publish(spec: Path, home: Path, period: str, seed: int = 1) -> str:
    """Publish one period, of other people for another seed, and return the version."""
    source_of(spec).write_text(csv_text(people(seed=seed)))
    ended = anon("run", spec, "--period", period, "--json", home=home)
    assert ended.code == 0, ended.err
    return str(json.loads(ended.out)["release"])


def withdraw(home: Path, release: str, *more: str, reason: str = REASON) -> dict[str, Any]:
    ended = anon("withdraw", release, "--reason", reason, "--json", *more, home=home)
    assert ended.code == 0, ended.err
    return dict(json.loads(ended.out))


def verdicts(home: Path) -> list[str]:
    return [run["verdict"] for run in json.loads(anon("audit", "list", "--json", home=home).out)["runs"]]


def rows_on_portal(spec: Path) -> list[str]:
    return sorted(path.parent.name for path in files_below(portal_of(spec)) if path.name == "people.csv")


def test_a_version_is_withdrawn_and_the_others_stay(spec: Path, home: Path) -> None:
    first, second = publish(spec, home, "2026-01-01"), publish(spec, home, "2026-02-01", seed=2)
    done = withdraw(home, second)
    assert (done["withdrawn"], done["already"], done["dataset"]) == ([second], [], "people")
    assert rows_on_portal(spec) == [first]
    assert REASON in (portal_of(spec) / "people" / "versions" / second / "index.html").read_text()
    assert verdicts(home) == ["withdrawn", "published"]
    assert json.loads(anon("audit", "verify", "--json", home=home).out)["ok"]


def test_the_audit_trail_says_who_and_why(spec: Path, home: Path) -> None:
    version = publish(spec, home, "2026-01-01")
    withdraw(home, version)
    shown = json.loads(anon("audit", "show", version, "--json", home=home).out)
    (row,) = shown["rows"]["withdrawals"]
    assert (row["version"], row["reason"]) == (version, REASON)
    intents = {row["id"]: row["verb"] for row in shown["rows"]["intents"]}
    ends = {intents[row["intent_id"]]: row["status"] for row in shown["rows"]["outcomes"]}
    assert ends["withdraw"] == "done"


def test_a_run_and_a_dataset_name_releases_too(spec: Path, home: Path) -> None:
    versions = [publish(spec, home, f"2026-0{month}-01", seed=month) for month in (1, 2, 3)]
    newest = json.loads(anon("audit", "list", "--json", home=home).out)["runs"][0]
    assert withdraw(home, newest["run_id"])["withdrawn"] == [versions[2]]
    done = withdraw(home, "people")
    assert (done["withdrawn"], done["already"]) == (sorted(versions[:2]), [versions[2]])
    assert rows_on_portal(spec) == []


def test_withdrawing_twice_does_nothing_more(spec: Path, home: Path) -> None:
    version = publish(spec, home, "2026-01-01")
    withdraw(home, version)
    again = withdraw(home, version, reason="another")
    assert (again["withdrawn"], again["already"]) == ([], [version])
    shown = json.loads(anon("audit", "show", version, "--json", home=home).out)
    assert [row["reason"] for row in shown["rows"]["withdrawals"]] == [REASON]


def test_a_kill_at_any_write_of_a_withdrawal_is_ended_by_the_next(tmp_path: Path) -> None:
    made, kept = tmp_path / "made", tmp_path / "kept"
    spec, home = write_publication(made), made / "home"
    version = publish(spec, home, "2026-01-01")
    shutil.copytree(made, kept, symlinks=True)
    for step in range(1, 80, 5):
        shutil.rmtree(made)
        shutil.copytree(kept, made, symlinks=True)
        killed = anon("withdraw", version, "--reason", REASON, home=home, kill_at_write=step)
        withdraw(home, version)
        assert rows_on_portal(spec) == []
        assert (portal_of(spec) / "people/versions" / version / "tombstone.json").is_file()
        assert verdicts(home) == ["withdrawn"]
        if killed.code == 0:
            assert step > 10
            return
    pytest.fail("the withdrawal never ended")


def test_neither_a_retry_nor_a_later_run_publishes_what_was_withdrawn(spec: Path, home: Path) -> None:
    run = run_of(spec, home, period="2026-01-01")
    take(run, *UNTIL_GATE, "publish")
    with run.audit() as audit:
        version = audit.runs()[0].version
    withdraw(home, str(version))
    with pytest.raises(RefusedError, match=f"was withdrawn, as version .*{REASON}"):
        take(run, "publish")
    for period in ("2026-01-01", "2026-02-01"):
        later = run_of(spec, home, f"later {period}", period=period)
        take(later, *UNTIL_GATE)
        with pytest.raises(RefusedError, match="the same was withdrawn"):
            take(later, "publish")
    assert rows_on_portal(spec) == []
    assert publish(spec, home, "2026-02-01", seed=2) in rows_on_portal(spec)


@pytest.mark.parametrize("words_only", [False, True])
def test_withdrawn_data_comes_back_only_if_nothing_but_words_was_wrong(
    spec: Path, home: Path, words_only: bool
) -> None:
    version = publish(spec, home, "2026-01-01")
    withdraw(home, version, *["--words-only"] * words_only)
    spec.write_text(f"{spec.read_text()}\nmetadata: {{description: 'Now said correctly'}}\n")
    ended = anon("run", spec, "--period", "2026-01-01", "--json", home=home)
    assert ended.json["verdict"] == ("published" if words_only else "refused"), ended.out
    assert len(rows_on_portal(spec)) == words_only


def test_the_same_data_with_other_words_goes_with_it_unless_only_words_do(spec: Path, home: Path) -> None:
    first = publish(spec, home, "2026-01-01")
    spec.write_text(f"{spec.read_text()}\nmetadata: {{description: 'Now said correctly'}}\n")
    second = publish(spec, home, "2026-02-01")
    assert withdraw(home, first, "--words-only")["withdrawn"] == [first]
    assert rows_on_portal(spec) == [second]
    assert withdraw(home, first)["withdrawn"] == [second]
    assert rows_on_portal(spec) == []


def test_what_a_killed_run_had_published_can_be_withdrawn(spec: Path, home: Path) -> None:
    fault = ("anon_airflow.release.publish._put_on_record", "stopped in between")
    ended = anon("run", spec, "--period", "2026-01-01", home=home, fault=fault)
    assert ended.code == 2
    (version,) = rows_on_portal(spec)
    assert withdraw(home, version)["withdrawn"] == [version]
    assert rows_on_portal(spec) == []
    again = anon("run", spec, "--period", "2026-01-01", home=home)
    assert again.code == 1
    assert rows_on_portal(spec) == []


def test_the_same_content_under_another_period_goes_with_it(spec: Path, home: Path) -> None:
    first, second = publish(spec, home, "2026-01-01"), publish(spec, home, "2026-02-01")
    assert withdraw(home, first)["withdrawn"] == sorted([first, second])
    assert rows_on_portal(spec) == []


def test_each_version_that_goes_is_told_with_its_portal_and_whether_it_only_holds_the_same_data(
    spec: Path, home: Path
) -> None:
    first, second = publish(spec, home, "2026-01-01"), publish(spec, home, "2026-02-01")
    spec.write_text(spec.read_text().replace("folder: portal", "folder: other"))
    assert publish(spec, home, "2026-01-01") == first
    ended = anon("withdraw", first, "--reason", REASON, home=home)
    other = portal_of(spec).with_name("other")
    assert sorted(ended.out.splitlines()) == sorted(
        [
            f"withdrawn: people {first} off folder {portal_of(spec)}",
            f"withdrawn: people {second} off folder {portal_of(spec)} (same data)",
            f"withdrawn: people {first} off folder {other}",
        ]
    )
    again = anon("withdraw", first, "--reason", REASON, home=home)
    assert again.out.splitlines() == [f"withdrawn before: people {first}"]
    told = " ".join(anon("withdraw", "--help", home=home).out.split())
    assert "Other versions of the dataset with the same data are withdrawn too" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody", "--reason", REASON), "no version, run or dataset called 'nobody'"),
        (("people",), "--reason"),
        (("people", "--reason", " "), "give a reason"),
        (("people", "--reason", "caf\udce9"), "argument 4 is not text"),
    ],
)
def test_a_wrong_call_withdraws_nothing(spec: Path, home: Path, arguments: tuple[str, ...], words: str) -> None:
    version = publish(spec, home, "2026-01-01")
    ended = anon("withdraw", *arguments, home=home)
    assert ended.code == 2
    assert words in ended.err
    assert rows_on_portal(spec) == [version]


def test_a_portal_that_cannot_be_written_leaves_the_intent_on_record_as_failed(spec: Path, home: Path) -> None:
    version = publish(spec, home, "2026-01-01")
    ended = anon("withdraw", version, "--reason", REASON, home=home, full_at_write=1)
    assert ended.code == 2
    assert verdicts(home) == ["published"]
    assert withdraw(home, version)["withdrawn"] == [version]


def test_a_portal_that_was_moved_is_told_and_does_not_stop_the_others(spec: Path, home: Path) -> None:
    version = publish(spec, home, "2026-01-01")
    moved = portal_of(spec).rename(spec.parent.parent / "moved")
    text = spec.read_text()
    spec.write_text(text.replace("folder: portal", "folder: other"))
    assert publish(spec, home, "2026-01-01") == version
    ended = anon("withdraw", version, "--reason", REASON, home=home)
    assert (ended.code, ended.out) == (2, "")
    assert f"withdrawing failed at {portal_of(spec)}: there is no portal" in ended.err
    assert verdicts(home)[0] == "published"
    assert not list((spec.parent.parent / "other").rglob("people.csv"))
    portal_of(spec).symlink_to(moved)
    assert withdraw(home, version)["withdrawn"] == [version]
    assert rows_on_portal(spec) == []
    assert not list(moved.rglob("people.csv"))


def test_formulas_are_escaped_in_what_is_measured_and_published(tmp_path: Path, home: Path) -> None:
    rows = [[*row[:4], "=1+1" if at % 2 else "-5", row[5]] for at, row in enumerate(people())]
    spec = write_publication(tmp_path, rows, csv={"escape_formulas": True})
    assert anon("run", spec, home=home).code == 0
    text = (portal_of(spec) / "people/latest/people.csv").read_text()
    assert '"\'=1+1"' in text
    assert '"-5"' in text
    assert '"=1+1"' not in text
    checks = json.loads((portal_of(spec) / "people/latest/report.json").read_bytes())["privacy"]["checks"]
    assert {check["name"]: check["passed"] for check in checks}["same_content"]


def test_retention_comes_from_the_publication_file(tmp_path: Path, home: Path) -> None:
    spec = write_publication(tmp_path, portal={"folder": "portal", "keep": 2})
    versions = [publish(spec, home, f"2026-0{month}-01", seed=month) for month in (1, 2, 3)]
    assert rows_on_portal(spec) == sorted(versions[1:])
    assert "no longer available" in (portal_of(spec) / "people/versions" / versions[0] / "index.html").read_text()


def cut_off(home: Path, keep: int) -> None:
    """Remove the newest links together with their rows, which the chain alone does not show."""
    url = f"sqlite:///{home}/audit.db"
    drop_triggers(url)
    run_sql(
        url,
        *[f"DELETE FROM {table} WHERE id > {keep}" for table in ROWS],
        f"DELETE FROM chain WHERE seq > {keep}",
        *trigger_statements("sqlite"),
    )


def test_a_withdrawal_that_is_cut_off_shows_against_its_tombstone(spec: Path, home: Path) -> None:
    first, second = publish(spec, home, "2026-01-01"), publish(spec, home, "2026-02-01", seed=2)
    manifest = portal_of(spec) / "people" / "versions" / second / "manifest.json"
    before = anon("audit", "verify", "--json", home=home).json["entries"]
    withdraw(home, first)
    tombstone = portal_of(spec) / "people" / "versions" / first / "tombstone.json"
    assert set(json.loads(tombstone.read_bytes())["audit"]) == {"mac"}, "the place in the chain tells what else went on"
    head = before + 1
    for anchors in ([manifest], [tombstone], [manifest, tombstone], [portal_of(spec)]):
        named = [word for anchor in anchors for word in ("--anchor", anchor)]
        assert anon("audit", "verify", *named, home=home).code == 0, anchors
    shutil.copy(home / "audit.db", home / "whole.db")
    cut_off(home, before)
    assert anon("audit", "verify", home=home).code == anon("audit", "verify", "--anchor", manifest, home=home).code == 0
    for anchor in (tombstone, portal_of(spec)):
        ended = anon("audit", "verify", "--anchor", anchor, home=home)
        assert ended.code == 1 and "the end of the chain was cut off" in ended.err
    shutil.copy(home / "whole.db", home / "audit.db")
    cut_off(home, head)  # The intent stays, what came of it goes.
    ended = anon("audit", "verify", "--anchor", tombstone, home=home)
    assert ended.code == 1 and f"people {first} has a tombstone on its portal, but no withdrawal on record" in ended.err


def test_what_is_no_anchor_is_an_error_that_names_the_file(spec: Path, home: Path, tmp_path: Path) -> None:
    publish(spec, home, "2026-01-01")
    (tmp_path / "empty").mkdir()
    for number, content in enumerate(
        ("", "[]", "7", '{"audit": 7}', '{"extras": 3}', '{"audit": {"seq": "x", "mac": 1}}')
    ):
        (tmp_path / f"{number}.json").write_text(content)
        ended = anon("audit", "verify", "--anchor", tmp_path / f"{number}.json", home=home)
        assert ended.code == 2 and f"{number}.json" in ended.err, content
    assert anon("audit", "verify", "--anchor", tmp_path / "empty", home=home).code == 2


def test_the_summary_of_a_withdrawn_release_says_when_by_whom_and_why(spec: Path, home: Path) -> None:
    version = publish(spec, home, "2026-01-01")
    person = withdraw(home, version)["person"]
    for arguments in ((version, "--summary"), (version,)):
        shown = anon("audit", "show", *arguments, home=home).out
        line = next(line for line in shown.splitlines() if line.startswith("  verdict"))
        assert "WITHDRAWN on 20" in line and f"by {person}: {REASON} (version {version})" in line
        assert "PUBLISHED" not in line
