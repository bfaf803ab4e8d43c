"""What docs/expectations.md shows is what happens, and it names every expectation with its arguments."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anon_airflow.expectations import OURS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/expectations.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", DOCUMENT, re.DOTALL)


def run(code, folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins")])}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, env=environment, check=True
    ).stdout


def test_every_block_of_code_is_an_example_with_its_output():
    assert len(EXAMPLES) == DOCUMENT.count("```python") == 4


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_an_example_prints_what_is_shown(code, output, tmp_path):
    assert run(code, tmp_path) == output


def test_every_expectation_is_listed_with_its_arguments():
    rows = dict(re.findall(r"^\| `(expect_\w+)` \| (.*?) \|", DOCUMENT, re.MULTILINE))
    wanted = {name: [key for key in kind.success_keys if key != "weight_column"] for name, kind in OURS.items()}
    assert {name: re.findall(r"`(\w+)`", listed) for name, listed in rows.items()} == wanted


def test_the_package_imports_nothing_of_airflow(tmp_path):
    code = "import sys, anon_airflow.expectations; print('airflow' in sys.modules)"
    assert run(code, tmp_path) == "False\n"
