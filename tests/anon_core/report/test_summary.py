"""What the end of every test run says about the tests on real tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[2] / "conftest.py"
CONFIGURED = "[pytest]\nmarkers = reference: needs the reference tables\n"
RAN = "import pytest\n\n@pytest.mark.reference\ndef test_it():\n    pass\n"
LACKING = "import pytest\n\npytest.importorskip('no_such_module')\npytestmark = pytest.mark.reference\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"test_a.py": RAN}, "reference tests: 1 ran, 0 skipped\n"),
        ({"test_a.py": RAN, "test_b.py": LACKING}, "reference tests: 1 ran, 0 skipped, and 1 whole file skipped\n"),
    ],
)
def test_a_file_that_lacks_a_module_is_counted_and_no_crash(tmp_path: Path, files: dict[str, str], said: str) -> None:
    for name, text in {"conftest.py": CONFTEST.read_text(), "pytest.ini": CONFIGURED, **files}.items():
        (tmp_path / name).write_text(text)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert said in ended.stdout
