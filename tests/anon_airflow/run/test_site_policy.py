"""Runs by the site policy that is built in, and attempts to get below it: each is refused, or on record."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anon_airflow import steps
from anon_airflow.gate import measurement
from anon_airflow.run.context import Run
from anon_airflow.run.home import Home
from anon_airflow.run.site_policy import ADOPT, DIGEST, NONCE, policy_in_force
from anon_core.errors import InvalidInputError, RefusedError
from anon_core.files.storage import digest
from anon_core.site import BUILT_IN
from anon_core.spec import load_spec
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.anon_process import anon
from tests.faults.publications import COLUMNS, people, portal_of, staged_files, versions_of
from tests.faults.publications import write_publication as write

WITHOUT = {"ANON_POLICY": ""}
"""The environment of a command that is to find no policy of the tests."""
SHARE = "published_uniqueness.max_share"
ROUNDED = {**COLUMNS, "points": {"role": "sensitive", "coarsen": {"round": 10}}}


def write_publication(folder: Path, *more: Any, privacy: Any = None, columns: Any = ROUNDED, **changes: Any) -> Path:
    """Write a publication that keeps the limits of the built-in policy, but for what ``privacy`` says."""
    uniqueness = {"max_share_alone": 0.01, **(privacy or {}).get("published_uniqueness", {})}
    return write(
        folder, *more, privacy={**(privacy or {}), "published_uniqueness": uniqueness}, columns=columns, **changes
    )


@pytest.fixture(autouse=True)
def no_policy_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANON_POLICY")


@pytest.fixture(name="home")
def home_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


def word(days: int = 30, **changes: Any) -> dict[str, Any]:
    until = datetime.now(UTC).date() + timedelta(days)
    return {"reason": "a small register", "by": "R. Rossi", "until": until, **changes}


def refused(run: Run, step: str = "stage") -> tuple[str, str]:
    with pytest.raises(RefusedError) as caught:
        take(run, step)
    return caught.value.by, "\n".join(caught.value.reasons)


def adoptions(run: Run) -> list[dict[str, Any]]:
    with run.audit() as audit:
        return [row for row in audit.run("", "")["intents"] if row["verb"] == ADOPT]


def test_a_run_by_the_built_in_policy_is_published_with_a_commitment_and_nothing_more(tmp_path, home):
    spec = write_publication(tmp_path)
    run = run_of(spec, home)
    take(run, *UNTIL_GATE, "publish", "record")
    manifest = json.loads((portal_of(spec) / "people/latest/manifest.json").read_bytes())
    begun = next(row for row in rows(run)["intents"] if row["verb"] == "run")["details"]
    assert begun[DIGEST] == BUILT_IN.digest and len(bytes.fromhex(begun[NONCE])) == 32
    expected = digest(bytes.fromhex(begun[NONCE]) + BUILT_IN.digest.encode())
    receipt = json.loads(rows(run)["receipts"][-1]["body"])
    assert manifest["site_policy"] == receipt["site_policy"] == expected
    for path in portal_of(spec).rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert BUILT_IN.digest.encode() not in content and begun[NONCE].encode() not in content
            assert str(tmp_path).encode() not in content
    (first,) = adoptions(run)
    assert first["details"][DIGEST] == BUILT_IN.digest and first["details"]["by"] == "tester"


def test_the_nonce_is_another_in_every_run(tmp_path, home):
    spec = write_publication(tmp_path)
    nonces = set()
    for number in range(2):
        run = run_of(spec, home, f"manual__{number}")
        take(run, "stage")
        nonces.add(rows(run)["intents"][0]["details"][NONCE])
    assert len(nonces) == 2


@pytest.mark.parametrize(
    ("privacy", "told"),
    [
        ({"k": 2}, "privacy.k is 2, and the site policy asks for at least 5"),
        ({"k": 2, "k_means": "link"}, "privacy.k is 2"),
        ({"k": 2, "singletons": 400, "suppression_limit": 1.0}, "privacy.k is 2"),
        ({"published_uniqueness": {"max_share": 0.5}}, "max_share is 0.5, and the site policy allows at most 0.0"),
        ({"waivers": [{"check": "suppression_limit", **word(367)}]}, "at most 366 days: write `until: "),
    ],
)
def test_an_undercut_is_refused_before_anything_is_read(tmp_path, home, privacy, told):
    spec = write_publication(tmp_path, privacy=privacy)
    (spec.parent.parent / "samples/people.csv").unlink()
    by, reasons = refused(run_of(spec, home))
    assert by == "stage" and told in reasons
    assert not staged_files(home)


def test_the_gate_refuses_an_undercut_that_stage_did_not_see(tmp_path, home, monkeypatch):
    monkeypatch.setenv("ANON_POLICY", str(lenient(tmp_path / "dpo", "published_uniqueness: {max_share: 0.5}\n")))
    run = run_of(write_publication(tmp_path, privacy={"published_uniqueness": {"max_share": 0.5}}), home)
    take(run, "stage", "detect", "score", "recode")
    files, today = sorted((run.staging / "release").glob("[!.]*")), datetime.now(UTC).date()
    assert measurement.measure(run.publication, files, rows_before=400, today=today).passed
    verdict = measurement.measure(run.publication, files, rows_before=400, today=today, site=BUILT_IN)
    (failed,) = [check for check in verdict.checks if not check.passed]
    assert failed.name == "site_policy" and "max_share is 0.5" in failed.sentence


def test_everything_that_stands_alone_is_refused_by_k_whatever_singletons_says(tmp_path, home):
    spec = write_publication(tmp_path, privacy={"singletons": 400}, recode={"method": "none"})
    run = run_of(spec, home)
    take(run, "stage", "detect", "score", "recode")
    by, reasons = refused(run, "gate")
    assert by == "gate" and "smallest class has" in reasons


@pytest.mark.parametrize(("number", "passes"), [(50, True), (49, False)])
def test_a_table_has_ten_times_k_people(tmp_path, home, number, passes):
    columns = {"sex": {"role": "quasi", "hierarchy": {"root": "any"}}, "id": {"role": "identifier"}}
    source = "id,sex\n" + "".join(f"{one},F\n" for one in range(number))
    run = run_of(write_publication(tmp_path, source=source, columns=columns), home)
    if passes:
        take(run, "stage")
    else:
        assert "49 people, and the site policy asks for at least 50, which is 10 times k" in refused(run)[1]


def test_a_table_of_many_rows_and_few_people_is_too_small(tmp_path, home):
    columns = {"sex": {"role": "quasi", "hierarchy": {"root": "any"}}, "id": {"role": "identifier"}}
    source = "id,sex\n" + "".join(f"{one % 20},F\n" for one in range(400))
    run = run_of(write_publication(tmp_path, source=source, columns=columns, unit="id"), home)
    assert "the table has 20 people" in refused(run)[1]


def test_the_gate_counts_what_is_published_not_what_was_collected(tmp_path, home):
    site = BUILT_IN.model_copy(update={"min_people": 300})
    run = run_of(write_publication(tmp_path), home)
    take(run, "stage", "detect", "score", "recode")
    files = sorted((run.staging / "release").glob("[!.]*"))
    today = datetime.now(UTC).date()
    few = measurement.measure(run.publication, files, rows_before=400, today=today, site=site, people=299)
    assert "the table has 299 people" in "; ".join(few.reasons)
    assert {check.name for check in few.checks if not check.passed} == {"smallest_table"}
    enough = measurement.measure(run.publication, files, rows_before=400, today=today, site=site, people=300)
    assert enough.passed


def test_a_raised_limit_is_listed_everywhere_by_name(tmp_path, home):
    privacy = {"published_uniqueness": {"max_share": 0.5}, "raised": [{"limit": SHARE, **word()}]}
    spec = write_publication(tmp_path, privacy=privacy, approval={"required": True})
    run = run_of(spec, home)
    take(run, *UNTIL_GATE)
    question = steps.ask(run).body
    assert f"{SHARE.replace('_', chr(92) + '_')} raised to 0.5: a small register (R. Rossi" in question
    public = json.loads((run.gated / "report.json").read_bytes())["privacy"]["raised"]
    assert [(one["limit"], one["value"], one["by"], one["needed"]) for one in public] == [
        (SHARE, 0.5, "R. Rossi", True)
    ]
    internal = json.loads(Path(take(run, "record")["report"]).read_bytes())
    assert internal["raised"] == public
    listed = [(row["check_name"], row["reason"], row["person"]) for row in rows(run)["waivers"]]
    assert listed == [(SHARE, "a small register", "R. Rossi")]


def test_a_raised_limit_stands_on_the_page_and_in_the_summary(tmp_path, home):
    privacy = {"published_uniqueness": {"max_share": 0.5}, "raised": [{"limit": SHARE, **word()}]}
    spec = write_publication(tmp_path, privacy=privacy)
    ended = anon("run", spec, home=home, environ=WITHOUT)
    assert ended.code == 0 and f"{SHARE} to 0.5: a small register" in ended.out
    page = (portal_of(spec) / "people/index.html").read_text()
    assert "Raised limits." in page and SHARE in page and "R. Rossi" in page


def test_a_raised_limit_that_has_ended_refuses(tmp_path, home):
    spec = write_publication(tmp_path, privacy={"raised": [{"limit": SHARE, **word(-1)}]})
    assert "raised by R. Rossi expired" in refused(run_of(spec, home))[1]


def test_an_ended_or_too_long_answer_about_the_unit_refuses(tmp_path, home):
    for days, told in ((-1, "unit.rows_are_people expired"), (400, "unit.rows_are_people, which R. Rossi answers for")):
        reviewed = {"by": "Ada", "on": f"2026-01-{2 + (days > 0):02}"}
        spec = write_publication(tmp_path, unit={"rows_are_people": word(days)}, reviewed=reviewed)
        assert told in refused(run_of(spec, home))[1]


def lenient(folder: Path, text: str = "k: 2\nmin_people: 1\n") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "site.yaml").write_text(text)
    return folder / "site.yaml"


def test_a_policy_that_was_never_adopted_begins_no_run(tmp_path, home, monkeypatch):
    spec = write_publication(tmp_path)
    take(run_of(spec, home), "stage")
    monkeypatch.setenv("ANON_POLICY", str(lenient(tmp_path / "dpo")))
    run = run_of(spec, home, "manual__2")
    by, reasons = refused(run)
    assert by == "stage" and "`anon policy adopt`" in reasons and str(tmp_path) not in reasons
    assert rows(run)["refusals"] and len(adoptions(run)) == 1
    environ = {"ANON_POLICY": str(tmp_path / "dpo/site.yaml")}
    assert anon("policy", "show", home=home, environ=environ).code == 1
    assert anon("policy", "adopt", "--reason", "too short", home=home, environ=environ).code == 2
    words = ("policy", "adopt", "--by", "Ms. Dati", "--reason", "small registers", "--json")
    ended = anon(*words, home=home, environ=environ)
    assert ended.code == 0 and ended.json["adopted"] and ended.json["before"]["digest"] == BUILT_IN.digest
    assert anon("policy", "show", home=home, environ=environ).code == 0
    take(run, "stage")
    row = adoptions(run)[-1]
    assert (row["details"]["by"], row["details"]["reason"]) == ("Ms. Dati", "small registers")
    assert row["details"]["policy"]["k"] == 2
    again = anon(*words, home=home, environ=environ)
    assert again.code == 0 and not again.json["adopted"] and len(adoptions(run)) == 2
    with run.audit() as audit:
        assert audit.verify().ok and ADOPT not in {intent.verb for intent in audit.open_intents()}


def test_a_policy_that_is_swapped_between_stage_and_publish_is_refused(tmp_path, home, monkeypatch):
    strict = lenient(tmp_path / "dpo", "k: 5\n")
    monkeypatch.setenv("ANON_POLICY", str(strict))
    run = run_of(write_publication(tmp_path), home)
    take(run, "stage", "detect", "score", "recode")
    strict.write_text("k: 2\nmin_people: 1\n")
    by, reasons = refused(run, "gate")
    assert by == "site policy" and "has changed since this run began" in reasons
    assert not staged_files(home), "the originals are gone however the gate ends"
    strict.write_text("k: 5\n")
    take(run, *UNTIL_GATE)
    strict.write_text("k: 2\n")
    assert refused(run, "publish")[0] == "site policy"
    assert not versions_of(run.publication.file)


def test_a_policy_that_was_adopted_after_the_run_began_sends_it_back_to_stage(tmp_path, home, monkeypatch):
    site = lenient(tmp_path / "dpo", "k: 5\n")
    monkeypatch.setenv("ANON_POLICY", str(site))
    run = run_of(write_publication(tmp_path), home)
    take(run, *UNTIL_GATE)
    site.write_text("k: 6\n")
    assert (
        anon("policy", "adopt", "--reason", "more than five", home=home, environ={"ANON_POLICY": str(site)}).code == 0
    )
    assert "clear the run from `stage`" in refused(run, "publish")[1]
    site.write_text("k: 5\n")
    assert "is not the last on record" in refused(run, "publish")[1]


def test_a_setting_that_is_lost_between_tasks_does_not_fall_back(tmp_path, home, monkeypatch):
    monkeypatch.setenv("ANON_POLICY", str(lenient(tmp_path / "dpo", "k: 5\nsuppression_limit: 0.5\n")))
    run = run_of(write_publication(tmp_path), home)
    take(run, "stage", "recode")
    monkeypatch.delenv("ANON_POLICY")
    assert "has changed since this run began" in refused(run, "gate")[1]
    monkeypatch.setenv("ANON_POLICY", str(tmp_path / "dpo/absent.yaml"))
    with pytest.raises(InvalidInputError, match="cannot be read"):
        take(run, "stage")
    assert rows(run)["intents"], "a run that fails for its policy is on record"


def test_a_policy_beside_the_publication_file_is_refused_by_name_also_by_a_link(tmp_path, home, monkeypatch):
    spec = write_publication(tmp_path)
    include = spec.parent.parent
    inside = lenient(include / "rules")
    (tmp_path / "link.yaml").symlink_to(inside)
    (tmp_path / "hard.yaml").hardlink_to(inside)
    for named in (inside, tmp_path / "link.yaml", tmp_path / "hard.yaml"):
        monkeypatch.setenv("ANON_POLICY", str(named))
        with pytest.raises(InvalidInputError, match="lies in the folder of people") as caught:
            take(run_of(spec, home), "stage")
        assert str(tmp_path) not in str(caught.value)
    monkeypatch.delenv("ANON_POLICY")
    (include / "policy.yaml").write_text("k: 2\n")
    with pytest.raises(InvalidInputError, match="where no site policy is read"):
        take(run_of(spec, home), "stage")
    (include / "policy.yaml").unlink()
    take(run_of(spec, home), "stage")


def test_a_publication_that_is_called_policy_is_a_publication(tmp_path, home):
    take(run_of(write_publication(tmp_path, dataset="policy"), home), "stage")


def test_the_policy_is_found_by_the_environment_then_by_airflow_then_in_the_home(tmp_path, home):
    named, configured = lenient(tmp_path / "a", "k: 7\n"), lenient(tmp_path / "b", "k: 8\n")
    at = Home(home)
    assert policy_in_force(at, None, {}).policy == BUILT_IN
    (home / "policy.yaml").write_text("k: 9\n")
    assert policy_in_force(at, None, {}).policy.k == 9
    assert policy_in_force(at, configured, {}).policy.k == 8
    assert policy_in_force(at, configured, {"ANON_POLICY": str(named)}).policy.k == 7
    (home / "policy.yaml").unlink()
    (home / "policy.yaml").symlink_to(tmp_path / "gone")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        policy_in_force(at, None, {})


def test_airflows_configuration_names_the_policy_and_no_parameter_of_a_run_lowers_it(tmp_path, home, monkeypatch):
    from anon_airflow.operators.gate import GateOperator
    from anon_airflow.operators.publication import configured_policy
    from anon_airflow.operators.publication import run_of as airflow_run
    from anon_airflow.operators.publish import PublishOperator
    from anon_airflow.operators.recode import RecodeOperator
    from anon_airflow.operators.stage import StageOperator

    monkeypatch.setenv("ANON_HOME", str(home))
    assert configured_policy() is None
    monkeypatch.setenv("AIRFLOW__ANONFLOW__POLICY", str(lenient(tmp_path / "dpo", "k: 7\n")))
    given = SimpleNamespace(
        run_id="r", data_interval_start=None, triggering_user_name="eve", run_type="manual", conf={"k": 2, "policy": ""}
    )
    run = airflow_run(str(write_publication(tmp_path)), {"dag_run": given, "params": {"k": 2, "policy_file": None}})
    assert run.policy_file == tmp_path / "dpo/site.yaml"
    assert "privacy.k is 5, and the site policy asks for at least 7" in refused(run)[1]
    templated = {
        one: tuple(one.template_fields) for one in (StageOperator, RecodeOperator, GateOperator, PublishOperator)
    }
    assert templated == {StageOperator: ("source_file",), RecodeOperator: (), GateOperator: (), PublishOperator: ()}


def test_a_portal_that_the_site_does_not_allow_gets_nothing(tmp_path, home, monkeypatch):
    allowed = tmp_path / "include/portal"
    monkeypatch.setenv("ANON_POLICY", str(lenient(tmp_path / "dpo", f"portals: {{folder: [{allowed}]}}\n")))
    spec = write_publication(tmp_path)
    run = run_of(spec, home)
    take(run, *UNTIL_GATE)
    allowed.rename(tmp_path / "elsewhere")
    allowed.symlink_to(tmp_path / "elsewhere")
    take(run, "publish")  # Both names lead to the same folder: what is allowed is compared as the disk has it.
    other = write_publication(tmp_path, dataset="others", portal={"folder": "open"})
    assert "portal.folder is none of the 1 place" in refused(run_of(other, home, "manual__2"))[1]


def test_no_path_of_this_machine_reaches_a_report(tmp_path, home, monkeypatch):
    site = lenient(tmp_path / "dpo", f"portals: {{folder: [{tmp_path}/somewhere]}}\nk: 9\n")
    monkeypatch.setenv("ANON_POLICY", str(site))
    run = run_of(write_publication(tmp_path), home)
    refused(run)
    report = Path(take(run, "record")["report"]).read_text()
    assert "privacy.k is 5" in report and str(tmp_path) not in report
    site.write_text("kk: 9\n")
    with pytest.raises(InvalidInputError):
        take(run, "stage")
    report = Path(take(run, "record")["report"]).read_text()
    assert "unknown key `kk`" in report and str(tmp_path) not in report


def test_commands_that_are_given_a_table_report_what_a_run_would_refuse(tmp_path, home):
    spec = write_publication(tmp_path, people(15), privacy={"k": 2, "suppression_limit": 1.0})
    table = spec.parent.parent / "samples/people.csv"
    ended = anon("check", table, "--quasi", "sex", "-k", "2", "--json", home=home, environ=WITHOUT)
    assert ended.code == 0
    told = "\n".join(ended.json["below_site_policy"])
    assert "privacy.k is 2" in told and "15 rows" in told
    partial = tmp_path / "include/partial.yaml"
    partial.write_text(spec.read_text().replace("unit: row\n", ""))
    words = ("recode", table, "--spec", partial, "--output", tmp_path / "out.csv")
    ended = anon(*words, home=home, environ=WITHOUT)
    assert ended.code == 0 and "`anon run` would refuse it: privacy.k is 2" in ended.out
    assert anon("run", spec, home=home, environ=WITHOUT).code == 1


def test_an_exchanged_commitment_shows(tmp_path, home):
    run = run_of(write_publication(tmp_path), home)
    take(run, *UNTIL_GATE)
    with run.audit() as audit:
        body = json.loads(run.history(audit).receipt.body)
        audit.append(
            "receipts",
            run_id=run.run_id,
            dataset=run.dataset,
            digest="0",
            body=json.dumps({**body, "site_policy": "0"}),
        )
    assert "another site policy" in refused(replace(run, publication=load_spec(run.publication.file)), "publish")[1]
