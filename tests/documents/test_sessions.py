"""What the sessions of the documents show is what the commands print; ``tests.documents.sessions`` writes them anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents.sessions import PAGES, ROOT, Step, folder_for, matches, reference_data, sessions, steps

pytestmark = pytest.mark.sessions
NEED_ADULT = ("adult.csv.gz",)


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_a_page_print_what_it_shows(name: str, tmp_path: Path) -> None:
    page = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    shell = folder_for(page, tmp_path)
    ran = 0
    for session in sessions(page):
        for step in steps(session):
            if any(table in step.command for table in NEED_ADULT) and reference_data() is None:
                continue
            printed, code = shell.run(step)
            assert matches(step.text, printed), f"{step.command} shows\n{step.text}\nand prints\n{printed}"
            assert step.code in (None, code), f"{step.command} ends with {code}"
            ran += not step.command.startswith("cat ")
    assert ran > 0


def test_the_tutorial_leads_to_a_release(tmp_path: Path) -> None:
    """From an empty folder: its commands, its files, and its corrections of the draft."""
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    shell = folder_for(page, tmp_path)
    for kind, block in re.findall(r"^```(console|python|diff)\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        if kind == "python":
            (tmp_path / "make_table.py").write_text(block, encoding="utf-8")
        if kind == "diff":
            draft = tmp_path / "benefits.yaml"
            draft.write_text(corrected(draft.read_text(encoding="utf-8"), block), encoding="utf-8")
        for step in steps(block) if kind == "console" else ():
            printed, code = shell.run(step)
            assert code == (step.code or 0), f"{step.command}\n{printed}"
            assert matches(step.text, printed), f"{step.command} shows\n{step.text}\nand prints\n{printed}"
    assert (tmp_path / "portal/benefits/index.html").exists()
    assert not (tmp_path / "portal/benefits-as-is").exists()


def corrected(text: str, diff: str) -> str:
    """Return a publication file with the lines of a diff in place; the page may show the beginning of a line."""
    for old, new in re.findall(r"^-(.+)\n\+(.+)$", diff, re.MULTILINE):
        assert len(re.findall(f"^{re.escape(old)}.*$", text, re.MULTILINE)) == 1, old
        text = re.sub(f"^{re.escape(old)}.*$", lambda _, new=new: new, text, flags=re.MULTILINE)
    return text


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [("a\n...\nb", "a\nx\nb", True), ("a...", "abc", True), ("a", "ab", False), ("", "x", False), ("a  ", "a", True)],
)
def test_dots_stand_for_what_is_left_out(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same


def test_a_session_is_cut_into_its_commands() -> None:
    session = "$ cat > a <<'END'\n$ 1\nEND\n$ b \\\n  c\nsaid\n[exit code 2]\n$ d\n"
    found = [Step("cat > a <<'END'\n$ 1\nEND", "")]
    assert [one.command for one in steps("$ b \\\n  c\nsaid\n[exit code 2]\n$ d\n")] == ["b \\\n  c", "d"]
    first = next(steps("$ b \\\n  c\nsaid\n[exit code 2]\n$ d\n"))
    assert (first.text, first.code) == ("said\n", 2)
    assert next(steps(session.replace("$ 1", "1"))).command == found[0].command.replace("$ 1", "1")
