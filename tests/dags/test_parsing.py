"""The DAG file: one DAG per publication file, cheap to parse, and one broken file does not stop the others."""

from __future__ import annotations

import pytest
import yaml

from anon_airflow.run.last_known import recall, remember
from tests.anon_airflow.run.step_runs import run_of
from tests.dags.parsing import HEAVY, IMPORTED, PARSE_THE_FILE, ROOT, in_airflow, parsed_in_airflow
from tests.faults.publications import write_publication

STEPS = ["stage", "detect", "score", "recode", "informed", "gate", "publish", "record"]
WITH_APPROVAL = [*STEPS[:6], "approve", *STEPS[6:]]
OPERATORS = [name for name in WITH_APPROVAL if name != "informed"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Publication files of all kinds, good and bad."""
    folder = tmp_path_factory.mktemp("parsing")
    write_publication(folder)
    write_publication(folder, dataset="monthly", schedule="@monthly", metadata={"description": "By month."})
    write_publication(folder, dataset="cron", schedule="0 6 1 * *")
    write_publication(folder, dataset="after-another", schedule={"asset": "s3://bucket/register"})
    write_publication(
        folder,
        dataset="settings",
        airflow={
            "owner": "office",
            "retries": 4,
            "retry_delay": "90s",
            "execution_timeout": "2h",
            "pool": "small",
            "queue": "registers",
            "max_active_runs": 3,
            "tags": ["one"],
            "timezone": "Europe/Rome",
            "start_date": "2026-01-01",
            "catchup": True,
            "deadline": "2d",
            "notify": [
                {"notifier": "airflow.providers.smtp.notifications.smtp.SmtpNotifier", "arguments": {"to": "x"}}
            ],
        },
    )
    write_publication(folder, dataset="not-installed", portal={"dataverse": {"host": "x"}}, source_section={"s3": "x"})
    write_publication(folder, dataset="approved", approval={"required": True, "users": ["anna"], "four_eyes": True})
    publications = folder / "include/publications"
    (publications / "not-yaml.yaml").write_text("dataset: [unclosed")
    (publications / "empty.yaml").write_text("")
    (publications / "with a space (2).yml").write_text("dataset: Not A Slug\nnonsense: 1\n")
    (publications / "binary.yaml").write_bytes(bytes(range(256)))
    (publications / "same-again.yaml").write_text((publications / "people.yaml").read_text())
    (publications / "folder.yaml").mkdir()
    (publications / "dangling.yaml").symlink_to(folder / "nowhere")
    for name, changes in {
        "bad-asset": {"schedule": {"asset": "airflow://reserved"}},
        "bad-asset-too": {"schedule": {"asset": " "}},
        "long-tag": {"airflow": {"tags": ["t" * 200]}},
        "no-such-day": {"schedule": "0 0 31 2 *"},
        "odd-cron": {"schedule": "5-1 0 * * *"},
        "odd-owner": {"airflow": {"owner": "a, b"}},
    }.items():
        write_publication(folder, dataset=name, **changes)
    (folder / "include/publications/notes.txt").write_text("not a publication file")
    return folder


@pytest.fixture(scope="module")
def parsed(folder):
    return parsed_in_airflow(folder / "include")


NOT_INSTALLED = "publish_not_installed"
"""The DAG of a file whose portal and source no package brings."""
GOOD = ["publish_after_another", "publish_cron", "publish_monthly", NOT_INSTALLED, "publish_people", "publish_settings"]


def test_no_file_however_broken_is_an_import_error(parsed):
    assert parsed["errors"] == {}


def test_every_good_file_has_its_dag(parsed):
    assert set(GOOD) <= set(parsed["dags"])
    for name in GOOD:
        assert parsed["dags"][name]["tasks"] == STEPS
        assert parsed["dags"][name]["teardowns"] == ["record"]


def test_what_only_informs_runs_beside_recode_and_the_gate_waits_for_all_three(parsed):
    dag = parsed["dags"]["publish_people"]
    assert dag["after"] == {
        "stage": [],
        "detect": ["stage"],
        "score": ["detect", "stage"],
        "recode": ["stage"],
        "informed": ["detect", "score"],
        "gate": ["informed", "recode"],
        "publish": ["gate"],
        "record": ["informed", "publish"],
    }
    rules = {task: rule for task, rule in dag["rules"].items() if rule != "all_success"}
    assert rules == {
        "score": "all_done_min_one_success",
        "informed": "all_done",
        "record": "all_done_setup_success",
    }


def test_every_dataset_is_an_asset_that_others_can_follow(parsed):
    for name in GOOD:
        dataset = name.removeprefix("publish_").replace("_", "-")
        assert parsed["dags"][name]["outlets"] == [f"anonflow://{dataset}"]


def test_there_is_one_dag_per_file(parsed, folder):
    files = [path for path in (folder / "include/publications").iterdir() if path.suffix in (".yaml", ".yml")]
    assert len(parsed["dags"]) == len(files)


def test_a_broken_file_has_a_dag_that_shows_the_problems(parsed):
    broken = {name: dag for name, dag in parsed["dags"].items() if "broken publication file" in dag["tags"]}
    assert len(broken) >= 6
    for dag in broken.values():
        assert "cannot be used" in dag["doc"]
        assert dag["timetable"] == "NullTimetable"
        assert dag["tasks"] == STEPS
    told = "\n".join(dag["doc"] for dag in broken.values())
    assert "nonsense" in told
    assert "another file publishes 'people' already" in told


def test_a_file_that_breaks_keeps_its_dag_so_that_a_run_at_work_can_remove_its_originals(folder, tmp_path):
    spec = write_publication(tmp_path, schedule="@monthly")
    spec.write_text(spec.read_text() + "colour: red\n")
    for environ in ({}, {"_AIRFLOW_PARSING_CONTEXT_DAG_ID": "publish_people"}):
        found = parsed_in_airflow(tmp_path / "include", environ)
        assert set(found["dags"]) == {"publish_people"}
        assert found["dags"]["publish_people"]["teardowns"] == ["record"]
        assert found["dags"]["publish_people"]["timetable"] == "NullTimetable"
        assert "colour" in found["dags"]["publish_people"]["doc"]


def test_a_broken_file_that_ran_before_keeps_its_schedule_and_fails_at_every_run(tmp_path):
    spec = write_publication(tmp_path, schedule="0 6 1 * *", airflow={"timezone": "Europe/Rome"})
    run = run_of(spec, tmp_path / "home")
    remember(run)
    spec.write_text("schedule: [")  # Not even its dataset can be read.
    found = parsed_in_airflow(tmp_path / "include", {"ANON_HOME": str(tmp_path / "home")})
    assert found["errors"] == {}
    assert found["dags"]["publish_people"]["timetable"] == "CronDataIntervalTimetable"
    assert "broken publication file" in found["dags"]["publish_people"]["tags"]
    assert found["dags"]["publish_people"]["retries"] == 0


@pytest.mark.parametrize("damage", ["{", "[]", '{"schedule": 7}', "\0"])
def test_a_damaged_memory_of_a_broken_file_is_as_none(tmp_path, damage):
    spec = write_publication(tmp_path, schedule="@monthly")
    run = run_of(spec, tmp_path / "home")
    remember(run)
    (path,) = (tmp_path / "home/publications").iterdir()
    path.write_text(damage)
    assert recall(run.home, spec) is None


def test_who_has_to_approve_is_asked_between_gate_and_publish(parsed):
    dag = parsed["dags"]["publish_approved"]
    assert dag["tasks"] == WITH_APPROVAL
    assert dag["teardowns"] == ["record"]
    assert dag["fields"]["approve"] == [], "no name of a column is ever taken for a template"
    assert "a person has to approve it: `anna`, except who triggered" in dag["doc"]


@pytest.mark.parametrize("style", ["block", "flow"])
def test_a_file_that_breaks_keeps_its_task_for_whoever_is_asked_at_that_moment(tmp_path, style):
    spec = write_publication(tmp_path, approval={"required": True, "users": ["anna"]})
    text = spec.read_text()
    if style == "flow":
        text = text.replace(
            "approval:\n  required: true\n  users:\n  - anna\n", "approval: {users: [anna], required: true}\n"
        )
        assert "{users" in text
    spec.write_text(text + "colour: red\n")
    assert parsed_in_airflow(tmp_path / "include")["dags"]["publish_people"]["tasks"] == WITH_APPROVAL


def test_docs_and_tags_are_set(parsed):
    dag = parsed["dags"]["publish_monthly"]
    assert "By month." in dag["doc"]
    assert "| `born` | quasi | intervals |" in dag["doc"]
    assert dag["tags"] == ["anonflow"]
    assert parsed["dags"]["publish_settings"]["tags"] == ["anonflow", "one"]
    assert dag["description"]


def test_settings_reach_the_dag(parsed):
    assert parsed["dags"]["publish_people"]["active"] == 1
    settings = parsed["dags"]["publish_settings"]
    assert (settings["active"], settings["owner"], settings["retries"], settings["pool"]) == (3, "office", 4, "small")
    assert (settings["queue"], settings["retry_delay"], settings["execution_timeout"]) == ("registers", 90, 7200)
    assert (settings["start"], settings["catchup"]) == ("2025-12-31 23:00:00+00:00", True)
    assert settings["deadlines"] == [2 * 86400]
    others = [dag for name, dag in parsed["dags"].items() if name != "publish_settings"]
    assert not any(dag["catchup"] or dag["deadlines"] for dag in others)


def test_schedules_are_cron_presets_assets_or_none(parsed):
    dags = parsed["dags"]
    assert dags["publish_people"]["timetable"] == "NullTimetable"
    assert dags["publish_monthly"]["timetable"] == "CronDataIntervalTimetable"  # A run covers the period before it.
    assert dags["publish_cron"]["timetable"] == "CronDataIntervalTimetable"
    assert dags["publish_after_another"]["timetable"] == "AssetTriggeredTimetable"


def test_only_the_source_is_templated(parsed):
    fields = parsed["dags"]["publish_people"]["fields"]
    assert fields.pop("stage") == ["source_file"]
    assert all(not each for each in fields.values())


@pytest.mark.parametrize("wanted", ["publish_cron", "publish_after_another"])
def test_a_task_parses_its_own_dag_only(folder, wanted):
    found = parsed_in_airflow(folder / "include", {"_AIRFLOW_PARSING_CONTEXT_DAG_ID": wanted})
    assert wanted in found["dags"]
    assert not set(GOOD) - {wanted} & set(found["dags"])
    assert found["errors"] == {}


def test_a_task_of_a_broken_file_finds_its_dag(parsed, folder):
    broken = [name for name, dag in parsed["dags"].items() if "broken publication file" in dag["tags"]]
    wanted = next(name for name in broken if "same-again" in name)
    assert wanted in parsed_in_airflow(folder / "include", {"_AIRFLOW_PARSING_CONTEXT_DAG_ID": wanted})["dags"]


def test_parsing_imports_nothing_heavy(folder):
    """Beyond what Airflow imports by itself: these cost seconds of CPU, every few seconds, on every worker."""
    assert not set(HEAVY) & set(in_airflow(IMPORTED.format(then=PARSE_THE_FILE), folder))


@pytest.fixture(scope="module")
def operators(folder):
    """What importing the operators imports, and what their constructors take."""
    code = IMPORTED.format(then=f"from anon_airflow.operators import {', '.join(OPERATORS)}")
    code += f"""
import importlib, inspect
answer = {{"imported": answer, "constructors": {{}}}}
for name in {OPERATORS!r}:
    module = importlib.import_module("anon_airflow.operators." + name)
    operator = getattr(module, name.capitalize() + "Operator")
    kinds = [p.kind.name for p in inspect.signature(operator.__init__).parameters.values()][1:]
    answer["constructors"][name] = {{"kinds": kinds, "operator": issubclass(operator, BaseOperator)}}
"""
    return in_airflow(code, folder)


def test_importing_the_operators_imports_nothing_heavy(operators):
    assert "anon_airflow" in operators["imported"]
    assert not set(HEAVY) & set(operators["imported"])


def test_the_plugin_folder_loads_one_file_and_nothing_under_a_bare_name(tmp_path):
    """Airflow executes every file below the plugins folder, under its bare name, unless it is told not to."""
    code = """
import sys
from airflow import plugins_manager
plugins, errors = plugins_manager._get_plugins()
answer = {
    "plugins": [plugin.name for plugin in plugins],
    "errors": {str(key): str(value) for key, value in errors.items()},
    "files": {name: getattr(module, "__file__", None) for name, module in sys.modules.items()},
}
"""
    found = in_airflow(code, tmp_path)
    # Where the distribution is installed too, its entry point offers the same plugin a second time, and is passed over.
    assert [error for error in found["errors"].values() if "already registered" not in error] == []
    assert found["plugins"].count("anonflow") == 1
    inside = str(ROOT / "plugins/anon_airflow")
    bare = [name for name, file in found["files"].items() if file and file.startswith(inside) and "." not in name]
    assert [name for name in bare if name != "anon_airflow"] == []


def test_constructors_take_keywords_only(operators):
    assert set(operators["constructors"]) == set(OPERATORS)
    for name, found in operators["constructors"].items():
        assert found["operator"], name
        assert set(found["kinds"]) <= {"KEYWORD_ONLY", "VAR_KEYWORD"}, name


def test_the_publications_of_the_project_have_a_dag_each():
    found = parsed_in_airflow(ROOT / "include")
    names = [yaml.safe_load(path.read_text())["dataset"] for path in (ROOT / "include/publications").glob("*.yaml")]
    assert set(found["dags"]) == {"publish_" + name.replace("-", "_") for name in names}
    assert found["errors"] == {}


def test_airflow_takes_the_file_for_a_dag_file():
    """In safe mode Airflow only parses files that hold both words."""
    text = (ROOT / "dags/publications.py").read_text().lower()
    assert "airflow" in text
    assert "dag" in text
