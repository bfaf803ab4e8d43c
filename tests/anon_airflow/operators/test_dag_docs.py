"""What Airflow shows of a publication file: its texts as they are written, never as Markdown or HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_airflow.approval.markdown import code, fenced, plain
from anon_airflow.operators.dag_docs import broken_docs, dag_docs
from anon_core.errors import SpecError
from anon_core.spec import load_spec
from tests.faults.publications import COLUMNS, write_publication

HOSTILE = "x</h1><script>alert(1)</script> ![p](http://evil/p.png) [l](javascript:a)\n\n# h\n- i\n| t | u |\n`c`&lt;"


def signs_left(text: str) -> set[str]:
    """The signs that Markdown would act on: those that no backslash stands before."""
    bare, escaped = set(), False
    for sign in text:
        if not escaped and sign in "`*_[]<>#|!~&":
            bare.add(sign)
        escaped = sign == "\\" and not escaped
    return bare


def test_title_and_description_are_shown_as_they_are_written(tmp_path: Path) -> None:
    spec = write_publication(
        tmp_path,
        title=HOSTILE,
        metadata={"description": HOSTILE},
        columns={**COLUMNS, "a`|<b>": {"role": "drop"}},
        approval={"required": True, "users": ["anna`<i>|x"]},
    )
    lines = dag_docs(load_spec(spec)).split("\n")
    title, description = lines[0].removeprefix("# "), lines[2]
    assert title == description
    assert signs_left(title) == set()
    assert "script" in title and "evil" in title  # It is there to be read.
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 2 + len(COLUMNS) + 1
    assert all(row.count("|") == 4 for row in rows)
    assert not any(line.startswith(("- i", "# h", "<")) for line in lines)


def test_a_broken_file_cannot_leave_its_block(tmp_path: Path) -> None:
    spec = tmp_path / "broken.yaml"
    spec.write_text("dataset: '```````\u001b[31m <script>'\n'```\n\n# owned': 1\n")
    with pytest.raises(SpecError) as caught:
        load_spec(spec)
    shown = broken_docs(caught.value)
    fence = shown.split("\n\n", 2)[2].split("\n", 1)[0]
    assert set(fence) == {"`"}
    assert shown.endswith(fence)
    assert shown.count(fence) == 2
    assert "\x1b" not in shown


@pytest.mark.parametrize("text", ["- a", "+ a", "1. a", "23) a", "===", "---", "# a", "> a", "\x1b[31m", "\u202ea"])
def test_a_text_begins_nothing(text: str) -> None:
    shown = plain(text)
    assert signs_left(shown) == set()
    assert not shown.startswith(("-", "+", "=", "1.", "23)"))
    assert shown.isprintable()


def test_code_and_blocks_end_where_they_should() -> None:
    assert code("a`b`` |c\n") == "`a'b'' /c`"
    assert fenced("a ``` b").startswith("````\n")
