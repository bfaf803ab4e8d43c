"""What is not installed without extras, what does without it, and what is said where it is missing."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anon_airflow import cli
from anon_airflow.run import guard
from anon_airflow.run.safe_errors import reason_of
from anon_core.errors import InternalError, MissingExtraError
from anon_core.extras import EXTRAS, missing_extra, require_extra
from anon_core.report.plots.drawing import picture

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
BASE = """
import importlib, pkgutil, sys

HIDDEN = {hidden!r}

class Hides:
    def find_spec(self, name, path=None, target=None):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hides())
import anon_core
from anon_airflow import cli, commands, draft, entry
from anon_core.registry import ENGINES, METHODS, MODELS, PORTALS, SOURCES

for package in (anon_core, draft):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
for registry in (ENGINES, METHODS, MODELS, PORTALS, SOURCES):
    registry.members()
for name in sorted(set(cli.COMMANDS) - set(cli.NEED_GATE)):
    importlib.import_module("anon_airflow.commands." + name)
from anon_airflow.run.home import Home
from anon_airflow.run.site_policy import policy_in_force

assert policy_in_force(Home.find()).digest
sys.argv[1:] = ["--help"]
entry.main()
"""


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    return project


def _names(requirements: list[str]) -> set[str]:
    return {_spelt(re.split(r"[\[><=; ]", one)[0]) for one in requirements}


def _spelt(distribution: str) -> str:
    return distribution.lower().replace("_", "-")


def test_the_packages_of_every_extra_are_those_that_the_project_names() -> None:
    declared = {extra: _names(wanted) - {"anonflow"} for extra, wanted in _project()["optional-dependencies"].items()}
    brought_by = packages_distributions() | {"airflow": ["apache-airflow", "apache-airflow-providers-standard"]}
    packages = {extra: {_spelt(one) for name in names for one in brought_by[name]} for extra, names in EXTRAS.items()}
    assert packages == {extra: names for extra, names in declared.items() if extra != "all"}
    assert _project()["optional-dependencies"]["all"] == [f"anonflow[{','.join(sorted(EXTRAS.keys() - {'gate'}))}]"]


def test_no_package_of_an_extra_is_a_dependency_of_the_base() -> None:
    extras = {name for wanted in _project()["optional-dependencies"].values() for name in _names(wanted)}
    assert not extras & _names(_project()["dependencies"])


def test_the_base_imports_no_package_of_an_extra() -> None:
    hidden = {name for names in EXTRAS.values() for name in names}
    ended = subprocess.run([sys.executable, "-c", BASE.format(hidden=hidden)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    listed = ended.stdout[ended.stdout.index("\nCommands:") :]
    for name in cli.COMMANDS:
        (line,) = re.findall(rf"^  {name} .*", listed, re.MULTILINE)
        assert ("Needs the extra `gate`" in line) == (name in cli.NEED_GATE)


def test_only_a_missing_package_of_an_extra_is_no_bug() -> None:
    assert missing_extra(ModuleNotFoundError(name="matplotlib")) is not None
    for error in (
        ModuleNotFoundError(name="scipy"),
        ModuleNotFoundError(name="matplotlib.no_such_part"),
        ModuleNotFoundError(),
        ImportError(name="matplotlib"),
        ValueError("matplotlib"),
    ):
        assert missing_extra(error) is None


def test_the_command_line_tells_a_missing_extra_from_a_bug(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli._report_error(ModuleNotFoundError("text", name="httpx")) == 2
    assert capsys.readouterr().err == (
        "anon: this command needs the extra `ckan`, of which httpx is not installed: pip install 'anonflow[ckan]'\n"
    )
    assert cli._report_error(ModuleNotFoundError("text", name="scipy")) == 2
    assert "unexpected ModuleNotFoundError" in capsys.readouterr().err


def test_a_step_that_lacks_an_extra_says_which() -> None:
    error = ModuleNotFoundError("No module named 'httpx'", name="httpx")
    assert isinstance(guard._ours(error, "publish"), MissingExtraError)
    assert isinstance(guard._ours(ModuleNotFoundError(name="scipy"), "publish"), InternalError)
    assert reason_of(error).endswith("pip install 'anonflow[ckan]'")


def test_all_that_is_missing_of_an_extra_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"pandas": SimpleNamespace(origin="pandas/__init__.py"), "rdflib": SimpleNamespace(origin=None)}
    monkeypatch.setattr("anon_core.extras.find_spec", there.get)
    with pytest.raises(MissingExtraError) as raised:
        require_extra("gate", "this")
    assert raised.value.packages == ("great_expectations", "pendulum", "rdflib", "sqlalchemy", "tenacity")
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.extra) == (str(raised.value), "gate")


def test_the_library_says_which_extra_draws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("anon_core.extras.find_spec", lambda _: None)
    with (
        pytest.raises(MissingExtraError, match="a picture needs the extra `plots`"),
        picture(tmp_path / "x.svg", width=1, height=1),
    ):
        pass


def test_the_page_on_installation_has_every_extra_and_what_needs_it() -> None:
    page = (PROJECT.parent / "docs/install.md").read_text(encoding="utf-8")
    for extra in (*EXTRAS, "all"):
        assert f"| `anonflow[{extra}]` |" in page
    (gate,) = (line for line in page.splitlines() if line.startswith("| `anonflow[gate]` |"))
    assert all(f"`{name}`" in gate or f"`anon {name}`" in gate for name in cli.NEED_GATE)
    (base,) = (line for line in page.splitlines() if line.startswith("| `anonflow` |"))
    shown = set(cli.COMMANDS) - {*cli.NEED_GATE, "policy"}
    assert all(f"`{name}`" in base or f"`anon {name}`" in base for name in shown)
