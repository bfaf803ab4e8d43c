"""The examples of docs/api.md, run one after the other in a process and a folder of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/api.md"
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
SPEC = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
RUN = """
import contextlib, io, json, sys
shared, printed = {"__name__": "__main__"}, []
for code in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(code, shared)
    printed.append(said.getvalue())
json.dump(printed, sys.stdout)
"""


def printed_by(page: str, folder: Path) -> list[str]:
    """Return what each example of the page prints."""
    (folder / "people.yaml").write_text(SPEC.search(page)[1])
    examples = [code for code, _ in EXAMPLE.findall(page)]
    return json.loads(python(RUN, folder, json.dumps(examples)))


def python(code: str, folder: Path, said: str | None = None) -> str:
    """Return what code prints in a new process that finds the library and nothing of the tests."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", code], input=said, capture_output=True, text=True, cwd=folder, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
