"""A whole run with waivers: what is published, who is named where, and what happens when a day is over."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from anon_airflow import steps
from anon_core.errors import PolicyNotMetError, RefusedError
from tests.anon_airflow.commands.check_specs import spec_with
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.anon_process import anon
from tests.faults.publications import portal_of, staged_files, versions_of, write_publication


def today() -> date:
    """Now, not when the tests began: they may run past midnight."""
    return datetime.now(UTC).date()


ONLY_F = {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F"]}}


def waiver(check: str, days: int = 30) -> dict[str, Any]:
    return {"check": check, "reason": "a small register", "by": "R. Rossi", "until": today() + timedelta(days)}


def accepted(days: int = 30) -> dict[str, Any]:
    one = {
        "columns": ["points"],
        "reason": "public anyway",
        "by": "B. Bianchi",
        "until": today() + timedelta(days),
    }
    return {"published_uniqueness": {"accept": [one]}}


def waiving(folder: Path, *waivers: dict[str, Any], **privacy: Any) -> Path:
    return write_publication(folder, privacy={**privacy, "waivers": list(waivers)}, expectations=[ONLY_F])


STOCK = "expect_column_values_to_be_in_set(sex)"


def test_a_run_with_a_waived_check_is_published_and_tells_who_waived_it(tmp_path):
    spec = waiving(tmp_path, waiver(STOCK), **accepted())
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE, "publish")
    ended = take(run, "record")
    assert ended["verdict"] == "published"
    public = json.loads((portal_of(spec) / "people/latest/report.json").read_bytes())
    internal = json.loads(Path(ended["report"]).read_bytes())
    until = (today() + timedelta(30)).isoformat()
    for listed in (public["privacy"], internal):
        assert listed["waivers"] == [
            {"check": STOCK, "reason": "a small register", "by": "R. Rossi", "until": until, "needed": True}
        ]
        assert listed["accepted"] == [
            {
                "columns": ["points"],
                "pattern": None,
                "reason": "public anyway",
                "by": "B. Bianchi",
                "until": until,
                "needed": False,
            }
        ]
        failing = [check for check in listed["checks"] if not check["passed"]]
        assert {check["waived_by"] for check in failing} == {"R. Rossi"} and len(failing) == 1
    on_record = [(row["check_name"], row["columns"], row["person"], row["until"]) for row in rows(run)["waivers"]]
    assert on_record == [
        ("published_uniqueness", ["points"], "B. Bianchi", until),
        ("expect_column_values_to_be_in_set", ["sex"], "R. Rossi", until),
    ]


def test_the_portal_page_the_summary_and_the_audit_name_it(tmp_path):
    spec, home = waiving(tmp_path, waiver(STOCK), waiver("suppression_limit"), **accepted()), tmp_path / "home"
    ended = anon("run", spec, home=home)
    assert ended.code == 0
    assert "a small register (R. Rossi, until" in ended.out and "; needed)" in ended.out and "2 waived" in ended.out
    page = (portal_of(spec) / "people/index.html").read_text()
    words = ["Waived checks.", "Column values to be in set (sex)", "waived by R. Rossi", "it failed"]
    words += ["Accepted exceptions.", "not needed in this version", "than those that a named person has waived"]
    for word in words:
        assert word in page
    assert "If one check had failed" not in page
    shown = anon("audit", "show", "people", home=home).out
    assert "R. Rossi" in shown and "public anyway" in shown
    assert anon("audit", "verify", home=home).code == 0


def test_without_the_waiver_the_same_run_is_refused(tmp_path):
    run = run_of(waiving(tmp_path), tmp_path / "home")
    with pytest.raises(RefusedError, match="expect_column_values_to_be_in_set"):
        take(run, *UNTIL_GATE)
    assert versions_of(run.publication.file) == []


@pytest.mark.parametrize("what", ["waiver", "acceptance"])
def test_what_has_ended_is_refused_before_anything_is_read(tmp_path, what):
    over = accepted(-1) if what == "acceptance" else {}
    spec = waiving(tmp_path, waiver(STOCK, -1 if what == "waiver" else 1), **over)
    run = run_of(spec, tmp_path / "home")
    with pytest.raises(RefusedError, match=f"the {what} of .* expired on") as caught:
        take(run, "stage")
    assert caught.value.by == "stage"
    assert staged_files(run.home.root) == []
    ended = take(run, "record")
    assert ended["verdict"] == "refused"
    report = json.loads(Path(ended["report"]).read_bytes())
    assert {one["needed"] for one in (*report["waivers"], *report["accepted"])} == {None}


@pytest.mark.parametrize("step", ["gate", "publish"])
@pytest.mark.parametrize("what", ["waiver", "acceptance"])
def test_what_ends_while_a_run_waits_is_refused_by_the_next_step(tmp_path, monkeypatch, step, what):
    until = accepted(0) if what == "acceptance" else {}
    run = run_of(waiving(tmp_path, waiver(STOCK, 0 if what == "waiver" else 9), **until), tmp_path / "home")
    take(run, *UNTIL_GATE[: 4 if step == "gate" else 5])
    monkeypatch.setattr(steps, "_today", lambda: today() + timedelta(1))
    with pytest.raises(RefusedError, match=f"the {what} of .* expired on"):
        take(run, step)
    assert versions_of(run.publication.file) == []


def test_recoding_need_not_reach_a_waived_limit_and_the_gate_still_tells(tmp_path):
    """One distinct person among many of the same kind: removing her is all that can be done."""
    people = [(f"P{n}", "1980", "Alba", "F", "1", "") for n in range(40)] + [("P99", "1999", "Issa", "M", "1", "")]
    columns = {"id": {"role": "identifier"}, "born": {"role": "quasi"}, "town": {"role": "quasi"},
               "sex": {"role": "quasi"}, "points": {"role": "sensitive"}, "notes": {"role": "drop"}}  # fmt: skip

    def run_with(*waivers: dict[str, Any]) -> Any:
        privacy = {"suppression_limit": 0.0, "waivers": list(waivers)}
        folder = tmp_path / str(len(waivers))
        return run_of(write_publication(folder, people, columns=columns, privacy=privacy), folder / "home")

    with pytest.raises((PolicyNotMetError, RefusedError)):
        take(run_with(), *UNTIL_GATE)
    run = run_with(waiver("suppression_limit"))
    take(run, *UNTIL_GATE, "publish", "record")
    report = json.loads((portal_of(run.publication.file) / "people/latest/report.json").read_bytes())
    assert (report["rows"]["removed"], report["rows"]["rounded_to"]) == (0, 5), "fewer than five, and not how many"
    (check,) = [one for one in report["privacy"]["checks"] if one["name"] == "rows_suppressed_at_most"]
    assert (check["observed"], check["passed"], bool(check["waived_by"])) == (None, False, True)
    assert check["message"].endswith("does not hold")
    assert report["privacy"]["suppression_limit"] == 0.0
    assert report["privacy"]["waivers"][0]["needed"] is True


def test_a_waiver_cannot_be_put_in_between_gate_and_publication(tmp_path):
    """The suite that it would ease, and so the receipt, is another one."""
    spec = write_publication(tmp_path)
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE)
    write_publication(tmp_path, privacy={"waivers": [waiver("suppression_limit")]})
    with pytest.raises(RefusedError, match="another suite of checks"):
        take(run_of(spec, tmp_path / "home"), "publish")
    assert versions_of(spec) == []


ILL = "sex,age,country,ill\n" + "F,30,AT,flu\n" * 3 + "M,40,GR,flu\nM,40,GR,gout\n"
CLOSE = "t_closeness: [{column: ill, t: 0.1}], l_diversity: [{column: ill, l: 2}], max_risk: 0.4"


def checked(folder: Path, *waivers: str) -> Any:
    (folder / "table.csv").write_text(ILL)
    listed = ", ".join(f"{{{one}}}" for one in waivers)
    spec = spec_with(folder, f"{{k: 2, {CLOSE}, waivers: [{listed}]}}")
    return anon("check", folder / "table.csv", "--spec", spec, "--json", home=folder / "home"), spec


def text_of(check: str, days: int = 1) -> str:
    return f"check: {check}, reason: a small register, by: R. Rossi, until: {today() + timedelta(days)}"


def test_anon_check_counts_a_waived_check_as_held_and_shows_it(tmp_path):
    ended, _ = checked(tmp_path)
    assert ended.code == 1
    failed = {check["name"].partition("(")[0] for check in ended.json["checks"] if not check["passed"]}
    assert failed == {"t_closeness", "l_diversity", "max_risk"}
    ended, spec = checked(tmp_path, text_of("t_closeness"), text_of("l_diversity(ill)"), text_of("max_risk"))
    assert ended.code == 0
    assert {check["name"].partition("(")[0] for check in ended.json["checks"] if check["waived_by"]} == failed
    assert not any(check["passed"] for check in ended.json["checks"] if check["waived_by"])
    shown = anon("check", tmp_path / "table.csv", "--spec", spec, home=tmp_path / "home")
    assert shown.code == 0 and "waived" in shown.out and "max_risk by R. Rossi" in shown.out


def test_anon_check_does_not_hold_by_a_waiver_that_has_ended(tmp_path):
    ended, _ = checked(tmp_path, text_of("t_closeness", -1), text_of("l_diversity"), text_of("max_risk"))
    assert ended.code == 1
    failed = {c["name"].partition("(")[0] for c in ended.json["checks"] if not (c["passed"] or c["waived_by"])}
    assert failed == {"t_closeness", "waivers"}


def test_anon_check_does_not_excuse_a_column_that_is_not_there(tmp_path):
    _, spec = checked(tmp_path, text_of("t_closeness"), text_of("l_diversity"), text_of("max_risk"))
    (tmp_path / "table.csv").write_text("sex,age,country\n" + "F,30,AT\n" * 3)
    ended = anon("check", tmp_path / "table.csv", "--spec", spec, "--json", home=tmp_path / "home")
    assert ended.code == 1
    assert {check["waived_by"] for check in ended.json["checks"] if not check["measured"]} == {None}


def test_anon_recode_leaves_what_is_waived_and_shows_it(tmp_path):
    ended, spec = checked(tmp_path, text_of("t_closeness"), text_of("l_diversity"), text_of("max_risk"))
    spec.write_text(spec.read_text() + "recode: {method: global}\n")
    out = tmp_path / "out.csv"
    done = anon("recode", tmp_path / "table.csv", "--spec", spec, "--output", out, "--json", home=tmp_path / "home")
    assert done.code == 0 and done.json["holds"] is True
    assert done.json["rows_changed"] == 0
    assert {c["name"].partition("(")[0] for c in done.json["checks"] if c["waived_by"]} == {
        "t_closeness", "l_diversity", "max_risk",
    }  # fmt: skip
    assert ended.code == 0
