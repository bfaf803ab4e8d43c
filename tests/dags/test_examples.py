"""The example DAGs of the package are what the documents show, parse as Airflow parses them, and publish."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dags.parsing import HEAVY, PARSED, ROOT, in_airflow
from tests.faults.publications import source_of, versions_of, write_publication

EXAMPLES = ROOT / "plugins/anon_airflow/example_dags"
DATASET = "driver-licences"
PERIOD = "2026-10-01"
STEPS = ["stage", "recode", "detect", "score", "gate", "publish", "record"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The examples as a user copies them: beside a folder `publications`."""
    spec = write_publication(tmp_path, dataset=DATASET, source_section={"file": f"incoming/{PERIOD}.csv"})
    include = tmp_path / "include"
    (include / "incoming").mkdir()
    source_of(spec).rename(include / f"incoming/{PERIOD}.csv")
    for path in EXAMPLES.glob("example_*.py"):
        shutil.copy(path, include)
    return tmp_path


def environ(folder: Path) -> dict[str, str]:
    return {
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "include"),
        "AIRFLOW_CONN_FS_DEFAULT": "fs://",
        "ANON_HOME": str(folder / "home"),
    }


def airflow(folder: Path, *arguments: str) -> str:
    """What a command of Airflow shows; it must end well."""
    settings = {
        **environ(folder),
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
    }
    ended = subprocess.run(
        [str(Path(sys.executable).with_name("airflow")), *arguments],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=folder,
    )
    assert ended.returncode == 0, ended.stdout
    return ended.stdout


def test_every_example_parses_and_has_the_tasks_that_its_text_names(folder: Path) -> None:
    found = in_airflow(PARSED, folder, environ(folder))
    assert found["errors"] == {}
    dags = found["dags"]
    assert set(dags) == {"example_by_hand", "example_follower", "publish_driver_licences"}
    assert dags["example_by_hand"]["tasks"] == ["arrived", *STEPS]
    assert dags["example_by_hand"]["teardowns"] == ["record"]
    assert dags["example_by_hand"]["outlets"] == [f"anonflow://{DATASET}"]
    assert dags["example_follower"]["schedule"].rstrip("/") == f"anonflow://{DATASET}"
    assert all("anonflow" in dag["tags"] for dag in dags.values())


def test_parsed_where_they_are_installed_the_examples_bring_no_publication_a_second_time(tmp_path: Path) -> None:
    found = in_airflow(PARSED, tmp_path, {"AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLES)})
    assert found["errors"] == {}
    assert set(found["dags"]) == {"example_by_hand", "example_follower"}


def test_parsing_an_example_imports_nothing_heavy(folder: Path) -> None:
    code = "import runpy, sys\nfrom airflow.providers.standard.sensors.filesystem import FileSensor\n"
    paths = [str(path) for path in sorted((folder / "include").glob("example_*.py"))]
    code += f"before = set(sys.modules)\nfor path in {paths!r}:\n    runpy.run_path(path)\n"
    code += "answer = sorted({name.split('.')[0] for name in set(sys.modules) - before})"
    assert not set(HEAVY) & set(in_airflow(code, folder, environ(folder)))


@pytest.mark.slow
def test_the_example_that_is_built_by_hand_publishes(folder: Path) -> None:
    ran = ""
    for command in (["db", "migrate"], ["dags", "reserialize"], ["dags", "test", "example_by_hand", "2026-11-01"]):
        ran = airflow(folder, *command)
    tasks = re.findall(r"DAG TEST. end task task_id=(\w+)", ran)
    assert tasks == ["arrived", *STEPS], ran
    spec = folder / f"include/publications/{DATASET}.yaml"
    assert [version.startswith(PERIOD) for version in versions_of(spec)] == [True]


def code_of_examples() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("example_*.py")))


def test_the_code_in_the_document_is_text_of_the_examples() -> None:
    document = (ROOT / "docs/dags.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    marked = re.findall(r"# \[START \w+\]\n(.*?)# \[END \w+\]", code_of_examples(), re.DOTALL)
    assert sorted(blocks) == sorted(marked)
