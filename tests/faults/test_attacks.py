"""What an attack on the gate once found, so that it is never found again."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
import yaml

from anon_airflow.run.context import staging_of
from anon_core.errors import InvalidInputError, RefusedError
from anon_core.spec import load_spec
from tests.anon_airflow.run.step_runs import run_of, take
from tests.faults.anon_process import anon
from tests.faults.publications import (
    COLUMNS,
    csv_text,
    files_below,
    people,
    portal_of,
    released,
    source_of,
    versions_of,
    write_publication,
)


def public_report(spec) -> dict:
    return json.loads((portal_of(spec) / spec.stem / "latest" / "report.json").read_bytes())


def test_a_quote_that_is_never_closed_does_not_swallow_rows(tmp_path, home):
    lines = csv_text(people()).splitlines()
    lines[20] = lines[20].rsplit(",", 1)[0] + ',"flu'
    spec = write_publication(tmp_path, source="\n".join(lines) + "\n")
    ended = anon("run", spec, home=home)
    assert ended.code == 2
    assert "odd number of quotes" in ended.err
    assert not versions_of(spec)


def test_a_pair_of_stray_quotes_does_not_swallow_rows(tmp_path, home):
    lines = csv_text(people()).splitlines()
    lines[20] = lines[20].rsplit(",", 1)[0] + ',"flu'
    lines[40] = lines[40] + '"'
    spec = write_publication(tmp_path, source="\n".join(lines) + "\n")
    ended = anon("run", spec, home=home)
    assert ended.code == 2
    assert "cells of column 6 hold line breaks" in ended.err
    assert "P000030" not in ended.err
    assert not versions_of(spec)


def test_a_column_declared_other_is_measured_together_with_all_quasi_identifiers(tmp_path, home):
    """Four columns single everybody out, while every three of them are harmless."""
    rows = [(a, b, c, d) for a in "123" for b in "123" for c in "123" for d in "12345"]
    until = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()
    columns = {name: {"role": "quasi", "hierarchy": {"root": "*"}} for name in "abc"} | {"d": {"role": "other"}}
    spec = write_publication(
        tmp_path, source=csv_text(rows, "abcd"), columns=columns, recode={"method": "none"}, privacy={"k": 5}
    )
    ended = anon("run", spec, home=home)
    assert ended.code == 1
    assert "a, b, c, d: 135 rows" in ended.out
    assert not versions_of(spec)
    accepted = {"columns": list("abcd"), "reason": "public anyway", "by": "A. Steward", "until": until}
    write_publication(
        tmp_path,
        source=csv_text(rows, "abcd"),
        columns=columns,
        recode={"method": "none"},
        reviewed={"by": "Ada", "on": "2026-01-03"},
        privacy={"k": 5, "published_uniqueness": {"accept": [accepted]}},
    )
    assert anon("run", spec, home=home).code == 0


def test_without_quasi_identifiers_every_column_is_searched_and_no_k_is_claimed(tmp_path, home):
    columns = {"name": {"role": "sensitive"}, "year": {"role": "other"}}
    unique = csv_text([(f"Somebody {n}", "2026") for n in range(30)], ["name", "year"])
    spec = write_publication(tmp_path, source=unique, columns=columns, recode={"method": "none"})
    assert anon("run", spec, home=home).code == 1
    harmless = csv_text([(f"Somebody {n % 3}", "2026") for n in range(30)], ["name", "year"])
    write_publication(tmp_path, source=harmless, columns=columns, recode={"method": "none"})
    ended = anon("run", spec, home=home)
    assert ended.code == 0
    assert "k (smallest class)" not in ended.out
    assert public_report(spec)["privacy"]["k"]["exact"] is None


def test_the_same_file_twice_does_not_double_everybody(tmp_path, home):
    spec = write_publication(tmp_path, people())
    content = yaml.safe_load(spec.read_text())
    content["source"]["file"] = "samples/*.csv"
    spec.write_text(yaml.safe_dump(content, sort_keys=False))
    source_of(spec).with_name("people-again.csv").write_bytes(source_of(spec).read_bytes())
    ended = anon("run", spec, home=home)
    assert ended.code == 2
    assert "has the same content as" in ended.err


def test_rows_that_share_their_identifiers_are_no_people(tmp_path, home):
    spec = write_publication(tmp_path, [*people(), *people()[:7]])
    ended = anon("run", spec, home=home)
    assert ended.code == 1
    assert "id spans units: 407 rows, 400 people; say `unit: id`" in ended.out
    assert not versions_of(spec)


@pytest.mark.parametrize("first", ["P000001,1950,Mario Rossi,F,HIV,x", "P000001,1950,F,F,HIV,x"])
def test_a_file_without_its_header_does_not_put_cells_into_messages(tmp_path, home, first):
    spec = write_publication(tmp_path, source=first + "\n" + csv_text(people()).split("\n", 1)[1])
    ended = anon("run", spec, home=home)
    assert ended.code == 2
    assert not any(cell in ended.err + ended.out for cell in ("Mario Rossi", "HIV", "P000001", "1950"))


def test_a_group_is_not_named_after_somebody_who_was_removed(tmp_path, home):
    """The only person born in 1901 is alone whatever is generalised, and is removed."""
    rows = [("P0", "1901", "Alba", "X", "1", "n"), *people(300)]
    years = {"column": "born", "intervals": "rows", "size": 5}
    spec = write_publication(
        tmp_path,
        rows,
        privacy={"k": 2, "suppression_limit": 0.2},
        recode={"method": "singletons", "singletons": {"columns": ["town"], "years": years}},
    )
    ended = anon("run", spec, "--json", home=home)
    assert ended.code == 0, ended.err
    assert not [row["born"] for row in released(spec) if "1901" in row["born"]]


def test_a_publication_file_that_breaks_in_the_middle_leaves_no_original(tmp_path, home, monkeypatch):
    monkeypatch.setenv("ANON_HOME", str(home))
    spec = write_publication(tmp_path)
    run = run_of(spec, home, "scheduled__1")
    take(run, "stage")
    assert run.staging == staging_of(run.home, spec, run.run_id)
    assert files_below(run.staging)
    spec.write_text("dataset: [")
    from anon_airflow.operators.record import RecordOperator

    class DagRun:
        run_id, data_interval_start, triggering_user_name, run_type = run.run_id, None, None, "manual"

    with pytest.raises(SystemExit, match="problem"):
        RecordOperator(task_id="record", spec=str(spec)).execute({"dag_run": DagRun, "run_id": run.run_id})
    assert not files_below(home / "staging")


def test_a_refused_rerun_is_not_recorded_as_published(tmp_path, home):
    """The first attempt is killed before `record`; the second one, with other data, is refused."""
    spec = write_publication(tmp_path, people(), recode={"method": "global"})
    run = run_of(spec, home, "scheduled__1")
    take(run, "stage", "detect", "score", "recode", "gate", "publish")
    write_publication(tmp_path, people(), recode={"method": "none"}, reviewed={"by": "Ada", "on": "2026-01-03"})
    again = run_of(spec, home, "scheduled__1")
    take(again, "stage", "detect", "score", "recode")
    with pytest.raises(RefusedError):
        take(again, "gate")
    with pytest.raises(RefusedError):
        take(again, "publish")
    assert take(again, "record")["verdict"] == "refused"


def test_a_run_goes_on_only_by_the_publication_file_it_began_with(tmp_path, home):
    spec = write_publication(tmp_path)
    take(run_of(spec, home, "scheduled__1"), "stage", "detect", "score", "recode")
    write_publication(tmp_path, columns=COLUMNS | {"sex": {"role": "other"}})
    for name in ("detect", "score", "recode", "gate"):
        with pytest.raises(InvalidInputError, match=r"was changed after run|is gone"):
            take(run_of(spec, home, "scheduled__1"), name)
    assert not versions_of(spec)


def test_dropped_rows_are_told_to_the_public(tmp_path, home):
    rows = [row if n % 10 else (*row[:3], "", *row[4:]) for n, row in enumerate(people(400))]
    spec = write_publication(tmp_path, rows, missing="drop")
    assert anon("run", spec, home=home).code == 0
    assert public_report(spec)["rows"]["dropped"] == 40
    assert (
        "a value was missing in the columns that other people may know: 40 to 44 rows"
        in (portal_of(spec) / "people/index.html").read_text()
    )


@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_a_hierarchy_that_would_not_be_applied_is_refused(tmp_path, home, role):
    columns = COLUMNS | {"points": {"role": role, "hierarchy": {"prefix": [1]}}}
    ended = anon("run", write_publication(tmp_path, columns=columns), home=home)
    assert ended.code == 2
    assert "would not be applied" in ended.err


def test_check_says_what_the_gate_says(tmp_path, home):
    """An acceptance that expired does not count, and a column too many is no release."""
    rows = [(row[1], row[3], row[0]) for row in people(100)]
    (tmp_path / "table.csv").write_text(csv_text(rows, ["born", "sex", "id"]))
    columns = {"born": {"role": "other"}, "sex": {"role": "quasi", "hierarchy": {"root": "*"}}}
    accepted = {"columns": ["born", "sex"], "reason": "it is public", "by": "A. Steward", "until": "2020-01-01"}
    spec = write_publication(tmp_path, columns=columns, privacy={"published_uniqueness": {"accept": [accepted]}})
    checked = anon("check", tmp_path / "table.csv", "--spec", spec, "--json", home=home)
    failed = {check["name"] for check in checked.json["checks"] if not check["passed"]}
    assert checked.code == 1
    assert failed == {"no_undeclared_column", "acceptances", "published_uniqueness", "joint_classes"}


@pytest.mark.parametrize("root", ["any", "*"])
def test_a_table_that_says_nothing_any_more_is_no_release(tmp_path, home, root):
    rows = [(str(n), str(n)) for n in range(50)]
    columns = {name: {"role": "quasi", "hierarchy": {"root": root}} for name in "ab"}
    spec = write_publication(tmp_path, source=csv_text([*rows, ("*", "*")], "ab"), columns=columns)
    ended = anon("run", spec, home=home)
    assert ended.code == 1
    assert "rows at risk" in ended.out
    assert not versions_of(spec)


def test_init_proposes_a_unique_column_as_identifier_whatever_it_is_called(tmp_path, home):
    rows = [(f"H{n}", str(1950 + n % 9), "FM"[n % 2]) for n in range(200)]
    (tmp_path / "cards.csv").write_text(csv_text(rows, ["health_card_number", "birth_year", "sex"]))
    assert anon("init", tmp_path / "cards.csv", "--output", tmp_path / "cards.yaml", home=home).code == 0
    assert load_spec(tmp_path / "cards.yaml").columns["health_card_number"].role == "identifier"


def test_a_set_that_identifies_every_row_is_told(tmp_path, home):
    columns = COLUMNS | {"notes": {"role": "sensitive"}}
    ended = anon("run", write_publication(tmp_path, columns=columns), home=home)
    assert "identify every row  notes" in ended.out


@pytest.mark.parametrize("command", ["profile", "detect", "init"])
def test_a_table_without_header_is_refused_by_every_command(tmp_path, home, command):
    rows = csv_text(people(50)).split("\n", 1)[1]
    (tmp_path / "nohead.csv").write_text("P999999,1950,Alba,F,7,Mario Rossi\n" + rows)
    ended = anon(command, tmp_path / "nohead.csv", home=home)
    assert ended.code == 2
    assert "looks like data" in ended.err
    assert "Mario Rossi" not in ended.err + ended.out
    assert not list(tmp_path.glob("*.yaml"))


def test_a_record_number_declared_sensitive_is_not_published(tmp_path, home):
    ended = anon("run", write_publication(tmp_path, columns=COLUMNS | {"id": {"role": "sensitive"}}), home=home)
    assert ended.code == 1
    assert "100.0% of the values of id occur once" in ended.out


def test_a_trial_by_hand_does_not_take_over_from_a_release_of_a_period(tmp_path, home):
    spec = write_publication(tmp_path)
    assert anon("run", spec, home=home).code == 0
    write_publication(tmp_path, people(seed=2))
    assert anon("run", spec, "--period", "2026-10-01", home=home).code == 0
    assert (portal_of(spec) / "people" / "latest").resolve().name.startswith("2026-10-01")


def test_an_unknown_key_is_an_error_even_if_it_is_null(tmp_path, home):
    ended = anon("run", write_publication(tmp_path, schedul=None), home=home)
    assert ended.code == 2
    assert "did you mean `schedule`" in ended.err


def test_what_stopped_a_run_is_on_record(tmp_path, home):
    spec = write_publication(tmp_path)
    (spec.parent.parent / "hierarchies/towns.csv").unlink()
    assert anon("run", spec, home=home).code == 2
    shown = anon("audit", "show", "people", home=home)
    assert shown.code == 0
    assert "hierarchies/towns.csv" in shown.out and "No such file" in shown.out


def test_settings_of_airflow_make_no_new_version(tmp_path, home):
    spec = write_publication(tmp_path)
    assert anon("run", spec, home=home).code == 0
    write_publication(tmp_path, airflow={"retries": 1}, schedule="@daily")
    assert "UNCHANGED" in anon("run", spec, home=home).out
    assert len(versions_of(spec)) == 1


def test_a_line_break_in_a_file_without_header_does_not_put_cells_into_messages(tmp_path, home):
    rows = csv_text(people(50)).split("\n", 1)[1]
    spec = write_publication(
        tmp_path, source='P999999,1950,Mario Rossi,F,HIV,"two\nlines"\n' + rows + 'P1,1,a,F,1,"b\nc"\n'
    )
    ended = anon("run", spec, home=home)
    assert ended.code == 2
    assert not any(cell in ended.err + ended.out for cell in ("Mario Rossi", "HIV", "P999999"))


def test_reading_the_audit_store_makes_no_key(tmp_path, home):
    secret = {"ANON_SIGNING_KEY": "k" * 40}
    assert anon("run", write_publication(tmp_path), home=home, environ=secret).code == 0
    assert anon("audit", "verify", home=home, environ=secret).code == 0
    ended = anon("audit", "verify", home=home)
    assert ended.code == 2
    assert "set ANON_SIGNING_KEY" in ended.err
    assert not (home / "signing.key").exists()


def test_originals_that_are_kept_on_purpose_are_told(tmp_path, home):
    ended = anon("run", write_publication(tmp_path, keep_staging=True), home=home)
    assert ended.code == 0
    assert "the originals stay in" in ended.err
    assert files_below(home / "staging")
