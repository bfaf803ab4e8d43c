"""What docs/expectations.md shows is what happens, and it names every expectation with its arguments."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anon_airflow.expectations import OURS
from anon_airflow.expectations.model_expectation import NO_SETTINGS

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = (ROOT / "docs/expectations.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", DOCUMENT, re.DOTALL)


FIRST = "import sys, anon_airflow.expectations; print('airflow' in sys.modules)"
EACH_IN_A_FORK = """
import json, os, sys
import anon_airflow.expectations, great_expectations
for number, code in enumerate(json.load(sys.stdin)):
    if os.fork() == 0:
        os.mkdir(str(number))
        os.chdir(str(number))
        os.dup2(os.open("output", os.O_WRONLY | os.O_CREAT), 1)
        exec(code, {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each example prints in a process that has imported the package, as a reader's has, and nothing else."""
    folder = tmp_path_factory.mktemp("examples")
    python(EACH_IN_A_FORK, folder, json.dumps([code for code, _ in EXAMPLES]))
    return [(folder / str(number) / "output").read_text() for number in range(len(EXAMPLES))]


def python(code, folder, said=None):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins")])}
    return subprocess.run(
        [sys.executable, "-c", code],
        input=said,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=True,
    ).stdout


def test_every_block_of_code_is_an_example_with_its_output():
    assert len(EXAMPLES) == DOCUMENT.count("```python") == 4


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_prints_what_is_shown(printed, number):
    assert printed[number] == EXAMPLES[number][1]


def test_every_expectation_is_listed_with_its_arguments():
    rows = dict(re.findall(r"^\| `(expect_\w+)` \| (.*?) \|", DOCUMENT, re.MULTILINE))
    wanted = {name: [key for key in kind.success_keys if key not in NO_SETTINGS] for name, kind in OURS.items()}
    assert {name: re.findall(r"`(\w+)`", listed) for name, listed in rows.items()} == wanted


def test_the_package_imports_nothing_of_airflow(tmp_path):
    assert python(FIRST, tmp_path) == "False\n"
