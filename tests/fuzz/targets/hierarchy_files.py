"""Hierarchy files and rules: read, checked, written out as a ladder over a column; every value in them is a canary."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from anon_core.hierarchy.columns import ladder_of
from anon_core.hierarchy.files import faults_in_file, format_of, read_levels
from anon_core.table import Column
from anon_core.table.assembling import assemble
from anon_core.table.model import piece_of
from tests.fuzz.drawing import Draw
from tests.fuzz.oracle import CANARY, judged
from tests.fuzz.target import Target

VALUES = (
    "a",
    "b",
    "c",
    "~",
    "",
    "*",
    "18",
    "-1",
    "1e5",
    "é",
    '"~"',
    '""',
    '"a;b"',
    "[18, 30)",
    "[65, )",
    "(, 5]",
    "[5,1]",
)
LABELS = ("x", "y", "*", "~", "", "a", '"x, y"', "}", "=> x", '"~')
LINES = ("level 2", "# level 2: ~", "--", "#", "", "level 999999999", "{}", "{a} => b => c", "a => b", ";;;", "level 0")


def column(values: list[str | None]) -> Column:
    """Return a column of a table that has these cells."""
    return assemble("town", [piece_of(pa.array(values, pa.string()))])


def run(draw: Draw, folder: Path) -> None:
    text = draw.rest() if draw.chance(3) else "\n".join(_lines(draw)).encode("utf-8", "surrogateescape")
    path = folder / "towns.csv"
    path.write_bytes(text.replace(b"~", CANARY.encode()))
    judged(format_of, path)
    judged(faults_in_file, path)
    levels = judged(read_levels, path)
    if levels is None:
        return
    for values in ([*levels.paths], [*levels.paths, "elsewhere", None, "19", CANARY], [None]):
        judged(ladder_of, column(values), levels, where=str(path))


def _lines(draw: Draw) -> list[str]:
    rules, depth = draw.chance(2), draw.number(1, 4)
    lines = []
    for _ in range(draw.number(0, 7)):
        if draw.chance(6):
            lines.append(draw.pick(LINES))
        elif rules:
            lines.append(f"{{{', '.join(draw.several(VALUES, 3))}}} => {draw.pick(LABELS)}")
        else:
            labels = [draw.pick(LABELS) for _ in range(depth - draw.chance(8))]
            lines.append(";".join([draw.pick(VALUES), *labels]))
    return lines


TARGET = Target(
    run=run,
    share=0.1,
    drawn=0.03,
    words=(
        b"{",
        b"}",
        b" => ",
        b"level 2",
        b"--",
        b";",
        b"*",
        b'"',
        b"[18, 30)",
        b"[65, )",
        b"~",
        b"\r\n",
        b"\0",
        b"# ",
    ),
)
