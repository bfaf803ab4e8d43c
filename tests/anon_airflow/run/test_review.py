"""A draft does not publish, and what was reviewed is bound to its review: by whom, on which day, which columns."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from anon_airflow.cli import anon as cli
from anon_airflow.operators.dag_docs import dag_docs
from anon_airflow.run.context import Run
from anon_airflow.run.review import review_of, review_problems
from anon_core.errors import InvalidInputError, RefusedError
from anon_core.spec import load_spec
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import versions_of, write_publication

ADA, BOB = {"by": "Ada", "on": "2026-01-02"}, {"by": "Bob", "on": "2026-03-04"}

Edit = Callable[[dict[str, Any]], None]


def edited(spec: Path, *edits: Edit, **changes: Any) -> Path:
    content = yaml.safe_load(spec.read_text(encoding="utf-8")) | changes
    for edit in edits:
        edit(content)
    spec.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return spec


def lower_k(content: dict[str, Any]) -> None:
    content["privacy"]["k"] = 2


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_publication(tmp_path)


def staged(spec: Path, home: Path, run_id: str) -> Run:
    run = run_of(spec, home, run_id)
    take(run, "stage")
    return run


def refused(spec: Path, home: Path, run_id: str) -> str:
    run = run_of(spec, home, run_id)
    with pytest.raises(RefusedError) as caught:
        take(run, "stage")
    assert caught.value.by == "review"
    assert not run.staging.exists(), "nothing was read"
    assert rows(run)["refusals"][-1]["by"] == "review"
    return str(caught.value)


def test_a_draft_is_refused_by_name_and_says_what_to_write(spec: Path, tmp_path: Path) -> None:
    told = refused(edited(spec, reviewed=False), tmp_path / "home", "one")
    today = datetime.datetime.now(datetime.UTC).date()
    assert "is a draft: read its columns, unit and privacy, and correct them, then write" in told
    assert f"`reviewed: {{by: YOUR NAME, on: {today}}}` instead of `reviewed: false`" in told
    assert versions_of(spec) == []


def test_a_draft_run_by_hand_is_refused_with_exit_code_1_and_on_record(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    ended = CliRunner().invoke(cli, ["run", str(edited(spec, reviewed=False))])
    assert ended.exit_code == 1, ended.output
    assert "REFUSED by the review" in ended.output and "is a draft" in ended.output
    assert CliRunner().invoke(cli, ["run", str(edited(spec, reviewed=ADA))]).exit_code == 0


def test_the_dag_of_a_draft_is_drawn_and_says_that_it_does_not_run(spec: Path) -> None:
    assert "It is a draft and does not run" in dag_docs(load_spec(edited(spec, reviewed=False)))
    assert "draft" not in dag_docs(load_spec(edited(spec, reviewed=ADA)))


@pytest.mark.parametrize("field", ["columns", "privacy", "unit", "recode", "missing"])
def test_what_was_reviewed_may_not_change_under_the_same_review(spec: Path, tmp_path: Path, field: str) -> None:
    def change(content: dict[str, Any]) -> None:
        match field:
            case "columns":
                name = next(name for name, column in content["columns"].items() if column["role"] == "identifier")
                content["columns"][name] = {"role": "drop"}
            case "privacy":
                lower_k(content)
            case "unit":
                content["unit"] = next(n for n, c in content["columns"].items() if c["role"] == "identifier")
            case "recode":
                content["recode"] = {"method": "none"}
            case _:
                content["missing"] = "drop"

    staged(edited(spec, reviewed=ADA), tmp_path / "home", "one")
    told = refused(edited(spec, change), tmp_path / "home", "two")
    assert "changed after the review by Ada on 2026-01-02: read them again and write a later moment" in told
    staged(edited(spec, reviewed=BOB), tmp_path / "home", "three")


def test_what_is_no_matter_of_a_review_may_change(spec: Path, tmp_path: Path) -> None:
    staged(edited(spec, reviewed=ADA), tmp_path / "home", "one")
    staged(edited(spec, schedule="@monthly", title="Other", metadata={"description": "x"}), tmp_path / "home", "two")


def test_a_first_run_that_was_refused_binds_nothing(spec: Path, tmp_path: Path) -> None:
    tomorrow = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(1)
    edited(spec, reviewed={"by": "Ada", "on": tomorrow.isoformat()})
    assert "is in the future" in refused(spec, tmp_path / "home", "one")
    assert "review" not in rows(run_of(spec, tmp_path / "home", "one"))["intents"][0]["details"]


def test_alternating_reviews_of_two_files_are_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    one = edited(write_publication(tmp_path / "one"), reviewed=ADA)
    two = edited(write_publication(tmp_path / "two"), lower_k, reviewed=ADA)
    staged(one, home, "1")
    assert "changed after the review" in refused(two, home, "2"), "the same review in another file of the dataset"
    staged(edited(two, reviewed=BOB), home, "3")
    assert "Bob reviewed people on 2026-03-04, later than Ada on 2026-01-02" in refused(one, home, "4")
    assert "changed after the review by Bob" in refused(edited(one, reviewed=BOB), home, "5")


@pytest.mark.parametrize("name", ["ada", "ADA", " Ada  "])
def test_another_spelling_of_a_name_is_no_other_review(spec: Path, tmp_path: Path, name: str) -> None:
    staged(edited(spec, reviewed=ADA), tmp_path / "home", "1")
    told = refused(edited(spec, lower_k, reviewed={**ADA, "by": name}), tmp_path / "home", "2")
    assert "changed after the review" in told


def test_a_review_dated_before_the_newest_on_record_is_refused(spec: Path, tmp_path: Path) -> None:
    staged(edited(spec, reviewed=BOB), tmp_path / "home", "1")
    told = refused(edited(spec, lower_k, reviewed={"by": "Eve", "on": "2025-01-01"}), tmp_path / "home", "2")
    assert "later than Eve on 2025-01-01" in told


def test_the_second_review_of_a_day_has_a_time(spec: Path, tmp_path: Path) -> None:
    staged(edited(spec, reviewed=ADA), tmp_path / "home", "1")
    staged(edited(spec, lower_k, reviewed={"by": "Ada", "on": "2026-01-02 15:30"}), tmp_path / "home", "2")
    assert "2026-01-02T15:30, later than" in refused(edited(spec, reviewed=ADA), tmp_path / "home", "3")


@pytest.mark.parametrize("change", [{"reviewed": BOB}, {"reviewed": False}])
def test_a_review_changed_between_two_steps_stops_the_run(spec: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    take(run_of(edited(spec, reviewed=ADA), tmp_path / "home"), *UNTIL_GATE)
    with pytest.raises(RefusedError) as caught:
        take(run_of(edited(spec, **change), tmp_path / "home"), "publish")
    assert "publication file" in str(caught.value) or "changed" in str(caught.value)
    assert versions_of(spec) == []
    take(run_of(edited(spec, reviewed=ADA), tmp_path / "home", "again"), "stage")
    with pytest.raises(InvalidInputError, match="was changed after run"):
        take(run_of(edited(spec, **change), tmp_path / "home", "again"), "recode")


def test_another_review_of_the_same_words_makes_no_new_version(spec: Path, tmp_path: Path) -> None:
    take(run_of(edited(spec, reviewed=ADA), tmp_path / "home", "1"), *UNTIL_GATE, "publish", "record")
    again = run_of(edited(spec, reviewed=BOB), tmp_path / "home", "2")
    assert take(again, *UNTIL_GATE, "publish")["status"] == "unchanged"
    assert len(versions_of(spec)) == 1


def test_of_two_runs_that_begin_at_once_the_first_in_the_chain_binds_the_review(spec: Path) -> None:
    today = datetime.date(2026, 11, 1)
    mine = load_spec(edited(spec, reviewed=ADA))
    bound = review_of(mine)
    assert bound is not None
    intents = [
        {"id": number, "dataset": "people", "verb": "run", "details": {"review": {**bound, "digest": digest}}}
        for number, digest in ((9, bound["digest"]), (8, "another"))
    ]
    assert review_problems(mine, intents[:1], today) == []
    (told,) = review_problems(mine, intents, today)
    assert "changed after the review by Ada" in told
    assert review_problems(mine, [{**one, "dataset": "others"} for one in intents], today) == []


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE intents SET details = replace(details, 'Ada', 'Eve') WHERE verb = 'run'",
        "DELETE FROM intents WHERE verb = 'run'",
        "DELETE FROM chain WHERE table_name = 'intents' AND seq = 1",
    ],
)
def test_a_record_of_reviews_that_was_tampered_with_is_not_believed(spec: Path, tmp_path: Path, tampering: str) -> None:
    staged(edited(spec, reviewed=ADA), tmp_path / "home", "1")
    with closing(sqlite3.connect(tmp_path / "home/audit.db")) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute(tampering)
        database.commit()
    with pytest.raises(RefusedError, match="run `anon audit verify`"):
        staged(edited(spec, lower_k), tmp_path / "home", "2")
