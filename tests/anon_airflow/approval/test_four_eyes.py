"""Four eyes: whoever triggered the run or changed its files does not approve it."""

from __future__ import annotations

import pytest

from anon_airflow import steps
from anon_airflow.approval.four_eyes import VARIABLE
from anon_airflow.run.context import Run
from anon_core.errors import RefusedError
from tests.anon_airflow.approval.approvals import answer, committed
from tests.anon_airflow.approval.test_approval import not_published, refused
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import files_below, write_publication

ADA, BEA = "Ada Rossi <ada@example.org>", "Bea Neri <bea@example.org>"


@pytest.fixture
def spec(tmp_path, monkeypatch):
    """Bea changed the publication file last, Ada its hierarchy; runs are triggered by `tester`."""
    monkeypatch.delenv(VARIABLE, raising=False)
    spec = write_publication(tmp_path, approval={"required": True, "four_eyes": True})
    (tmp_path / ".gitignore").write_text("home\n")
    committed(tmp_path, ADA)
    spec.write_text(spec.read_text() + "keep_staging: false\n")
    committed(tmp_path, BEA)
    return spec


@pytest.fixture
def asked(spec, tmp_path) -> Run:
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE)
    steps.ask(run)
    return run


def test_a_third_person_approves(asked):
    answer(asked, person="carla")
    assert take(asked, "publish")["status"] == "published"


@pytest.mark.parametrize(
    ("person", "why"),
    [
        ("tester", "triggered this run"),
        ("TESTER", "triggered this run"),
        ("ada", "last changed"),
        ("Bea Neri", "last changed"),
        ("BEA@example.org", "last changed"),
    ],
)
def test_whoever_triggered_it_or_changed_a_file_does_not(asked, person, why):
    assert why in refused(lambda: answer(asked, person=person))
    assert rows(asked)["approvals"][-1]["decision"] == "refused"
    assert why in not_published(asked)


def test_the_id_gives_a_person_away_as_well_as_the_name(asked):
    assert "last changed" in refused(lambda: answer(asked, person="Someone Else", user_id="ada"))


def test_a_comment_that_somebody_else_commits_later_makes_nobody_a_stranger(asked, tmp_path):
    spec = asked.publication.file
    spec.write_text("# a comment\n" + spec.read_text())
    committed(tmp_path, "Dora Blu <dora@example.org>")
    assert "last changed" in refused(lambda: answer(asked, person="bea"))
    steps.ask(asked)
    assert "last changed" in refused(lambda: answer(asked, person="dora"))


def test_publish_looks_at_the_files_again(asked, tmp_path):
    answer(asked, person="carla")
    spec = asked.publication.file
    spec.write_text("# a comment\n" + spec.read_text())
    assert "it was changed after its last commit" in not_published(asked)
    committed(tmp_path, "Carla Verdi <carla@example.org>")
    assert "carla last changed" in not_published(asked)


def test_where_nobody_can_say_who_changed_a_file_staging_refuses_before_anything_is_read(spec, tmp_path):
    (tmp_path / "include/hierarchies/towns.csv").write_text("x;y\n")
    run = run_of(spec, tmp_path / "home")
    with pytest.raises(RefusedError, match=r"towns\.csv is not known: it was changed after its last commit"):
        take(run, "stage")
    assert not run.staging.exists()
    assert rows(run)["refusals"][0]["by"] == "approval"


def test_outside_git_the_environment_of_the_worker_says_it(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    run = run_of(write_publication(tmp_path, approval={"required": True, "four_eyes": True}), tmp_path / "home")
    with pytest.raises(RefusedError, match=VARIABLE):
        take(run, "stage")
    monkeypatch.setenv(VARIABLE, "ada, bea@example.org")
    take(run, *UNTIL_GATE)
    steps.ask(run)
    assert "bea last changed" in refused(lambda: answer(run, person="bea"))
    steps.ask(run)
    answer(run, person="carla")
    assert take(run, "publish")["status"] == "published"


@pytest.mark.parametrize("actor", ["airflow (manual)", "unknown", "airflow (backfill)"])
def test_where_nobody_can_say_who_triggered_it_staging_refuses(spec, tmp_path, actor):
    from dataclasses import replace

    run = replace(run_of(spec, tmp_path / "home"), actor=actor)
    with pytest.raises(RefusedError, match="does not report who triggered"):
        take(run, "stage")


def test_a_scheduled_run_is_triggered_by_nobody(spec, tmp_path):
    from dataclasses import replace

    run = replace(run_of(spec, tmp_path / "home"), actor="airflow (scheduled)")
    take(run, *UNTIL_GATE)
    steps.ask(run)
    answer(run, person="tester")
    assert take(run, "publish")["status"] == "published"


def test_only_those_are_asked_who_may_and_if_there_is_nobody_that_is_said(spec, tmp_path):
    text = spec.read_text()
    spec.write_text(text.replace("four_eyes: true", "four_eyes: true\n  users: [tester, bea, carla]"))
    committed(tmp_path, ADA)
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE)
    assert steps.ask(run).users == ("bea", "carla"), "Ada changed the file after Bea"
    spec.write_text(text.replace("four_eyes: true", "four_eyes: true\n  users: [tester, ada]"))
    committed(tmp_path, ADA)
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE)
    assert "no user may approve it" in refused(steps.ask, run)


def test_names_of_authors_stand_in_the_audit_store_only(asked, tmp_path):
    answer(asked, person="carla")
    take(asked, "publish", "record")
    for path in [*files_below(tmp_path / "home"), *files_below(tmp_path / "include/portal")]:
        if path.name != "audit.db":
            assert b"Rossi" not in path.read_bytes(), path
            assert b"bea@example.org" not in path.read_bytes(), path
    assert rows(asked)["intents"][0]["details"]["spec_changed_by"] == [ADA, BEA]
