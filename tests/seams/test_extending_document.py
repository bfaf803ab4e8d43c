"""The model of docs/extending.md is installed as pip would do it, judges, and is reached by recoding."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.faults.publications import portal_of, write_publication

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/extending.md").read_text(encoding="utf-8")


def block(language: str, beginning: str) -> str:
    """The one block of code in a language that begins so."""
    blocks = re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    (found,) = [one for one in blocks if one.startswith(beginning)]
    return str(found)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with the module and the entry points of the document, and nothing of ours."""
    site = tmp_path_factory.mktemp("site")
    project = tomllib.loads(block("toml", "[build-system]"))["project"]
    ((group, points),) = project["entry-points"].items()
    (module,) = {place.split(":")[0] for place in points.values()}
    (site / f"{module}.py").write_text(block("python", "from __future__ import annotations"))
    metadata = site / f"{module}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [f"{key} = {place}" for key, place in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]) + "\n")
    return site


def ran(site: Path, home: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, (site, ROOT, ROOT / "plugins")))
    return subprocess.run(
        [sys.executable, "-c", "from anon_airflow.entry import main; main()", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, "ANON_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_model_of_the_document_is_reached_by_recoding_and_measured_at_the_gate(site: Path, tmp_path: Path) -> None:
    least = 0.06
    spec = write_publication(tmp_path, privacy={"k": 3, "class_share": {"least": least}})
    ended = ran(site, tmp_path / "home", "run", spec)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = json.loads(next(portal_of(spec).glob("people/latest/report.json")).read_bytes())
    (check,) = [one for one in report["privacy"]["checks"] if one["name"] == "class_share"]
    assert check["passed"] and check["observed"] >= check["required"] == least


def test_the_model_of_the_document_refuses_what_does_not_keep_it(site: Path, tmp_path: Path) -> None:
    spec = write_publication(tmp_path, privacy={"k": 3, "class_share": {"least": 0.06}}, recode={"method": "none"})
    ended = ran(site, tmp_path / "home", "run", spec)
    assert ended.returncode == 1
    assert re.search(r"class share: the smallest class has 1 row, 6\.0% of all required; \d+ classes", ended.stdout)


def test_a_misspelt_setting_of_the_model_of_the_document_is_an_error_of_the_file(site: Path, tmp_path: Path) -> None:
    spec = write_publication(tmp_path, privacy={"k": 3, "class_share": {"least": 0.06, "most": 1}})
    ended = ran(site, tmp_path / "home", "run", spec)
    assert ended.returncode == 2 and "privacy.class_share" in ended.stderr and "`most`" in ended.stderr
