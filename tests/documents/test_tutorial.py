"""The tutorial works from an empty folder to a release, and prints what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
END = "== the end of the command, exit code "


@dataclass(frozen=True)
class Step:
    """A command, what the page shows of its output, and its exit code."""

    command: str
    shown: str
    code: int


def steps(block: str) -> Iterator[Step]:
    """Yield the commands of a session."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        code = re.search(r"^\[exit code (\d+)\]\n", shown, re.MULTILINE)
        yield Step(command, shown.replace(code[0], "") if code else shown, int(code[1]) if code else 0)


def corrected(text: str, diff: str) -> str:
    """Return a publication file with the lines of a diff in place; the page may show the beginning of a line."""
    for old, new in re.findall(r"^-(.+)\n\+(.+)$", diff, re.MULTILINE):
        assert len(re.findall(f"^{re.escape(old)}.*$", text, re.MULTILINE)) == 1, old
        text = re.sub(f"^{re.escape(old)}.*$", lambda _, new=new: new, text, flags=re.MULTILINE)
    return text


def matches(shown: str, printed: str) -> bool:
    """Whether a session prints what the page shows; `...` stands for any text."""
    pattern = "".join(".*" if part == "..." else re.escape(part) for part in re.split(r"(\.\.\.)", shown.rstrip()))
    return (
        re.fullmatch(pattern, "\n".join(line.rstrip() for line in printed.rstrip().splitlines()), re.DOTALL) is not None
    )


def test_every_command_of_the_tutorial_does_what_the_page_shows(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANON_")}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    environment["COLUMNS"] = "200"
    commands = 0
    for kind, block in re.findall(r"^```(console|python|diff)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        if kind == "python":
            (tmp_path / "make_table.py").write_text(block, encoding="utf-8")
        if kind == "diff":
            draft = tmp_path / "benefits.yaml"
            draft.write_text(corrected(draft.read_text(encoding="utf-8"), block), encoding="utf-8")
        for step in steps(block) if kind == "console" else ():
            if setting := re.fullmatch(r'export (\w+)="\$PWD/(\w+)"', step.command):
                environment[setting[1]] = str(tmp_path / setting[2])
                continue
            ran = subprocess.run(
                ["bash", "-c", step.command], cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert ran.returncode == step.code, f"{step.command}\n{ran.stdout}\n{ran.stderr}"
            assert matches(step.shown, ran.stdout), f"{step.command} shows\n{step.shown}\nand prints\n{ran.stdout}"
            commands += 1
    assert commands == PAGE.count("\n$ ") - 1  # All but the setting.
    assert (tmp_path / "portal/benefits/index.html").exists()
    assert not (tmp_path / "portal/benefits-as-is").exists()


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [("a\n...\nb", "a\nx\nb", True), ("a...", "abc", True), ("a", "ab", False), ("", "x", False)],
)
def test_dots_stand_for_what_is_left_out(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same
