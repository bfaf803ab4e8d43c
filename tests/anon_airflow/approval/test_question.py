"""What an approver reads is the report that the receipt covers, and tells the k that is meant."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from anon_airflow import steps
from anon_airflow.approval.request import question_text
from anon_airflow.operators.dag_docs import dag_docs
from anon_airflow.run.context import Run
from anon_airflow.run.summary import summary_lines
from anon_core.errors import RefusedError
from anon_core.spec import load_spec
from tests.anon_airflow.approval.approvals import answer, waiting_run
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import csv_text, portal_of, write_publication

YEARS = {"y": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}}, "s": {"role": "quasi"}}
LINK: dict[str, Any] = {
    "privacy": {"k": 3, "k_means": "link", "suppression_limit": 0.1},
    "recode": {"method": "prioritised", "mode": "link"},
}


def small_run(folder: Path, columns: dict[str, Any], table: list[tuple[str, ...]], **changes: Any) -> Run:
    spec = write_publication(folder, source=csv_text(table, tuple(columns)), columns=columns, **changes)
    run = run_of(spec, folder / "home")
    take(run, *UNTIL_GATE)
    return run


def linked_run(folder: Path, **changes: Any) -> Run:
    """Twelve years, two people each: recoded so that exact k is 2, link k 3 and source k 4."""
    table = [(str(1900 + year), sex) for year in range(12) for sex in "FM"]
    return small_run(folder, YEARS, table, **LINK, **changes)


def report_of(run: Run) -> dict[str, Any]:
    return json.loads((run.gated / "report.json").read_bytes())


def asked(run: Run) -> str:
    return steps.ask(run).body


def test_the_question_tells_counts_and_columns_and_no_cell(tmp_path):
    run = waiting_run(tmp_path, users=["bea"], timeout="3h")
    question = steps.ask(run)
    receipt = rows(run)["receipts"][-1]["digest"]
    assert question.receipt == receipt
    assert question.wait.total_seconds() == 3 * 3600
    assert "The register of people" in question.subject
    published = report_of(run)["rows"]["published"]
    for told in (
        "| k, rows in the smallest class | 5 |",
        "| rows that stand alone | at most 0 | 0 |",
        "`born`",
        f"Receipt `{receipt}`",
        f"| rows published | | {published} |",
    ):
        assert told in question.body
    for cell in ("P000001", "note 1", "Alba", "Bria"):
        assert cell not in question.body


def test_notes_that_were_changed_after_the_gate_do_not_reach_the_approver(tmp_path):
    run = waiting_run(tmp_path)
    before = asked(run)
    for name in ("stage", "recode", "gate"):
        (run.notes / f"{name}.json").write_text("{}")
    assert asked(run) == before


def test_a_report_that_is_not_the_one_of_the_receipt_is_not_asked_about(tmp_path):
    run = waiting_run(tmp_path)
    asked(run)
    path = run.gated / "report.json"
    path.write_bytes(path.read_bytes().replace(b'"rows": {', b'"rows":  {', 1))
    for step in (asked, answer):
        with pytest.raises(RefusedError, match=r"report.json changed after the gate measured it"):
            step(run)


def test_rows_that_say_nothing_any_more_are_told_beside_those_removed(tmp_path):
    table = [("1980", "F")] * 10 + [("1990", "M")] * 10 + [("1931", "F"), ("1947", "M"), ("1962", "F")]
    changes = {"privacy": {"k": 3, "suppression_limit": 0.2}, "recode": {"method": "prioritised"}}
    run = small_run(tmp_path, YEARS, table, approval={"required": True}, **changes)
    report = report_of(run)
    check = next(one for one in report["privacy"]["checks"] if one["name"] == "rows_suppressed_at_most")
    line = next(line for line in asked(run).splitlines() if "say nothing" in line)
    told = line.split("|")[3].strip()
    with (run.gated / "people.csv").open() as stream:
        silent = sum(row == ["*", "*"] for row in csv.reader(stream))
    assert told == f"fewer than 5 removed, {silent} say nothing any more"
    assert silent > 0
    assert (check["observed"], check["passed"]) == (None, True)
    assert check["message"].endswith("of the rows as collected are removed or say nothing any more: holds")


def test_waived_checks_are_told_apart_with_what_was_measured_and_by_whom(tmp_path):
    columns = {"y": {"role": "quasi"}, "d": {"role": "sensitive"}}
    waiver = {
        "check": "l_diversity",
        "reason": "known\n# to all ![x](http://x)",
        "by": "R. Rossi",
        "until": "2999-01-01",
    }
    privacy = {"k": 3, "l_diversity": [{"column": "d", "l": 2}], "waivers": [waiver]}
    table = [(year, "same") for year in ("1980", "1990") for _ in range(5)]
    run = small_run(tmp_path, columns, table, privacy=privacy, approval={"required": True})
    body = asked(run)
    checks = [one for one in report_of(run)["privacy"]["checks"] if one["required"] is not None]
    assert f"| checks of the gate that hold | {len(checks)} | {len(checks) - 1} |" in body
    assert "| checks that do not hold and are waived | | 1 |" in body
    assert body.count("- l\\_diversity(d, distinct): measured 1, required 2; waived by R. Rossi") == 1
    assert "- l\\_diversity: known \\# to all \\!\\[x\\](http://x) (R. Rossi, until 2999-01-01; needed)" in body


def test_what_is_accepted_by_name_cannot_dress_up_as_something_else(tmp_path):
    run = waiting_run(tmp_path)
    report = report_of(run)
    report["privacy"]["accepted"] = [
        {"columns": ["born", "a|b"], "reason": "fine\n# k", "by": "dpo", "until": "2030-01-01", "needed": False}
    ]
    (line,) = [line for line in question_text(report, "0" * 64).splitlines() if "dpo" in line]
    assert line == "- published\\_uniqueness (born, a\\|b): fine \\# k (dpo, until 2030-01-01; not needed)"


def test_the_question_of_a_link_release_tells_link_and_source_k_and_no_singletons(tmp_path):
    run = linked_run(tmp_path, approval={"required": True})
    assert report_of(run)["privacy"]["k"] == {"exact": None}, "the originals took part"
    body = asked(run)
    assert "| link k, rows that may be a person's, at least | 3 | at least 3 |" in body
    assert "| source k, people whose row each may be, at least | 3 | at least 3 |" in body
    assert "smallest class" not in body
    assert "stand alone" not in body


def test_the_page_of_a_link_release_does_not_say_that_rows_look_alike(tmp_path):
    run = linked_run(tmp_path)
    take(run, "publish")
    page = (portal_of(run.publication.file) / "people/index.html").read_text()
    section = " ".join(page[page.index('id="privacy"') : page.index("</section>", page.index('id="privacy"'))].split())
    assert "at least <strong>3 rows</strong> may be theirs" in section
    assert "every row may belong to at least <strong>3 people</strong>" in section
    assert "Our rule requires at least 3 of both." in section
    for untrue in ("look alike", "looks the same", "k = ", "Rows that stand alone"):
        assert untrue not in section
    assert "Every row may be that of enough people" in page


def test_the_page_of_an_ordinary_release_still_says_how_many_look_alike(tmp_path):
    run = run_of(write_publication(tmp_path), tmp_path / "home")
    take(run, *UNTIL_GATE)
    k = report_of(run)["privacy"]["k"]["exact"]
    take(run, "publish")
    page = (portal_of(run.publication.file) / "people/index.html").read_text()
    assert f"Every group has at least <strong>{k} rows</strong>" in page
    assert f"k-anonymity, with k = {k}." in page
    assert "may be theirs" not in page


def test_the_summary_and_the_documentation_of_the_dag_tell_the_k_that_is_meant(tmp_path):
    run = linked_run(tmp_path)
    take(run, "publish")
    report = json.loads(Path(take(run, "record")["report"]).read_bytes())
    k = report["after"]["k"]
    assert k["exact"] < 3 <= min(k["link"], k["source"]), "else this test shows nothing"
    lines = list(summary_lines(report))
    assert f"  link k              1 before, {k['link']} after" in lines
    assert f"  source k            1 before, {k['source']} after" in lines
    assert not any("smallest class" in line for line in lines)
    docs = dag_docs(run.publication)
    assert "- **link k**, rows that may be a person's, at least: 3" in docs
    assert "smallest class" not in docs
    other = dag_docs(load_spec(write_publication(tmp_path / "other")))
    assert "- **k**, rows in the smallest class: 5" in other


def test_without_quasi_identifiers_there_is_no_k_to_tell(tmp_path):
    columns = {"d": {"role": "sensitive"}}
    changes = {"privacy": {"k": 3}, "recode": {"method": "none"}, "approval": {"required": True}}
    run = small_run(tmp_path, columns, [("a",), ("b",)] * 6, **changes)
    assert report_of(run)["privacy"]["k"] == {"exact": None}
    assert "| k, rows in the smallest class | 3 | no classes |" in asked(run)
    answer(run)
    take(run, "publish")
    page = (portal_of(run.publication.file) / "people/index.html").read_text()
    assert "there are no groups to measure" in page
    assert "no k is measured" in dag_docs(run.publication)
